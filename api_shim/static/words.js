/* What the page says, in three languages. Answers come in the language of the question, not from here. */

export const WORDS = {
  en: {
    language: "Language", fresh: "New chat", message: "Your message", placeholder: "Write a message",
    send: "Send", stop: "Stop", transcript: "Conversation",
    welcome: "How can I help?",
    welcome_more: "Ask in English, Estonian or Russian. If I need to know more, I will ask.",
    working: "Thinking", queued: "Waiting for the answer before this one", looking: "Looking it up",
    writing: "Writing", reconnecting: "The connection is lost, trying again",
    stopped: "Stopped", unsent: "This message may not have been sent.", retry: "Send again",
    gone: "This answer is no longer kept. Please ask again.",
    unreachable: "The server can’t be reached. Please try again in a moment.",
    failed: "Something went wrong. Please try again.", code: "Code",
  },
  et: {
    language: "Keel", fresh: "Uus vestlus", message: "Teie sõnum", placeholder: "Kirjutage sõnum",
    send: "Saada", stop: "Peata", transcript: "Vestlus",
    welcome: "Kuidas saan aidata?",
    welcome_more: "Küsige eesti, inglise või vene keeles. Kui mul on vaja rohkem teada, küsin üle.",
    working: "Mõtlen", queued: "Ootan eelmise vastuse lõppu", looking: "Otsin andmeid",
    writing: "Kirjutan", reconnecting: "Ühendus katkes, proovin uuesti",
    stopped: "Peatatud", unsent: "See sõnum ei pruukinud kohale jõuda.", retry: "Saada uuesti",
    gone: "Seda vastust enam ei säilitata. Palun küsige uuesti.",
    unreachable: "Serveriga ei saa ühendust. Palun proovige hetke pärast uuesti.",
    failed: "Midagi läks valesti. Palun proovige uuesti.", code: "Kood",
  },
  ru: {
    language: "Язык", fresh: "Новый чат", message: "Ваше сообщение", placeholder: "Напишите сообщение",
    send: "Отправить", stop: "Остановить", transcript: "Разговор",
    welcome: "Чем могу помочь?",
    welcome_more: "Спрашивайте по-русски, по-эстонски или по-английски. Если мне понадобится уточнение, я спрошу.",
    working: "Думаю", queued: "Жду окончания предыдущего ответа", looking: "Ищу данные",
    writing: "Пишу", reconnecting: "Связь прервалась, пробую снова",
    stopped: "Остановлено", unsent: "Возможно, это сообщение не было отправлено.", retry: "Отправить ещё раз",
    gone: "Этот ответ больше не хранится. Пожалуйста, спросите ещё раз.",
    unreachable: "Сервер недоступен. Попробуйте ещё раз чуть позже.",
    failed: "Что-то пошло не так. Попробуйте ещё раз.", code: "Код",
  },
};

export function preferredLanguage() {
  for (const wish of navigator.languages ?? [navigator.language]) {
    const tag = wish.slice(0, 2).toLowerCase();
    if (tag in WORDS) return tag;
  }
  return "en";
}

/* The chat page. Everything needed to go on after a reload stands in sessionStorage: the chat's id, what was said,
   and the running turn with the id of the last event that was shown. */

import { Turn } from "./turn.js";
import { WORDS, preferredLanguage } from "./words.js";

const KEY = "signalbox.chat";
const element = (id) => document.getElementById(id);
const [transcript, composer, message, send, stop, statusLine, statusText, welcome, main] =
  ["transcript", "composer", "message", "send", "stop", "status", "status-text", "welcome"].map(element)
    .concat(document.querySelector("main"));

const chat = load();
let turn = null;

function load() {
  try {
    const saved = JSON.parse(sessionStorage.getItem(KEY));
    if (saved?.chatId) return saved;
  } catch { /* unreadable or forbidden: begin anew */ }
  return { chatId: newId(), language: preferredLanguage(), said: [], running: null };
}

function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function save() {
  try { sessionStorage.setItem(KEY, JSON.stringify(chat)); } catch { /* full or forbidden: the page still works */ }
}

const word = (key) => WORDS[chat.language][key];

/* --- showing ------------------------------------------------------------------------------------------------ */

function translate() {
  document.documentElement.lang = chat.language;
  element("language").value = chat.language;
  for (const node of document.querySelectorAll("[data-word]")) node.textContent = word(node.dataset.word);
  for (const node of document.querySelectorAll("[data-word-label]")) node.ariaLabel = word(node.dataset.wordLabel);
  message.placeholder = word("placeholder");
}

function draw() {
  transcript.replaceChildren(...chat.said.map(bubbleOf));
  welcome.hidden = chat.said.length > 0;
  showRunning();
}

function bubbleOf(said, index) {
  const item = document.createElement("li");
  item.className = `said ${said.role}${said.how === "failed" ? " failed" : ""}`;
  const bubble = document.createElement("div");
  bubble.className = "bubble";
  bubble.append(...withLinks(said.text));
  item.append(bubble);
  if (chat.running && index === chat.said.length - 1) item.setAttribute("aria-busy", "true");
  const note = noteOf(said);
  if (note) item.append(note);
  if (said.buttons) item.append(choicesOf(said, index));
  return item;
}

function withLinks(text) {
  return text.split(/(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]])/).map((part, index) => {
    if (index % 2 === 0) return part;
    const link = document.createElement("a");
    Object.assign(link, { href: part, textContent: part, rel: "noopener noreferrer", target: "_blank" });
    return link;
  });
}

function noteOf(said) {
  const says = { stopped: word("stopped"), unsent: word("unsent"), failed: said.code && `${word("code")}: ${said.code}` };
  if (!says[said.how]) return null;
  const note = document.createElement("p");
  note.className = "note";
  note.textContent = says[said.how];
  if (said.how === "unsent") {
    const again = document.createElement("button");
    Object.assign(again, { type: "button", className: "quiet", textContent: word("retry") });
    again.onclick = () => { const { text } = said; chat.said = chat.said.filter((one) => one !== said); say(text); };
    note.append(" ", again);
  }
  return note;
}

function choicesOf(said, index) {
  const group = document.createElement("div");
  group.className = "choices";
  for (const choice of said.buttons) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: choice.title });
    button.disabled = index !== chat.said.length - 1 || chat.running !== null;
    button.onclick = () => say(choice.payload, choice.title);
    group.append(button);
  }
  return group;
}

function redrawLast() {
  const isAtEnd = main.scrollHeight - main.scrollTop - main.clientHeight < 80;
  const index = chat.said.length - 1;
  const drawn = bubbleOf(chat.said[index], index);
  if (transcript.children.length > index) transcript.children[index].replaceWith(drawn);
  else transcript.append(drawn);
  if (isAtEnd) main.scrollTop = main.scrollHeight;
}

/* Redraw once a frame however fast tokens come; what is saved does not wait for it. */
let isDue = false;
function redrawSoon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => { isDue = false; redrawLast(); });
}

function showRunning() {
  const isRunning = chat.running !== null;
  stop.hidden = !isRunning;
  send.hidden = isRunning;
  send.disabled = message.value.trim() === "";
  if (!isRunning) statusLine.hidden = true;
}

function status(key) {
  statusLine.hidden = false;
  if (statusText.textContent !== word(key)) statusText.textContent = word(key);
}

/* --- a turn ------------------------------------------------------------------------------------------------- */

function follow(running) {
  const bot = chat.said[chat.said.length - 1];
  const view = {
    status,
    changed() {
      bot.text = running.text;
      bot.buttons = running.buttons;
      save();
      redrawSoon();
    },
    ended(how, failure) {
      chat.running = null;
      turn = null;
      end(bot, how, failure);
      save();
      draw();
      main.scrollTop = main.scrollHeight;
    },
  };
  turn = new Turn(running, view, chat.language);
  showRunning();
  status("working");
  return turn;
}

function end(bot, how, failure) {
  if (how === "unsent") {
    chat.said.pop();
    chat.said[chat.said.length - 1].how = "unsent";
    return;
  }
  bot.how = how;
  if (failure?.errorId) bot.code = failure.errorId;
  if (how === "gone") Object.assign(bot, { how: "failed", text: bot.text ? `${bot.text}\n\n${word("gone")}` : word("gone") });
  if (how === "failed" && !bot.text) bot.text = word("failed");
}

function say(text, shown = text) {
  if (chat.running || text.trim() === "") return;
  chat.running = { id: null, lastId: "0", text: "" };
  chat.said.push({ role: "user", text: shown, sent: text }, { role: "bot", text: "" });
  save();
  draw();
  main.scrollTop = main.scrollHeight;
  follow(chat.running).send({ chatId: chat.chatId, message: text, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });
}

function goOn() {
  if (!chat.running) return;
  const running = chat.running;
  if (running.id) follow(running).resume();
  else { chat.running = null; end(null, "unsent"); save(); draw(); }  // reloaded before the server had answered
}

/* --- what people do ----------------------------------------------------------------------------------------- */

function fit() {
  message.style.height = "auto";
  message.style.height = `${message.scrollHeight + 2}px`;
  send.disabled = message.value.trim() === "";
}

function submit() {
  const text = message.value;
  if (chat.running || text.trim() === "") return;
  message.value = "";
  fit();
  say(text);
  message.focus();
}

composer.addEventListener("submit", (event) => { event.preventDefault(); submit(); });
message.addEventListener("input", fit);
message.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); submit(); }
});
document.addEventListener("keydown", (event) => { if (event.key === "Escape") turn?.stop(); });
stop.addEventListener("click", () => { turn?.stop(); message.focus(); });
element("language").addEventListener("change", (event) => {
  chat.language = event.target.value;
  save();
  translate();
  draw();
});
element("fresh").addEventListener("click", () => {
  turn?.stop();
  Object.assign(chat, { chatId: newId(), said: [], running: null });
  save();
  draw();
  message.focus();
});

translate();
draw();
goOn();
fit();
main.scrollTop = main.scrollHeight;
if (matchMedia("(hover: hover)").matches) message.focus();

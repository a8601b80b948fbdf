/* Reads server-sent events from a fetch (EventSource can't POST), as the HTML standard says: lines end with CR, LF or
   CRLF, an event ends with an empty line, a chunk may end anywhere, even inside a character. */

export async function* events(response) {
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  const pending = { id: null, name: "", data: [] };
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      // A CR at the very end may be half of a CRLF: it stays until more comes.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        const event = take(pending, line);
        if (event) yield event;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function take(pending, line) {
  if (line === "") {
    const event = { id: pending.id, name: pending.name || "message", data: pending.data.join("\n") };
    const isEmpty = pending.data.length === 0;
    pending.name = "";
    pending.data = [];
    pending.id = null;
    return isEmpty ? null : event;
  }
  const colon = line.indexOf(":");
  if (colon === 0) return null;
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
  if (field === "data") pending.data.push(value);
  else if (field === "event") pending.name = value;
  else if (field === "id") pending.id = value;
  return null;
}

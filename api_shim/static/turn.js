/* One turn as the page follows it: sent once, then read to its END over as many connections as it takes. */

import { events } from "./sse.js";

const RICH = "text/event-stream; profile=signalbox";
const PAUSES_MS = [300, 600, 1200, 2500, 5000];

const number = (id) => Number.parseInt(id, 10) || 0;

/* Follows `turn` = {id, lastId, text} and tells `view` what to show. `turn` is changed before `view.changed()` is
   called, so that what is saved there always fits together: the text, and the id of the event that brought it. */
export class Turn {
  constructor(state, view, language) {
    this.state = state;
    this.view = view;
    this.language = language;
    this.isOver = false;
    this.abort = new AbortController();
  }

  async send(body) {
    let response;
    try {
      response = await this.#fetch("/orchestrate/stream", {
        method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
      });
    } catch {
      if (!this.isOver) this.#end("unsent");
      return;
    }
    this.state.id = response.headers.get("X-Turn-Id");
    this.view.changed();
    if (this.wantsStop && this.state.id) this.#tellServer();
    await this.#read(response);
    if (!this.isOver && this.state.id) await this.resume();
    else if (!this.isOver) this.#end("failed");
  }

  async resume() {
    for (let failures = 0; !this.isOver; failures++) {
      try {
        const after = encodeURIComponent(this.state.lastId);
        const response = await this.#fetch(`/turns/${this.state.id}/events?last_event_id=${after}`);
        if (response.status === 404 || response.status === 410) return this.#end("gone");
        const before = this.state.lastId;
        if (response.ok) await this.#read(response);
        if (this.state.lastId !== before) failures = -1;
      } catch { /* the network is away; the loop tries again */ }
      if (this.isOver) return;
      this.view.status("reconnecting");
      await new Promise((wake) => setTimeout(wake, PAUSES_MS[Math.min(Math.max(failures, 0), PAUSES_MS.length - 1)]));
    }
  }

  stop() {
    // The view stops at once; the server is told as soon as the turn's id is known.
    if (this.isOver) return;
    this.wantsStop = true;
    if (this.state.id) this.#tellServer();
    this.#end("stopped");
    if (this.state.id) this.abort.abort();
  }

  leave() {
    // Stop reading without stopping the turn.
    this.isOver = true;
    this.abort.abort();
  }

  #tellServer() {
    fetch(`/turns/${this.state.id}`, { method: "DELETE", keepalive: true }).catch(() => {});
  }

  #fetch(url, options = {}) {
    const headers = { Accept: RICH, "Accept-Language": this.language, ...options.headers };
    return fetch(url, { ...options, headers, cache: "no-store", signal: this.abort.signal });
  }

  async #read(response) {
    const floor = number(this.state.lastId);
    try {
      for await (const event of events(response)) {
        if (this.isOver) return;
        this.#take(event, floor);
      }
    } catch { /* cut off; what came before counts, the rest is resumed */ }
  }

  #take(event, floor) {
    const data = JSON.parse(event.data);
    if (event.name !== "message") {
      this.#takeNamed(event.name, data);
    } else if (data.payload.content === "END") {
      return this.#end(this.failure ? "failed" : "done");
    } else if (event.id === null || number(event.id) > floor) {
      this.state.text += data.payload.content;
      if (data.payload.buttons) this.state.buttons = data.payload.buttons;
      this.view.status("writing");
    }
    if (event.id !== null) this.state.lastId = event.id;
    this.view.changed();
  }

  #takeNamed(name, data) {
    if (name === "replace") this.state.text = data.content;
    else if (name === "error") this.failure = data;
    else if (name === "tool_call") this.view.status("looking");
    else if (name === "meta" && data.state === "queued") this.view.status("queued");
    else if (name === "phase" && data.phase === "cancelled") this.#end("stopped");
    else if (name === "phase" && data.phase !== "accepted" && !this.state.text) this.view.status("working");
  }

  #end(how) {
    if (this.isOver) return;
    this.isOver = true;
    this.view.ended(how, this.failure);
  }
}

// SPDX-License-Identifier: Apache-2.0
// The connection to the server: one event stream for each page, for all answers. Without streams (CGI), each request is
// answered by itself. A new request of an owner replaces its earlier one.

const POLL_MS = 1500;

export class Link {
  constructor(files, heard) {
    this.files = files;
    this.heard = heard; // (event, data): "set", "answer", "problem", "state"
    this.asked = new Map(); // owner -> {serial, parameters, abort}
    this.serial = 0;
    this.stream = null;
    this.plain = typeof EventSource === "undefined";
    this.source = null;
    this.open();
    document.addEventListener("visibilitychange", () => {
      // Browsers allow few connections to one server, over all tabs.
      if (document.hidden) this.close();
      else this.open();
    });
    window.addEventListener("pagehide", () => this.close());
    window.addEventListener("pageshow", () => this.open());
  }

  address(path, parameters) {
    const all = new URLSearchParams();
    for (const file of this.files) all.append("file", file);
    for (const [key, value] of Object.entries(parameters))
      if (value !== null && value !== undefined && value !== "") all.append(key, value);
    return `${path}?${all}`;
  }

  open() {
    if (this.source || document.hidden) return;
    if (this.plain) {
      this.ask_set();
      return;
    }
    this.source = new EventSource(this.address("trace/stream", {}));
    for (const name of ["hello", "progress", "ready", "grown"])
      this.source.addEventListener(name, (event) => {
        const data = JSON.parse(event.data);
        const fresh = name === "hello" && this.stream !== data.stream;
        this.stream = data.stream;
        if (fresh) for (const [owner, { parameters }] of this.asked) this.ask(owner, parameters);
        this.heard("set", { ...data.set, event: name });
      });
    this.source.addEventListener("answer", (event) => {
      const { owner, serial, answer } = JSON.parse(event.data);
      if (this.asked.get(owner)?.serial === serial) this.heard("answer", { owner, answer });
    });
    this.source.addEventListener("error", () => {
      this.stream = null;
      if (this.source?.readyState === EventSource.CLOSED) {
        this.source = null;
        this.plain = true; // refused: use single requests
        this.ask_set();
        for (const [owner, { parameters }] of this.asked) this.ask(owner, parameters);
      }
    });
  }

  close() {
    this.source?.close();
    this.source = null;
    this.stream = null;
  }

  async ask_set() {
    try {
      const response = await fetch(this.address("trace.json", { view: "set" }));
      const set = await response.json();
      this.heard("set", { ...set, event: "hello" });
      if (set.progress < 1 || set.grows) setTimeout(() => this.ask_set(), POLL_MS);
    } catch (problem) {
      this.heard("problem", { owner: null, text: String(problem) });
    }
  }

  ask(owner, parameters) {
    const before = this.asked.get(owner);
    before?.abort?.abort();
    const asked = { serial: ++this.serial, parameters, abort: new AbortController() };
    this.asked.set(owner, asked);
    if (this.plain) this.ask_plainly(owner, asked);
    else if (this.stream) this.ask_stream(owner, asked);
  }

  // Cancels requests whose answers are no longer needed.
  cancel(owner) {
    const asked = this.asked.get(owner);
    if (!asked) return;
    asked.abort?.abort();
    this.asked.delete(owner);
    if (this.stream)
      fetch(this.address("trace/ask", { _stream: this.stream, _owner: owner, _cancel: 1 })).catch(() => {});
  }

  async ask_stream(owner, asked) {
    try {
      const response = await fetch(this.address("trace/ask", { ...asked.parameters,
        _stream: this.stream, _owner: owner, _serial: asked.serial }), { headers: { Accept: "application/json" } });
      if (!response.ok) await this.refused(owner, asked, response);
    } catch (problem) {
      if (this.asked.get(owner) === asked) this.heard("problem", { owner, text: String(problem) });
    }
  }

  async refused(owner, asked, response) {
    const told = await response.json().catch(() => null);
    if (this.asked.get(owner) === asked)
      this.heard("problem", { owner, text: told?.facts?.message ?? `status ${response.status}` });
  }

  async ask_plainly(owner, asked) {
    try {
      const response = await fetch(this.address("trace.json", asked.parameters),
        { signal: asked.abort.signal, headers: { Accept: "application/json" } });
      if (!response.ok) {
        await this.refused(owner, asked, response);
        return;
      }
      const answer = await response.json();
      if (this.asked.get(owner) !== asked) return;
      this.heard("answer", { owner, answer });
      if (answer.incomplete)
        setTimeout(() => this.asked.get(owner) === asked && this.ask(owner, asked.parameters), POLL_MS);
    } catch (problem) {
      if (problem.name !== "AbortError") this.heard("problem", { owner, text: String(problem) });
    }
  }
}

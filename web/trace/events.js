// SPDX-License-Identifier: Apache-2.0
// The list of events. Only rows that were scrolled to are loaded; more are fetched by position, after the last row or
// before the first.
import { element, parseTime, seconds } from "./util.js";

const ROWS = 80;
const KEPT = 600;

export class Events {
  constructor(page) {
    this.page = page;
    this.rows = [];
    this.body = element("tbody");
    this.columns = []; // names of fields with a column of their own, in order of selection
    this.names = new Set(); // names of the fields seen
    this.head = element("thead");
    this.chooser = element("div", { className: "choices" });
    const columns = element("details", { className: "columns" }, element("summary", {}, "Columns"), this.chooser);
    this.chooser.addEventListener("change", (event) => this.choose(event.target.value, event.target.checked));
    this.table = element("table", { className: "events" }, this.head, this.body);
    this.scroller = element("div", { className: "events-scroller", tabIndex: 0, role: "group",
      "aria-label": "Events; up and down choose one" }, this.table);
    this.at = element("input", { type: "text", size: 14, placeholder: "1.5s, 20ms", spellcheck: false,
      "aria-label": "Jump to time" });
    this.state = element("span", { className: "found", role: "status" });
    const jump = element("form", { className: "jump" }, element("label", {}, "Jump to ", this.at),
      element("button", { type: "submit" }, "Go"), this.state);
    jump.addEventListener("submit", (event) => {
      event.preventDefault();
      const time = this.readTime(this.at);
      if (!Number.isNaN(time)) page.setCursor(time);
    });
    this.node = element("div", { className: "panel-events" }, element("div", { className: "events-bar" }, jump, columns),
      this.scroller);
    this.putHead();
    this.scroller.addEventListener("scroll", () => this.more());
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row && !getSelection().toString()) this.select(this.rows[row.sectionRowIndex]);
    });
  }

  putHead() {
    const titles = ["Time (s)", "Where", "Event", ...this.columns, "Fields"];
    this.head.replaceChildren(element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title))));
  }

  // Gives a field its own column, or puts its values back into the column "Fields".
  choose(name, shown) {
    this.columns = this.columns.filter((other) => other !== name);
    if (shown) this.columns.push(name);
    this.putHead();
    this.body.replaceChildren(...this.rows.map((row) => this.row(row)));
    this.mark();
  }

  // Fields that appear for the first time can be selected from now on.
  meet(rows) {
    for (const name of rows.flatMap((row) => Object.keys(row.fields)))
      if (!this.names.has(name)) {
        this.names.add(name);
        this.chooser.append(element("label", {}, element("input", { type: "checkbox", value: name }), ` ${name}`));
      }
  }

  // Fetches from the cursor, or from the window's begin.
  readTime(input) {
    const time = parseTime(input.value);
    input.setAttribute("aria-invalid", String(Number.isNaN(time)));
    if (Number.isNaN(time)) this.page.say("expected a time as 1.5s, 20ms, 300us or 4000 (nanoseconds)");
    return time;
  }

  ask() {
    this.direction = "anew";
    const { page } = this;
    const at = page.cursor ?? page.window.start;
    const from = page.event && page.eventTime === page.cursor ? page.event : "";
    this.send(from ? { from } : { at: Math.max(0, Math.round(at)) });
  }

  send(parameters) {
    this.waiting = true;
    this.page.link.ask("events", { ...this.page.common(), view: "events", rows: ROWS, ...parameters });
  }

  more() {
    if (this.waiting || !this.rows.length) return;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (scrollTop + clientHeight > scrollHeight - 300 && this.next) {
      this.direction = "after";
      this.send({ from: this.next });
    } else if (scrollTop < 200 && !this.atStart) {
      this.direction = "before";
      this.send({ until: this.rows[0].position });
    }
  }

  take(answer) {
    if (answer.done) this.waiting = false;
    if (!answer.done && this.direction !== "anew") {
      this.state.textContent = `searching, ${seconds(answer.searched_until_ns, 3)} s`;
      return;
    }
    this.state.textContent = answer.done ? "" : `searching, ${seconds(answer.searched_until_ns, 3)} s`;
    this.meet(answer.rows);
    if (this.direction === "before") this.putBefore(answer);
    else this.putAfter(answer);
    this.mark();
    if (answer.done && this.direction === "anew" && !this.filled) {
      this.filled = true;
    }
    if (answer.done && this.direction === "anew") {
      this.scroller.scrollTop = 0;
      // Some rows before the first one, so that the reader can scroll up.
      if (this.rows.length) {
        this.direction = "before";
        this.send({ until: this.rows[0].position, rows: 30 });
      }
    } else if (answer.done) {
      this.more();
    }
    if (!this.rows.length && answer.done)
      this.state.textContent = this.page.filter ? "no event passes the filter from here on" : "no events from here on";
  }

  putBefore(answer) {
    const height = this.table.offsetHeight;
    this.rows.unshift(...answer.rows);
    this.body.prepend(...answer.rows.map((row) => this.row(row)));
    this.atStart = answer.at_start || !answer.rows.length;
    this.scroller.scrollTop += this.table.offsetHeight - height;
    while (this.rows.length > KEPT) {
      this.rows.pop();
      this.body.lastChild.remove();
      this.next = null;
    }
    if (!this.next && this.rows.length === KEPT) this.nextAfter(); // the end was dropped
  }

  nextAfter() {
    this.next = this.rows.at(-1)?.position ?? null;
    if (this.next) {
      this.rows.pop(); // it is the first row of the next answer
      this.body.lastChild.remove();
    }
  }

  putAfter(answer) {
    if (this.direction === "anew") {
      this.rows = [];
      this.body.replaceChildren();
      this.atStart = false;
    }
    this.rows.push(...answer.rows);
    this.body.append(...answer.rows.map((row) => this.row(row)));
    this.next = answer.next;
    let dropped = 0;
    while (this.rows.length > KEPT) {
      this.rows.shift();
      dropped += this.body.firstChild.offsetHeight;
      this.body.firstChild.remove();
      this.atStart = false;
    }
    if (dropped) this.scroller.scrollTop -= dropped;
  }

  row(row) {
    const { page } = this;
    const many = page.set?.files.length > 1;
    const fields = element("td", { className: "fields" });
    for (const [name, value] of Object.entries(row.fields))
      if (!this.columns.includes(name)) fields.append(element("span", { className: "field" }, element("i", {}, name), ` ${value}`), " ");
    if (row.context_url) fields.append(element("a", { href: row.context_url }, "profile"));
    return element("tr", {}, element("td", { className: "number" }, seconds(row.time_ns)),
      element("td", { className: many ? `where t${row.trace % 6} many` : "where" }, row.source),
      element("td", { className: "event-name" }, row.name),
      ...this.columns.map((name) => element("td", { className: "chosen" }, row.fields[name] ?? "")), fields);
  }

  mark() {
    this.body.querySelector("tr.selected")?.classList.remove("selected");
    const at = this.rows.findIndex((row) => row.position === this.page.event);
    if (at >= 0) this.body.rows[at].classList.add("selected");
  }

  select(row) {
    if (!row) return;
    this.page.setCursor(row.time_ns, row.position, "events");
    this.mark();
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const at = this.rows.findIndex((row) => row.position === this.page.event);
    const to = at < 0 ? 0 : Math.min(Math.max(at + step, 0), this.rows.length - 1);
    this.select(this.rows[to]);
    this.body.rows[to]?.scrollIntoView({ block: "nearest" });
    this.more();
  }

  // Another viewer selected a time.
  moved() {
    if (this.rows.some((row) => row.position === this.page.event)) this.mark();
    else this.ask();
  }
}

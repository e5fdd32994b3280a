// SPDX-License-Identifier: Apache-2.0
// The selected box: its true begin and end, what it lies in, what is nested in it, who woke its lane, and the events at
// its begin and end. From here one steps to the next like it.
import { button, duration, element, seconds } from "./util.js";

const STEPS = [["previous", "name", ","], ["next", "name", "."], ["previous", "lane", "<"], ["next", "lane", ">"],
  ["previous", "state", "["], ["next", "state", "]"]];

export class Details {
  constructor(page) {
    this.page = page;
    this.tools = element("div", { className: "tools", role: "group", "aria-label": "Of the selected box" });
    this.note = element("p", { className: "area-note", role: "status" });
    this.body = element("div", { className: "details" });
    this.node = element("div", { className: "panel-details" }, this.tools, this.note, this.body);
  }

  ask() {
    const { page } = this, { start, end } = page.window, { selected } = page.timeline;
    this.drawTools();
    if (!selected) {
      this.asked = this.answer = null;
      this.note.textContent = "Select a box: what it is, what it lies in, what is in it, who woke its thread.";
      this.body.replaceChildren();
      return;
    }
    const asked = `${selected[0]}:${selected[1]}:${selected[2]}`;
    if (asked === this.asked && this.answer?.done && !this.answer.incomplete) return;
    this.asked = asked;
    this.note.textContent = "Reading all segments of the trace…";
    page.link.ask("details", { view: "details", start, end, selected: asked });
  }

  moved() {}

  drawTools() {
    const { page } = this;
    if (!page.timeline.selected) return this.tools.replaceChildren();
    const steps = STEPS.map(([way, what, key]) => button(`${way === "next" ? "›" : "‹"} ${what}`,
      `The ${way} ${what === "lane" ? "on its lane" : `of its ${what}`} (${key})`, () => page.step(way, what)));
    this.tools.replaceChildren(element("span", { className: "buttons" }, ...steps),
      button("Zoom to it", "Make it the window", () => this.zoom()),
      button("Its area", "Totals of what is in it (R)", () => page.areaHere()),
      button("Why so long", "Who made its thread wait (C)", () => this.why()));
  }

  zoom() {
    const [, start, , end] = this.page.timeline.selected, margin = (end - start) / 4 + 1;
    this.page.setWindow(start - margin, end + margin);
  }

  // The critical path over the box.
  why() {
    const [lane, start, , end] = this.page.timeline.selected;
    this.page.area = { start, end: Math.max(end, start + 1), lanes: [lane] };
    this.page.pathHere();
  }

  take(answer) {
    const { page } = this, { selected } = page.timeline;
    this.answer = answer;
    if (answer.found && selected?.[0] === answer.lane && selected[1] === answer.segment_start_ns)
      page.timeline.selected = [answer.lane, answer.segment_start_ns, answer.level, answer.segment_end_ns, answer.name, answer.state];
    this.draw();
  }

  draw() {
    const { answer } = this;
    if (!answer) return;
    if (!answer.found) {
      this.note.textContent = answer.problem ?? "Reading all segments of the trace…";
      this.body.replaceChildren();
      return;
    }
    const from = answer.segment_start_ns, to = answer.segment_end_ns;
    this.note.textContent = `${answer.lane_name.startsWith(answer.kind) ? "" : `${answer.kind} `}${answer.lane_name}${answer.process ? ` of ${answer.process}` : ""}`;
    const facts = [["Name", answer.name], ["State", answer.state], ["Begin", `${seconds(from)} s`],
      ["End", answer.open ? `${seconds(to)} s or later: it is not recorded` : `${seconds(to)} s`],
      ["Duration", `${answer.open ? "at least " : ""}${duration(to - from)} (${(to - from).toLocaleString("en")} ns)`],
      ["Self", `${duration(answer.self_ns)}, without what is in it`]];
    const list = element("dl", {}, ...facts.flatMap(([title, text]) => [element("dt", {}, title), element("dd", {}, text)]));
    this.body.replaceChildren(list, ...this.around(), ...this.inside(), ...this.arrows("woken_by", "Woken by"),
      ...this.arrows("wakes", "Wakes"), ...this.events());
  }

  // A table; rows of cells, the first one is its head.
  table(title, heads, rows) {
    const head = element("tr", {}, ...heads.map((text, i) => element("th", { scope: "col", className: i ? "number" : "" }, text)));
    const lines = rows.map((cells) => element("tr", {}, ...cells.map((cell, i) =>
      element(i ? "td" : "th", i ? { className: "number" } : { scope: "row" }, cell))));
    return [element("h3", {}, title), element("div", { className: "wide" },
      element("table", { className: "tree boxed" }, element("thead", {}, head), element("tbody", {}, ...lines)))];
  }

  select(start, end, level, name, state) {
    this.page.select([this.answer.lane, start, level, end, name, state]);
  }

  around() {
    const { around } = this.answer;
    if (!around.length) return [];
    return this.table("It lies in", ["Name", "Begin", "Duration"], around.map((one) => [
      button(one.name, "Select it", () => this.select(one.segment_start_ns, one.segment_end_ns, one.level, one.name, one.state)),
      `${seconds(one.segment_start_ns)} s`, `${one.open ? "at least " : ""}${duration(one.segment_end_ns - one.segment_start_ns)}`]));
  }

  inside() {
    const { inside, level, inside_left_out: more } = this.answer;
    if (!inside.length) return [];
    const made = this.table("In it", ["Name", "Count", "Total", "Longest"], inside.map((part) => [part.name,
      part.count.toLocaleString("en"), duration(part.total_ns), button(duration(part.longest_ns), "Select the longest",
        () => this.select(part.longest_at_ns, part.longest_at_ns + part.longest_ns, level + 1, part.name, null))]));
    return more ? [...made, element("p", { className: "area-note" }, `and ${more} more names`)] : made;
  }

  arrows(which, title) {
    const arrows = this.answer[which], all = this.answer[`${which}_count`];
    if (!arrows.length) return [];
    const made = this.table(title, ["Lane", "From", "To"], arrows.map((arrow) => [
      button(arrow.lane_name, "Show its lane", () => this.page.showLane(arrow.lane, which === "wakes" ? arrow.to_ns : arrow.from_ns)),
      `${seconds(arrow.from_ns)} s`, `${seconds(arrow.to_ns)} s`]));
    return all > arrows.length ? [...made, element("p", { className: "area-note" }, `and ${all - arrows.length} more`)] : made;
  }

  events() {
    const { events } = this.answer;
    if (!events.length) return [];
    return this.table("Its events", ["Event", "Time", "Fields"], events.map((event) => {
      const fields = Object.entries(event.fields).map(([name, text]) => `${name} = ${text}`).join(", ");
      return [button(event.name, "Go to it in the list", () => this.page.goToEvent(event)), `${seconds(event.time_ns)} s`,
        event.context_url ? element("a", { href: event.context_url }, fields) : fields];
    }));
  }
}

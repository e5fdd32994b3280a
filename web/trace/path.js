// SPDX-License-Identifier: Apache-2.0
// The critical path of one lane: what it is made of as a table. Its pieces are drawn over the timeline's lanes.
import { button, duration, element, seconds } from "./util.js";

const TOLD = { running: "runs", ready: "waits for a CPU", collection: "waits for garbage collection", "handed over": "waits to be told", interrupt: "waits for a device or timer",
  unknown: "waits for something unknown" };

export class Path {
  constructor(page) {
    this.page = page;
    this.answer = null;
    this.note = element("p", { className: "area-note", role: "status" });
    this.table = element("table", { className: "tree boxed parts" });
    this.node = element("div", { className: "panel-path" }, this.note, element("div", { className: "wide" }, this.table));
  }

  ask() {
    const { page } = this, { area } = page, { start, end } = page.window;
    if (area?.lanes.length !== 1) {
      this.answer = null;
      this.note.textContent = "Select a box of a thread and press C: who made it wait, over the window. Of an area on one lane, over the area.";
      this.table.replaceChildren();
      return;
    }
    const asked = JSON.stringify(area);
    if (asked === this.asked && this.answer?.done && !this.answer.incomplete) return;
    this.asked = asked;
    this.note.textContent = "Looking for who made it wait…";
    page.link.ask("path", { view: "path", start, end, area_start: area.start, area_end: area.end, in: area.lanes[0] });
  }

  moved() {}

  // For the timeline; only while the panel is open.
  get pieces() {
    return this.page.panel === "path" ? this.answer?.pieces ?? [] : [];
  }

  take(answer) {
    this.answer = answer;
    this.page.draw();
    this.draw();
  }

  draw() {
    const { answer, page } = this;
    if (!answer) return;
    const length = answer.area_end_ns - answer.area_start_ns;
    this.note.textContent = answer.problem ?? (answer.done
      ? `Why ${answer.name} took from ${seconds(answer.area_start_ns, 6)} to ${seconds(answer.area_end_ns, 6)} s (${duration(length)})` +
        `${answer.left_out ? `; ${answer.left_out} of its pieces are not drawn` : ""}`
      : "Reading all segments of the trace…");
    const head = element("tr", {}, ...["What", "Count", "Time", "Share", "Longest"].map((title, i) =>
      element("th", { scope: "col", className: i ? "number" : "" }, title)));
    const rows = answer.parts.map((part) => {
      const own = part.lane === answer.lane;
      const share = length ? (100 * part.time_ns) / length : 0;
      const name = element("th", { scope: "row" }, `${part.name} ${TOLD[part.kind]}`,
        part.state ? ` (${part.state})` : "", " ", element("small", {}, own ? "" : "made it wait"));
      return element("tr", {}, name, element("td", { className: "number" }, part.count.toLocaleString("en")),
        element("td", { className: `number bar p${Math.round(share)} pct` }, duration(part.time_ns)),
        element("td", { className: "number" }, `${share.toFixed(share < 10 ? 2 : 1)} %`),
        element("td", { className: "number" }, button(duration(part.longest_ns), "Go there", () => page.goTo(part))));
    });
    this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
  }
}

// SPDX-License-Identifier: Apache-2.0
// A query over the segments or events of the area, else of the window: groups with counts, sums and percentiles.
import { button, duration, element, seconds } from "./util.js";

const EXAMPLES = ["segment.state = waiting | group by segment.name, lane.name | show count, sum, p99, max",
  "segment.duration >= 1ms | group by segment.name", "group by segment.start every 100ms, segment.state | show sum(segment.self)",
  "events | group by event.name"];
const NOT_RECORDED = "–";
const ABSOLUTE = /^(segment\.(start|end)|event\.time)/;

// Whether a text in the page's search box is a query, not a filter; and whether a filter dims segments, or chooses events.
export const isQuery = (text) => /^\s*(segments|events)\b|\|\s*(group\s+by|show|order\s+by|limit|where)\b|^\s*(group\s+by|show)\b/i.test(text);
export const dims = (text) => /\bsegment\./i.test(text) || (/\blane\./i.test(text) && !/\b(event|state|channel|tracefile)\./i.test(text));
export const selects = (text) => !/\bsegment\./i.test(text);

export class Query {
  constructor(page) {
    this.page = page;
    this.input = element("input", { type: "search", name: "query", spellcheck: false, autocomplete: "off",
      placeholder: EXAMPLES[0], "aria-label": "Query" });
    const form = element("form", { className: "filter query" }, this.input, button("Ask", "Answer the query", () => this.submit()));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.problem = element("strong", { className: "problem", role: "alert" });
    this.note = element("p", { className: "area-note", role: "status" });
    this.examples = element("p", { className: "area-note" }, "For example: ", ...EXAMPLES.flatMap((text) =>
      [button(text, "Ask this", () => this.set(text)), " "]));
    this.tables = element("div");
    this.node = element("div", { className: "panel-query" }, form, this.problem, this.note, this.examples, this.tables);
  }

  submit() {
    this.set(this.input.value.trim());
  }

  set(text) {
    this.page.query = text;
    this.ask();
    this.page.remember();
  }

  parameters() {
    const { page } = this, { start, end } = page.window, { area } = page;
    return { view: "query", start, end, query: page.query, area_start: area ? area.start : "", area_end: area ? area.end : "",
      in: area?.lanes.join(",") ?? "", hide: [...page.choice.hidden].join(",") };
  }

  ask() {
    const { stays } = this;
    this.stays = false;
    if (stays && this.answer) return;
    this.input.value = this.page.query;
    if (!this.page.query) {
      this.answer = this.asked = null;
      this.note.textContent = "Spans, states or events, grouped as you ask; the keys (?) and the manual of fathom log tell the words.";
      this.problem.textContent = "";
      this.examples.hidden = false;
      this.tables.replaceChildren();
      return;
    }
    const parameters = this.parameters();
    const asked = JSON.stringify(this.page.area ? { ...parameters, start: 0, end: 0 } : parameters);
    if (asked === this.asked && this.answer?.done && !this.answer.incomplete) return;
    this.asked = asked;
    this.page.link.ask("query", parameters);
  }

  moved() {}

  take(answer) {
    this.answer = answer;
    this.draw();
  }

  draw() {
    const { answer, page } = this;
    if (!answer) return;
    const wrong = answer.tables.length === 0 && answer.done ? answer.problem : "";
    this.problem.textContent = wrong ?? "";
    this.input.setAttribute("aria-invalid", String(Boolean(wrong)));
    this.examples.hidden = !wrong;
    const counted = answer.tables.reduce((sum, table) => sum + table.counted, 0);
    const format = (name) => element("a", { href: page.link.address(`trace.${name}`, this.parameters()), download: `query.${name}` },
      name.toUpperCase());
    this.note.replaceChildren(...(wrong ? [] : [
      answer.done ? `${counted.toLocaleString("en")} ${answer.of} from ${seconds(answer.area_start_ns, 6)} to ` +
        `${seconds(answer.area_end_ns, 6)} s${counted ? "" : ": nothing passes the query"}. Save as ` : "Reading… ", format("csv"), " ", format("json")]));
    this.tables.replaceChildren(...answer.tables.flatMap((table) => this.table(table)));
  }

  table({ trace, rows, groups, lost, greatest }) {
    const columns = this.answer.columns_shown;
    const firstMax = columns.findIndex(({ title }) => title.startsWith("max("));
    const texts = columns.map((column, i) => column.key && rows.every((row) => row[i] === null || typeof row[i] === "string"));
    const head = element("tr", {}, ...columns.map(({ title }, i) =>
      element("th", { scope: "col", className: texts[i] ? "" : "number" }, title)));
    const lines = rows.map((row, at) => element("tr", {}, ...row.map((value, i) => {
      const text = this.text(value, columns[i]);
      const leads = i === firstMax && greatest[at];
      return element(columns[i].key && i === 0 ? "th" : "td", { className: texts[i] ? "" : "number" },
        leads ? button(text, "Select it", () => this.go(greatest[at])) : text);
    })));
    const name = this.answer.tables.length > 1 ? [element("b", {}, this.page.set.files[trace].name)] : [];
    const more = [groups > rows.length ? `${groups - rows.length} more groups; "limit" shows more. ` : "",
      lost ? `${lost.toLocaleString("en")} found no room in a group.` : ""].join("");
    return [...name, element("div", { className: "wide" }, element("table", { className: "tree boxed groups" },
      element("thead", {}, head), element("tbody", {}, ...lines))), element("p", { className: "area-note" }, more)];
  }

  text(value, { title, key, time }) {
    if (value === null) return NOT_RECORDED;
    if (typeof value === "string") return value;
    if (time) return key && ABSOLUTE.test(title) ? `${seconds(value)} s` : duration(value);
    return value.toLocaleString("en", { maximumFractionDigits: 6 });
  }

  go({ lane, level, start_ns: start, end_ns: end }) {
    this.page.select([lane, start, level, end, null, null]);
    this.page.goTo({ longest_at_ns: start, longest_ns: end - start });
  }
}

// SPDX-License-Identifier: Apache-2.0
// Totals and durations of an area: an interval on chosen lanes, else the window. A row's durations are drawn; a bar of
// them leaves only what took so long. Another area can be compared with one that is kept.
import { Flame } from "./flame.js";
import { button, duration, element, seconds } from "./util.js";

const GROUPS = [["name", "Name"], ["state", "State"], ["lane", "Lane"], ["kind", "Kind of lane"], ["stack", "Flame graph"]];
const COLUMNS = [
  ["name", "What", (row) => row.name],
  ["count", "Count", (row) => row.count],
  ["total", "Total", (row) => row.total_ns],
  ["self", "Self", (row) => row.self_ns],
  ["mean", "Mean", (row) => row.mean_ns],
  ["p50", "50 %", (row) => row.p50_ns],
  ["p90", "90 %", (row) => row.p90_ns],
  ["p99", "99 %", (row) => row.p99_ns],
  ["longest", "Longest", (row) => row.longest_ns],
];
const NOT_RECORDED = "–";

const keyOf = (row) => `${row.trace} ${row.kind} ${row.name}`;

export class Area {
  constructor(page) {
    this.page = page;
    this.sort = "total";
    this.chosen = null; // key of the row whose durations are drawn
    this.kept = null; // rows of another area by key
    this.tools = element("div", { className: "tools", role: "group", "aria-label": "Put together by" });
    this.note = element("p", { className: "area-note", role: "status" });
    this.table = element("table", { className: "tree boxed totals" });
    this.bars = element("div", { className: "durations" });
    this.flame = new Flame();
    this.node = element("div", { className: "panel-area" }, this.tools, this.note, this.flame.node, this.bars,
      element("div", { className: "wide" }, this.table));
  }

  parameters() {
    const { page } = this, { start, end } = page.window, { area } = page;
    return { view: "area", start, end, area_start: area ? area.start : "", area_end: area ? area.end : "",
      in: area?.lanes.join(",") ?? "", by: page.by === "name" ? "" : page.by, least: page.least ?? "", most: page.most ?? "",
      hide: [...page.choice.hidden].join(",") };
  }

  ask() {
    const { stays } = this;
    this.stays = false;
    if (stays && this.answer) return;
    const parameters = this.parameters();
    const asked = JSON.stringify(this.page.area ? { ...parameters, start: 0, end: 0 } : parameters);
    if (asked === this.asked && this.answer?.done && !this.answer.incomplete) return this.draw();
    this.asked = asked;
    this.drawTools();
    this.page.link.ask("area", parameters);
  }

  moved() {}

  take(answer) {
    this.answer = answer;
    if (!answer.rows.some((row) => keyOf(row) === this.chosen)) this.chosen = null;
    this.draw();
  }

  drawTools() {
    const { page } = this;
    const groups = GROUPS.map(([by, label]) => {
      const made = button(label, by === "stack" ? "What lies in what, each as wide as its time" : `Put together by ${label.toLowerCase()}`, () => {
        page.by = by;
        this.chosen = this.kept = null;
        this.flame.chosen.clear();
        this.ask();
        page.remember();
      });
      made.setAttribute("aria-pressed", String(page.by === by));
      return made;
    });
    const more = [];
    if (page.least !== null || page.most !== null)
      more.push(button(`Only ${duration(page.least ?? 0)} to ${duration(page.most ?? 0)} ×`, "Show all durations again",
        () => page.setDurations(null, null)));
    if (page.area)
      more.push(button("Zoom to it", "Make the area the window", () => page.setWindow(page.area.start, page.area.end)),
        button("Drop it", "Totals of the window again (Esc)", () => page.setArea(null)));
    if (page.by !== "stack") more.push(this.kept ? button("Compare no more", "Drop the area that is kept", () => this.keep(false))
      : button("Keep to compare", "Compare the next area with this one", () => this.keep(true)));
    const format = (name) => element("a", { href: page.link.address(`trace.${name}`, this.parameters()),
      download: `area.${name}` }, name.toUpperCase());
    this.tools.replaceChildren(element("span", { className: "buttons" }, ...groups), ...more,
      element("span", { className: "found" }, "Save as ", format("csv"), " ", format("json")));
  }

  keep(keep) {
    this.kept = keep && this.answer ? new Map(this.answer.rows.map((row) => [keyOf(row), row])) : null;
    this.draw();
  }

  draw() {
    const { answer, page } = this;
    this.drawTools();
    if (!answer) return;
    const { area } = page;
    const where = area ? `${area.lanes.length || "all"} lanes, ` : "the window, all lanes that are not hidden, ";
    this.note.textContent = answer.done
      ? `${where}${seconds(answer.area_start_ns, 6)} to ${seconds(answer.area_end_ns, 6)} s` +
        ` (${duration(answer.area_end_ns - answer.area_start_ns)})` +
        `${answer.left_out ? `; ${answer.left_out} more rows are left out` : ""}${answer.problem ? `. ${answer.problem}` : ""}`
      : "Reading all segments of the trace…";
    const byStack = answer.by === "stack";
    this.table.hidden = byStack;
    this.flame.node.hidden = !byStack;
    if (byStack) this.flame.draw(answer.trees, page.files);
    const columns = this.kept ? [...COLUMNS.slice(0, 3), ["kept", "Total before", (row) => this.before(row)],
      ["difference", "Difference", (row) => row.total_ns - this.before(row)], ...COLUMNS.slice(3)] : COLUMNS;
    const value = (columns.find(([id]) => id === this.sort) ?? COLUMNS[2])[2];
    const rows = [...answer.rows, ...this.gone()].sort((a, b) => (this.sort === "name"
      ? a.name.localeCompare(b.name) : (value(b) ?? -1) - (value(a) ?? -1)));
    const greatest = Math.max(...rows.map((row) => row.total_ns), 1);
    const head = element("tr", {}, ...columns.map(([id, title]) => {
      const cell = element("th", { scope: "col", className: id === "name" ? "" : "number" },
        button(title, `Sort by ${title}`, () => {
          this.sort = id;
          this.draw();
        }));
      if (id === this.sort) cell.setAttribute("aria-sort", id === "name" ? "ascending" : "descending");
      return cell;
    }));
    this.table.replaceChildren(element("thead", {}, head),
      element("tbody", {}, ...rows.map((row) => this.row(row, columns, greatest))));
    this.drawDurations();
  }

  before(row) {
    return this.kept?.get(keyOf(row))?.total_ns ?? 0;
  }

  // Rows of the kept area that this one does not have.
  gone() {
    const here = new Set(this.answer.rows.map(keyOf));
    return [...this.kept ?? []].filter(([key]) => !here.has(key))
      .map(([, { trace, kind, name }]) => ({ trace, kind, name, count: 0, total_ns: 0, self_ns: 0 }));
  }

  row(row, columns, greatest) {
    const chosen = keyOf(row) === this.chosen;
    const name = element("th", { scope: "row" }, button(row.name ?? "?", "Its durations", () => {
      this.chosen = chosen ? null : keyOf(row);
      this.draw();
    }), " ", element("small", {}, row.kind));
    const cells = columns.slice(1).map(([id, , value]) => {
      const number = value(row);
      if (number === undefined || number === null) return element("td", { className: "number" }, NOT_RECORDED);
      if (id === "count") return element("td", { className: "number" }, number.toLocaleString("en"));
      if (id === "difference")
        return element("td", { className: "number" }, `${number < 0 ? "−" : "+"}${duration(Math.abs(number))}`);
      if (id === "longest")
        return element("td", { className: "number" }, button(duration(number), "Go there", () => this.page.goTo(row)));
      return element("td", { className: `number${id === "total" ? ` bar p${Math.round((100 * number) / greatest)} pct` : ""}` },
        duration(number));
    });
    const made = element("tr", { className: chosen ? "selected" : "" }, name, ...cells);
    made.setAttribute("aria-selected", String(chosen));
    return made;
  }

  // A bar for each eighth of a doubling.
  drawDurations() {
    const row = this.answer.rows.find((one) => keyOf(one) === this.chosen);
    this.bars.hidden = !row;
    if (!row) return this.bars.replaceChildren();
    if (!row.bars?.length) return this.bars.replaceChildren(`Durations of ${row.name} are not recorded.`);
    const greatest = Math.max(...row.bars.map(([, , count]) => count));
    const byBegin = new Map(row.bars.map((bar) => [bar[0], bar]));
    const made = [];
    for (let at = row.bars[0][0]; at <= row.bars.at(-1)[0];) {
      const [least, end, count] = byBegin.get(at) ?? [at, nextBar(at), 0];
      const text = `${duration(least)} to ${duration(end)}: ${count.toLocaleString("en")}`;
      const bar = button("", text, () => this.page.setDurations(least, end - 1));
      bar.setAttribute("aria-label", text);
      bar.disabled = count === 0;
      const filled = element("i");
      filled.style.height = `${count ? Math.max(3, (100 * count) / greatest) : 0}%`;
      bar.append(filled);
      made.push(bar);
      at = end;
    }
    this.bars.replaceChildren(element("b", {}, `Durations of ${row.name}`),
      element("div", { className: "columns-of-time" }, ...made),
      element("div", { className: "ends" }, element("span", {}, duration(row.bars[0][0])),
        element("span", {}, `greatest column: ${greatest.toLocaleString("en")}`),
        element("span", {}, duration(row.bars.at(-1)[1]))));
  }
}

// The end of the bar that begins there: sixteen values wide below 256, else an eighth of the power of two.
function nextBar(least) {
  return least < 256 ? least + 16 : least + 2 ** (Math.floor(Math.log2(least)) - 3);
}

// SPDX-License-Identifier: Apache-2.0
// The statistics as a tree: rows open and close; sorted by any column; for the window or the whole trace.
import { button, duration, element } from "./util.js";

const COLUMNS = [
  ["name", "What", (node) => node.name],
  ["time", "Time", (node) => node.time_ns],
  ["share", "Of the window", (node) => node.time_ns],
  ["self", "Self", (node) => node.self_ns],
  ["count", "Count", (node) => node.count],
  ["longest", "Longest", (node) => node.longest_ns],
  ["events", "Events", (node) => node.events],
];

export class Statistics {
  constructor(page) {
    this.page = page;
    this.open = new Set();
    this.sort = "time";
    this.whole = false;
    this.words = "";
    this.tools = element("div", { className: "tools" });
    this.table = element("table", { className: "tree boxed" });
    this.node = element("div", { className: "panel-statistics" }, this.tools, this.table);
    const find = element("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter rows" });
    find.addEventListener("input", () => {
      this.words = find.value.toLowerCase();
      this.draw();
    });
    this.scope = button("", "Statistics of the window, or of the whole trace", () => {
      this.whole = !this.whole;
      this.ask();
    });
    this.links = element("span", { className: "found" });
    this.tools.append(this.scope, find, this.links);
  }

  ask() {
    const { start, end } = this.page.window;
    const parameters = { ...this.page.common(), view: "statistics", sort: this.sort === "share" ? "time" : this.sort,
      scope: this.whole ? "trace" : "", start: this.whole ? "" : start, end: this.whole ? "" : end };
    this.scope.textContent = this.whole ? "Whole trace ▸ show the window" : "This window ▸ show the whole trace";
    this.links.replaceChildren("Save as ", ...["csv", "json"].flatMap((format) =>
      [element("a", { href: this.page.link.address(`trace.${format}`, parameters), download: `statistics.${format}` },
        format.toUpperCase()), " "]));
    this.page.link.ask("statistics", parameters);
  }

  moved() {}

  take(answer) {
    this.answer = answer;
    this.paths = [];
    for (const node of answer.nodes)
      this.paths.push(node.parent < 0 ? `${node.trace}` : `${this.paths[node.parent]}/${node.name}`);
    if (!this.open.size) // the first levels are open
      answer.nodes.forEach((node, i) => node.depth < 2 && this.open.add(this.paths[i]));
    this.draw();
  }

  draw() {
    const { answer } = this;
    if (!answer) return;
    const children = new Map();
    for (const node of answer.nodes) {
      if (!children.has(node.parent)) children.set(node.parent, []);
      children.get(node.parent).push(node);
    }
    const value = COLUMNS.find(([id]) => id === this.sort)[2];
    for (const list of children.values())
      list.sort((a, b) => (this.sort === "name" ? String(a.name).localeCompare(String(b.name)) : value(b) - value(a)));
    const rows = [];
    const visit = (node) => {
      const below = children.get(node.id) ?? [];
      const matches = this.words && String(node.name).toLowerCase().includes(this.words);
      if (!this.words || matches) rows.push(this.row(node, below, children));
      if (this.words || this.open.has(this.paths[node.id])) below.forEach(visit);
    };
    (children.get(-1) ?? []).forEach(visit);
    const head = element("tr", {}, ...COLUMNS.map(([id, title]) => {
      const cell = element("th", { scope: "col", className: id === "name" ? "" : "number" },
        button(title, `Sort by ${title}`, () => {
          this.sort = id;
          this.draw();
        }));
      if (id === this.sort) cell.setAttribute("aria-sort", id === "name" ? "ascending" : "descending");
      return cell;
    }));
    this.table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
  }

  row(node, below, children) {
    const { answer, page } = this;
    const path = this.paths[node.id], opened = this.open.has(path) || this.words;
    const siblings = children.get(node.parent) ?? [node];
    const greatest = Math.max(...siblings.map((one) => one.time_ns), 1);
    const share = answer.length_ns ? (100 * node.time_ns) / answer.length_ns : 0;
    const name = element("th", { scope: "row", className: node.depth < 2 ? "top" : "" });
    name.style.paddingLeft = `${0.5 + node.depth * 1.1}rem`;
    if (below.length) {
      const fold = button(opened ? "▾" : "▸", opened ? "Close" : "Open", () => {
        if (this.open.has(path)) this.open.delete(path);
        else this.open.add(path);
        this.draw();
      });
      fold.className = "fold";
      fold.setAttribute("aria-expanded", String(Boolean(opened)));
      name.append(fold);
    } else name.append(element("span", { className: "fold" }));
    name.append(node.parent < 0 ? String(node.name).split("/").at(-1) : node.name ?? "?");
    if (node.left_out) name.append(element("small", {}, ` and ${node.left_out} more`));
    const longest = element("td", { className: "number" });
    if (node.longest_ns)
      longest.append(button(duration(node.longest_ns), "Go there", () =>
        page.setWindow(node.longest_at_ns - node.longest_ns, node.longest_at_ns + 2 * node.longest_ns)));
    const time = element("td", { className: `number bar p${Math.round((100 * node.time_ns) / greatest)} pct` },
      node.time_ns ? duration(node.time_ns) : "");
    const number = (text) => element("td", { className: "number" }, text);
    return element("tr", {}, name, time, number(node.time_ns && !node.shared ? `${share.toFixed(share < 10 ? 2 : 1)} %` : ""),
      number(node.self_ns ? duration(node.self_ns) : ""), number(node.count ? node.count.toLocaleString("en") : ""),
      longest, number(node.events ? node.events.toLocaleString("en") : ""));
  }
}

// SPDX-License-Identifier: Apache-2.0
// Conveniences for pages that are complete without it: a filter and a copy button for tables, sorting by columns that
// the server does not sort by, keys, and reloading an unfinished page.
"use strict";

const FILTER_ROWS_MIN = 12;
const RELOAD_MS = 2000;
const LONG_ROWS = 400; // longer tables show only a part of their rows
const WINDOW_ROWS = 150;
const ROW_PIXELS = 24; // until it has been measured

// "1,234.50" -> 1234.5; "10.0ms" -> 0.01; text that is not a number sorts last.
function cellNumber(text) {
  const units = { ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };
  const found = /^(-?[\d,]*\.?\d+)(ps|ns|us|ms|s)?$/.exec(text.trim());
  if (!found) return -Infinity;
  return Number(found[1].replaceAll(",", "")) * (units[found[2]] ?? 1);
}

// The cell of a row that covers a column, counting spans.
function cellAt(row, column) {
  let at = 0;
  for (const cell of row.cells) {
    at += cell.colSpan;
    if (column < at) return cell;
  }
  return null;
}

// The lowest heading cell of each column, in order.
function columnHeads(table) {
  const heads = [];
  const rows = table.tHead ? [...table.tHead.rows] : [];
  const taken = rows.map(() => []);
  rows.forEach((row, y) => {
    let x = 0;
    for (const cell of row.cells) {
      while (taken[y][x]) x++;
      for (let dy = 0; dy < cell.rowSpan && y + dy < rows.length; dy++)
        for (let dx = 0; dx < cell.colSpan; dx++) taken[y + dy][x + dx] = cell;
      x += cell.colSpan;
    }
  });
  if (rows.length) heads.push(...taken[rows.length - 1]);
  return heads;
}

// Keeps only the visible rows of a long table and those near them in the document; two empty rows stand for the rest.
// Without scripts, on paper, and on request, all rows are there.
class RowWindow {
  constructor(table) {
    this.body = table.tBodies[0];
    this.all = [...this.body.rows];
    this.listed = this.all;
    this.frame = table.closest(".wide");
    const columns = Math.max(...[...this.all[0].cells].map((_, at, cells) => at + cells[at].colSpan), 1);
    [this.above, this.below] = [0, 1].map(() => {
      const row = document.createElement("tr");
      row.className = "spacer";
      row.append(Object.assign(document.createElement("td"), { colSpan: columns }));
      return row;
    });
    table.setAttribute("aria-rowcount", String(this.all.length));
    this.height = ROW_PIXELS;
    this.draw(0);
    this.height = this.body.offsetHeight ? this.measure() : ROW_PIXELS;
    for (const head of columnHeads(table)) if (head) head.style.minWidth = `${head.offsetWidth}px`;
    this.draw(0);
    const scrolled = () => {
      this.waiting ??= requestAnimationFrame(() => { this.waiting = undefined; this.follow(); });
    };
    window.addEventListener("scroll", scrolled, { passive: true });
    this.frame?.addEventListener("scroll", scrolled, { passive: true });
    window.addEventListener("beforeprint", () => this.drawAll());
    window.addEventListener("afterprint", () => this.draw(0));
  }

  measure() {
    const rows = [...this.body.rows].slice(1, -1);
    return Math.max(1, rows.reduce((sum, row) => sum + row.offsetHeight, 0) / Math.max(rows.length, 1));
  }

  draw(first) {
    if (this.whole) return;
    this.first = Math.max(0, Math.min(first, this.listed.length - WINDOW_ROWS));
    const rows = this.listed.slice(this.first, this.first + WINDOW_ROWS);
    this.above.cells[0].style.height = `${this.first * this.height}px`;
    this.below.cells[0].style.height = `${(this.listed.length - this.first - rows.length) * this.height}px`;
    this.body.replaceChildren(this.above, ...rows, this.below);
  }

  drawAll() {
    this.body.replaceChildren(...this.listed);
  }

  showAll() {
    this.whole = true;
    this.drawAll();
  }

  list(rows) {
    this.listed = rows;
    if (this.whole) this.drawAll();
    else this.draw(0);
  }

  follow() {
    if (this.whole) return;
    const top = Math.max(0, this.frame?.getBoundingClientRect().top ?? 0);
    const seen = Math.floor((top - this.body.getBoundingClientRect().top) / this.height);
    const near = WINDOW_ROWS / 5;
    if (seen < this.first + (this.first ? near : 0) || seen > this.first + WINDOW_ROWS - 3 * near)
      this.draw(seen - WINDOW_ROWS / 3 | 0);
  }
}

const windows = new WeakMap(); // by table

function rowsOf(table) {
  return windows.get(table)?.all ?? [...table.querySelectorAll("tbody tr")];
}

function addWindow(table) {
  if (!isFlat(table) || table.tBodies[0].rows.length < LONG_ROWS) return;
  const rows = new RowWindow(table);
  windows.set(table, rows);
  const all = document.createElement("button");
  all.type = "button";
  all.textContent = `All ${rows.all.length.toLocaleString("en-US")} rows in the page`;
  all.title = "For the browser's own search; slow";
  all.addEventListener("click", () => {
    rows.showAll();
    all.remove();
  });
  (table.closest(".wide") ?? table).parentElement.querySelector(".tools")?.append(all);
}

function sortBy(table, column, head) {
  const body = table.tBodies[0];
  const rows = windows.get(table);
  const down = head.getAttribute("aria-sort") !== "descending";
  const keyed = (rows?.listed ?? [...body.rows]).map((row) => [cellNumber(cellAt(row, column)?.textContent ?? ""), row]);
  keyed.sort((a, b) => (a[0] === b[0] ? 0 : (a[0] < b[0]) === down ? 1 : -1));
  const sorted = keyed.map((pair) => pair[1]);
  if (rows) rows.list(sorted);
  else body.append(...sorted);
  for (const other of table.tHead.querySelectorAll("[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
}

// Whether the table may be sorted: sorting would separate rows that belong together.
function isFlat(table) {
  return table.tBodies.length === 1 && table.tBodies[0].rows.length > 1 &&
    !table.querySelector("tr.sep, tr.section, [data-depth], .r-sum");
}

// The name of a column; with its group when several have one title: "%, of Self, Time, top procs".
function columnName(table, column) {
  const heads = columnHeads(table);
  const title = heads[column].textContent.trim();
  const of = title === "%" && column > 0 ? `of ${heads[column - 1].textContent.trim()}` : "";
  const group = table.tHead.rows.length > 1 ? cellAt(table.tHead.rows[0], column)?.textContent.trim() : "";
  return [title, of, group === title ? "" : group, table.caption?.textContent.trim()].filter(Boolean).join(", ");
}

function addSorting(table) {
  if (!isFlat(table)) return;
  columnHeads(table).forEach((head, column) => {
    const sample = cellAt(table.tBodies[0].rows[0], column);
    if (!head || head.querySelector("a, button") || !sample) return;
    if (cellNumber(sample.textContent) === -Infinity) return;
    const button = document.createElement("button");
    button.type = "button";
    button.title = "Sort the rows of this page";
    button.setAttribute("aria-label", columnName(table, column));
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortBy(table, column, head));
  });
}

function filterRows(table, text, found) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  table.classList.toggle("filtered", words.length > 0);
  for (const row of rowsOf(table)) {
    const frame = row.matches(".sep, .section");
    const content = row.textContent.toLowerCase();
    row.hidden = words.length > 0 && (frame || !words.every((word) => content.includes(word)));
    if (!frame && !row.hidden) shown++;
  }
  found.textContent = words.length ? `${shown} rows` : "";
  const long = windows.get(table);
  long?.list(long.all.filter((row) => !row.hidden));
}

// A table as CSV (RFC 4180), without commas in numbers.
function tableCsv(table) {
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const heads = columnHeads(table).map((head) => head.textContent.trim());
  const lines = heads.length ? [heads.map(quote).join(",")] : [];
  for (const row of windows.get(table)?.listed ?? table.querySelectorAll("tbody tr:not(.sep, .section)")) {
    const fields = [];
    if (row.hidden) continue;
    for (const cell of row.cells) {
      const text = cell.textContent.trim();
      fields.push(quote(/^-?[\d,]+(\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text));
      for (let i = 1; i < cell.colSpan; i++) fields.push("");
    }
    lines.push(fields.join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

function addTools(table) {
  const rows = table.querySelectorAll("tbody tr").length;
  if (rows < FILTER_ROWS_MIN || table.matches(".pairs")) return;
  const bar = document.createElement("div");
  bar.className = "tools";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Filter rows  ( f )";
  input.title = "Press ? for the keys";
  input.setAttribute("aria-label", "Filter rows");
  const found = document.createElement("span");
  found.className = "found";
  found.setAttribute("role", "status");
  input.addEventListener("input", () => filterRows(table, input.value, found));
  bar.append(input);
  if (navigator.clipboard) {
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy as CSV";
    copy.addEventListener("click", () =>
      navigator.clipboard.writeText(tableCsv(table)).then(
        () => { found.textContent = "copied"; },
        () => { found.textContent = "the browser did not allow copying"; }));
    bar.append(copy);
  }
  bar.append(found);
  table.before(bar);
}

const KEYS = [
  ["/", "search functions and files"],
  ["f", "filter the rows"],
  ["j", "next row"],
  ["k", "previous row"],
  ["Enter", "follow the row's link"],
  ["u", "back"],
  ["m", "menu"],
  ["r", "root"],
  ["o", "modules"],
  ["t", "top procedures"],
  ["c", "controls"],
  ["?", "these keys"],
];

// Focus goes from row to row along the links that name them.
function moveRow(step) {
  const links = [...document.querySelectorAll("tbody tr:not([hidden])")]
    .filter((row) => !row.closest(".part[hidden]"))
    .map((row) => row.querySelector('th[scope="row"] a') ?? row.querySelector("a"))
    .filter(Boolean);
  if (!links.length) return;
  const row = document.activeElement.closest("tbody tr");
  const at = links.findIndex((link) => link.closest("tr") === row);
  links[at < 0 ? (step > 0 ? 0 : links.length - 1)
    : Math.min(Math.max(at + step, 0), links.length - 1)].focus();
}

function showKeys() {
  let dialog = document.querySelector("dialog.keys");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.className = "keys";
    const title = document.createElement("h2");
    title.textContent = "Keys";
    const list = document.createElement("dl");
    for (const [key, meaning] of KEYS) {
      const term = document.createElement("dt");
      const sign = document.createElement("kbd");
      const what = document.createElement("dd");
      sign.textContent = key;
      what.textContent = meaning;
      term.append(sign);
      list.append(term, what);
    }
    dialog.append(title, list);
    document.body.append(dialog);
  }
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function focusControls() {
  const controls = document.getElementById("controls");
  const folded = controls?.querySelector("details");
  if (folded) folded.open = true;
  controls?.scrollIntoView();
  controls?.querySelector("a")?.focus();
}

function focusFilter(event) {
  const input = [...document.querySelectorAll(".tools input")].find((each) => !each.closest(".part[hidden]"));
  if (!input) return;
  event.preventDefault();
  input.focus();
}

function focusSearch(event) {
  const input = document.getElementById("search");
  if (!input) {
    focusFilter(event);
    return;
  }
  event.preventDefault();
  input.focus();
  input.select();
}

// Names that hold what is typed, as the browser's own completion.
function completeSearch(input) {
  if (!input) return;
  const list = document.createElement("datalist");
  const file = input.form.elements.file.value;
  let asked = "", timer = 0;
  list.id = "search-names";
  input.setAttribute("list", list.id);
  input.form.append(list);
  async function ask() {
    const text = input.value.trim();
    if (text.length < 2 || text === asked) return;
    asked = text;
    const encode = encodeURIComponent;
    const answer = await fetch(`deep.json?find/${encode(text)}&${encode(file)}`);
    if (!answer.ok || asked !== text) return;
    const page = await answer.json();
    list.replaceChildren(...(page.tables[0]?.rows ?? []).slice(0, 20).map((row) => {
      const option = document.createElement("option");
      option.value = row.cells.name;
      option.label = row.cells.source ?? row.cells.kind;
      return option;
    }));
  }
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { ask().catch(() => { asked = ""; }); }, 120);
  });
}

const ACTIONS = {
  "/": focusSearch,
  f: focusFilter,
  "?": showKeys,
  j: () => moveRow(1),
  k: () => moveRow(-1),
  u: () => history.back(),
  c: focusControls,
  m: () => document.getElementById("nav-menu")?.click(),
  r: () => document.getElementById("nav-root")?.click(),
  o: () => document.getElementById("nav-modules")?.click(),
  t: () => document.getElementById("nav-top")?.click(),
};

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.closest("input, textarea, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (Object.hasOwn(ACTIONS, event.key)) ACTIONS[event.key](event);
}

// When the reader, or a script, last left for another page. "beforeunload" is not used: its handlers run before the
// browser goes to a typed address, and a page replaced at that moment loses the address for good.
let leftAt = -Infinity;
function leave(event) {
  if (!event.defaultPrevented) leftAt = performance.now(); // it may be a download, and then the page stays
}
function watchLeaving() {
  if (window.navigation) {
    window.navigation.addEventListener("navigate", (event) => {
      if (event.navigationType !== "reload" && !event.destination.sameDocument) leave(event);
    });
    return;
  }
  document.addEventListener("submit", leave);
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("a[href]")) leave(event);
  });
}

// Reloads the page, unless the browser is leaving it.
function askAgain() {
  const left = leftAt + RELOAD_MS - performance.now();
  if (left > 0) setTimeout(askAgain, left);
  else location.reload();
}

// Updates the progress line of an unfinished page, and reloads it when more is known than it shows. A hidden page
// closes its connection, because browsers allow few of them. Without streams the page is reloaded after a while.
function watchUnfinished(line) {
  if (!line) return;
  const { events, stage } = line.dataset;
  let source = null;
  function again() {
    source?.close();
    source = null;
    askAgain();
  }
  function later() {
    setTimeout(() => { if (!document.hidden) again(); }, RELOAD_MS);
  }
  function onState(event) {
    const state = JSON.parse(event.data);
    if (String(state.stage) !== stage || state.complete || state.failed) {
      again();
      return;
    }
    line.querySelector("span").textContent = state.text;
    line.querySelector("progress").value = state.whole * 1000;
  }
  function listen() {
    source = new EventSource(events);
    source.addEventListener("state", onState);
    source.addEventListener("ready", again);
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) later();
    });
  }
  if (!events || !window.EventSource) {
    later();
    return;
  }
  if (!document.hidden) listen();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      listen();
    }
  });
  window.addEventListener("pagehide", () => source?.close());
}

// Tables, figures and texts of a page: the parts that a later version may change.
const PARTS = "h1, h2, h3, p, dl, ul, figure";
function partsOf(root) {
  return [...root.querySelectorAll(PARTS)].filter((part) => !part.closest("table") &&
    !part.parentElement.closest(PARTS));
}
function takeServed(main) {
  const tables = [...main.querySelectorAll("table")].map((table) => [...table.querySelectorAll("tr")]);
  const parts = partsOf(main);
  return {
    tables,
    parts,
    rowTexts: tables.map((rows) => rows.map((row) => row.outerHTML)),
    partTexts: parts.map((part) => part.outerHTML),
  };
}
// As loaded, before it is sorted or filtered.
const growingLine = document.querySelector("#main .notice[data-live]");
const served = growingLine && takeServed(document.getElementById("main"));

// A listing of source that is longer than its frame is scrolled to the line of the address, which a reload forgets, or
// else to its hottest line.
function showLine(hottest) {
  const frame = hottest.closest(".wide");
  const named = /^#L\d+$/.test(location.hash) && frame.querySelector(location.hash);
  const at = (named || hottest).getBoundingClientRect(), around = frame.getBoundingClientRect();
  frame.scrollTop += at.top + at.height / 2 - around.top - frame.clientHeight / 2;
}

// Pages of traces have their own script (trace/main.js) instead of this one.
if (!document.body.matches(".trace")) {
  for (const table of document.querySelectorAll("table:not(.source)")) {
    addSorting(table);
    addTools(table);
    addWindow(table);
  }
  document.querySelectorAll("table.source tr.hottest").forEach(showLine);
  document.addEventListener("keydown", onKey);
  completeSearch(document.getElementById("search"));
  watchLeaving();
  watchUnfinished(document.querySelector(".incomplete"));
  if (served && window.EventSource)
    import("./profile/live.js").then(({ watchGrowing }) => watchGrowing(growingLine, served, partsOf, askAgain));
  for (const figure of document.querySelectorAll("figure.flame[data-query]"))
    import("./profile/flame.js").then(({ startFlame }) => startFlame(figure));
  const graph = document.querySelector("body:not(.kept) figure.callgraph");
  if (graph) import("./profile/graph.js").then(({ startGraph }) => startGraph(graph));
  const tree = document.querySelector("body:not(.kept) table.ranked:has([data-depth] .open)");
  if (tree) import("./profile/tree.js").then(({ startTree }) => startTree(tree));
}

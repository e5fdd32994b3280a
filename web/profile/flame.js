// SPDX-License-Identifier: Apache-2.0
// A flame graph on a canvas, replacing the server's SVG. The address has the whole state: the command has measure,
// direction, flags and focus, "#x=" the visible part of the width, "#find=" the search text. A zoom shows the known
// boxes at once, then fetches finer ones.
import { address, commandOf, formatAmount, formatCount, formatSeconds, formatShare, readAddress, readFlame, readState,
  writeFlame, writeState } from "./query.js";
import { boxAt, draw, findBoxes, readColours, readGraph, ROW_HEIGHT } from "./flame_picture.js";

const TIP_MS = 140;
const WIDTH_LEAST = 100, WIDTH_MOST = 8000; // device pixels that the server accepts
const BORDERS = 2; // pixels of the canvas's frame
const NARROWEST = 1e-6;
const SAMPLES_FEW = 10;
const AT_MOST = 32; // flag of boxes
const PATH_STEPS_MAX = 12;

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

let figures = 0;

export class Flame {
  constructor(figure) {
    this.id = figures++ ? `flame${figures}` : "flame"; // kept pages have several in one document
    this.figure = figure;
    this.svg = figure.querySelector("svg");
    this.whole = readAddress().command.startsWith("flame/"); // otherwise it links to a page of its own
    this.query = figure.dataset.query && commandOf(figure.dataset.query); // kept pages have no query
    this.view = { from: 0, to: 1, top: 0 };
    this.rowsMax = this.whole ? Infinity : Math.round(this.svg.getAttribute("height") / ROW_HEIGHT);
    this.marks = { selected: null, found: null };
    this.asked = 0;
  }

  async start() {
    const graph = await this.ask(this.query, this.readWindow());
    this.build();
    this.show(graph);
    this.restore();
  }

  build() {
    this.canvas = element("canvas", { tabIndex: 0 });
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-label", `${this.svg.getAttribute("aria-label")}. Arrow keys walk, Enter zooms.`);
    this.canvas.setAttribute("aria-describedby", `${this.id}-said`);
    this.tip = element("div", { className: "tip", hidden: true });
    this.tip.setAttribute("role", "tooltip");
    this.said = element("p", { className: "said", id: `${this.id}-said` });
    this.said.setAttribute("role", "status");
    this.said.append("A click on a box zooms, a double click shows its function; with arrow keys you walk, Enter zooms.");
    this.svg.replaceWith(this.canvas);
    this.figure.append(this.said);
    document.body.append(this.tip);
    if (this.whole) this.buildFind();
    this.colours = readColours(this.figure);
    this.listen();
  }

  buildFind() {
    this.find = element("input", { type: "search", id: `${this.id}-find`, placeholder: "Find in the graph" });
    this.find.setAttribute("aria-label", "Find in the graph");
    this.count = element("output", { className: "found" });
    this.out = element("button", { type: "button", textContent: "Zoom out", hidden: true });
    const bar = element("div", { className: "tools" }, this.find, this.count, this.out);
    this.figure.prepend(bar);
    this.find.addEventListener("input", () => {
      writeState({ find: this.find.value.trim() });
      this.look();
    });
    this.find.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.nextFound(event.shiftKey ? -1 : 1);
    });
    this.out.addEventListener("click", () => this.zoomOut());
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => this.hideTip());
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("dblclick", (event) => this.toProcedure(this.boxUnder(event)));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("blur", () => this.hideTip());
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.colours = readColours(this.figure);
      this.paint();
    });
    if (this.whole) window.addEventListener("popstate", () => this.restore());
  }

  // --- boxes ---

  // Fetches a graph; for a part of its width, a finer one.
  async ask(query, [from, to]) {
    const parts = readFlame(query);
    const width = Math.round(this.figure.clientWidth * (devicePixelRatio || 1) / (to - from));
    parts.flags = [...parts.flags.filter((flag) => !/^w\d/.test(flag)),
      `w${Math.min(Math.max(width, WIDTH_LEAST), WIDTH_MOST)}`];
    const answer = await fetch(address(writeFlame(parts), "deep.json"));
    if (!answer.ok) throw new Error(`${answer.status}`);
    const page = await answer.json();
    if (!page.flame) throw new Error("no boxes");
    const graph = readGraph(page.flame);
    graph.way = page.links.filter((link) => link.list === "Within:").map(({ text, query: at }) => ({ text, query: commandOf(at) }));
    graph.up = parts.direction === "up";
    return graph;
  }

  show(graph) {
    const old = this.marks.selected;
    this.graph = graph;
    this.marks.selected = old && graph.boxes.find((box) => box.query === old.query && box.name === old.name);
    const rows = Math.min(graph.rows.length, this.rowsMax);
    this.canvas.style.height = `${rows * ROW_HEIGHT + BORDERS}px`;
    this.look();
  }

  paint() {
    if (!this.graph) return;
    const drawn = draw(this.canvas, this.graph, this.view, this.marks, this.colours);
    this.figure.dataset.drawn = drawn;
    if (this.out) this.out.hidden = this.view.from === 0 && this.view.to === 1 && !this.graph.way.length;
  }

  // --- the address ---

  readWindow() {
    const found = /^(\d+)-(\d+)$/.exec(readState().get("x") ?? "");
    const [from, to] = found ? [found[1] / 1e6, found[2] / 1e6] : [0, 1];
    return from < to && to <= 1 ? [from, to] : [0, 1];
  }

  // Restores the state of the address: at first, and after Back.
  async restore() {
    const command = this.whole ? readAddress().command : this.query;
    const [from, to] = this.readWindow();
    if (this.find) this.find.value = readState().get("find") ?? "";
    if (command !== this.shown && this.shown !== undefined) await this.refine(command, [from, to], true);
    this.shown = command;
    Object.assign(this.view, { from, to, top: 0 });
    if (to - from < 1) await this.refine(this.query, [from, to], false);
    this.look();
  }

  // Fetches finer boxes of the visible part, or of another focus; earlier requests are then obsolete.
  async refine(query, window, frame) {
    const number = ++this.asked;
    try {
      const graph = await this.ask(query, window);
      if (number !== this.asked) return;
      this.query = query;
      Object.assign(this.view, { from: window[0], to: window[1], top: 0 });
      this.show(graph);
      if (frame) await this.reframe(number);
    } catch {
      if (number === this.asked) location.reload(); // the server's page explains the error
    }
  }

  // Updates heading, measures and path of the page, as the server writes them for this focus.
  async reframe(number) {
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (number !== this.asked) return;
    document.title = page.title;
    const main = document.getElementById("main"), other = page.getElementById("main");
    const keep = [...main.children].find((child) => child.contains(this.figure));
    const place = [...other.children].findIndex((child) => child.matches("figure.flame"));
    const fresh = [...other.children];
    while (keep.previousSibling) keep.previousSibling.remove();
    while (keep.nextSibling) keep.nextSibling.remove();
    keep.before(...fresh.slice(0, Math.max(place, 0)));
    keep.after(...fresh.slice(place + 1));
  }

  // --- zoom ---

  zoom(box) {
    if (!box) return;
    const began = performance.now();
    const leads = box.query?.startsWith("flame/");
    if (!this.whole) {
      location.assign(address(box.query ?? this.query));
      return;
    }
    if (box.row === 0 && leads && this.view.to - this.view.from === 1) return;
    if (!leads) {
      this.zoomTo(box.x, box.x + box.width);
      return;
    }
    this.view = { from: box.x, to: box.x + box.width, top: box.row };
    this.marks.selected = null;
    this.paint();
    performance.measure("flame zoom", { start: began, end: performance.now() });
    const find = readState().get("find");
    history.pushState(null, "", address(box.query) + (find ? `#find=${encodeURIComponent(find)}` : ""));
    this.shown = box.query;
    this.refine(box.query, [0, 1], true);
  }

  // Shows a part of the same graph.
  zoomTo(from, to) {
    const narrow = Math.max(to - from, NARROWEST);
    from = Math.min(Math.max(from, 0), 1 - narrow);
    to = Math.min(from + narrow, 1);
    Object.assign(this.view, { from, to });
    this.paint();
    writeState({ x: from <= 0 && to >= 1 ? "" : `${Math.floor(from * 1e6)}-${Math.ceil(to * 1e6)}` });
    clearTimeout(this.finer);
    this.finer = setTimeout(() => this.refine(this.query, [from, to], false), 80);
  }

  zoomOut() {
    if (this.view.to - this.view.from < 1) {
      this.zoomTo(0, 1);
      return;
    }
    const above = this.graph.way.at(-1);
    if (above && this.whole) this.follow(above.query);
  }

  // Shows another graph of this page.
  follow(query) {
    history.pushState(null, "", address(query));
    this.shown = query;
    this.refine(query, [0, 1], true);
  }

  wheel(event) {
    if (!event.ctrlKey || !this.whole) return;
    event.preventDefault();
    const { from, to } = this.view;
    const at = from + (to - from) * event.offsetX / this.canvas.clientWidth;
    const factor = event.deltaY > 0 ? 1.25 : 0.8;
    this.zoomTo(at - (at - from) * factor, at + (to - at) * factor);
  }

  // --- pointer and selection ---

  boxUnder(event) {
    const { from, to, top } = this.view;
    const row = this.graph.rows[Math.floor(event.offsetY / ROW_HEIGHT) + top];
    return row && boxAt(row, from + (to - from) * event.offsetX / this.canvas.clientWidth);
  }

  click(event) {
    const box = this.boxUnder(event);
    this.hideTip();
    if (!box) return;
    if (event.pointerType === "touch" || event.detail > 1) this.select(box);
    else this.zoom(box);
  }

  hover(event) {
    const box = this.boxUnder(event);
    this.canvas.style.cursor = box ? "pointer" : "default";
    if (box === this.hovered) {
      this.placeTip(event.clientX, event.clientY);
      return;
    }
    this.hideTip();
    this.hovered = box;
    if (!box || event.pointerType === "touch") return;
    const { clientX, clientY } = event;
    this.waiting = setTimeout(() => this.showTip(box, clientX, clientY), TIP_MS);
  }

  hideTip() {
    clearTimeout(this.waiting);
    this.tip.hidden = true;
    this.hovered = null;
  }

  showTip(box, x, y) {
    this.tip.replaceChildren(...this.lines(box).map((line, place) =>
      element(place ? "div" : "b", { textContent: line })));
    this.tip.hidden = false;
    this.placeTip(x, y);
  }

  placeTip(x, y) {
    if (this.tip.hidden) return;
    const { offsetWidth: wide, offsetHeight: high } = this.tip;
    this.tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - wide - 8))}px`;
    this.tip.style.top = `${y + 18 + high > innerHeight ? Math.max(4, y - high - 10) : y + 18}px`;
  }

  // All facts about a box; counts are exact. The server computes the error of sampled times.
  lines(box) {
    const { measure, unitSeconds, sample, whole } = this.graph;
    const amount = (value) => formatAmount(value, measure, unitSeconds);
    const lines = [box.place ? `${box.full}  ${box.place}` : box.full];
    const samples = sample ? Math.round(box.active / sample) : 0;
    const spread = sample ? `  ±${amount(box.spread)} (${formatCount(samples)} sample${samples === 1 ? "" : "s"})` : "";
    const bound = box.flags & AT_MOST ? "\u2264 " : "";
    lines.push(`total ${bound}${amount(box.active)}  ${formatShare(box.active / whole)} %${spread}`);
    if (box.active !== box.total) lines.push(`of the recursion's ${amount(box.total)}`);
    if (!this.graph.up) lines.push(`self ${amount(box.own)}`);
    if (box.calls && measure !== "calls") {
      const each = box.calls ? box.active / box.calls : 0;
      const cost = !unitSeconds ? `  ${each < 10 ? each.toFixed(2) : formatCount(Math.round(each))} each`
        : !sample ? `  ${formatSeconds(each * unitSeconds)} a call`
          : samples >= SAMPLES_FEW ? `  about ${formatSeconds(each * unitSeconds)} a call` : "";
      lines.push(`${formatCount(box.calls)} call${box.calls === 1 ? "" : "s"}, counted${cost}`);
    } else if (box.calls) {
      lines.push(`called ${box.calls === 1 ? "once" : `${formatCount(box.calls)} times`}, counted`);
    }
    lines.push(this.path(box).join(" › "));
    return lines;
  }

  path(box) {
    const steps = [];
    for (let at = box; at; at = at.parent) steps.unshift(at.name);
    steps.unshift(...this.graph.way.slice(1).map((step) => step.text));
    return steps.length > PATH_STEPS_MAX ? [steps[0], "…", ...steps.slice(1 - PATH_STEPS_MAX)] : steps;
  }

  select(box) {
    if (!box) return;
    this.marks.selected = box;
    const { from, to } = this.view;
    if (box.x + box.width < from || box.x > to) Object.assign(this.view, { from: 0, to: 1 });
    this.paint();
    this.say(box);
    const top = this.canvas.getBoundingClientRect().top + (box.row - this.view.top) * ROW_HEIGHT;
    if (top < 0 || top + ROW_HEIGHT > innerHeight) window.scrollBy(0, top - innerHeight / 2);
  }

  say(box) {
    const [name, ...rest] = this.lines(box).slice(0, 5);
    const links = [];
    const link = (label, query) => links.push(" · ", element("a", { href: address(query), textContent: label }));
    if (box.query?.startsWith("flame/")) {
      const { focus, measure, direction } = readFlame(box.query);
      link("Zoom here", box.query);
      link("Tree from here", `tree/${measure}/${direction}/3/${focus}`);
    }
    if (box.proc) link("Page of the function", `proc/${box.proc}`);
    this.tell(name, rest, links);
  }

  tell(name, rest, links) {
    this.said.replaceChildren(element("b", { textContent: name }), ` · ${rest.join(" · ")}`, ...links);
  }

  toProcedure(box) {
    if (box?.proc) location.assign(address(`proc/${box.proc}`));
  }

  // --- find ---

  look() {
    const text = this.find?.value.trim() ?? "";
    if (text) {
      const { found, total } = findBoxes(this.graph, text);
      const focus = this.graph.rows[0]?.reduce((sum, box) => sum + box.total, 0) || 1;
      this.marks.found = found;
      this.count.textContent = found.size === 0 ? "none of the boxes shown"
        : `${formatCount(found.size)} ${found.size === 1 ? "box" : "boxes"}, ${formatShare(total / focus)} %`;
    } else {
      this.marks.found = null;
      if (this.count) this.count.textContent = "";
    }
    this.paint();
  }

  nextFound(step) {
    const found = [...this.marks.found ?? []];
    if (!found.length) return;
    const at = found.indexOf(this.marks.selected);
    this.select(found[at < 0 ? (step > 0 ? 0 : found.length - 1) : (at + step + found.length) % found.length]);
  }

  // --- keys ---

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = this.marks.selected;
    const first = this.graph.rows[0]?.[0];
    const dearest = (list) => list.reduce((best, box) => (box.total > (best?.total ?? -1) ? box : best), null);
    const sibling = (box) => (box?.parent === at?.parent ? box : null);
    const actions = {
      ArrowDown: () => this.select(at ? dearest(at.children) : first),
      ArrowUp: () => this.select(at ? at.parent : first),
      ArrowLeft: () => this.select(at ? sibling(at.left) : first),
      ArrowRight: () => this.select(at ? sibling(at.right) : first),
      Enter: () => this.zoom(at ?? first),
      Backspace: () => this.zoomOut(),
      Escape: () => this.zoomOut(),
      0: () => this.whole && this.follow(writeFlame({ ...readFlame(this.query), focus: "all", direction: "down" })),
      i: () => document.getElementById(this.graph.up ? "flame-down" : "flame-up")?.click(),
      o: () => document.querySelector("#flame-open, #flame-shut")?.click(),
      n: () => this.nextFound(1),
      N: () => this.nextFound(-1),
      p: () => this.toProcedure(at),
      f: () => this.find?.focus(),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    actions[event.key]();
  }
}

export function startFlame(figure) {
  // If this fails, the SVG stays, which is complete.
  return new Flame(figure).start().catch(() => {});
}

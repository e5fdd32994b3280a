// SPDX-License-Identifier: Apache-2.0
// The spans and states of an area as a flame graph: each as wide as its time, below what it lies in. A click makes one
// as wide as the whole, another click leads back.
import { duration, element } from "./util.js";

const LEVEL = 19;
const LEVELS_MAX = 60;
const PARENT = 0, TOTAL = 4; // members of a node: parent, name, colour, count, total, self

export class Flame {
  constructor() {
    this.node = element("div", { className: "flames" });
    this.chosen = new Map(); // trace -> node that fills the width
  }

  draw(trees, names) {
    this.trees = trees;
    this.names = names;
    this.node.replaceChildren(...trees.map((tree) => this.tree(tree)));
  }

  tree({ trace, nodes, left_out: leftOut, lost }) {
    const frame = element("div", { className: "flame-graph", role: "group", "aria-label": "Flame graph of the area" });
    if (nodes.length < 2) return element("p", { className: "area-note" }, "No spans or states here.");
    const top = Math.min(this.chosen.get(trace) ?? 0, nodes.length - 1);
    const places = new Map([[top, { left: 0, level: 0 }]]); // drawn nodes
    const ends = new Map(); // where the next child of a node begins
    const above = [];
    for (let at = top; at !== 0; at = nodes[at][PARENT]) if (at !== top) above.unshift(at);
    const base = above.length + 1;
    let levels = base;
    const whole = nodes[top][TOTAL] || 1;
    const boxes = [...above.map((at, i) => this.box(trace, nodes, at, 0, 1, i + 1)),
      this.box(trace, nodes, top, 0, 1, top === 0 ? 0 : base)];
    for (let at = top + 1; at < nodes.length; at++) {
      const around = places.get(nodes[at][PARENT]);
      if (at === 0 || !around) continue;
      const left = ends.get(nodes[at][PARENT]) ?? around.left, width = nodes[at][TOTAL] / whole;
      ends.set(nodes[at][PARENT], left + width);
      if (width < 0.001) continue;
      const level = around.level + 1;
      places.set(at, { left, level });
      if (level > LEVELS_MAX) continue;
      const row = level + (top === 0 ? 0 : base);
      levels = Math.max(levels, row + 1);
      boxes.push(this.box(trace, nodes, at, left, width, row));
    }
    frame.style.height = `${levels * LEVEL}px`;
    frame.append(...boxes);
    const title = this.names.length > 1 ? element("b", {}, this.names[trace]) : "";
    const notes = [leftOut && `${leftOut} smaller ones are not drawn`,
      lost && `${lost} spans and states have no box: there are too many different stacks`].filter(Boolean)
      .map((text) => element("p", { className: "area-note" }, text));
    return element("div", {}, title, frame, ...notes);
  }

  box(trace, nodes, at, left, width, row) {
    const [, name, colour, count, total, self] = nodes[at];
    const share = (100 * total) / (nodes[0][TOTAL] || 1);
    const text = at === 0 ? `all: ${duration(total)}`
      : `${name}: ${duration(total)} (${share.toFixed(share < 10 ? 2 : 1)} %), self ${duration(self)}, ${count.toLocaleString("en")} times`;
    const box = element("button", { type: "button", title: text, className: at === 0 ? "k27b" : `k${colour}b` }, name ?? "all");
    box.setAttribute("aria-label", text);
    box.style.left = `${100 * left}%`;
    box.style.width = `${100 * width}%`;
    box.style.top = `${row * LEVEL}px`;
    box.addEventListener("click", () => {
      this.chosen.set(trace, this.chosen.get(trace) === at ? 0 : at);
      this.draw(this.trees, this.names);
    });
    return box;
  }
}

// SPDX-License-Identifier: Apache-2.0
// Opens and closes rows of a tree in place: children of a row are fetched one level at a time, from the page that its
// mark links to. The address stores which rows were opened and closed, by their indices among siblings ("0.2.1").
import { readState, writeState } from "./query.js";

const DEEPEST = 12; // number of indentation classes
const OPEN = "\u25be", SHUT = "\u25b8";

function depthOf(row) {
  return Number(row.querySelector(".path").dataset.depth ?? 0);
}

function setDepth(row, depth) {
  const cell = row.querySelector(".path");
  cell.classList.remove(...[...cell.classList].filter((name) => /^d\d+$/.test(name)));
  cell.classList.add(`d${Math.min(depth, DEEPEST)}`);
  cell.dataset.depth = depth;
}

// Own and total share of a bar, in hundredths; bars of another page refer to another total.
function readBar(row) {
  const bar = row.querySelector(".bar i");
  const [, own = 0, total = 0] = /^s(\d+) t(\d+)$/.exec(bar?.className ?? "") ?? [];
  return { bar, own: Number(own), total: Number(total) };
}

class Tree {
  constructor(table) {
    this.body = table.tBodies[0];
    table.setAttribute("role", "treegrid");
    for (const row of this.body.rows) this.dress(row);
    this.level();
    this.body.addEventListener("click", (event) => {
      const mark = event.target.closest("button.open");
      if (mark) this.toggle(mark.closest("tr"));
    });
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.restore();
  }

  // Turns the mark of a row into a button that has the address of its children.
  dress(row) {
    const mark = row.querySelector(".open");
    if (!mark) return;
    const isOpen = mark.textContent === OPEN;
    if (!isOpen && !mark.href) {
      mark.textContent = "";
      return;
    }
    const name = row.querySelector(".path a:not(.open)")?.textContent ?? row.querySelector(".path").textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "open";
    button.textContent = isOpen ? OPEN : SHUT;
    button.setAttribute("aria-label", `What is below ${name.trim()}`);
    if (mark.href) button.dataset.address = mark.href;
    else row.loaded = true;
    mark.replaceWith(button);
    this.mark(row, isOpen);
  }

  mark(row, isOpen) {
    const button = row.querySelector("button.open");
    button.textContent = isOpen ? OPEN : SHUT;
    button.setAttribute("aria-expanded", String(isOpen));
    row.setAttribute("aria-expanded", String(isOpen));
  }

  level() {
    for (const row of this.body.rows) row.setAttribute("aria-level", String(depthOf(row) + 1));
  }

  isOpen(row) {
    return row.getAttribute("aria-expanded") === "true";
  }

  *below(row) {
    const depth = depthOf(row);
    for (let at = row.nextElementSibling; at && depthOf(at) > depth; at = at.nextElementSibling) yield at;
  }

  children(row) {
    const depth = depthOf(row) + 1;
    return [...this.below(row)].filter((each) => depthOf(each) === depth);
  }

  parent(row) {
    const depth = depthOf(row);
    let at = row.previousElementSibling;
    while (at && depthOf(at) >= depth) at = at.previousElementSibling;
    return at;
  }

  // --- opening and closing ---

  async toggle(row) {
    const opens = !this.isOpen(row);
    await this.set(row, opens);
    this.remember(row, opens);
  }

  async set(row, opens) {
    if (opens && !row.loaded && !(await this.load(row))) return;
    this.mark(row, opens);
    this.showBelow(row);
  }

  // A row is shown when all rows above it are open.
  showBelow(row) {
    const shown = [!row.classList.contains("closed") && this.isOpen(row)];
    const base = depthOf(row) + 1;
    for (const each of this.below(row)) {
      const depth = depthOf(each) - base;
      each.classList.toggle("closed", !shown[depth]);
      shown[depth + 1] = shown[depth] && this.isOpen(each);
    }
  }

  async load(row) {
    const { address } = row.querySelector("button.open").dataset;
    row.setAttribute("aria-busy", "true");
    let rows;
    try {
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(`${answer.status}`);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      rows = [...page.querySelector("table.ranked").tBodies[0].rows].slice(1);
    } catch {
      location.assign(address); // its own page, or the error
      return false;
    } finally {
      row.removeAttribute("aria-busy");
    }
    const depth = depthOf(row), scale = readBar(row).total / 100;
    for (const each of rows) {
      document.adoptNode(each);
      setDepth(each, depth + depthOf(each));
      const { bar, own, total } = readBar(each);
      if (bar) bar.className = `s${Math.round(own * scale)} t${Math.round(total * scale)}`;
      this.dress(each);
    }
    row.after(...rows);
    row.loaded = true;
    this.level();
    return true;
  }

  // --- the address ---

  placeOf(row) {
    const places = [];
    for (let at = row; at; at = this.parent(at)) {
      const parent = this.parent(at);
      places.unshift(parent ? this.children(parent).indexOf(at) : 0);
    }
    return places.join(".");
  }

  rowAt(place) {
    let row = this.body.rows[0];
    for (const number of place.split(".").slice(1).map(Number)) row = row && this.children(row)[number];
    return row;
  }

  remember(row, isOpen) {
    const place = this.placeOf(row);
    const read = (name) => (readState().get(name) ?? "").split(" ").filter((each) => each && each !== place);
    const [opened, closed] = [read("open"), read("shut")];
    const asServed = !row.querySelector("button.open").dataset.address;
    if (isOpen && !asServed) opened.push(place);
    if (!isOpen && asServed) closed.push(place);
    writeState({ open: opened.join(" "), shut: closed.join(" ") });
  }

  async restore() {
    const read = (name) => (readState().get(name) ?? "").split(" ").filter(Boolean);
    const [opened, closed] = [read("open"), read("shut")];
    // Outer rows first: only then do inner ones exist.
    const steps = (place) => place.split(".").length;
    for (const place of opened.sort((a, b) => steps(a) - steps(b))) {
      const row = this.rowAt(place);
      if (row?.querySelector("button.open") && !this.isOpen(row)) await this.set(row, true);
    }
    for (const place of closed) {
      const row = this.rowAt(place);
      if (row?.querySelector("button.open")) await this.set(row, false);
    }
  }

  // --- keys ---

  focus(row) {
    (row?.querySelector(".path a") ?? row?.querySelector("button"))?.focus();
  }

  // Opens the most expensive row repeatedly, until one has no children.
  async openDearest(row) {
    let at = row;
    while (at?.querySelector("button.open")) {
      if (!this.isOpen(at)) await this.toggle(at);
      const [dearest] = this.children(at);
      if (!dearest || dearest.matches(".r-rest") || readBar(dearest).total < readBar(at).total * 0.8) break;
      at = dearest;
    }
    this.focus(at);
  }

  key(event) {
    const row = event.target.closest("tr");
    if (event.ctrlKey || event.altKey || event.metaKey || !row) return;
    const opens = row.querySelector("button.open");
    const actions = {
      ArrowRight: () => (opens && !this.isOpen(row) ? this.toggle(row) : this.focus(this.children(row)[0])),
      ArrowLeft: () => (opens && this.isOpen(row) ? this.toggle(row) : this.focus(this.parent(row))),
      "*": () => this.openDearest(row),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
  }
}

export function startTree(table) {
  return new Tree(table);
}

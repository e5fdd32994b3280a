// SPDX-License-Identifier: Apache-2.0
// Pages that are kept without a server, in one file or in a folder: a flame graph knows all its boxes
// and zooms in them; of one file one page is shown at a time. Bundled with the other scripts by
// tools/bundle_scripts.py, as browsers load no modules from files.
import { Flame } from "./flame.js";
import { readGraph } from "./flame_picture.js";
import { readState } from "./query.js";
import { startTree } from "./tree.js";

const JOINED = 4;

class KeptFlame extends Flame {
  constructor(figure) {
    super(figure);
    this.whole = true;
    this.rowsMax = Infinity;
    const { flame, pages } = JSON.parse(figure.querySelector("script").textContent);
    this.graph = Object.assign(readGraph(flame), { way: [], up: false });
    this.pages = pages;
  }

  async ask() {
    return this.graph;
  }

  // There are no finer boxes.
  async refine() {}

  // What is shown is remembered in the address, but of one page only.
  isShown() {
    return !this.figure.closest(".part[hidden]");
  }

  restore() {
    if (!this.isShown()) return;
    const [from, to] = this.readWindow();
    const top = Math.min(Number(readState().get("row")) || 0, this.graph.rows.length - 1);
    if (this.find) this.find.value = readState().get("find") ?? "";
    Object.assign(this.view, { from, to, top });
    this.look();
  }

  zoom(box) {
    if (!box || !this.isShown()) return;
    const began = performance.now();
    const state = readState();
    const whole = box.x <= 0 && box.x + box.width >= 1 && box.row === 0;
    this.view = { from: box.x, to: Math.min(box.x + box.width, 1), top: box.row };
    this.marks.selected = box;
    this.paint();
    performance.measure("flame zoom", { start: began, end: performance.now() });
    this.say(box);
    for (const name of ["x", "row"]) state.delete(name);
    if (!whole) {
      state.set("x", `${Math.floor(box.x * 1e6)}-${Math.min(Math.ceil((box.x + box.width) * 1e6), 1e6)}`);
      state.set("row", box.row);
    }
    history.pushState(null, "", `#${state}`);
  }

  paint() {
    super.paint();
    if (this.out) this.out.hidden = this.view.from === 0 && this.view.to === 1 && !this.view.top;
  }

  // To the box above the one that fills the picture.
  zoomOut() {
    const row = this.graph.rows[this.view.top] ?? [];
    const middle = (this.view.from + this.view.to) / 2;
    const box = row.find((each) => each.x <= middle && middle < each.x + each.width);
    this.zoom(box?.parent ?? this.graph.rows[0][0]);
  }

  follow() {
    this.zoom(this.graph.rows[0][0]);
  }

  toProcedure(box) {
    const address = box?.proc && this.pages[box.proc];
    if (address) location.assign(address);
  }

  lines(box) {
    const lines = super.lines(box);
    if (box.flags & JOINED) lines.splice(1, 0, "too narrow to be told apart here: not in this file");
    return lines;
  }

  say(box) {
    const [name, ...rest] = this.lines(box).slice(0, 4);
    const address = box.proc && this.pages[box.proc], links = [];
    if (address) {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = "Page of the function";
      links.push(" · ", link);
    }
    this.tell(name, rest, links);
  }
}

// "#p3", or "#p3=&find=append" where the page remembers something.
function partOfAddress(parts) {
  const [, id] = /^#([^=&]+)/.exec(location.hash) ?? [];
  const found = id && document.getElementById(decodeURIComponent(id));
  return { part: found?.closest(".part") ?? parts[0], place: found };
}

function showPart(parts) {
  const { part, place } = partOfAddress(parts);
  const isNew = part.hidden;
  for (const each of parts) each.hidden = each !== part;
  for (const link of document.querySelectorAll("header nav a"))
    if (link.hash === `#${part.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  if (place && place !== part) place.scrollIntoView();
  else if (isNew) window.scrollTo(0, 0);
}

// Names of the pages that are here.
function addSearch(parts) {
  const field = document.createElement("input"), list = document.createElement("datalist");
  const form = document.createElement("form");
  const pages = parts.map((part) => [part.querySelector("h1")?.textContent ?? "", part.id]);
  Object.assign(field, { type: "search", id: "search", placeholder: "Page of this file   ( / )" });
  field.setAttribute("aria-label", "Pages of this file");
  field.setAttribute("list", "kept-pages");
  list.id = "kept-pages";
  for (const [title] of pages) list.append(Object.assign(document.createElement("option"), { value: title }));
  form.className = "search";
  form.setAttribute("role", "search");
  form.append(field, list);
  function follow(exactly) {
    const text = field.value.trim().toLowerCase();
    const found = text && (pages.find(([title]) => title.toLowerCase() === text) ??
      (exactly ? null : pages.find(([title]) => title.toLowerCase().includes(text))));
    if (found) location.hash = `#${found[1]}`;
  }
  field.addEventListener("input", () => follow(true));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    follow(false);
  });
  document.querySelector("header nav").before(form);
}

export function startKept() {
  const parts = [...document.querySelectorAll(".part")];
  const flames = [...document.querySelectorAll("figure.flame[data-kept]")].map((figure) => new KeptFlame(figure));
  if (parts.length) {
    document.body.classList.add("one-part");
    addSearch(parts);
    showPart(parts);
    const show = () => {
      showPart(parts);
      for (const flame of flames) flame.restore();
    };
    window.addEventListener("hashchange", show);
    window.addEventListener("popstate", show);
  }
  for (const flame of flames) flame.start().catch(() => {});
  for (const table of document.querySelectorAll("table.ranked:has([data-depth] .open)")) startTree(table);
}

if (document.body.matches(".kept")) startKept();

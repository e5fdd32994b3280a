// SPDX-License-Identifier: Apache-2.0
// Pages kept without a server, in one file or in a folder. A flame graph has all its boxes and zooms in them. In a
// single file, one page is shown at a time. tools/bundle_scripts.py bundles it with the other scripts, because browsers
// load no modules from local files.
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

  // The address records what is shown, but for one page only.
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

  // Zooms out to the parent of the box that fills the picture.
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
    if (box.flags & JOINED) lines.splice(1, 0, "too narrow to distinguish: not in this file");
    return lines;
  }

  say(box) {
    const [name, ...rest] = this.lines(box).slice(0, 5);
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

// "#p3", or "#p3=&find=append" when the page has a state.
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

// Pages of one file by their headings.
function pagesOfParts(parts) {
  return parts.map((part) => ({ name: part.querySelector("h1")?.textContent ?? "", note: "", address: `#${part.id}` }));
}

// Pages of a folder, from the script beside this one: browsers read no other data from local files.
function pagesOfFolder() {
  return new Promise((resolve) => {
    const script = document.createElement("script");
    const told = () => resolve((globalThis.fathomNames ?? [])
      .map(([name, note, address]) => ({ name, note, address })));
    script.src = new URL("names.js", document.querySelector("script[src*='kept.js']").src);
    script.addEventListener("load", told);
    script.addEventListener("error", told);
    document.head.append(script);
  });
}

// Finds the page that is meant: by its full name, else the first whose name begins so, else that contains it.
function findPage(pages, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return null;
  const of = ({ name, note }) => [name.toLowerCase(), note ? `${name} ${note}`.toLowerCase() : ""];
  return pages.find((page) => of(page).includes(wanted)) ?? pages.find((page) => of(page)[0].startsWith(wanted)) ??
    pages.find((page) => of(page)[0].includes(wanted)) ?? null;
}

const OFFERED = 20;

function addSearch(label, load) {
  const field = document.createElement("input"), list = document.createElement("datalist");
  const form = document.createElement("form"), said = document.createElement("output");
  let pages = null;
  Object.assign(field, { type: "search", id: "search", placeholder: `${label}   ( / )` });
  field.setAttribute("aria-label", label);
  field.setAttribute("list", "kept-pages");
  list.id = "kept-pages";
  form.className = "search";
  form.setAttribute("role", "search");
  form.append(field, list, said);
  async function known() {
    pages ??= await load();
    return pages;
  }
  async function offer() {
    const text = field.value.trim().toLowerCase();
    const found = (await known()).filter(({ name }) => name.toLowerCase().includes(text)).slice(0, OFFERED);
    list.replaceChildren(...found.map(({ name, note }) =>
      Object.assign(document.createElement("option"), { value: note ? `${name} ${note}` : name })));
    const exact = text && found.find(({ name, note }) => `${name} ${note}`.toLowerCase() === text && note);
    if (exact) location.assign(exact.address);
  }
  field.addEventListener("input", offer);
  field.addEventListener("focus", offer);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const page = findPage(await known(), field.value);
    said.textContent = page || !field.value.trim() ? "" : "No page here has such a name.";
    if (page) location.assign(page.address);
  });
  document.querySelector("header nav").before(form);
}

export function startKept() {
  const parts = [...document.querySelectorAll(".part")];
  const flames = [...document.querySelectorAll("figure.flame[data-kept]")].map((figure) => new KeptFlame(figure));
  if (parts.length) {
    document.body.classList.add("one-part");
    addSearch("Page of this file", () => pagesOfParts(parts));
    showPart(parts);
    const show = () => {
      showPart(parts);
      for (const flame of flames) flame.restore();
    };
    window.addEventListener("hashchange", show);
    window.addEventListener("popstate", show);
  }
  if (!parts.length && document.querySelector("header nav")) addSearch("Function or file", pagesOfFolder);
  for (const flame of flames) flame.start().catch(() => {});
  for (const table of document.querySelectorAll("table.ranked:has([data-depth] .open)")) startTree(table);
}

if (document.body.matches(".kept")) startKept();

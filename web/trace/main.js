// SPDX-License-Identifier: Apache-2.0
// A page of traces. Window, cursor, filter and hidden lanes belong to the page and are shared by all viewers. They are
// stored in the address, so back and forward undo and redo, and a link shows the same view. The server's page is
// complete without this script, which replaces it as soon as the first picture is ready.
import { Activity } from "./activity.js";
import { Area } from "./area.js";
import { Choice } from "./choice.js";
import { Counters } from "./counters.js";
import { Details } from "./details.js";
import { Events } from "./events.js";
import { showKeys } from "./keys.js";
import { Lanes } from "./lanes.js";
import { Link } from "./link.js";
import { Overview } from "./overview.js";
import { Path } from "./path.js";
import { dims, isQuery, Query, selects } from "./query.js";
import { Statistics } from "./statistics.js";
import { boxOf, button, duration, element, hideTip, parseTime, readColours, seconds } from "./util.js";

const ASK_MS = 40;
const HISTORY_MS = 450;
const COMPLETE_MS = 120;
const PANELS = [["events", "Events"], ["statistics", "Statistics"], ["resources", "Resources"],
  ["counters", "Counters and heap"], ["area", "Area"], ["path", "Critical path"], ["details", "Details"], ["query", "Query"]];
class Page {
  constructor(main) {
    this.main = main;
    this.set = null;
    this.window = { start: 0, end: 1 };
    this.unsaved = false; // the address has changes that are not in the history yet
    this.dragging = this.keyDown = false;
    this.choice = new Choice(this);
    this.selecting = false; // dragging selects an area
    this.read(new URLSearchParams(location.search));
    this.overview = new Overview(this);
    this.activity = new Activity(this);
    this.timeline = new Lanes(this, "timeline", "46vh");
    this.timeline.selected = boxOf(this.wantedBox);
    this.panels = { events: new Events(this), statistics: new Statistics(this),
      resources: new Lanes(this, "resources", "46vh"), counters: new Counters(this), area: new Area(this), path: new Path(this), details: new Details(this), query: new Query(this) };
    this.build();
    this.link = new Link(this.files, (event, data) => this.heard(event, data));
    addEventListener("popstate", () => {
      clearTimeout(this.historyTimer);
      this.unsaved = false;
      this.read(new URLSearchParams(location.search));
      this.setBounds();
      this.showInputs();
      this.showPanel();
      this.changed({ ask: true, history: false });
    });
    addEventListener("keydown", (event) => this.key(event), true);
    for (const name of ["keyup", "blur"]) addEventListener(name, () => this.releaseKey(), true);
    addEventListener("resize", () => this.changed({ ask: true, history: false }));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      readColours();
      this.draw();
      this.panels.counters.draw();
    });
  }

  // --- the address ---

  read(parameters) {
    this.files = parameters.getAll("file");
    const time = (name) => (parameters.get(name) ? parseTime(parameters.get(name)) : null);
    this.wanted = { start: time("start"), end: time("end") };
    this.cursor = time("cursor");
    this.event = parameters.get("event") || null;
    this.eventTime = this.cursor;
    this.filter = parameters.get("filter") ?? "";
    this.nothing = ""; // why it accepts no event
    this.find = parameters.get("find") ?? "";
    this.follow = parameters.get("follow") === "1";
    this.arrows = parameters.get("arrows") === "1";
    this.choice.read(parameters);
    const from = time("area_start"), to = time("area_end");
    const lanes = parameters.getAll("in").join(",").split(",").filter(Boolean);
    this.area = from !== null || to !== null || lanes.length ? { start: from, end: to, lanes } : null;
    this.by = parameters.get("by") || "name";
    this.query = parameters.get("query") ?? "";
    this.least = time("least");
    this.most = time("most");
    this.wantedBox = parameters.get("selected") || null;
    if (this.timeline) this.timeline.selected = boxOf(this.wantedBox);
    const view = parameters.get("view");
    this.panel = PANELS.some(([name]) => name === view) ? view : "events";
  }

  address() {
    const parameters = new URLSearchParams();
    for (const file of this.files) parameters.append("file", file);
    const put = (name, value) => value !== null && value !== "" && parameters.set(name, value);
    if (this.window.start > this.set.start_ns) put("start", Math.round(this.window.start));
    if (this.window.end < this.set.end_ns) put("end", Math.round(this.window.end));
    put("cursor", this.cursor);
    put("event", this.event);
    const { selected } = this.timeline;
    if (selected) put("selected", `${selected[0]}:${selected[1]}:${selected[2]}`);
    put("filter", this.filter);
    put("find", this.find);
    if (this.panel !== "events") put("view", this.panel);
    this.choice.write(put);
    if (this.area) {
      put("area_start", this.area.start);
      put("area_end", this.area.end);
      put("in", this.area.lanes.join(","));
    }
    if (this.by !== "name") put("by", this.by);
    put("query", this.query);
    put("least", this.least);
    put("most", this.most);
    if (this.follow) put("follow", "1");
    if (this.arrows) put("arrows", "1");
    return `?${parameters}`;
  }

  // Related changes make one entry of the history: a whole drag, however long it takes, or wheel turns and keys until
  // there is none for HISTORY_MS. A key that is held down repeats.
  remember() {
    clearTimeout(this.historyTimer);
    this.unsaved = true;
    if (!this.dragging && !this.keyDown) this.historyTimer = setTimeout(() => this.save(), HISTORY_MS);
  }

  save() {
    clearTimeout(this.historyTimer);
    this.unsaved = false;
    const address = this.address();
    if (address !== location.search) history.pushState(null, "", address);
  }

  beginDrag() {
    if (this.unsaved) this.save();
    this.dragging = true;
  }

  endDrag() {
    this.dragging = false;
    this.save();
  }

  releaseKey() {
    this.keyDown = false;
    if (this.unsaved) this.remember();
  }

  undo() {
    if (this.unsaved) this.save();
    history.back();
  }

  redo() {
    if (this.unsaved) this.save();
    history.forward();
  }

  common() {
    return { filter: this.filter };
  }

  // --- the window ---

  setBounds() {
    const { start_ns: first, end_ns: last } = this.set;
    this.window.start = Math.max(first, Math.min(this.wanted.start ?? first, last - 1));
    this.window.end = Math.min(last, Math.max(this.wanted.end ?? last, this.window.start + 1));
    if (this.area) {
      this.area.start ??= this.window.start;
      this.area.end ??= this.window.end;
    }
  }

  setWindow(start, end, { keepWidth = false } = {}) {
    const { start_ns: first, end_ns: last } = this.set;
    let width = Math.max(Math.round(end - start), 10);
    if (width >= (last - first) * 0.998) {
      start = first;
      width = last - first;
    } else if (keepWidth || start < first || start + width > last) {
      start = Math.min(Math.max(start, first), last - width);
    }
    start = Math.round(start);
    end = Math.min(start + width, last);
    if (start === this.window.start && end === this.window.end) return;
    this.window = { start, end };
    if (this.follow && end < last) this.setFollow(false);
    this.changed({ ask: true });
  }

  zoom(factor, about) {
    const { start, end } = this.window;
    const centre = about ?? (this.cursor !== null && this.cursor > start && this.cursor < end ? this.cursor : (start + end) / 2);
    const width = (end - start) * factor;
    this.setWindow(centre - ((centre - start) / (end - start)) * width, centre - ((centre - start) / (end - start)) * width + width);
  }

  pan(share) {
    const by = (this.window.end - this.window.start) * share;
    this.setWindow(this.window.start + by, this.window.end + by, { keepWidth: true });
  }

  whole() {
    this.setWindow(this.set.start_ns, this.set.end_ns);
  }

  setCursor(time, event = null, by = null) {
    this.cursor = time;
    this.event = event;
    this.eventTime = time;
    const { start, end } = this.window;
    if (time !== null && (time < start || time > end))
      this.setWindow(time - (end - start) / 2, time + (end - start) / 2, { keepWidth: true });
    this.changed({});
    if (by !== this.panel) this.panels[this.panel].moved?.();
  }

  // An area: an interval on some lanes, or on all of them; null = the window.
  setArea(area) {
    this.area = area;
    if (["area", "path", "query"].includes(this.panel)) this.panels[this.panel].ask();
    else if (area) this.choosePanel("area");
    this.draw();
    this.remember();
  }

  setDurations(least, most) {
    this.least = least;
    this.most = most;
    this.panels.area.ask();
    this.remember();
  }

  // The box that is selected, else all lanes over the window.
  areaHere() {
    const { selected } = this.timeline, { start, end } = this.window;
    this.setArea(selected ? { start: selected[1], end: Math.max(selected[3], selected[1] + 1), lanes: [selected[0]] }
      : { start: Math.round(start), end: Math.round(end), lanes: [] });
  }

  // The critical path of an area on one lane, else of the lane of the selected box over the window.
  pathHere() {
    const { selected } = this.timeline, { start, end } = this.window;
    if (this.area?.lanes.length !== 1 && selected)
      this.area = { start: Math.round(start), end: Math.round(end), lanes: [selected[0]] };
    this.draw();
    if (this.panel === "path") this.panels.path.ask();
    else this.choosePanel("path");
    this.remember();
  }

  showArrows() {
    this.arrows = true;
    this.timeline.ask();
    this.remember();
  }

  detailsHere() {
    if (this.panel === "details") this.panels.details.ask();
    else this.choosePanel("details");
  }

  // The next or previous segment of the selected box's name or state, or on its lane.
  step(way, what) {
    const { selected } = this.timeline;
    if (!selected) return this.say("Select a box first: these keys lead to the next and the previous like it");
    const [lane, start, , , name, state] = selected;
    this.link.ask("step", { view: "step", step: `${way}-${what}`, like: { name, state, lane: "" }[what], in: lane, cursor: start });
  }

  takeStep(answer) {
    if (!answer.done) return this.say("Reading all segments of the trace…");
    if (!answer.found) return this.say(answer.problem ?? "There is none.");
    const { lane, lane_name: laneName, segment_start_ns: start, segment_end_ns: end, name, state, depth } = answer;
    this.setCursor(start);
    this.select([lane, start, depth, end, name, state]);
    this.say(`${name} · ${laneName} · ${answer.open ? "at least " : ""}${duration(end - start)}, from ${seconds(start)} s`);
  }

  setSelecting(selecting) {
    this.selecting = selecting;
    this.selectButton.setAttribute("aria-pressed", String(selecting));
    this.timeline.canvas.style.cursor = selecting ? "crosshair" : "default";
  }

  // Selects a box: [lane, begin, level, end, name, state].
  select(box) {
    const { start, end } = this.window;
    this.timeline.selected = box;
    if (box[1] < start || box[1] > end) this.setCursor(box[1]);
    this.timeline.reveal(box[0]);
    if (this.panel === "details") this.panels.details.ask();
    this.draw();
    this.remember();
  }

  showLane(lane, time) {
    this.setCursor(time);
    this.timeline.reveal(lane);
  }

  goToEvent({ position, time_ns: time }) {
    this.choosePanel("events");
    this.setCursor(time, position);
  }

  // To the longest of a row.
  goTo(row) {
    const { longest_at_ns: at, longest_ns: length } = row;
    this.panels[this.panel].stays = true; // its table stays as it is
    if (row.longest_lane) this.timeline.reveal(row.longest_lane);
    this.setCursor(at);
    this.setWindow(at - length - 1, at + 2 * length + 1);
  }

  setFollow(follow) {
    this.follow = follow;
    this.followButton.setAttribute("aria-pressed", String(follow));
    if (follow && this.set) this.slide();
    this.remember();
  }

  slide() {
    const width = Math.min(this.window.end - this.window.start, this.set.end_ns - this.set.start_ns);
    this.window = { start: this.set.end_ns - width, end: this.set.end_ns };
    this.changed({ ask: true, history: false });
  }

  // Some state of the page has changed.
  changed({ ask = false, history: remember = true }) {
    this.showWindow();
    this.draw();
    if (remember && this.set) this.remember();
    if (!ask || !this.set) return;
    if (this.askTimer) return;
    this.askTimer = setTimeout(() => {
      this.askTimer = 0;
      this.timeline.ask();
      if (this.panel !== "events") this.panels[this.panel].ask();
      else if (this.cursor === null) this.panels.events.ask();
    }, ASK_MS);
  }

  draw() {
    this.overview.draw();
    this.activity.draw();
    this.timeline.draw();
    if (this.panel === "resources") this.panels.resources.draw();
  }

  // --- messages of the server ---

  heard(event, data) {
    if (event === "set") this.takeSet(data);
    else if (event === "problem") this.problem(data);
    else if (data.owner === "step") this.takeStep(data.answer);
    else {
      if (data.owner === "timeline" || data.owner === "events") this.setProblem("");
      const viewer = { overview: this.overview, timeline: this.timeline, ...this.panels }[data.owner];
      viewer?.take(data.answer);
      if (data.owner === "timeline") this.activity.take(data.answer);
      if (data.owner === "timeline") this.ready();
    }
  }

  takeSet(set) {
    const first = this.set === null;
    this.set = set;
    if (first) {
      this.setBounds();
      if (this.follow) this.slide();
    } else if (set.event === "grown" && this.follow) this.slide();
    this.followButton.hidden = !set.grows && !this.follow;
    this.progress.hidden = set.progress >= 1;
    this.progress.value = set.progress;
    this.progressText.textContent = set.progress < 1 ? `reading ${Math.floor(100 * set.progress)} %` : set.grows ? "live" : "";
    this.showWindow();
    if (first) {
      this.changed({ history: false });
      this.timeline.ask(); // the page is ready when it has been answered
      this.overview.ask();
      this.panels[this.panel].ask();
    } else if (set.event === "grown") {
      this.overview.ask();
      if (!this.follow) this.draw();
    } else if (set.event === "ready" && this.panel !== "events") this.panels[this.panel].ask();
  }

  problem({ owner, text }) {
    if (["timeline", "overview", "events", null].includes(owner)) this.setProblem(text);
    else this.say(text);
    if (owner === "timeline") this.ready();
  }

  setProblem(text) {
    this.filterProblem.textContent = text || this.nothing;
    this.filterInput.setAttribute("aria-invalid", String(Boolean(text)));
  }

  // For a valid filter that accepts no event.
  tellNothing(text) {
    this.nothing = text;
    if (this.filterInput.getAttribute("aria-invalid") !== "true") this.filterProblem.textContent = text;
  }

  // The first picture is ready: removes what the server drew.
  ready() {
    if (this.shown) return;
    this.shown = true;
    this.server.remove();
    this.app.classList.remove("waiting");
    document.documentElement.dataset.trace = "ready";
    this.changed({ ask: false, history: false });
    this.panels[this.panel].draw?.();
  }

  say(text) {
    this.status.textContent = text;
  }

  // --- the frame ---

  build() {
    const kept = [...this.main.children].filter((child) => child.matches("h1, .notice"));
    this.server = element("div", { className: "server" });
    this.server.append(...[...this.main.children].filter((child) => !kept.includes(child)));
    this.main.append(this.server);
    this.where = element("span", { className: "window-text", role: "status" });
    this.progress = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Reading" });
    this.progressText = element("span", { className: "progress-text" });
    this.followButton = button("Follow", "Keep the end of a growing trace in view (F)", () => this.setFollow(!this.follow));
    this.followButton.setAttribute("aria-pressed", String(this.follow));
    this.followButton.hidden = true;
    this.selectButton = button("Select", "Drag to select an area, or to move (X)", () => this.setSelecting(!this.selecting));
    this.selectButton.setAttribute("aria-pressed", "false");
    const step = (label, title, action) => button(label, title, action);
    const buttons = element("div", { className: "buttons", role: "group", "aria-label": "Window" },
      step("−", "Zoom out (S, −)", () => this.zoom(2)), step("+", "Zoom in (W, +)", () => this.zoom(0.5)),
      step("◂", "Earlier (A)", () => this.pan(-0.4)), step("▸", "Later (D)", () => this.pan(0.4)),
      step("Whole", "The whole span (Home)", () => this.whole()),
      step("↶", "Undo the window (Z)", () => this.undo()), step("↷", "Redo the window (Y)", () => this.redo()),
      this.selectButton, this.followButton);
    this.filterInput = this.input("filter", "Filter events:  event.name = SpanBegin & lane.name = \"worker*\"", 46);
    const words = element("datalist", { id: "filter-words" });
    this.filterInput.setAttribute("list", "filter-words");
    this.filterInput.addEventListener("input", () => {
      clearTimeout(this.completeTimer);
      this.completeTimer = setTimeout(() => this.complete(words), COMPLETE_MS);
    });
    this.findInput = this.input("find", "Lanes with …", 14);
    this.filterProblem = element("strong", { className: "problem", role: "alert" });
    const form = element("form", { className: "filter" }, this.filterInput, words, this.findInput, this.filterProblem);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.setFilter(this.filterInput.value.trim(), this.findInput.value.trim());
    });
    const help = button("?", "The keys", () => showKeys());
    this.bar = element("div", { className: "bar" }, buttons, this.where,
      element("span", { className: "progress" }, this.progress, this.progressText), form, help);
    this.status = element("div", { className: "status", role: "status" });
    const list = element("div", { role: "tablist", "aria-label": "Panels" }, ...PANELS.map(([name, label], i) => {
      const tab = button(label, `${label} (${i + 1})`, () => this.choosePanel(name));
      tab.setAttribute("role", "tab");
      tab.id = `tab-${name}`;
      return tab;
    }));
    this.tabs = element("div", { className: "tabs" }, list, this.status);
    this.panelNode = element("div", { className: "panel", role: "tabpanel" });
    this.app = element("div", { className: "app waiting", id: "app" }, this.bar, this.overview.node, this.activity.node, this.timeline.node,
      this.tabs, this.panelNode);
    this.main.append(this.app);
    this.showInputs();
    this.showPanel();
  }

  input(name, example, size) {
    const made = element("input", { type: "search", name, placeholder: example, size, spellcheck: false, autocomplete: "off",
      "aria-label": name === "filter" ? "Filter events" : "Find lanes" });
    made.addEventListener("search", () => this.setFilter(this.filterInput.value.trim(), this.findInput.value.trim()));
    return made;
  }

  showInputs() {
    this.filterInput.value = this.filter || this.choice.dim;
    this.findInput.value = this.find;
  }

  showWindow() {
    if (!this.set) return;
    const { start, end } = this.window;
    this.where.replaceChildren(element("b", {}, `${seconds(start, 6)} – ${seconds(end, 6)} s`), ` ${duration(end - start)}`);
  }

  // Completions for the traces at hand.
  async complete(words) {
    const text = this.filterInput.value;
    if (this.filterInput.selectionStart !== text.length) return;
    try {
      const response = await fetch(this.link.address("trace/complete", { filter: text }));
      if (!response.ok || this.filterInput.value !== text) return;
      const found = await response.json();
      const kept = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, found.at));
      words.replaceChildren(...found.words.map((word) => element("option", { value: kept + word })));
    } catch {
      words.replaceChildren(); // the text may still be typed
    }
  }

  // A query in the box for filters is answered in its panel.
  setFilter(filter, find) {
    if (isQuery(filter)) {
      this.showInputs();
      this.query = filter;
      if (this.panel === "query") this.panels.query.ask();
      else this.choosePanel("query");
      this.remember();
      return;
    }
    const dim = dims(filter) ? filter : "", chosen = selects(filter) ? filter : "";
    if (chosen === this.filter && find === this.find && dim === this.choice.dim) return;
    this.choice.dim = dim;
    this.filter = chosen;
    this.find = find;
    this.nothing = "";
    this.setProblem("");
    this.overview.ask();
    this.panels.events.cancelled = false;
    if (this.panel === "events") this.panels.events.ask();
    this.changed({ ask: true });
  }

  choosePanel(name) {
    if (name === this.panel) return;
    this.link.cancel(this.panel);
    this.panel = name;
    this.showPanel();
    this.panels[name].ask();
    this.remember();
  }

  showPanel() {
    for (const tab of this.tabs.querySelectorAll("[role=tab]"))
      tab.setAttribute("aria-selected", String(tab.id === `tab-${this.panel}`));
    this.panelNode.setAttribute("aria-labelledby", `tab-${this.panel}`);
    this.panelNode.replaceChildren(this.panels[this.panel].node);
  }

  // --- keys ---

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !this.set) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const lanes = this.panel === "resources" && document.activeElement === this.panels.resources.scroller
      ? this.panels.resources : this.timeline;
    const about = this.pointer;
    const inList = (event.target.closest(".events-scroller") && event.key.startsWith("Arrow")) ||
      (event.key === "Enter" && event.target.closest("button, a, summary, [tabindex]:not(.scroller)"));
    const actions = {
      w: () => this.zoom(0.5, about), s: () => this.zoom(2, about), a: () => this.pan(-0.25), d: () => this.pan(0.25),
      ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
      ArrowUp: () => { lanes.scroller.scrollTop -= 40; }, ArrowDown: () => { lanes.scroller.scrollTop += 40; },
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2), Home: () => this.whole(),
      f: () => this.followButton.hidden || this.setFollow(!this.follow), Escape: () => this.drop(),
      "/": () => this.filterInput.focus(), z: () => this.undo(), y: () => this.redo(),
      "?": () => showKeys(), x: () => this.setSelecting(!this.selecting), r: () => this.areaHere(), c: () => this.pathHere(), j: () => this.showArrows(), i: () => this.detailsHere(), Enter: () => this.detailsHere(),
      ".": () => this.step("next", "name"), ",": () => this.step("previous", "name"),
      ">": () => this.step("next", "lane"), "<": () => this.step("previous", "lane"),
      "]": () => this.step("next", "state"), "[": () => this.step("previous", "state"),
      ...Object.fromEntries(PANELS.map(([name], i) => [String(i + 1), () => this.choosePanel(name)])),
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (inList || !Object.hasOwn(actions, key)) return;
    event.preventDefault();
    event.stopPropagation(); // these keys belong to the page
    this.keyDown = true;
    actions[key]();
  }

  drop() {
    hideTip();
    document.querySelector("dialog[open]")?.close();
    this.timeline.selected = null;
    if (this.panel === "details") this.panels.details.ask();
    this.say("");
    if (this.area) this.setArea(null);
    this.setCursor(null);
  }
}

readColours();
const main = document.getElementById("main");
if (main && new URLSearchParams(location.search).has("file")) {
  window.fathomTrace = new Page(main); // for debugging, and for tests
}

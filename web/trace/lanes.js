// SPDX-License-Identifier: Apache-2.0
// Lanes over time on a canvas: states, spans as a flame chart, arrows, marks. When the window moves, available data is
// drawn at once, and the rest is fetched.
import { button, colours, duration, element, fitCanvas, fitText, hideTip, labelsWidth, seconds, showTip, ticks } from "./util.js";

const AXIS = 24;
const LEVEL = 17;
const DENSE_LEVEL = 12;
const GAP = 3;
const LONE = 2; // pixels of a box with none beside it
const CHUNK = 200;
const FONT = "11px system-ui, sans-serif";

export class Lanes {
  constructor(page, viewer, height) {
    this.page = page;
    this.viewer = viewer;
    this.answer = null;
    this.tops = [];
    this.first = 0;
    this.selected = null;
    this.axis = element("canvas", { className: "axis", title: "Drag to choose a window" });
    this.canvas = element("canvas", { className: "lanes-canvas", role: "img",
      "aria-label": `${viewer}: what ran when` });
    this.labels = element("div", { className: "labels" });
    this.spacer = element("div", { className: "spacer" }, this.labels);
    this.scroller = element("div", { className: "scroller", tabIndex: 0, role: "group",
      "aria-label": `${viewer}: lanes over time; W and S zoom, A and D move` }, this.canvas, this.spacer);
    this.scroller.style.maxHeight = height;
    this.legend = element("div", { className: "legend" });
    const tools = viewer === "timeline" ? page.choice.node : element("div", { className: "lane-tools" });
    this.node = element("div", { className: `lanes ${viewer}` }, element("div", { className: "axis-row" }, tools, this.axis), this.scroller,
      this.legend);
    this.listen();
  }

  get plotWidth() {
    return Math.max(this.scroller.clientWidth - labelsWidth(), 100);
  }

  ask() {
    const { start, end } = this.page.window;
    this.page.link.ask(this.viewer, { ...this.page.common(), view: this.viewer, start, end,
      width: Math.min(Math.round(this.plotWidth), 4000), first: this.first || "", lanes: CHUNK,
      arrows: this.viewer === "timeline" && this.page.arrows ? 1 : "", ...this.page.choice.parameters(), find: this.page.find,
      reveal: this.wanted ?? "" });
  }

  take(answer) {
    if (!answer.done && !answer.lanes.length && this.answer?.lanes.length) return; // their order is being found out
    this.answer = answer;
    this.first = answer.first;
    this.arrange();
    if (this.wanted && answer.done) this.reveal(this.wanted, true);
    this.draw();
  }

  // Computes the position of each lane; lanes not yet fetched count as one level high.
  arrange() {
    const lanes = this.answer.lanes;
    let top = this.first * (LEVEL + GAP);
    this.tops = lanes.map((lane) => {
      lane.level = lane.levels > 8 ? DENSE_LEVEL : LEVEL;
      lane.height = lane.level * lane.levels;
      const at = top;
      top += lane.height + GAP;
      return at;
    });
    const after = Math.max(0, this.answer.lanes_total - this.first - lanes.length);
    this.total = top + after * (LEVEL + GAP);
    this.spacer.style.height = `${this.total}px`;
    const previous = this.page.set?.files.length > 1;
    this.labels.replaceChildren(...lanes.map((lane, i) => this.label(lane, this.tops[i], previous)));
    if (!lanes.length)
      this.labels.replaceChildren(element("p", { className: "empty" },
        this.answer.done ? "No lanes in this window." : "Reading…"));
    const seen = new Map();
    for (const [, colour, name] of this.answer.values)
      if (name !== "span") seen.set(name, colour);
    this.legend.replaceChildren(...[...seen].sort((a, b) => a[1] - b[1]).map(([name, colour]) =>
      element("span", { className: "key" }, element("i", { className: `swatch b${colour}` }), name)));
    if (this.answer.lanes.length < this.answer.lanes_total)
      this.legend.append(element("span", { className: "key" },
        `lanes ${this.first + 1} to ${this.first + lanes.length} of ${this.answer.lanes_total}`));
    const { choice } = this.page;
    if (choice.hidden.size)
      this.legend.append(button(`Show ${choice.hidden.size} hidden`, "Show all lanes again", () => choice.change(() => choice.hidden.clear())));
    if (this.viewer === "timeline" && !this.answer.arrows_known && !this.page.arrows)
      this.legend.append(button("Show arrows", "Read who wakes whom, of the whole trace (J)", () => this.page.showArrows()));
    this.legend.hidden = !this.legend.children.length;
  }

  label(lane, top, many) {
    const name = element("span", { className: "name" }, lane.name ?? lane.id);
    const row = element("div", { className: `label t${lane.trace % 6}${many ? " many" : ""}`,
      title: `${lane.kind} · ${this.page.set?.files[lane.trace]?.name ?? ""}` }, name);
    row.style.top = `${top}px`;
    row.style.height = `${Math.min(lane.height, 20)}px`;
    row.style.paddingLeft = `${6 + lane.indent * 12}px`;
    if (lane.busy_ns !== undefined) row.append(element("span", { className: "busy" }, duration(lane.busy_ns)));
    if (lane.busy_percent !== undefined)
      row.append(element("span", { className: "busy" }, `${lane.busy_percent.toFixed(lane.busy_percent < 10 ? 1 : 0)} %`));
    const { choice } = this.page;
    if (lane.has_own || lane.folded) {
      const fold = button(lane.folded ? "▸" : "▾", `${lane.folded ? "Show" : "Fold"} what belongs to ${lane.name}`, () => choice.toggle("folded", lane.id));
      fold.className = "fold";
      fold.setAttribute("aria-expanded", String(!lane.folded));
      row.prepend(fold);
    }
    const pin = button(lane.pinned ? "●" : "○", `${lane.pinned ? "Unpin" : "Pin"} ${lane.name ?? "this lane"}`, () => choice.toggle("pinned", lane.id));
    pin.className = lane.pinned ? "pinned" : "";
    row.append(pin, button("×", `Hide ${lane.name ?? "this lane"}`, () => choice.toggle("hidden", lane.id)));
    return row;
  }

  x(time) {
    const { start, end } = this.page.window;
    return ((time - start) / (end - start)) * this.plotWidth;
  }

  time(x) {
    const { start, end } = this.page.window;
    return start + (x / this.plotWidth) * (end - start);
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.paint();
    });
  }

  paint() {
    this.paintAxis();
    const height = Math.min(this.scroller.clientHeight, Math.max(this.total ?? 40, 40));
    const width = this.plotWidth;
    const context = fitCanvas(this.canvas, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    if (!this.answer) return;
    const scroll = this.scroller.scrollTop;
    const { times } = ticks(this.page.window.start, this.page.window.end, Math.max(width / 130, 3));
    this.answer.lanes.forEach((lane, i) => {
      const top = this.tops[i] - scroll;
      if (top > height || top + lane.height < 0) return;
      context.fillStyle = colours.laneOf;
      context.fillRect(0, top, width, lane.height);
    });
    context.fillStyle = colours.lineOf;
    for (const time of times) context.fillRect(Math.round(this.x(time)), 0, 1, height);
    this.answer.lanes.forEach((lane, i) => {
      const top = this.tops[i] - scroll;
      if (top <= height && top + lane.height >= 0) this.paintLane(context, lane, top, width);
    });
    this.paintArrows(context, scroll, height);
    this.paintMarks(context, scroll);
    this.paintUnknown(context, width, height);
    this.paintOver(context, height);
  }

  // Narrower than what is seen, with none beside it but at the same place.
  isLone(boxes, i) {
    const [level, start, end] = boxes[i], x = this.x(start);
    const isBeside = (other) => {
      const away = other?.[0] === level ? Math.abs(this.x(other[1]) - x) : 0;
      return away > 0.5 && away < 2 * LONE;
    };
    return this.x(end) - x < LONE && !isBeside(boxes[i - 1]) && !isBeside(boxes[i + 1]);
  }

  paintLane(context, lane, top, width) {
    for (const [i, box] of lane.boxes.entries()) {
      const [level, start, end, value, count, share, , load, cut] = box, dimmed = (cut & 16) !== 0;
      const left = this.x(start), right = this.x(end);
      if (right < 0 || left > width) continue;
      const lone = this.isLone(lane.boxes, i);
      const from = Math.max(lone ? Math.min(left, width - LONE) : left, -1);
      const to = Math.min(Math.max(right, from + (lone ? LONE : 0.7)), width + 1);
      const colour = this.answer.values[value][1];
      const y = top + level * lane.level, high = lane.level - (lane.levels > 1 ? 1 : 0);
      context.fillStyle = colours.box[colour];
      context.globalAlpha = (count > 1 && !lone ? 0.12 + 0.8 * load : 1) * (dimmed ? 0.15 : 1); // share of the box that is filled
      context.fillRect(from, y, to - from, high);
      context.globalAlpha = 1;
      if (to - from > 3 && this.answer.values[value][2] === "span") {
        context.fillStyle = colours.groundOf;
        context.fillRect(to - 1, y, 1, high); // separates adjacent spans
      }
      if (count > 1 && to - from > 6) { // detail is hidden in this box
        context.fillStyle = colours.markOf;
        context.fillRect(from, y, Math.min(to - from, width), 1.5);
      }
      const name = count > 1 && share < 0.9 ? "" : this.answer.values[value][0] ?? "";
      if (dimmed) continue;
      if (to - from > 44 || (to - from > 20 && context.measureText(name).width < to - from - 8)) {
        context.fillStyle = colours.ink[colour];
        const visible = Math.max(from, 0);
        context.fillText(fitText(context, name, to - visible - 8), visible + 4, y + high / 2 + 0.5);
      }
      if (this.selected && this.selected[0] === lane.id && this.selected[1] === start && this.selected[2] === level) {
        context.strokeStyle = colours.inkOf;
        context.lineWidth = 1.5;
        context.strokeRect(from + 0.75, y + 0.75, to - from - 1.5, high - 1.5);
      }
    }
  }

  paintArrows(context, scroll, height) {
    context.strokeStyle = colours.cursorOf;
    context.globalAlpha = 0.65;
    for (const [from, start, to, end, count] of this.answer.arrows) {
      context.lineWidth = Math.min(1 + Math.log2(count) / 3, 4); // joined ones
      if (from === to) continue;
      const lanes = this.answer.lanes;
      const y0 = this.tops[from] - scroll + Math.min(lanes[from].height, LEVEL) / 2;
      const y1 = this.tops[to] - scroll + (to > from ? 0 : Math.min(lanes[to].height, LEVEL));
      if (Math.max(y0, y1) < 0 || Math.min(y0, y1) > height) continue;
      const x0 = this.x(start), x1 = this.x(end), down = y1 > y0 ? -4 : 4;
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.moveTo(x1 - 2.5, y1 + down);
      context.lineTo(x1, y1);
      context.lineTo(x1 + 2.5, y1 + down);
      context.stroke();
    }
    this.paintElsewhere(context, scroll, height);
    context.globalAlpha = 1;
  }

  // Arrows to and from lanes that are not fetched: small signs at the lane, pointing to where the other one is.
  paintElsewhere(context, scroll, height) {
    context.fillStyle = colours.cursorOf;
    this.signs = this.answer.arrows_elsewhere.map(([from, start, to, end, count]) => {
      const out = from >= this.first && from < this.first + this.answer.lanes.length;
      const here = (out ? from : to) - this.first, other = out ? to : from, time = out ? start : end;
      const lane = this.answer.lanes[here], up = other < this.first;
      const x = this.x(time), y = this.tops[here] - scroll + (up ? 4 : Math.min(lane.height, LEVEL) - 4);
      if (y >= 0 && y <= height) {
        context.beginPath();
        context.moveTo(x - 3, y);
        context.lineTo(x + 3, y);
        context.lineTo(x, y + (up ? -5 : 5));
        context.fill();
      }
      return { x, y: y + scroll, other, out, count, time };
    });
  }

  paintMarks(context, scroll) {
    context.fillStyle = colours.markOf;
    for (const [lane, time] of this.answer.marks) {
      const x = this.x(time), y = this.tops[lane] - scroll;
      context.beginPath();
      context.moveTo(x - 3.5, y - 1);
      context.lineTo(x + 3.5, y - 1);
      context.lineTo(x, y + 6);
      context.fill();
    }
  }

  // Paints the parts that have not been read yet.
  paintUnknown(context, width, height) {
    if (this.answer.done) return;
    const from = Math.max(0, this.x(this.answer.known_until_ns));
    context.fillStyle = colours.shadeOf;
    if (from < width) context.fillRect(from, 0, width - from, height);
  }

  paintOver(context, height) {
    const { cursor } = this.page;
    if (cursor !== null) {
      context.fillStyle = colours.cursorOf;
      context.fillRect(Math.round(this.x(cursor)), 0, 1, height);
    }
    this.paintArea(context);
    this.paintPath(context);
    if (this.brush) {
      context.fillStyle = colours.shadeOf;
      const [a, b] = this.brush.map((time) => this.x(time)).sort((p, q) => p - q);
      context.fillRect(a, 0, b - a, height);
    }
  }

  paintArea(context) {
    const { rectangle } = this, { area } = this.page;
    const shown = rectangle ?? area;
    if (!shown || !this.answer) return;
    const left = this.x(shown.start), width = Math.max(this.x(shown.end) - left, 1), scroll = this.scroller.scrollTop;
    context.fillStyle = colours.shadeOf;
    context.strokeStyle = colours.accentOf;
    context.lineWidth = 1;
    this.answer.lanes.forEach((lane, i) => {
      if (shown.lanes.length && !shown.lanes.includes(lane.id)) return;
      context.fillRect(left, this.tops[i] - scroll, width, lane.height);
      context.strokeRect(left + 0.5, this.tops[i] - scroll + 0.5, width, lane.height - 1);
    });
    if (rectangle) context.strokeRect(left, rectangle.top, width, rectangle.bottom - rectangle.top);
  }

  // The critical path: a line along the lanes, dashed where one waits, with steps from lane to lane.
  paintPath(context) {
    const { pieces } = this.page.panels.path;
    if (!pieces.length || !this.answer) return;
    const scroll = this.scroller.scrollTop;
    const rows = new Map(this.answer.lanes.map((lane, i) => [lane.id, this.tops[i] - scroll + lane.height - 2]));
    context.strokeStyle = colours.cursorOf;
    let before;
    for (const [id, start, end, kind] of pieces) {
      const y = rows.get(id);
      const x0 = this.x(start), x1 = Math.max(this.x(end), this.x(start) + 1);
      if (y !== undefined && x1 >= 0 && x0 <= this.plotWidth) {
        line(context, Math.max(x0, -5), y, Math.min(x1, this.plotWidth + 5), y, 3, kind === "running" ? [] : [3, 3]);
        if (before !== undefined && before !== y) line(context, x0, before, x0, y, 1, []);
      }
      before = y;
    }
    context.setLineDash([]);
  }

  paintAxis() {
    const width = this.plotWidth;
    const context = fitCanvas(this.axis, width, AXIS);
    const { times, decimals } = ticks(this.page.window.start, this.page.window.end, Math.max(width / 130, 3));
    context.font = FONT;
    context.textBaseline = "middle";
    for (const time of times) {
      const x = Math.round(this.x(time));
      context.fillStyle = colours.lineOf;
      context.fillRect(x, AXIS - 6, 1, 6);
      context.fillStyle = colours.faintOf;
      context.fillText(`${seconds(time, decimals)} s`, x + 4, AXIS / 2);
    }
    const { cursor } = this.page;
    if (cursor !== null && this.x(cursor) >= 0 && this.x(cursor) <= width) {
      const text = `${seconds(cursor)} s`;
      const wide = context.measureText(text).width + 10;
      const x = Math.min(Math.max(this.x(cursor) - wide / 2, 0), width - wide);
      context.fillStyle = colours.cursorOf;
      context.fillRect(x, 2, wide, AXIS - 5);
      context.fillStyle = colours.groundOf;
      context.fillText(text, x + 5, AXIS / 2);
    }
  }

  // --- the pointer ---

  place(event) {
    const frame = this.canvas.getBoundingClientRect();
    return { x: event.clientX - frame.left, y: event.clientY - frame.top + this.scroller.scrollTop };
  }

  find({ x, y }) {
    if (!this.answer) return null;
    const i = this.tops.findIndex((top, at) => y >= top && y < top + this.answer.lanes[at].height);
    if (i < 0) return null;
    const lane = this.answer.lanes[i];
    const level = Math.floor((y - this.tops[i]) / lane.level);
    const time = this.time(x), slack = this.time(x + 1.5) - time;
    const box = lane.boxes.find((one) => one[0] === level && time >= one[1] && time < one[2]) ??
      lane.boxes.find((one) => one[0] === level && time >= one[1] - slack && time < one[2] + slack);
    const mark = this.answer.marks.find(([at, when]) => at === i && Math.abs(when - time) < 3 * slack && y - this.tops[i] < 8);
    return { lane, box, mark, sign: this.signAt({ x, y }) };
  }

  signAt({ x, y }) {
    return this.signs?.find((sign) => Math.abs(sign.x - x) < 5 && Math.abs(sign.y - y) < 6);
  }

  // Scrolls to a lane by its row among all.
  goToRow(row) {
    this.scroller.scrollTop = Math.max(0, row * (LEVEL + GAP) - this.scroller.clientHeight / 2);
    this.fetchMore();
  }

  tipOf({ lane, box, mark, sign }) {
    if (sign)
      return [`${sign.count.toLocaleString("en")} ${sign.count === 1 ? "arrow" : "arrows"} ${sign.out ? "to" : "from"} row ${sign.other + 1}`,
        `at ${seconds(sign.time)} s`, "a click leads there"];
    if (mark) return [this.answer.values[mark[2]][0], `mark on ${lane.name}`, `at ${seconds(mark[1])} s`];
    if (!box) return null;
    const [, start, end, value, count, share, detail, load, cut] = box;
    const [name, , kind] = this.answer.values[value];
    const lines = [name ?? "?", `${lane.name} · ${kind}`,
      `${cut & 12 ? "at least " : ""}${duration(end - start)}, from ${cut & 4 ? "before " : ""}${seconds(start)} s` +
      `${cut & 8 ? ", goes on" : ` to ${seconds(end)} s`}`];
    if (count > 1) lines.push(`${count} in all, this one ${Math.round(share * 100)} % of the time`,
      `${Math.round(load * 100)} % filled`);
    else if (detail) lines.push(`detail ${detail}`);
    return lines;
  }

  listen() {
    const page = this.page;
    this.scroller.addEventListener("scroll", () => {
      this.draw();
      this.fetchMore();
    });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { x } = this.place(event);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
        page.pan((event.deltaX || event.deltaY) / this.plotWidth);
      else if (event.altKey) this.scroller.scrollTop += event.deltaY;
      else page.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.time(x));
    }, { passive: false });
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event, event.shiftKey,
      event.ctrlKey || event.metaKey || page.selecting));
    this.canvas.addEventListener("dblclick", (event) => {
      const found = this.find(this.place(event));
      if (!found?.box) return;
      const margin = (found.box[2] - found.box[1]) / 4 + 1;
      page.setWindow(found.box[1] - margin, found.box[2] + margin);
    });
    this.axis.addEventListener("pointerdown", (event) => this.drag(event, true));
  }

  hover(event) {
    if (this.dragging) return;
    const at = this.place(event);
    this.page.pointer = this.time(at.x);
    const found = this.find(at);
    const lines = found && this.tipOf(found);
    if (lines) showTip(event.clientX, event.clientY, lines);
    else hideTip();
    this.canvas.style.cursor = this.page.selecting ? "crosshair" : found?.box ? "pointer" : "default";
  }

  // Dragging moves the window; with Shift, and on the axis, it selects one; with Ctrl it selects an area.
  drag(event, choose, area = false) {
    if (event.button !== 0) return;
    const target = event.currentTarget, begin = this.place(event), page = this.page;
    const from = { ...page.window };
    this.scroller.focus({ preventScroll: true });
    target.setPointerCapture(event.pointerId);
    hideTip();
    const move = (now) => {
      const at = this.place(now);
      if (!this.dragging && Math.abs(at.x - begin.x) < 4 && Math.abs(at.y - begin.y) < 4) return;
      if (!this.dragging) page.beginDrag();
      this.dragging = true;
      if (area) {
        this.rectangle = { ...this.areaBetween(begin, at), top: Math.min(begin.y, at.y), bottom: Math.max(begin.y, at.y) };
        this.draw();
      } else if (choose) {
        this.brush = [this.time(begin.x), this.time(at.x)];
        this.draw();
      } else {
        const by = ((at.x - begin.x) / this.plotWidth) * (from.end - from.start);
        page.setWindow(from.start - by, from.end - by, { keepWidth: true });
        this.scroller.scrollTop -= now.movementY;
      }
    };
    const up = (now) => {
      target.removeEventListener("pointermove", move);
      target.removeEventListener("pointerup", up);
      target.removeEventListener("pointercancel", up);
      const dragged = this.dragging, { brush, rectangle } = this;
      this.dragging = false;
      this.brush = this.rectangle = null;
      if (!dragged && now.type === "pointerup") this.click(this.place(now));
      else if (rectangle && now.type === "pointerup") page.setArea({ start: rectangle.start, end: rectangle.end, lanes: rectangle.lanes });
      else if (brush && now.type === "pointerup") page.setWindow(Math.min(...brush), Math.max(...brush));
      if (dragged) page.endDrag();
      this.draw();
    };
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", up);
    target.addEventListener("pointercancel", up);
  }

  // The area of a rectangle: whole nanoseconds, and every lane that it touches.
  areaBetween(a, b) {
    const [start, end] = [this.time(a.x), this.time(b.x)].sort((x, y) => x - y)
      .map((time) => Math.round(Math.min(Math.max(time, this.page.window.start), this.page.window.end)));
    const scroll = this.scroller.scrollTop, low = Math.min(a.y, b.y) + scroll, high = Math.max(a.y, b.y) + scroll;
    const lanes = (this.answer?.lanes ?? []).filter((lane, i) => this.tops[i] < high && this.tops[i] + lane.height > low);
    return { start, end: Math.max(end, start + 1), lanes: lanes.map((lane) => lane.id) };
  }

  click(at) {
    const found = this.find(at);
    if (found?.sign) return this.goToRow(found.sign.other);
    const [name, , state] = found?.box ? this.answer.values[found.box[3]] : [];
    this.selected = found?.box ? [found.lane.id, found.box[1], found.box[0], found.box[2], name, state] : null;
    this.page.setCursor(Math.round(this.time(at.x)));
    if (this.page.panel === "details") this.page.panels.details.ask();
    if (found?.box) this.page.say(this.tipOf(found).join(" · "));
    this.draw();
  }

  // Scrolls a lane into view; it is fetched first where it is not there.
  reveal(id, fetched = false) {
    const i = this.answer?.lanes.findIndex((lane) => lane.id === id) ?? -1;
    this.wanted = i < 0 && !fetched ? id : null;
    if (this.wanted) this.ask();
    if (i < 0) return;
    const top = this.tops[i], bottom = top + this.answer.lanes[i].height, { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop || bottom > scrollTop + clientHeight) this.scroller.scrollTop = Math.max(0, top - clientHeight / 2);
  }

  // Fetches lanes that were scrolled to.
  fetchMore() {
    if (!this.answer || this.answer.lanes.length >= this.answer.lanes_total) return;
    const top = this.scroller.scrollTop, bottom = top + this.scroller.clientHeight;
    const begin = this.tops[0] ?? 0, last = this.tops.length - 1;
    const end = last < 0 ? 0 : this.tops[last] + this.answer.lanes[last].height;
    let first = this.first;
    if (top < begin && this.first > 0) first = Math.max(0, Math.floor(top / (LEVEL + GAP)) - CHUNK / 2);
    else if (bottom > end + GAP && this.first + this.answer.lanes.length < this.answer.lanes_total)
      first = this.first + Math.max(1, this.answer.lanes.length >> 1);
    if (first !== this.first && first !== this.asked) {
      this.asked = this.first = first;
      this.ask();
    }
  }
}

function line(context, x0, y0, x1, y1, width, dash) {
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

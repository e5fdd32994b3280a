// SPDX-License-Identifier: Apache-2.0
// The overview strip: number of events over the whole span, with the window marked. Dragging selects a window; dragging
// inside the window moves it.
import { colours, duration, element, fitCanvas, labelsWidth, seconds, ticks } from "./util.js";

const HEIGHT = 58;
const LONE = 4; // pixels of a bar with none beside it

export class Overview {
  constructor(page) {
    this.page = page;
    this.answer = null;
    this.canvas = element("canvas", { className: "overview-canvas", role: "img",
      "aria-label": "Density of events over the whole span; drag to choose a window" });
    this.note = element("div", { className: "overview-note" }, "");
    this.node = element("div", { className: "overview" }, this.note, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      page.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), this.time(event));
    }, { passive: false });
    this.canvas.addEventListener("dblclick", () => page.whole());
  }

  get width() {
    return Math.max(this.node.clientWidth - labelsWidth(), 100);
  }

  ask() {
    this.page.link.ask("overview", { ...this.page.common(), view: "overview", width: Math.min(Math.round(this.width), 4000) });
  }

  take(answer) {
    this.answer = answer;
    this.note.replaceChildren(element("b", {}, answer.events.toLocaleString("en")),
      ` ${this.page.filter ? "events pass" : "events"}`, element("br"),
      answer.incomplete && !answer.events ? "counting…" : `over ${duration(answer.end_ns - answer.start_ns)}`);
    this.page.tellNothing(answer.nothing ?? "");
    this.draw();
  }

  x(time) {
    const { start_ns: start, end_ns: end } = this.page.set;
    return ((time - start) / Math.max(end - start, 1)) * this.width;
  }

  time(event) {
    const { start_ns: start, end_ns: end } = this.page.set;
    const x = event.clientX - this.canvas.getBoundingClientRect().left;
    return start + (x / this.width) * (end - start);
  }

  draw() {
    if (!this.page.set) return;
    const width = this.width, context = fitCanvas(this.canvas, width, HEIGHT);
    context.fillStyle = colours.laneOf;
    context.fillRect(0, 14, width, HEIGHT - 14);
    context.font = "10px system-ui, sans-serif";
    const { times, decimals } = ticks(this.page.set.start_ns, this.page.set.end_ns, Math.max(width / 130, 3));
    for (const time of times) {
      context.fillStyle = colours.lineOf;
      context.fillRect(Math.round(this.x(time)), 2, 1, HEIGHT);
      context.fillStyle = colours.faintOf;
      context.fillText(`${seconds(time, decimals)} s`, Math.round(this.x(time)) + 3, 10);
    }
    if (this.answer?.greatest) {
      context.fillStyle = colours.barsOf;
      const { counts, greatest, start_ns: from, end_ns: to } = this.answer;
      const step = (to - from) / counts.length;
      counts.forEach((count, i) => {
        if (!count) return;
        const high = Math.max(1.5, Math.sqrt(count / greatest) * (HEIGHT - 17));
        const lone = !counts[i - 1] && !counts[i + 1], least = lone ? LONE : 1; // the window's edge covers less
        const left = lone ? Math.min(this.x(from + i * step), width - LONE) : this.x(from + i * step);
        context.fillRect(left, HEIGHT - high, Math.max(this.x(from + (i + 1) * step) - left, least), high);
      });
    }
    this.paintWindow(context, width);
  }

  paintWindow(context, width) {
    const { start, end } = this.page.window;
    let left = this.x(start), right = this.x(end);
    if (right - left < 3) {
      const middle = (left + right) / 2;
      left = middle - 1.5;
      right = middle + 1.5;
    }
    context.fillStyle = colours.shadeOf;
    context.fillRect(0, 14, left, HEIGHT - 14);
    context.fillRect(right, 14, width - right, HEIGHT - 14);
    context.strokeStyle = colours.accentOf;
    context.lineWidth = 1.5;
    context.strokeRect(left + 0.5, 14.75, Math.max(right - left - 1, 2), HEIGHT - 15.5);
    if (this.page.cursor !== null) {
      context.fillStyle = colours.cursorOf;
      context.fillRect(Math.round(this.x(this.page.cursor)), 14, 1, HEIGHT - 14);
    }
  }

  drag(event) {
    if (event.button !== 0 || !this.page.set) return;
    const page = this.page, begin = this.time(event), from = { ...page.window }, startX = event.clientX;
    const span = page.set.end_ns - page.set.start_ns;
    const inside = begin > from.start && begin < from.end && from.end - from.start < span * 0.999;
    let moved = false;
    this.canvas.setPointerCapture(event.pointerId);
    const move = (now) => {
      if (!moved && Math.abs(now.clientX - startX) < 3) return;
      if (!moved) page.beginDrag();
      moved = true;
      const time = this.time(now);
      if (inside) page.setWindow(from.start + time - begin, from.end + time - begin, { keepWidth: true });
      else page.setWindow(Math.min(begin, time), Math.max(begin, time));
    };
    const up = (now) => {
      this.canvas.removeEventListener("pointermove", move);
      this.canvas.removeEventListener("pointerup", up);
      this.canvas.removeEventListener("pointercancel", up);
      if (moved) page.endDrag();
      if (moved || now.type === "pointercancel") return;
      const half = (from.end - from.start) / 2;
      page.setWindow(begin - half, begin + half, { keepWidth: true });
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", up);
    this.canvas.addEventListener("pointercancel", up);
  }
}

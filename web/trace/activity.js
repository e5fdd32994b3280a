// SPDX-License-Identifier: Apache-2.0
// Number of working capabilities, CPUs or threads over the window, in layers by class of state. It is part of the
// timeline's answer and is shown above it.
import { colours, duration, element, fitCanvas, hideTip, labelsWidth, seconds, showTip } from "./util.js";

const HEIGHT = 46;
const NAMES = { capability: ["capability", "capabilities"], cpu: ["CPU", "CPUs"], thread: ["thread", "threads"] };

export class Activity {
  constructor(page) {
    this.page = page;
    this.answer = null;
    this.rows = [];
    this.node = element("div", { className: "activity", hidden: true });
  }

  get width() {
    return Math.max(this.node.clientWidth - labelsWidth(), 100);
  }

  name({ kind, lanes }) {
    return `${lanes} ${(NAMES[kind] ?? [kind, kind])[lanes === 1 ? 0 : 1]}`;
  }

  source(one) {
    if (one.from_summary) return "by the summary";
    if (one.complete) return "by the events";
    return one.known_until_ns < this.answer.end_ns ? `read up to ${seconds(one.known_until_ns, 3)} s`
      : "what came before is not known yet";
  }

  // For a program with a garbage collector.
  productivity({ productivity_percent: percent }) {
    if (percent === undefined) return [];
    return [element("span", { className: percent < 50 ? "problem" : "",
      title: "Work of the program, of that and garbage collection" },
    `productivity ${percent.toFixed(0)} %${percent < 50 ? ": it mostly collects garbage" : ""}`)];
  }

  take(answer) {
    this.answer = answer;
    this.node.hidden = !answer.activity?.length;
    this.rows = (answer.activity ?? []).map((one) => {
      const canvas = element("canvas", { className: "activity-canvas", role: "img",
        "aria-label": `At work on average: ${one.at_work} of ${this.name(one)}, ${this.source(one)}` });
      canvas.addEventListener("pointermove", (event) => this.hover(event, one));
      canvas.addEventListener("pointerleave", hideTip);
      const file = this.page.set?.files[one.trace]?.name ?? "";
      const label = element("div", { className: "activity-label", title: file },
        element("b", {}, this.name(one)), element("span", {}, `${one.at_work_percent.toFixed(one.at_work_percent < 10 ? 1 : 0)} % at work`),
        ...this.productivity(one),
        element("small", {}, this.source(one)));
      return { one, canvas, node: element("div", { className: "activity-row" }, label, canvas) };
    });
    this.node.replaceChildren(...this.rows.map((row) => row.node));
    this.draw();
  }

  x(time) {
    const { start, end } = this.page.window;
    return ((time - start) / (end - start)) * this.width;
  }

  draw() {
    if (this.node.hidden) return;
    for (const { one, canvas } of this.rows) this.paint(one, canvas);
  }

  paint(one, canvas) {
    const width = this.width, context = fitCanvas(canvas, width, HEIGHT);
    const { start_ns: start, end_ns: end } = this.answer;
    context.fillStyle = colours.laneOf;
    context.fillRect(0, 0, width, HEIGHT);
    const working = one.classes.filter((of) => of.at_work || of.class === "collecting");
    const columns = working[0]?.load.length ?? 0, step = (end - start) / columns;
    for (let i = 0; i < columns; i++) {
      const left = Math.round(this.x(start + i * step)), right = Math.round(this.x(start + (i + 1) * step));
      if (right < 0 || left > width) continue;
      let bottom = HEIGHT;
      for (const of of working) {
        const high = (of.load[i] / one.scale) * (HEIGHT - 4);
        context.fillStyle = colours.box[of.colour];
        context.fillRect(left, bottom - high, right - left, high);
        bottom -= high;
      }
    }
    if (one.known_until_ns < end) { // not read yet
      context.fillStyle = colours.shadeOf;
      const from = Math.max(0, this.x(one.known_until_ns));
      context.fillRect(from, 0, Math.max(0, this.x(end) - from), HEIGHT);
    }
    if (this.page.cursor !== null) {
      context.fillStyle = colours.cursorOf;
      context.fillRect(Math.round(this.x(this.page.cursor)), 0, 1, HEIGHT);
    }
  }

  hover(event, one) {
    const { start_ns: start, end_ns: end } = this.answer, { window } = this.page;
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
    const time = window.start + (x / this.width) * (window.end - window.start);
    const columns = one.classes[0]?.load.length ?? 0, step = (end - start) / columns;
    const column = Math.floor((time - start) / step);
    if (!(column >= 0 && column < columns) || time > one.known_until_ns) return hideTip();
    const at = one.classes.filter((of) => of.load[column] > 0);
    const sum = at.reduce((all, of) => all + (of.at_work ? of.load[column] : 0), 0); // without garbage collection
    showTip(event.clientX, event.clientY, [`${sum.toFixed(2)} of ${this.name(one)} at work`,
      at.map((of) => `${of.class} ${of.load[column].toFixed(2)}`).join(", ") || "nothing",
      `${duration(step)}, from ${seconds(start + column * step)} s · ${this.source(one)}`]);
  }
}

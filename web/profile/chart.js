// SPDX-License-Identifier: Apache-2.0
// Numbers over time, one series at a time (uPlot). The series is chosen above the chart; points have the colour of
// their group, and a mark shows where a group begins. The cursor follows mouse and arrow keys; its values are shown
// below and beside it. It is not a module, because it is embedded in pages that work without a server.
/* global uPlot */
"use strict";

{
  const HEIGHT = 300;
  const COLOURS = 6;

  const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  const scaled = (value, units) => {
    const [unit, size] = units.find(([, least]) => Math.abs(value) >= least) ?? units.at(-1);
    return `${Number((value / size).toPrecision(4)).toLocaleString("en")} ${unit}`;
  };
  const FORMATS = {
    count: (value) => value.toLocaleString("en"),
    seconds: (value) => scaled(value, [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]]),
    bytes: (value) => scaled(value, [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]]),
  };
  const AXIS = { ...FORMATS, count: (value) => value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 5 }) };

  const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
  // By step in seconds: the label at each step, and a second line where the day or minute changes.
  const DAY = "\n{YYYY}-{MM}-{DD}";
  const TIMES = [[31536000, "{YYYY}"], [2419200, "{YYYY}-{MM}"], [86400, "{YYYY}-{MM}-{DD}"],
    [60, "{HH}:{mm}", DAY, DAY, DAY], [1, "{HH}:{mm}:{ss}", DAY, DAY, DAY],
    [0.001, "{ss}.{fff} s", `${DAY} {HH}:{mm}`, `${DAY} {HH}:{mm}`, `${DAY} {HH}:{mm}`, `${DAY} {HH}:{mm}`, `${DAY} {HH}:{mm}`]]
    .map((formats) => [...formats, ...Array(8 - formats.length).fill(null), 1]);
  const brief = (group) => group.slice(0, 8);

  class Chart {
    constructor(figure) {
      this.figure = figure;
      const { points, series } = JSON.parse(figure.querySelector("script").textContent);
      this.points = points;
      this.series = series;
      this.groups = [...new Set(points.map((point) => point.group))];
      this.timed = points.every((point, i) => point.time && (i === 0 || point.time > points[i - 1].time));
      this.style = getComputedStyle(figure);
      this.build();
    }

    check(label, checked) {
      const box = element("input", { type: "checkbox", checked });
      box.addEventListener("change", () => this.draw());
      return [element("label", {}, box, ` ${label}`), box];
    }

    build() {
      const { figure } = this;
      this.choice = element("select");
      this.choice.append(...this.series.map((series, i) => element("option", { value: String(i) }, series.label)));
      this.choice.addEventListener("change", () => this.draw());
      const [zeroLabel, zero] = this.check("from zero", false);
      const [evenLabel, even] = this.check("evenly spaced", !this.timed);
      Object.assign(this, { zero, even });
      evenLabel.hidden = !this.timed;
      this.place = element("div", { className: "plot", tabIndex: 0 });
      this.place.setAttribute("role", "img");
      this.told = element("output");
      this.tip = element("div", { className: "tip", hidden: true });
      this.tip.setAttribute("aria-hidden", "true");
      figure.append(element("div", { className: "choices" }, element("label", {}, "Measure ", this.choice), zeroLabel, evenLabel),
        this.place, this.told);
      this.place.addEventListener("keydown", (event) => this.key(event));
      figure.hidden = false;
      const instead = document.getElementById(figure.dataset.instead ?? "");
      if (instead) instead.hidden = true;
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      new ResizeObserver(() => this.resize()).observe(this.place);
      this.draw();
    }

    colour(name) {
      return this.style.getPropertyValue(name).trim();
    }

    resize() {
      const width = this.place.clientWidth;
      if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
    }

    colourOf(group) {
      return group === undefined ? this.colour("--faint") : this.colour(`--g${this.groups.indexOf(group) % COLOURS}`);
    }

    draw() {
      const { points, place } = this;
      const shown = this.shown = this.series[Number(this.choice.value)];
      const xs = points.map((point, i) => (this.even.checked ? i + 1 : point.time));
      const line = { stroke: () => this.colour("--strong"), width: 1, points: { show: false }, spanGaps: true };
      const dots = this.groups.map((group) => ({ paths: () => null, stroke: this.colourOf(group),
        points: { show: true, size: 9, width: 1, fill: this.colourOf(group) } }));
      const axis = { stroke: () => this.colour("--soft"), grid: { stroke: () => this.colour("--line"), width: 1 },
        ticks: { stroke: () => this.colour("--line"), width: 1 }, font: "12px system-ui" };
      this.plot?.destroy();
      this.plot = new uPlot({
        width: Math.max(place.clientWidth, 200), height: HEIGHT, legend: { show: false }, padding: [28, 16, 0, 0],
        scales: { x: { time: !this.even.checked, range: this.across(xs) },
          y: { range: (_, low, high) => (this.zero.checked ? [0, uPlot.rangeNum(0, high || 1, 0.1, true)[1]]
            : uPlot.rangeNum(low, high, 0.1, true)) } },
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
        cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
        axes: [{ ...axis, ...(this.even.checked ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] }
          : { values: TIMES, space: 70 }) },
          { ...axis, size: 84, values: (_, all) => all.map((value) => AXIS[shown.unit](value)) }],
        series: [{}, line, ...dots],
        hooks: { setCursor: [() => this.tell()], draw: [() => this.mark(xs)] },
      }, [xs, shown.values, ...this.groups.map((group) => shown.values.map((value, i) => (points[i].group === group ? value : null)))],
      place);
      this.plot.over.append(this.tip);
      place.setAttribute("aria-label", `${this.figure.dataset.label}: ${shown.label}. ${this.extremes()} Arrow keys walk.`);
      this.told.textContent = "";
      this.figure.dataset.drawn = String(Number(this.figure.dataset.drawn ?? 0) + 1);
    }

    // Room for half a point at both ends.
    across(xs) {
      const first = xs[0], last = xs.at(-1), room = (last - first || 1) * 0.03;
      return [first - room, last + room];
    }

    extremes() {
      const known = this.shown.values.filter((value) => value !== null);
      const format = FORMATS[this.shown.unit];
      return known.length ? `${format(Math.min(...known))} to ${format(Math.max(...known))}.` : "Nothing is known.";
    }

    // Marks where another group begins, with its name if there is room.
    mark(xs) {
      const { ctx, bbox } = this.plot;
      const ratio = devicePixelRatio;
      let free = 0;
      ctx.save();
      ctx.font = `${11 * ratio}px system-ui`;
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      this.points.forEach((point, i) => {
        if (point.group === undefined || (i > 0 && this.points[i - 1].group === point.group)) return;
        const x = this.plot.valToPos(i === 0 ? xs[0] : (xs[i - 1] + xs[i]) / 2, "x", true);
        ctx.strokeStyle = ctx.fillStyle = this.colourOf(point.group);
        if (i > 0) {
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
        }
        const name = brief(point.group);
        const left = Math.min(x, bbox.left + bbox.width - ctx.measureText(name).width);
        if (left < free) return;
        ctx.fillText(name, left, bbox.top - 12 * ratio);
        free = left + ctx.measureText(name).width + 8 * ratio;
      });
      ctx.restore();
    }

    // Change from the last known value.
    change(at) {
      const { values } = this.shown;
      let before = at - 1;
      while (before >= 0 && values[before] === null) before--;
      if (before < 0 || values[at] === null || values[before] === 0) return "";
      const percent = (values[at] / values[before] - 1) * 100;
      return percent === 0 ? "as before" : `${percent > 0 ? "+" : "−"}${Math.abs(percent).toFixed(2)} % against ${this.points[before].label}`;
    }

    tell() {
      const at = this.plot?.cursor.idx ?? null;
      this.tip.hidden = at === null;
      if (at === null) return;
      const point = this.points[at], value = this.shown.values[at];
      const parts = [point.label, value === null ? `${this.shown.label} not recorded` : `${FORMATS[this.shown.unit](value)} ${this.shown.unit === "count" ? this.shown.label : ""}`.trim(),
        this.change(at), point.time ? day(point.time) : "", point.group === undefined ? "build not known" : `build ${brief(point.group)}`];
      const lines = parts.filter((part) => part !== "");
      this.tip.replaceChildren(...lines.map((part, i) => element(i === 0 ? "b" : "span", {}, part)));
      this.told.textContent = lines.join(", ");
      const x = this.plot.valToPos(this.plot.data[0][at], "x");
      const room = this.plot.over.clientWidth - this.tip.offsetWidth;
      this.tip.style.left = `${Math.max(0, x + 14 + this.tip.offsetWidth > this.plot.over.clientWidth ? Math.min(x - 14 - this.tip.offsetWidth, room) : x + 14)}px`;
    }

    key(event) {
      const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      event.preventDefault();
      event.stopPropagation();
      const at = Math.max(0, Math.min(this.points.length - 1, (this.plot.cursor.idx ?? -1) + steps[event.key]));
      this.plot.setCursor({ left: this.plot.valToPos(this.plot.data[0][at], "x"), top: 10 });
    }
  }

  for (const figure of document.querySelectorAll("figure.chart")) figure.chart = new Chart(figure);
}

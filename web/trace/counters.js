// SPDX-License-Identifier: Apache-2.0
// Counters and the heap, one small chart each on the page's time axis (uPlot). Dragging selects a window; the cursor is
// shared with the page.
/* global uPlot */
import { colours, element, seconds } from "./util.js";

const LABELS = 220;

export class Counters {
  constructor(page) {
    this.page = page;
    this.charts = [];
    this.node = element("div", { className: "panel-counters" });
  }

  ask() {
    const { start, end } = this.page.window;
    this.page.link.ask("counters", { ...this.page.common(), view: "counters", start, end,
      width: Math.max(100, Math.min(Math.round((this.node.clientWidth - LABELS) / 2), 1000)) });
  }

  moved() {
    for (const chart of this.charts) this.putCursor(chart);
  }

  take(answer) {
    this.answer = answer;
    this.draw();
  }

  draw() {
    const { answer } = this;
    if (!answer || typeof uPlot === "undefined") return;
    this.charts.forEach((chart) => chart.destroy());
    this.charts = [];
    if (!answer.series.length) {
      this.node.replaceChildren(element("p", { className: "empty" }, answer.done ? "No counters in this window." : "Reading…"));
      return;
    }
    const step = (answer.end_ns - answer.start_ns) / answer.columns;
    const times = Array.from({ length: answer.columns }, (_, i) => answer.start_ns + (i + 0.5) * step);
    const more = answer.left_out === 1 ? "1 more counter" : `${answer.left_out} more counters`;
    this.node.replaceChildren(...answer.series.map((series) => this.chart(series, times)),
      ...(answer.left_out ? [element("p", { className: "empty" }, `${more} not shown.`)] : []));
    this.moved();
  }

  // In columns without new values, the last value continues.
  filled(values, last) {
    let known = null;
    return values.map((value, i) => {
      const shown = value ?? known;
      known = last[i] ?? known;
      return shown;
    });
  }

  chart(series, times) {
    const known = series.last.filter((value) => value !== null);
    const format = (value) => (value === null || value === undefined ? "–" : readable(value, series.kind === "heap"));
    const value = element("b", {}, format(known.at(-1)));
    const label = element("div", { className: "chart-label" }, element("span", {}, series.name ?? series.id), value);
    const place = element("div", { className: "chart" });
    const row = element("div", { className: "chart-row" }, label, place);
    const width = Math.max(this.node.clientWidth - LABELS, 100);
    const last = this.filled(series.last, series.last);
    const stepped = uPlot.paths.stepped({ align: 1 });
    const chart = new uPlot({
      width, height: 96, legend: { show: false }, padding: [8, 0, 0, 0],
      scales: { x: { time: false, range: () => [this.answer.start_ns, this.answer.end_ns] } },
      cursor: { sync: { key: "fathom" }, drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
      axes: [{ size: 18, stroke: colours.faintOf, grid: { stroke: colours.lineOf, width: 1 }, ticks: { show: false },
        font: "10px system-ui", values: (_, all) => all.map((time) => `${trim(seconds(time))} s`), space: 130 },
        { size: 0, grid: { stroke: colours.lineOf, width: 1 }, values: () => [], ticks: { show: false }, splits: (_, __, low, high) => [low, high] }],
      series: [{}, { stroke: "transparent", paths: stepped, points: { show: false } },
        { stroke: "transparent", paths: stepped, points: { show: false } },
        { stroke: colours.accentOf, width: 1.5, paths: stepped, points: { show: false } }],
      bands: [{ series: [2, 1], fill: colours.barsOf + "55" }],
      hooks: {
        setCursor: [(plot) => { value.textContent = (plot.cursor.idx ?? -1) < 0 ? format(known.at(-1)) : format(last[plot.cursor.idx]); }],
        setSelect: [(plot) => {
          const { left, width: wide } = plot.select;
          if (wide > 3) this.page.setWindow(plot.posToVal(left, "x"), plot.posToVal(left + wide, "x"));
        }],
      },
    }, [times, this.filled(series.least, series.last), this.filled(series.greatest, series.last), last], place);
    const greatest = Math.max(...series.greatest.filter((one) => one !== null));
    const least = Math.min(...series.least.filter((one) => one !== null));
    if (known.length)
      label.append(element("small", {}, `${format(least)} to ${format(greatest)}`));
    chart.over.addEventListener("click", () => {
      if (chart.select.width < 3) this.page.setCursor(Math.round(chart.posToVal(chart.cursor.left, "x")));
    });
    chart.line = element("div", { className: "chart-cursor", hidden: true });
    chart.over.append(chart.line);
    this.charts.push(chart);
    return row;
  }

  putCursor(chart) {
    const { cursor } = this.page;
    const inside = cursor !== null && cursor >= this.answer.start_ns && cursor <= this.answer.end_ns;
    chart.line.hidden = !inside;
    if (inside) chart.line.style.left = `${chart.valToPos(cursor, "x")}px`;
  }
}

function trim(text) {
  return text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

// 1536000 -> "1.46 MiB" for bytes, else "1,536,000"
function readable(value, bytes) {
  if (!bytes) return value.toLocaleString("en", { maximumFractionDigits: 3 });
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]])
    if (Math.abs(value) >= size) return `${(value / size).toFixed(2)} ${unit}`;
  return `${value} B`;
}

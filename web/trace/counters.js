// SPDX-License-Identifier: Apache-2.0
// Counters and the heap on the page's time axis (uPlot). Bands of a heap profile are stacked, the ten largest and the
// rest; every other counter has a small chart of its own. Dragging selects a window; the cursor is shared with the page.
/* global uPlot */
import { button, colours, element, labelsWidth, seconds } from "./util.js";

const BANDS_MAX = 10; // the others are one band, "the rest"
const STACK_HEIGHT = 260;
const FIRST_COLOUR = 15; // of ten that are told apart, in trace.css

export class Counters {
  constructor(page) {
    this.page = page;
    this.charts = [];
    this.lines = false; // the bands as lines, each in a chart
    this.node = element("div", { className: "panel-counters" });
  }

  ask() {
    const { start, end } = this.page.window;
    this.page.link.ask("counters", { ...this.page.common(), view: "counters", start, end,
      width: Math.max(100, Math.min(Math.round((this.node.clientWidth - labelsWidth()) / 2), 1000)) });
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
    const bands = answer.series.filter((series) => series.band);
    const stacks = bands.length > 1 && !this.lines ? [...new Set(bands.map((band) => band.trace))] : [];
    const inStack = (series) => series.band && stacks.includes(series.trace);
    const outside = answer.left_out - (stacks.length ? answer.rest?.count ?? 0 : 0);
    const more = outside === 1 ? "1 more counter" : `${outside} more counters`;
    this.node.replaceChildren(...(bands.length > 1 ? [this.toggle()] : []),
      ...stacks.map((trace) => this.stack(bands.filter((band) => band.trace === trace), times)),
      ...answer.series.filter((series) => !inStack(series)).map((series) => this.chart(series, times)),
      ...(outside > 0 ? [element("p", { className: "empty" }, `${more} not shown.`)] : []));
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

  toggle() {
    const made = button(this.lines ? "Stacked" : "Lines",
      this.lines ? "the heap profile as one chart of bands" : "each band of the heap profile by itself", () => {
        this.lines = !this.lines;
        this.draw();
      });
    return element("p", { className: "chart-toggle" }, "Heap profile: ", made);
  }

  // What is drawn of a heap profile, the largest first: {name, last, colour}. The rest are bands that
  // are small here, and those of which the answer has only the sum. Before the first sample nothing is
  // known; a band that a sample does not name has nothing.
  bandsOf(series) {
    const filled = series.map((band) => this.filled(band.last, band.last));
    const first = Math.min(...filled.map((last) => last.findIndex((value) => value !== null)).filter((at) => at >= 0));
    const all = series.map((band, i) => ({ name: band.name, last: filled[i].map((value, at) => (at < first ? null : value ?? 0)) }))
      .map((band) => ({ ...band, sum: band.last.reduce((sum, value) => sum + value, 0) }))
      .sort((one, other) => other.sum - one.sum);
    const shown = all.slice(0, BANDS_MAX), rest = all.slice(BANDS_MAX).map((band) => band.last);
    let count = rest.length;
    if (this.answer.rest) {
      rest.push(this.answer.rest.last);
      count += this.answer.rest.count;
    }
    const bands = shown.map((band, i) => ({ ...band, colour: colours.box[FIRST_COLOUR + i] }));
    if (count)
      bands.push({ name: `the rest (${count})`, colour: colours.lineOf,
        last: filled[0].map((_, at) => (at < first ? null : rest.reduce((sum, last) => sum + last[at], 0))) });
    return bands;
  }

  // The value where the pointer is, else at the end; and by how much it changed: over the window, or
  // from the page's cursor to there.
  legend(bands, times) {
    const rows = bands.map((band) => {
      const value = element("b", {}), change = element("small", {});
      const swatch = element("i", { className: "swatch" });
      swatch.style.background = band.colour;
      return { band, value, change,
        node: element("div", { className: "band" }, swatch, element("span", { title: band.name }, band.name), value, change) };
    });
    const show = (at) => {
      const to = at === null || at === undefined || at < 0 ? times.length - 1 : at;
      const { cursor } = this.page;
      const chosen = cursor === null || at === null || at === undefined || at < 0 ? 0
        : times.findLastIndex((time) => time <= cursor);
      const from = Math.max(chosen, bands[0].last.findIndex((one) => one !== null));
      for (const { band, value, change } of rows) {
        const difference = band.last[to] - band.last[from];
        value.textContent = band.last[to] === null ? "–" : readable(band.last[to], true);
        change.textContent = band.last[to] === null ? "" : difference === 0 ? "±0"
          : `${difference > 0 ? "+" : "−"}${readable(Math.abs(difference), true)}`;
      }
    };
    show(null);
    return { nodes: rows.map((row) => row.node), show };
  }

  stack(series, times) {
    const bands = this.bandsOf(series);
    const { nodes, show } = this.legend(bands, times);
    const sums = []; // of each band and those below it, the largest band at the bottom
    bands.forEach((band, i) =>
      sums.push(band.last.map((value, at) => (value === null ? null : value + (i > 0 ? sums[i - 1][at] : 0)))));
    const place = element("div", { className: "chart" });
    const label = element("div", { className: "chart-label bands" },
      element("div", { className: "band heads" }, element("span", {}, "Alive by band"), element("b", {}, "bytes"),
        element("small", {}, "change")), ...nodes, element("small", {}, `up to ${readable(Math.max(...sums.at(-1)), true)} in all`));
    const row = element("div", { className: "chart-row stack" }, label, place);
    const stepped = uPlot.paths.stepped({ align: 1 });
    const chart = new uPlot({
      ...this.plot(STACK_HEIGHT),
      scales: { x: { time: false, range: () => [this.answer.start_ns, this.answer.end_ns] },
        y: { range: (_, __, high) => [0, Math.max(high, 1)] } },
      // Those above are drawn first, down to the ground.
      series: [{}, ...bands.map((band) => ({ stroke: band.colour, fill: band.colour, width: 1, paths: stepped,
        points: { show: false } })).reverse()],
      hooks: { setCursor: [(plot) => show(plot.cursor.idx)], setSelect: [(plot) => this.select(plot)] },
    }, [times, ...sums.slice().reverse()], place);
    this.watch(chart);
    return row;
  }

  // What all charts have in common.
  plot(height) {
    return {
      width: Math.max(this.node.clientWidth - labelsWidth(), 100), height, legend: { show: false }, padding: [8, 0, 0, 0],
      cursor: { sync: { key: "fathom" }, drag: { x: true, y: false, setScale: false }, points: { size: 5 } },
      axes: [{ size: 18, stroke: colours.faintOf, grid: { stroke: colours.lineOf, width: 1 }, ticks: { show: false },
        font: "10px system-ui", values: (_, all) => all.map((time) => `${trim(seconds(time))} s`), space: 130 },
        { size: 0, grid: { stroke: colours.lineOf, width: 1 }, values: () => [], ticks: { show: false }, splits: (_, __, low, high) => [low, high] }],
    };
  }

  select(plot) {
    const { left, width } = plot.select;
    if (width > 3) this.page.setWindow(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
  }

  // A click sets the page's cursor, which stands in all charts.
  watch(chart) {
    chart.over.addEventListener("click", () => {
      if (chart.select.width < 3) this.page.setCursor(Math.round(chart.posToVal(chart.cursor.left, "x")));
    });
    chart.line = element("div", { className: "chart-cursor", hidden: true });
    chart.over.append(chart.line);
    this.charts.push(chart);
  }

  chart(series, times) {
    const known = series.last.filter((value) => value !== null);
    const format = (value) => (value === null || value === undefined ? "–" : readable(value, series.kind === "heap"));
    const value = element("b", {}, format(known.at(-1)));
    const label = element("div", { className: "chart-label" }, element("span", {}, series.name ?? series.id), value);
    const place = element("div", { className: "chart" });
    const row = element("div", { className: "chart-row" }, label, place);
    const last = this.filled(series.last, series.last);
    const stepped = uPlot.paths.stepped({ align: 1 });
    const chart = new uPlot({
      ...this.plot(96),
      scales: { x: { time: false, range: () => [this.answer.start_ns, this.answer.end_ns] } },
      series: [{}, { stroke: "transparent", paths: stepped, points: { show: false } },
        { stroke: "transparent", paths: stepped, points: { show: false } },
        { stroke: colours.accentOf, width: 1.5, paths: stepped, points: { show: false } }],
      bands: [{ series: [2, 1], fill: colours.barsOf + "55" }],
      hooks: {
        setCursor: [(plot) => { value.textContent = (plot.cursor.idx ?? -1) < 0 ? format(known.at(-1)) : format(last[plot.cursor.idx]); }],
        setSelect: [(plot) => this.select(plot)],
      },
    }, [times, this.filled(series.least, series.last), this.filled(series.greatest, series.last), last], place);
    const greatest = Math.max(...series.greatest.filter((one) => one !== null));
    const least = Math.min(...series.least.filter((one) => one !== null));
    if (known.length)
      label.append(element("small", {}, `${format(least)} to ${format(greatest)}`));
    this.watch(chart);
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

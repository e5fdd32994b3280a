// SPDX-License-Identifier: Apache-2.0
// Elements, times and colours.

// element("div", {className: "x"}, child, "text"): strings become text, never markup.
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("aria-") || key === "role" || key === "for") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

// A label that is a sign has its title as its name.
export function button(label, title, action) {
  const made = element("button", { type: "button", title }, label);
  if (!/\p{L}/u.test(label)) made.setAttribute("aria-label", title);
  made.addEventListener("click", action);
  return made;
}

// Pixels at the left of all that is drawn over time; as --labels in trace.css.
export function labelsWidth() {
  return matchMedia("(max-width: 45rem)").matches ? 110 : 220;
}

// 1234567 ns -> "1.23 ms"
export function duration(ns) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
    const value = ns / size;
    if (value >= 0.9995)
      return `${value < 9.995 ? value.toFixed(2) : value < 99.95 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
  }
  return `${Math.round(ns)} ns`;
}

// Seconds with that number of decimals, exact for integer nanoseconds.
export function seconds(ns, decimals = 9) {
  const sign = ns < 0 ? "-" : "";
  const whole = Math.abs(Math.round(ns));
  const part = String(whole % 1e9).padStart(9, "0").slice(0, decimals);
  return `${sign}${Math.floor(whole / 1e9)}${decimals > 0 ? "." : ""}${part}`;
}

// "1.5s", "20ms", "4000" (ns), "1.5" (s) -> ns; NaN when it is not a time.
export function parseTime(text) {
  const found = /^\s*(\d+)(\.\d+)?\s*(s|ms|us|ns)?\s*$/.exec(text);
  if (!found) return NaN;
  const unit = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[found[3] ?? (found[2] ? "s" : "ns")];
  return Math.round(Number(found[1] + (found[2] ?? "")) * unit);
}

// "0-1-12:1000:2", a box as the address names it: its end and name come with its details.
export function boxOf(text) {
  const [lane, start, level] = (text ?? "").split(":");
  return lane && start ? [lane, Number(start), Number(level ?? 0), Number(start), null, null] : null;
}

// Positions of round times within a window: {times, decimals}.
export function ticks(start, end, count) {
  const least = Math.max((end - start) / count, 1);
  const power = 10 ** Math.floor(Math.log10(least));
  let step = power;
  for (const factor of [1, 2, 5, 10]) {
    step = factor * power;
    if (step >= least) break;
  }
  const times = [];
  for (let time = Math.ceil(start / step) * step; time <= end; time += step) times.push(time);
  return { times, decimals: Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(step) + 1e-9))) };
}

// The colours of trace.css, for canvases; read again when the scheme changes.
export const colours = {};
export function readColours() {
  const style = getComputedStyle(document.body);
  const of = (name) => style.getPropertyValue(name).trim();
  colours.box = Array.from({ length: 28 }, (_, i) => of(`--k${i}`) || of("--k0"));
  colours.ink = Array.from({ length: 28 }, (_, i) => of(`--k${i}t`) || of("--box-ink"));
  for (const name of ["ink", "faint", "ground", "panel", "line", "lane", "accent", "cursor", "bars", "shade", "mark"])
    colours[`${name}Of`] = of(`--${name}`);
}

// Sizes a canvas for the screen's resolution; returns its context, scaled to CSS pixels.
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// The longest beginning of a text that fits.
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${text.slice(0, low)}…` : "";
}

let tip = null;
export function showTip(x, y, lines) {
  if (!tip) {
    tip = element("div", { className: "tip", role: "tooltip" });
    document.body.append(tip);
  }
  tip.replaceChildren(...lines.map((line, i) => element(i === 0 ? "b" : "div", {}, line)));
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  tip.style.left = `${Math.max(4, Math.min(x + 14, window.innerWidth - width - 8))}px`;
  tip.style.top = `${y + 18 + height > window.innerHeight ? y - height - 10 : y + 18}px`;
}
export function hideTip() {
  if (tip) tip.hidden = true;
}

// SPDX-License-Identifier: Apache-2.0
// The boxes of a flame graph, and drawing a part of them on a canvas.

import { commandOf } from "./query.js";

export const ROW_HEIGHT = 19;
const BOX_HEIGHT = 18;
const LABEL_LEAST = 6; // letters: fewer would be useless
const GAP_LEAST = 4; // pixels: narrower boxes have no gap at their right
const FADED = 0.35;
const MILLION = 1e6;

const RECURSION = 1, JOINED = 4; // flags of boxes

// Boxes as objects with references to their parents and places in their rows.
export function readGraph(flame) {
  const rows = Array.from({ length: flame.rows }, () => []);
  const text = (list, place) => (place < 0 ? null : list[place]);
  const boxes = flame.boxes.map(([row, x, width, name, place, colour, flags, total, own, calls, query, proc, spread, active]) => {
    const box = {
      row, x: x / MILLION, width: width / MILLION, name: flame.names[name],
      full: flame.full_names[name] ?? flame.names[name], place: text(flame.places, place), colour, flags,
      total, own, calls, query: query < 0 ? null : commandOf(flame.queries[query]), proc, spread, active, parent: null, children: [],
    };
    rows[row].push(box);
    return box;
  });
  for (const row of rows) row.sort((a, b) => a.x - b.x);
  for (const box of boxes) {
    if (box.row === 0) continue;
    box.parent = boxAt(rows[box.row - 1], box.x + box.width / 2);
    box.parent?.children.push(box);
  }
  for (const row of rows) row.forEach((box, place) => { box.left = row[place - 1]; box.right = row[place + 1]; });
  return { boxes, rows, measure: flame.measure, unitSeconds: flame.unit_seconds, sample: flame.sample,
    whole: flame.whole, legend: flame.legend };
}

// Finds the box of a sorted row over a position, by binary search.
export function boxAt(row, x) {
  let low = 0, high = (row?.length ?? 0) - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const box = row[middle];
    if (x < box.x) high = middle - 1;
    else if (x >= box.x + box.width) low = middle + 1;
    else return box;
  }
  return null;
}

// Finds boxes whose names contain all the words, and their total share; boxes above one another count once.
export function findBoxes(graph, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Set();
  let total = 0;
  if (!words.length) return { found, total };
  for (const box of graph.boxes) {
    const name = box.full.toLowerCase();
    if (box.flags & JOINED || !words.every((word) => name.includes(word) || box.place?.toLowerCase().includes(word)))
      continue;
    found.add(box);
    let above = box.parent;
    while (above && !found.has(above)) above = above.parent;
    if (!above) total += box.total;
  }
  return { found, total };
}

export function readColours(element) {
  const style = getComputedStyle(element);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const colours = { ink: read("boxink"), edge: read("strong"), accent: read("accent"), ground: read("panel"), box: {} };
  for (let i = 0; i <= 6; i++) colours.box[i] = read(`m${i}`);
  for (let i = 1; i <= 5; i++) colours.box[10 + i] = read(`h${i}`);
  colours.font = `12px ${read("mono")}`;
  return colours;
}

function fit(text, letters) {
  if (text.length <= letters) return text;
  return letters >= LABEL_LEAST ? `${text.slice(0, letters - 1)}…` : "";
}

function labelOf(box, letters) {
  const share = `${box.name} ${box.width < 0.001 ? "<0.1" : (box.width * 100).toFixed(1)} %`;
  return share.length <= letters ? share : fit(box.name, letters);
}

// view: from, to (of the graph's width), top (row shown first). Returns how many boxes were drawn.
export function draw(canvas, graph, view, marks, colours) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d", { alpha: false });
  const scale = width * ratio / (view.to - view.from);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = colours.ground;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.font = `${12 * ratio}px ${colours.font.slice(5)}`;
  pen.textBaseline = "middle";
  pen.lineWidth = Math.max(1, 0.6 * ratio);
  const letter = pen.measureText("m").width;
  let drawn = 0;
  graph.rows.forEach((row, number) => {
    const top = Math.round((number - view.top) * ROW_HEIGHT * ratio);
    if (top + ROW_HEIGHT * ratio <= 0 || top >= canvas.height) return;
    for (const box of row) {
      if (box.x + box.width <= view.from || box.x >= view.to) continue;
      const left = Math.max(Math.round((box.x - view.from) * scale), -2);
      const right = Math.min(Math.round((box.x + box.width - view.from) * scale), canvas.width + 2);
      drawBox(pen, box, { left, top, wide: Math.max(right - left, 1), high: BOX_HEIGHT * ratio, ratio, letter }, marks, colours);
      drawn++;
    }
  });
  if (marks.selected) drawSelected(pen, marks.selected, view, scale, ratio, colours);
  return drawn;
}

function drawBox(pen, box, at, marks, colours) {
  const gap = at.wide >= GAP_LEAST * at.ratio ? at.ratio : 0;
  pen.globalAlpha = marks.found && !marks.found.has(box) ? FADED : 1;
  pen.fillStyle = colours.box[box.colour] ?? colours.box[0];
  pen.fillRect(at.left, at.top, at.wide - gap, at.high);
  if (at.wide >= GAP_LEAST * at.ratio) {
    pen.strokeStyle = colours.edge;
    pen.setLineDash(box.flags & RECURSION ? [4 * at.ratio, 2 * at.ratio] : box.flags & JOINED ? [at.ratio, 2 * at.ratio] : []);
    pen.globalAlpha *= box.flags & (RECURSION | JOINED) ? 1 : 0.45;
    pen.strokeRect(at.left + 0.5, at.top + 0.5, at.wide - gap - 1, at.high - 1);
  }
  const label = labelOf(box, Math.floor((at.wide - 8 * at.ratio) / at.letter));
  if (label) {
    pen.globalAlpha = marks.found && !marks.found.has(box) ? FADED * 2 : 1;
    pen.fillStyle = colours.ink;
    pen.fillText(label, Math.max(at.left, 0) + 4 * at.ratio, at.top + at.high / 2);
  }
  pen.globalAlpha = 1;
}

function drawSelected(pen, box, view, scale, ratio, colours) {
  const left = (box.x - view.from) * scale, wide = Math.max(box.width * scale, 3 * ratio);
  const top = (box.row - view.top) * ROW_HEIGHT * ratio;
  pen.setLineDash([]);
  pen.strokeStyle = colours.ground;
  pen.lineWidth = 4.5 * ratio;
  pen.strokeRect(left, top, wide, BOX_HEIGHT * ratio);
  pen.strokeStyle = colours.accent;
  pen.lineWidth = 2.5 * ratio;
  pen.strokeRect(left, top, wide, BOX_HEIGHT * ratio);
}

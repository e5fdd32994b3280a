// SPDX-License-Identifier: Apache-2.0
// The list of keys.
import { element } from "./util.js";

const KEYS = [["W  S", "zoom in and out at the pointer"], ["A  D", "earlier, later"], ["←  →", "earlier, later"],
  ["↑  ↓", "scroll the lanes; in the list of events choose one"], ["+  −", "zoom in and out about the cursor"],
  ["Home", "the whole span"], ["F", "follow a trace that grows"], ["Esc", "drop the cursor, the selection and the area"],
  ["/", "filter events"], ["1 to 8", "events, statistics, resources, counters, area, critical path, details, query"], ["I  Enter", "details of the selected box"], ["J", "arrows, also where the window has many events"], ["X", "drag to select an area, or to move"],
  [".  ,", "the next and the previous of the selected box's name"], [">  <", "the next and the previous on its lane"],
  ["]  [", "the next and the previous in such a state"], ["R", "the selected box as an area, else the window"], ["C", "who made the thread of the selected box wait"], ["Z  Y", "undo and redo the window"],
  ["Wheel", "zoom at the pointer; with Shift move, with Alt scroll"], ["Drag", "move; with Shift choose a window, with Ctrl an area"],
  ["?", "these keys"]];

export function showKeys() {
  const list = element("dl", {}, ...KEYS.flatMap(([key, meaning]) =>
    [element("dt", {}, ...key.split("  ").flatMap((one, i) => (i ? [" ", element("kbd", {}, one)] : [element("kbd", {}, one)]))),
      element("dd", {}, meaning)]));
  const dialog = element("dialog", { className: "keys" }, element("h2", {}, "Keys"), list);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

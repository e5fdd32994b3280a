// SPDX-License-Identifier: Apache-2.0
// Which lanes are shown, and in which order: beside the axis of the timeline. Pinned, folded and hidden lanes, the
// order and what is dimmed stand in the address.
import { button, element } from "./util.js";

const ORDERS = [["tree", "in their groups"], ["busy", "busiest first"], ["name", "by name"], ["number", "by number"]];
const LISTS = { hidden: "hide", pinned: "pin", folded: "fold" };

export class Choice {
  constructor(page) {
    this.page = page;
    this.hidden = new Set();
    this.pinned = new Set();
    this.folded = new Set();
    this.order = "tree";
    this.busyOnly = false;
    this.dim = ""; // a filter: segments that do not pass it are dimmed
    this.select = element("select", { "aria-label": "Order of the lanes" },
      ...ORDERS.map(([value, text]) => element("option", { value }, text)));
    this.select.addEventListener("change", () => this.change(() => { this.order = this.select.value; }));
    this.busyButton = button("busy", "Only lanes that work in the window", () => this.change(() => { this.busyOnly = !this.busyOnly; }));
    this.node = element("div", { className: "lane-tools buttons" }, this.select, this.busyButton);
  }

  change(action) {
    action();
    this.show();
    this.page.changed({ ask: true });
  }

  toggle(list, id) {
    this.change(() => (this[list].has(id) ? this[list].delete(id) : this[list].add(id)));
  }

  show() {
    this.select.value = this.order;
    this.busyButton.setAttribute("aria-pressed", String(this.busyOnly));
  }

  read(parameters) {
    for (const [list, name] of Object.entries(LISTS)) {
      this[list].clear();
      for (const id of parameters.getAll(name).join(",").split(",")) if (id) this[list].add(id);
    }
    const order = parameters.get("order");
    this.order = ORDERS.some(([value]) => value === order) ? order : "tree";
    this.busyOnly = parameters.get("busy") === "1";
    this.dim = parameters.get("dim") ?? "";
    this.show();
  }

  write(put) {
    for (const [list, name] of Object.entries(LISTS)) put(name, [...this[list]].join(","));
    put("order", this.order === "tree" ? "" : this.order);
    put("busy", this.busyOnly ? 1 : "");
    put("dim", this.dim);
  }

  // Of a request for lanes.
  parameters() {
    const made = {};
    this.write((name, value) => { made[name] = value; });
    return made;
  }
}

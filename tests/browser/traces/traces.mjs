// SPDX-License-Identifier: Apache-2.0
// Works the pages of traces as a reader would:
//   node traces.mjs BASE-URL BROWSER SHOTS-FOLDER MAKE-TRACE LOGS-FOLDER HOLD-FOLDER
// where the server heeds FATHOM_HOLD (src/engine/hold.h).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { asksQueries, drawsFlames, ordersLanes, selectsAreas, showsPaths, stepsAlong, tellsDetails } from "./area.mjs";
import { stacksBands } from "./bands.mjs";
import { newPage, newTab, painted, shot as shotInto, until, untilTrue, withBrowser } from "../browser.mjs";

const [base, executablePath, shots, makeTrace, logs, hold] = process.argv.slice(2);
const [small, long, growing, haskell] = ["small", "long", "growing", "haskell"]
  .map((name) => path.join(logs, `${name}.eventlog`));
let steps = 0;

function address(files, rest = "") {
  return `${base}trace?${files.map((file) => `file=${encodeURIComponent(file)}`).join("&")}${rest}`;
}

async function open(page, files, rest) {
  const answer = await page.goto(address(files, rest));
  assert.equal(answer.status(), 200);
  await until(page, () => document.documentElement.dataset.trace === "ready");
  await painted(page);
  await settled(page);
  steps++;
}

// Nothing that was asked for is still to come.
async function settled(page) {
  await until(page, () => {
    const { timeline, window: shown, askTimer } = globalThis.fathomTrace;
    return !askTimer && timeline.answer?.done && Math.abs(timeline.answer.start_ns - shown.start) <= 1 &&
      Math.abs(timeline.answer.end_ns - shown.end) <= 1;
  });
}

const shot = (page, name, options) => shotInto(page, shots, `trace-${name}`, options);
const windowOf = (page) => page.evaluate(() => ({ ...globalThis.fathomTrace.window }));
const canvasOf = (page) => page.locator(".lanes.timeline .lanes-canvas").boundingBox();

async function status() {
  return (await fetch(`${base}trace/status`)).json();
}

// Where a time is on the screen.
async function xOf(page, time) {
  const frame = await canvasOf(page), shown = await windowOf(page);
  return frame.x + ((time - shown.start) / (shown.end - shown.start)) * frame.width;
}

// Until an element has such a text: viewers have answers of their own, which may come late.
async function shows(page, selector, pattern) {
  const element = page.locator(selector);
  await untilTrue(`${selector} ${pattern}`, async () => pattern.test(await element.innerText()));
}

async function showsWhatIsThere(page) {
  await open(page, [small]);
  await shows(page, ".overview-note", /^21 events/);
  assert.match(await page.locator(".activity-label").innerText(), /^2 threads\s+44 % at work\s+by the events$/);
  const names = await page.locator(".lanes.timeline .label .name").allInnerTexts();
  assert.deepEqual(names, ["process 77", "thread 1", "thread 2"]);
  const boxes = await page.evaluate(() => globalThis.fathomTrace.timeline.answer.lanes.map((lane) => lane.boxes.length));
  assert.deepEqual(boxes, [0, 2, 1]);
  await until(page, () => document.querySelectorAll("table.events tbody tr").length === 21);
  // A name of the log is text, never markup.
  assert.equal(await page.locator("main b >> text=/^&/").count(), 0);
  assert.ok((await page.locator("table.events").innerText()).includes("<b>&\"'</script>"));
  assert.equal(await page.locator(".server").count(), 0, "the page of before is gone");
  await until(page, () => globalThis.fathomTrace.set.progress === 1); // then no panel asks again by itself
  await shot(page, "small");
}

async function zoomsByWheel(page) {
  await open(page, [small]);
  const frame = await canvasOf(page), before = await windowOf(page);
  const x = frame.x + frame.width * 0.75, y = frame.y + 30;
  const under = before.start + 0.75 * (before.end - before.start);
  await page.mouse.move(x, y);
  // The browser makes one of turns that come while it is busy: each is waited for.
  const width = async () => (await windowOf(page)).end - (await windowOf(page)).start;
  const turn = async (by) => {
    const old = await width();
    await page.mouse.wheel(0, by);
    await untilTrue("the wheel zooms", async () => await width() !== old);
  };
  for (let i = 0; i < 3; i++) await turn(-200);
  await settled(page);
  const after = await windowOf(page);
  assert.ok(after.end - after.start < 0.3 * (before.end - before.start), "the wheel zooms in");
  const still = after.start + 0.75 * (after.end - after.start);
  assert.ok(Math.abs(still - under) < 0.02 * (after.end - after.start), `${still} is under the pointer, not ${under}`);
  await turn(3000);
  await turn(3000);
  await settled(page);
  assert.deepEqual(await windowOf(page), before, "zooming out ends at the whole span");
  await page.keyboard.down("Shift");
  await page.mouse.wheel(0, 100); // nothing to move to
  await page.keyboard.up("Shift");
  assert.deepEqual(await windowOf(page), before);
}

async function worksByKeyboard(page) {
  await open(page, [small]);
  const whole = await windowOf(page);
  const width = (shown) => shown.end - shown.start;
  await page.mouse.move(5, 5);
  await page.keyboard.press("w");
  await settled(page);
  const near = await windowOf(page);
  assert.ok(Math.abs(width(near) - width(whole) / 2) <= 1, "W halves");
  await page.keyboard.press("d");
  await settled(page);
  const later = await windowOf(page);
  assert.ok(later.start > near.start && width(later) === width(near), "D goes on");
  await page.keyboard.press("a");
  await page.keyboard.press("a");
  await settled(page);
  assert.ok((await windowOf(page)).start < later.start, "A goes back");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("-");
  await settled(page);
  assert.deepEqual(await windowOf(page), whole, "- doubles");
  await page.keyboard.press("+");
  await page.keyboard.press("s");
  await page.keyboard.press("w");
  await page.keyboard.press("Home");
  await settled(page);
  assert.deepEqual(await windowOf(page), whole, "Home shows all");
  await page.keyboard.press("3");
  assert.equal(await page.locator('[role="tab"][aria-selected="true"]').innerText(), "Resources");
  await page.keyboard.press("1");
  await page.keyboard.press("?");
  assert.ok(await page.locator("dialog.keys").isVisible());
  await shot(page, "keys");
  await page.keyboard.press("Escape");
  await until(page, () => !document.querySelector("dialog[open]"));
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.name), "filter");
}

async function selects(page) {
  await open(page, [small]);
  const frame = await canvasOf(page);
  const y = frame.y + 20 + 3 + 8; // below the process: thread 1's outer level
  await page.mouse.move(await xOf(page, 1500), y);
  await page.waitForSelector(".tip:not([hidden])");
  assert.match(await page.locator(".tip").innerText(), /^parse\nthread 1 · span\n4\.00 us, from 0\.000001000 s/);
  await shot(page, "tip");
  await page.mouse.click(await xOf(page, 1500), y);
  assert.match(await page.locator(".status").innerText(), /parse/);
  const cursor = await page.evaluate(() => globalThis.fathomTrace.cursor);
  assert.ok(Math.abs(cursor - 1500) < 30, `cursor at ${cursor}`);
  // The list of events goes there.
  await until(page, () => document.querySelector("table.events tbody")?.rows[0]);
  await page.mouse.dblclick(await xOf(page, 1500), y);
  await settled(page);
  const zoomed = await windowOf(page);
  assert.ok(zoomed.start < 1000 && zoomed.start >= 0 && zoomed.end > 5000 && zoomed.end <= 6002, JSON.stringify(zoomed));
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => globalThis.fathomTrace.cursor), null);
}

// A box that reaches out of the window is as long as it is, and double click shows all of it.
async function tellsWholeBoxes(page) {
  await open(page, [small], "&start=2100&end=2200");
  const frame = await canvasOf(page), y = frame.y + 20 + 3 + 8;
  await page.mouse.move(await xOf(page, 2150), y);
  await page.waitForSelector(".tip:not([hidden])");
  assert.match(await page.locator(".tip").innerText(), /^parse\nthread 1 · span\n4\.00 us, from 0\.000001000 s to 0\.000005000 s/);
  await page.mouse.dblclick(await xOf(page, 2150), y);
  await settled(page);
  const zoomed = await windowOf(page);
  assert.ok(zoomed.start <= 1000 && zoomed.end >= 5000 && zoomed.end - zoomed.start < 7000, JSON.stringify(zoomed));
}

// Each square of a legend has the colour of the boxes of its state; the collector is no work.
async function explainsColours(page) {
  await open(page, [haskell]);
  assert.match(await page.locator(".activity-label").innerText(),
    /^2 capabilities\s+21 % at work\s+productivity 33 %: it mostly collects garbage\s+by the events$/);
  const keys = await page.evaluate(() => [...document.querySelectorAll(".lanes.timeline .legend .key")].map((key) =>
    [key.innerText, getComputedStyle(key.querySelector("i")).backgroundColor]));
  assert.ok(keys.length >= 3, JSON.stringify(keys));
  const drawn = await page.evaluate(() => {
    const { timeline } = globalThis.fathomTrace, { answer } = timeline, found = {};
    const { canvas } = timeline, scale = canvas.width / canvas.clientWidth;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    answer.lanes.forEach((lane, i) => lane.boxes.forEach(([level, start, end, value]) => {
      const left = timeline.x(start), right = Math.min(timeline.x(end), timeline.plotWidth);
      if (right - left < 20) return;
      const y = timeline.tops[i] - timeline.scroller.scrollTop + level * lane.level + lane.level - 2.5;
      const at = 4 * (Math.round(y * scale) * canvas.width + Math.round((right - 3) * scale));
      found[answer.values[value][2]] = `rgb(${[...pixels.slice(at, at + 3)].join(", ")})`;
    }));
    return found;
  });
  for (const [name, colour] of keys)
    if (drawn[name]) assert.equal(colour, drawn[name], name);
  assert.ok(["running", "collecting", "idle"].every((name) => drawn[name] && keys.some(([key]) => key === name)),
    JSON.stringify([drawn, keys]));
  await shot(page, "haskell");
}

async function choosesByDragging(page) {
  await open(page, [small]);
  const axis = await page.locator(".lanes.timeline .axis").boundingBox();
  const from = await xOf(page, 2000), to = await xOf(page, 4000), y = axis.y + axis.height / 2;
  await page.mouse.move(from, y);
  await page.mouse.down();
  await page.mouse.move((from + to) / 2, y, { steps: 3 });
  await page.mouse.move(to, y, { steps: 3 });
  await page.mouse.up();
  await settled(page);
  const chosen = await windowOf(page);
  assert.ok(Math.abs(chosen.start - 2000) < 30 && Math.abs(chosen.end - 4000) < 30, JSON.stringify(chosen));
  await untilTrue("the address tells the window", async () => /start=\d+/.test(page.url()));
  // A drag moves it, the overview brushes it.
  const frame = await canvasOf(page);
  await page.mouse.move(frame.x + 500, frame.y + 40);
  await page.mouse.down();
  await page.mouse.move(frame.x + 400, frame.y + 40, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const moved = await windowOf(page);
  assert.ok(moved.start > chosen.start && moved.end - moved.start === chosen.end - chosen.start);
  await untilTrue("moving is remembered", async () => page.url().includes(`start=${moved.start}`));
  await page.keyboard.press("z");
  await untilTrue("undo", async () => (await windowOf(page)).start === chosen.start);
  await page.keyboard.press("y");
  await untilTrue("redo", async () => (await windowOf(page)).start === moved.start);
  const strip = await page.locator(".overview-canvas").boundingBox();
  await page.mouse.dblclick(strip.x + 10, strip.y + 30);
  await settled(page);
  assert.equal((await windowOf(page)).start, 0);
  await page.mouse.move(strip.x + strip.width * 0.5, strip.y + 30);
  await page.mouse.down();
  await page.mouse.move(strip.x + strip.width * 0.75, strip.y + 30, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const brushed = await windowOf(page);
  assert.ok(Math.abs(brushed.start - 4500) < 60 && Math.abs(brushed.end - 6750) < 60, JSON.stringify(brushed));
  await page.reload();
  await until(page, () => document.documentElement.dataset.trace === "ready");
}

// A drag is one step of history however slow it is, and so are the repeats of a key that is held: one
// undo leads back whole. The pauses are longer than those that end a step of keys and wheel.
async function undoesWholeDrags(page) {
  const pause = () => page.waitForTimeout(600);
  const before = { start: 2000, end: 4000 };
  const length = () => page.evaluate(() => history.length);
  const slowly = async (x, y) => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (const by of [-40, -80, -120]) {
      await page.mouse.move(x + by, y);
      await pause();
    }
    await page.mouse.up();
  };
  const ways = {
    "the lanes": async () => {
      const frame = await canvasOf(page);
      await slowly(frame.x + 500, frame.y + 40);
    },
    "the axis": async () => {
      const axis = await page.locator(".lanes.timeline .axis").boundingBox();
      await slowly(axis.x + 500, axis.y + axis.height / 2);
    },
    "the overview": async () => {
      const strip = await page.locator(".overview-canvas").boundingBox();
      await slowly(strip.x + strip.width / 3, strip.y + 30);
    },
    "a key": async () => {
      for (let i = 0; i < 3; i++) {
        await page.keyboard.down("d");
        await pause();
      }
      await page.keyboard.up("d");
    },
  };
  for (const [what, change] of Object.entries(ways)) {
    await open(page, [small], "&start=2000&end=4000");
    const count = await length();
    await change();
    const after = await windowOf(page);
    assert.notDeepEqual(after, before, what);
    await page.keyboard.press("z");
    await untilTrue(`${what}: undo`, async () => (await windowOf(page)).start !== after.start);
    assert.deepEqual(await windowOf(page), before, `${what}: one undo leads back`);
    assert.equal(await length(), count + 1, `${what}: one step`);
    await page.keyboard.press("y");
    await untilTrue(`${what}: redo`, async () => (await windowOf(page)).start !== before.start);
    assert.deepEqual(await windowOf(page), after, `${what}: redo`);
  }
}

async function filters(page) {
  await open(page, [small]);
  const input = page.locator('form.filter input[name="filter"]');
  await input.fill("event.name = UserMessage");
  await input.press("Enter");
  await until(page, () => document.querySelectorAll("table.events tbody tr").length === 2);
  await until(page, () => document.querySelector(".overview-note").innerText.startsWith("2 events pass"));
  await untilTrue("the address tells the filter", async () => page.url().includes("filter="));
  await shot(page, "filter");
  page.expected = "400";
  await input.fill("event.name = = x");
  await input.press("Enter");
  await until(page, () => document.querySelector(".bar .problem").textContent.length > 5);
  assert.equal(await input.getAttribute("aria-invalid"), "true");
  await shot(page, "bad-filter");
  await input.fill('lane.name = "thraed*"');
  await input.press("Enter");
  await until(page, () => /^No event passes the filter\. No lane is named thraed\*; the nearest: thread [12], thread [12]/
    .test(document.querySelector(".bar .problem").textContent));
  assert.equal(await input.getAttribute("aria-invalid"), "false");
  await input.fill('lane.name = "thread*"');
  await input.press("Enter");
  await until(page, () => /^1[0-9] events pass/.test(document.querySelector(".overview-note").innerText) &&
    !document.querySelector(".bar .problem").textContent);
  await input.fill("");
  await input.press("Enter");
  await until(page, () => document.querySelectorAll("table.events tbody tr").length === 21);
  const find = page.locator('form.filter input[name="find"]');
  await find.fill("thread 2");
  await find.press("Enter");
  await until(page, () => document.querySelectorAll(".lanes.timeline .label").length === 1);
  await find.fill("");
  await find.press("Enter");
  await until(page, () => document.querySelectorAll(".lanes.timeline .label").length === 3);
  page.expected = null;
}

async function listsEvents(page) {
  await open(page, [small]);
  await until(page, () => document.querySelectorAll("table.events tbody tr").length === 21);
  await page.locator("table.events tbody tr", { hasText: "hello" }).click();
  await until(page, () => document.querySelector("tr.selected td.event-name")?.textContent === "UserMessage");
  assert.equal(await page.evaluate(() => globalThis.fathomTrace.cursor), 3500);
  await page.locator(".events-scroller").press("ArrowDown");
  await until(page, () => globalThis.fathomTrace.cursor === 4000);
  assert.equal(await page.locator("tr.selected td.event-name").innerText(), "Counter");
  await page.locator(".events-scroller").press("ArrowUp");
  await until(page, () => globalThis.fathomTrace.cursor === 3500);
  // A field gets a column of its own, and gives it back.
  await page.locator(".columns summary").click();
  await page.locator(".columns label", { hasText: /^ value$/ }).click();
  assert.deepEqual(await page.locator("table.events th").allInnerTexts(), ["Time (s)", "Where", "Event", "value", "Fields"]);
  const counter = page.locator("table.events tbody tr", { hasText: "Counter" }).first();
  const value = await counter.locator("td.chosen").innerText();
  assert.match(value, /^-?[0-9]/);
  assert.ok(!(await counter.locator("td.fields").innerText()).includes("value"));
  assert.equal(await page.locator("tr.selected td.event-name").innerText(), "UserMessage");
  await page.locator(".columns label", { hasText: /^ value$/ }).click();
  assert.equal(await page.locator("table.events th").count(), 4);
  assert.match(await counter.locator("td.fields").innerText(), new RegExp(`value ${value}`));
  await page.locator(".columns summary").click();
  await page.locator(".jump input").fill("8us");
  await page.locator(".jump input").press("Enter");
  await until(page, () => globalThis.fathomTrace.cursor === 8000);
  await page.locator(".jump input").fill("soon");
  await page.locator(".jump input").press("Enter");
  assert.match(await page.locator(".status").innerText(), /expected a time/);
  // A long log: rows come as one scrolls, both ways, each once.
  await open(page, [long], "&cursor=2ms");
  await until(page, () => document.querySelectorAll("table.events tbody tr").length >= 100);
  for (const down of [1, 1, 1, 1, 1, 1, 1, 1, -1, -1]) {
    await until(page, () => !globalThis.fathomTrace.panels.events.waiting);
    const old = await page.evaluate((step) => {
      const scroller = document.querySelector(".events-scroller");
      scroller.scrollTop = step > 0 ? scroller.scrollHeight : 0;
      return globalThis.fathomTrace.panels.events.rows.at(step > 0 ? -1 : 0).position;
    }, down);
    await until(page, ([step, position]) =>
      globalThis.fathomTrace.panels.events.rows.at(step > 0 ? -1 : 0).position !== position, [down, old]);
  }
  await until(page, () => !globalThis.fathomTrace.panels.events.waiting);
  const rows = await page.evaluate(() => globalThis.fathomTrace.panels.events.rows.map((row) => [row.position, row.time_ns]));
  assert.ok(rows.length >= 300 && rows.length <= 700, `${rows.length} rows are kept`);
  assert.equal(new Set(rows.map(([position]) => position)).size, rows.length, "each event once");
  for (let i = 1; i < rows.length; i++) assert.ok(rows[i - 1][1] <= rows[i][1], `row ${i} is out of order`);
}

async function tellsStatistics(page) {
  await open(page, [small], "&view=statistics");
  await page.waitForSelector("table.tree tbody tr");
  for (const name of ["thread 1", "parse"]) {
    const fold = page.locator("table.tree tr", { hasText: name }).first().locator("button.fold");
    if ((await fold.count()) && (await fold.getAttribute("aria-expanded")) === "false") await fold.click();
  }
  const row = page.locator("table.tree tr", { hasText: "lex" }).first();
  assert.match(await row.innerText(), /1\.00 us\s+11\.1 %\s+1\.00 us\s+1/);
  await page.locator("table.tree thead button", { hasText: "Count" }).click();
  assert.equal(await page.locator("table.tree th[aria-sort]").innerText(), "Count");
  await shot(page, "statistics");
  // Of the window: half of lex.
  await page.evaluate(() => globalThis.fathomTrace.setWindow(2500, 4500));
  await until(page, () => globalThis.fathomTrace.panels.statistics.answer?.length_ns === 2000);
  assert.match(await page.locator("table.tree tr", { hasText: "lex" }).first().innerText(), /500 ns/);
  await page.locator(".panel-statistics .tools button").first().click();
  await until(page, () => globalThis.fathomTrace.panels.statistics.answer?.length_ns === 9000);
  await page.locator(".panel-statistics input").fill("pars");
  assert.equal(await page.locator("table.tree tbody tr").count(), 1);
  const csv = await page.locator(".panel-statistics a", { hasText: "CSV" }).getAttribute("href");
  const text = await (await fetch(new URL(csv, base))).text();
  assert.ok(text.startsWith("depth,name,count,"), text.slice(0, 50));
}

async function drawsCounters(page) {
  await page.mouse.move(5, 5); // over a chart it would choose the value that is told
  await open(page, [small], "&view=counters");
  await page.waitForSelector(".chart .u-over");
  assert.match(await page.locator(".chart-label").innerText(), /^queue\n9\n5 to 9/);
  const over = await page.locator(".chart .u-over").boundingBox();
  await page.mouse.move(over.x + over.width * 0.3, over.y + 20);
  await page.mouse.down();
  await page.mouse.move(over.x + over.width * 0.6, over.y + 20, { steps: 5 });
  await page.mouse.up();
  await settled(page);
  const chosen = await windowOf(page);
  assert.ok(Math.abs(chosen.start - 2700) < 100 && Math.abs(chosen.end - 5400) < 100, JSON.stringify(chosen));
  await shot(page, "counters");
}

const tools = { open, small, bands: path.join(logs, "bands.eventlog"), canvasOf, xOf, shot };
const drawsBands = (page) => stacksBands(page, tools), showsAreas = (page) => selectsAreas(page, tools), tellsPaths = (page) => showsPaths(page, tools), findsNext = (page) => stepsAlong(page, tools), showsDetails = (page) => tellsDetails(page, tools), showsFlames = (page) => drawsFlames(page, tools), answersQueries = (page) => asksQueries(page, tools), choosesLanes = (page) => ordersLanes(page, tools);

async function hidesLanes(page) {
  await open(page, [small]);
  const label = page.locator(".lanes.timeline .label", { hasText: "thread 1" });
  await label.hover();
  await label.locator("button", { hasText: "×" }).click();
  await until(page, () => document.querySelectorAll(".lanes.timeline .label").length === 2);
  await untilTrue("the address tells what is hidden", async () => page.url().includes("hide=0-1-1"));
  await page.locator(".legend button").click();
  await until(page, () => document.querySelectorAll(".lanes.timeline .label").length === 3);
}

async function setOfTwo(page) {
  await open(page, [small, long]);
  const traces = await page.evaluate(() => globalThis.fathomTrace.timeline.answer.lanes.map((lane) => lane.trace));
  assert.deepEqual([...new Set(traces)], [0, 1]);
  assert.ok((await page.locator(".label.many.t1").count()) > 0, "lanes tell their trace");
  await until(page, () => globalThis.fathomTrace.set.progress === 1);
  await shot(page, "two");
}

async function follows(page) {
  await open(page, [growing], "&start=4000");
  const button = page.locator("button", { hasText: "Follow" });
  await button.click();
  assert.equal(await button.getAttribute("aria-pressed"), "true");
  const before = await windowOf(page);
  execFileSync(makeTrace, ["append", growing, "1000000000", "5"]);
  execFileSync(makeTrace, ["append", growing, "9000000000", "5"]);
  await untilTrue("the window slides", async () => (await windowOf(page)).end > 9000000000);
  await settled(page);
  const after = await windowOf(page);
  assert.ok(Math.abs((after.end - after.start) - (before.end - before.start)) <= 1, "the width stays");
  await page.keyboard.press("f");
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  execFileSync(makeTrace, ["append", growing, "20000000000", "5"]);
  await untilTrue("the span grows", async () => page.evaluate((end) => globalThis.fathomTrace.set.end_ns > end, after.end));
  assert.equal((await windowOf(page)).start, after.start, "the window stays");
  await page.keyboard.press("Home");
  await settled(page);
  await shot(page, "live");
}

async function twoTabs(page) {
  await open(page, [small]);
  const other = await newTab(page.context());
  await other.bringToFront();
  await open(other, [small], "&start=2000&end=4000");
  await untilTrue("both pages are known", async () => (await status()).pages >= 1);
  assert.deepEqual(await windowOf(other), { start: 2000, end: 4000 });
  assert.equal((await windowOf(page)).start, 0, "each tab has a window of its own");
  await other.finish();
}

async function closesInMidPass(page) {
  await page.goto("about:blank");
  await untilTrue("no page is left", async () => (await status()).pages === 0);
  const before = await status();
  const other = await newTab(page.context());
  await open(other, [small]);
  // Nothing that is asked for is read before the tab is closed.
  const held = path.join(hold, "foreground");
  fs.writeFileSync(held, "");
  await other.goto(address([long], "&view=statistics"), { waitUntil: "domcontentloaded" });
  await until(other, () => globalThis.fathomTrace?.link.stream);
  await other.evaluate(() => {
    const { link } = globalThis.fathomTrace;
    for (const owner of ["a", "b", "c", "d", "e", "f"])
      link.ask(owner, { view: "events", filter: "event.name = None" });
  });
  await untilTrue("six requests", async () => (await status()).requests >= 6);
  await other.finish();
  await untilTrue("the page is gone", async () => (await status()).pages === 0);
  const after = await status();
  assert.equal(after.requests, 0, "nothing is read for a page that is gone");
  assert.ok(after.cancelled >= before.cancelled + 6, `${after.cancelled} requests were withdrawn`);
  fs.unlinkSync(held);
}

// Whole without scripts, too.
async function withoutScripts(browser) {
  const page = await newPage(browser, { javaScriptEnabled: false, viewport: { width: 1400, height: 1000 } });
  // A page that the server wrote before it knew all is asked for again.
  const isWhole = () => until(page, () => document.readyState === "complete" && !document.querySelector(".incomplete"));
  const goTo = async (at) => {
    await page.goto(at);
    await isWhole();
  };
  const follow = async (link) => {
    await Promise.all([page.waitForNavigation(), link.click()]);
    await isWhole();
  };
  await goTo(address([small]));
  await shot(page, "plain", { fullPage: true });
  assert.equal(await page.locator("#timeline svg rect.k0, #timeline svg rect[class^=k]").count(), 3);
  await follow(page.locator("a", { hasText: "Zoom in" }));
  assert.match(page.url(), /start=2250&end=6750/);
  await follow(page.locator("a", { hasText: "Later" }));
  await follow(page.locator("a", { hasText: "Whole" }));
  assert.ok(!/start=/.test(page.url()));
  await follow(page.locator("#timeline a", { hasText: "thread 1" }).first());
  assert.match(page.url(), /hide=0-1-1/);
  await follow(page.locator("a", { hasText: "Show all lanes" }));
  await page.locator('input[name="filter"]').fill("event.name = UserMessage");
  await page.locator('input[name="at"]').fill("3us");
  await follow(page.locator('button[type="submit"]'));
  assert.equal(await page.locator("table tbody tr").count(), 2);
  await follow(page.locator("table tbody a").first());
  assert.match(page.url(), /event=dac\.0/);
  assert.equal(await page.locator("tr.r-selected").count(), 1);
  await goTo(address([small], "&rows=5"));
  await follow(page.locator("a", { hasText: "Events after" }));
  assert.equal(await page.locator("table tbody tr").count(), 5);
  await follow(page.locator("a", { hasText: "Events before" }));
  assert.match(await page.locator("table tbody tr").first().innerText(), /RtsIdentifier/);
  for (const tab of ["Statistics", "Resources", "Counters and heap", "Area", "Critical path", "Details", "Query", "Events"]) {
    await follow(page.locator("#tabs a", { hasText: tab }));
    assert.equal(await page.locator("#tabs p").innerText(), tab);
  }
  await page.finish();
}

async function lightAndDark(page) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await open(page, [long], "&view=statistics&start=1000&end=30000&cursor=9000");
    const bad = await page.evaluate(() => {
      const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
      const light = ([r, g, b]) => {
        const [x, y, z] = [r, g, b].map((value) => {
          const part = value / 255;
          return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * x + 0.7152 * y + 0.0722 * z;
      };
      const ground = (at) => {
        for (; at; at = at.parentElement) {
          const colour = parts(getComputedStyle(at).backgroundColor);
          if (colour.length < 4 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
      };
      const found = [];
      for (const element of document.querySelectorAll("h1, td, th, .label .name, .key, .tabs button, .bar button, .window-text, .overview-note")) {
        if (!element.innerText?.trim()) continue;
        const [a, b] = [light(parts(getComputedStyle(element).color)), light(ground(element))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) found.push(`${element.className} "${element.innerText.slice(0, 20)}" ${ratio}`);
      }
      return found;
    });
    assert.deepEqual(bad, [], `${colorScheme}: too little contrast`);
    await shot(page, colorScheme);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

await withBrowser(executablePath, async (browser) => {
  const page = await newPage(browser, { viewport: { width: 1400, height: 950 } });
  for (const step of [showsWhatIsThere, zoomsByWheel, worksByKeyboard, selects, tellsWholeBoxes, explainsColours, choosesByDragging, undoesWholeDrags, filters,
    listsEvents, tellsStatistics, drawsCounters, drawsBands, showsAreas, tellsPaths, findsNext, showsDetails, showsFlames, answersQueries, choosesLanes, hidesLanes, setOfTwo, follows, twoTabs, lightAndDark, closesInMidPass]) {
    if (process.env.FATHOM_STEP && !process.env.FATHOM_STEP.split(",").includes(step.name)) continue;
    console.log(step.name);
    await step(page);
  }
  await page.finish();
  await withoutScripts(browser);
  console.log(`${steps} pages, no complaint`);
});

// SPDX-License-Identifier: Apache-2.0
// Steps of traces.mjs: an area of the small log, its totals and durations.
import assert from "node:assert/strict";
import { until, untilTrue } from "../browser.mjs";

// Until the panel has an answer for what the page asks now; its rows by name.
async function rowsOf(page) {
  await until(page, () => {
    const { panels, area, panel } = globalThis.fathomTrace, { answer } = panels.area;
    return panel === "area" && answer?.done && !answer.incomplete &&
      (!area || (answer.area_start_ns === area.start && answer.area_end_ns === area.end));
  });
  return page.evaluate(() => Object.fromEntries(globalThis.fathomTrace.panels.area.answer.rows.map((row) => [row.name, row])));
}

export async function selectsAreas(page, { open, small, canvasOf, xOf, shot }) {
  await open(page, [small]);
  const frame = await canvasOf(page);
  const before = await page.evaluate(() => ({ ...globalThis.fathomTrace.window }));
  const tops = await page.evaluate(() => globalThis.fathomTrace.timeline.tops);
  // The rectangle touches thread 1 alone.
  await page.keyboard.down("Control");
  await page.mouse.move(await xOf(page, 2500), frame.y + tops[1] + 4);
  await page.mouse.down();
  await page.mouse.move(await xOf(page, 3500), frame.y + tops[1] + 8, { steps: 3 });
  await page.mouse.move(await xOf(page, 4500), frame.y + tops[1] + 10, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Control");
  const rows = await rowsOf(page);
  const area = await page.evaluate(() => globalThis.fathomTrace.area);
  assert.deepEqual(area.lanes, ["0-1-1"]);
  assert.ok(Math.abs(area.start - 2500) < 30 && Math.abs(area.end - 4500) < 30, JSON.stringify(area));
  assert.deepEqual(Object.keys(rows).sort(), ["lex", "parse"]);
  assert.equal(rows.parse.total_ns, area.end - area.start);
  assert.equal(rows.lex.total_ns, 3000 - area.start);
  assert.equal(rows.parse.self_ns, rows.parse.total_ns - rows.lex.total_ns);
  assert.equal(rows.parse.longest_ns, 4000);
  assert.deepEqual(await page.evaluate(() => ({ ...globalThis.fathomTrace.window })), before, "nothing is zoomed");
  await untilTrue("the address tells the area", async () => page.url().includes(`area_start=${area.start}`));
  const table = page.locator("table.totals");
  assert.match(await table.innerText(), /parse thread\s+1\s+2\.0\d us/);
  await shot(page, "area");
  // Its durations; a bar leaves only what took so long.
  await table.locator("button", { hasText: "parse" }).click();
  assert.match(await page.locator(".durations").innerText(), /^Durations of parse/);
  await page.locator(".columns-of-time button").first().click();
  await until(page, () => globalThis.fathomTrace.panels.area.answer.rows.length === 1);
  await page.locator(".panel-area .tools button", { hasText: "Only" }).click();
  await until(page, () => globalThis.fathomTrace.panels.area.answer.rows.length === 2);
  // Compared with the window: thread 2 was not in the area.
  await page.locator(".panel-area .tools button", { hasText: "Keep to compare" }).click();
  await page.keyboard.press("Escape");
  await until(page, () => globalThis.fathomTrace.area === null);
  await rowsOf(page);
  await untilTrue("a difference", async () => /parse thread\s+1\s+4\.00 us\s+2\.0\d us\s+\+(1\.9\d|2\.0\d) us/.test(await table.innerText()));
  await page.locator(".panel-area .tools button", { hasText: "Compare no more" }).click();
  // The selected box, by keys.
  await page.mouse.click(await xOf(page, 1500), frame.y + tops[1] + 4);
  await page.keyboard.press("r");
  await until(page, () => globalThis.fathomTrace.area?.start === 1000 && globalThis.fathomTrace.area.end === 5000);
  assert.equal((await rowsOf(page)).parse.self_ns, 3000);
  await table.locator("button", { hasText: "4.00 us" }).last().click();
  await until(page, () => globalThis.fathomTrace.window.end === 9001 && globalThis.fathomTrace.cursor === 1000);
  await untilTrue("the address", async () => page.url().includes("area_start=1000&area_end=5000&in=0-1-1"));
  await page.reload();
  await until(page, () => document.documentElement.dataset.trace === "ready");
  assert.equal((await rowsOf(page)).parse.self_ns, 3000, "the address has it all");
  await page.keyboard.press("x");
  assert.equal(await page.locator(".bar button", { hasText: "Select" }).getAttribute("aria-pressed"), "true");
  await page.keyboard.press("x");
}

// Thread 1 of the small log never waits.
export async function showsPaths(page, { open, small, canvasOf, xOf, shot }) {
  await open(page, [small]);
  await page.keyboard.press("c");
  await untilTrue("it says what to do", async () => /Select a box/.test(await page.locator(".panel-path").innerText()));
  const frame = await canvasOf(page);
  const tops = await page.evaluate(() => globalThis.fathomTrace.timeline.tops);
  await page.mouse.click(await xOf(page, 1500), frame.y + tops[1] + 4);
  await page.keyboard.press("c");
  await untilTrue("the path", async () => /thread 1 runs\s+1\s+9\.00 us\s+100\.0 %/.test(await page.locator(".panel-path").innerText()));
  assert.deepEqual(await page.evaluate(() => globalThis.fathomTrace.panels.path.pieces), [["0-1-1", 0, 9001, "running"]]);
  await untilTrue("the address", async () => /view=path/.test(page.url()) && /in=0-1-1/.test(page.url()));
  await shot(page, "path");
  await page.keyboard.press("1");
  assert.deepEqual(await page.evaluate(() => globalThis.fathomTrace.panels.path.pieces), []);
}

export async function stepsAlong(page, { open, small, canvasOf, xOf }) {
  await open(page, [small]);
  const frame = await canvasOf(page);
  const tops = await page.evaluate(() => globalThis.fathomTrace.timeline.tops);
  const selected = () => page.evaluate(() => globalThis.fathomTrace.timeline.selected);
  await page.mouse.click(await xOf(page, 1500), frame.y + tops[1] + 4);
  for (const [key, lane, start, name] of [[">", "0-1-1", 2000, "lex"], ["]", "0-1-2", 4000, null], ["[", "0-1-1", 2000, "lex"],
    ["<", "0-1-1", 1000, "parse"]]) {
    await page.keyboard.press(key);
    await untilTrue(`${key} leads there`, async () => (await selected())[1] === start && (await selected())[0] === lane);
    if (name) assert.equal((await selected())[4], name);
    assert.equal(await page.evaluate(() => globalThis.fathomTrace.cursor), start);
  }
  await page.keyboard.press(".");
  await untilTrue("there is one parse", async () => /There is none/.test(await page.locator(".tabs .status").innerText()));
}

export async function tellsDetails(page, { open, small, canvasOf, xOf, shot }) {
  await open(page, [small]);
  await page.keyboard.press("i");
  await untilTrue("it says what to do", async () => /Select a box/.test(await page.locator(".panel-details").innerText()));
  const frame = await canvasOf(page);
  const tops = await page.evaluate(() => globalThis.fathomTrace.timeline.tops);
  await page.mouse.click(await xOf(page, 1500), frame.y + tops[1] + 4);
  const panel = page.locator(".panel-details");
  await untilTrue("parse", async () => /Duration\s+4\.00 us \(4,000 ns\)\s+Self\s+3\.00 us/.test(await panel.innerText()));
  assert.match(await panel.innerText(), /In it\s+Count\s+Total\s+Longest|lex\s+1\s+1\.00 us/);
  assert.match(await panel.innerText(), /SpanBegin/);
  await shot(page, "details");
  await panel.locator("button", { hasText: "1.00 us" }).click(); // the longest in it
  await untilTrue("lex", async () => /Name\s+lex/.test(await panel.innerText()));
  await untilTrue("the address", async () => page.url().includes(`selected=${encodeURIComponent("0-1-1:2000:1")}`));
  await page.reload();
  await until(page, () => document.documentElement.dataset.trace === "ready");
  await untilTrue("lex again", async () => /Name\s+lex/.test(await panel.innerText()));
  await panel.locator("button", { hasText: "‹ lane" }).click();
  await untilTrue("parse again", async () => /Name\s+parse/.test(await panel.innerText()));
  await panel.locator("button", { hasText: "SpanEnd" }).click();
  await until(page, () => globalThis.fathomTrace.panel === "events" && globalThis.fathomTrace.cursor === 5000);
}

export async function drawsFlames(page, { open, small, shot }) {
  await open(page, [small], "&view=area");
  await page.locator(".panel-area button", { hasText: "Flame graph" }).click();
  const boxes = page.locator(".flame-graph button");
  await untilTrue("all boxes", async () => (await boxes.count()) === 4);
  const wide = (name) => page.locator(".flame-graph button", { hasText: name }).evaluate((box) => parseFloat(box.style.width));
  assert.ok(Math.abs((await wide("parse")) - 50) < 0.01 && Math.abs((await wide("lex")) - 12.5) < 0.01);
  await shot(page, "flame");
  await page.locator(".flame-graph button", { hasText: "parse" }).click();
  await untilTrue("parse fills it", async () => (await wide("parse")) === 100);
  assert.equal(await wide("lex"), 25);
  await page.locator(".flame-graph button", { hasText: "parse" }).click();
  await untilTrue("all again", async () => (await boxes.count()) === 4);
  await untilTrue("the address", async () => page.url().includes("by=stack"));
  await page.locator(".panel-area button", { hasText: "Name" }).first().click();
  await untilTrue("the table", async () => page.locator("table.totals").isVisible());
}

export async function asksQueries(page, { open, small, shot }) {
  await open(page, [small]);
  await page.keyboard.press("8");
  const panel = page.locator(".panel-query");
  await panel.locator("button", { hasText: "segment.duration >= 1ms" }).click();
  await untilTrue("nothing lasts that long", async () => /nothing passes the query/.test(await panel.innerText()));
  await panel.locator("input").fill("lane.kind = thread | group by segment.name | show count, sum, max | order by count");
  await panel.locator("input").press("Enter");
  await untilTrue("its rows", async () => /lex\s+1\s+1\.00 us\s+1\.00 us/.test(await panel.locator("table.groups").innerText()));
  await shot(page, "query");
  await panel.locator("tr", { hasText: "lex" }).locator("button").click();
  await until(page, () => globalThis.fathomTrace.timeline.selected?.[1] === 2000 && globalThis.fathomTrace.window.end === 4001);
  assert.match(await panel.innerText(), /from 0\.000000 to 0\.000009 s/, "the table stays as it was asked for");
  await panel.locator("input").fill("group by colour");
  await panel.locator("input").press("Enter");
  await untilTrue("it is refused", async () => /is not a field of segments/.test(await panel.innerText()));
  // The box for filters takes queries, too; a filter is none.
  await page.keyboard.press("1");
  await page.locator("input[name=filter]").first().fill("events | group by event.name | limit 2");
  await page.locator("input[name=filter]").first().press("Enter");
  await untilTrue("its answer", async () => /more groups/.test(await panel.innerText()));
  await untilTrue("the address", async () => page.url().includes("view=query") && !page.url().includes("filter="));
}

export async function ordersLanes(page, { open, small, shot }) {
  await open(page, [small]);
  const names = () => page.evaluate(() => globalThis.fathomTrace.timeline.answer.lanes.map((lane) => lane.name).join());
  const label = (name) => page.locator(".lanes.timeline .label", { hasText: name });
  await label("process 77").locator("button.fold").click();
  await untilTrue("its threads are folded", async () => (await names()) === "process 77");
  await label("process 77").locator("button.fold").click();
  await untilTrue("they are there", async () => (await names()) === "process 77,thread 1,thread 2");
  await label("thread 2").hover();
  await label("thread 2").locator("button", { hasText: "○" }).click();
  await untilTrue("it is pinned", async () => (await names()) === "thread 2,process 77,thread 1");
  await untilTrue("the address", async () => /pin=0-1-2/.test(page.url()));
  await label("thread 2").locator("button.pinned").click();
  await page.locator(".lane-tools select").selectOption("busy");
  await untilTrue("the busiest first", async () => (await names()) === "thread 1,thread 2,process 77");
  await page.locator(".lane-tools button").click();
  await untilTrue("the idle one is hidden", async () => (await names()) === "thread 1,thread 2");
  await page.locator('input[name="filter"]').first().fill("segment.duration < 2us");
  await page.locator('input[name="filter"]').first().press("Enter");
  await untilTrue("long ones are dimmed", () => page.evaluate(() => globalThis.fathomTrace.timeline.answer.lanes
    .map((lane) => lane.boxes.map((box) => box[8] & 16).join()).join(";") === "16,0;16"));
  await shot(page, "lanes");
  await untilTrue("the address tells", async () => /dim=segment/.test(page.url()));
  await page.reload();
  await until(page, () => document.documentElement.dataset.trace === "ready");
  await untilTrue("the address has it all", async () => (await names()) === "thread 1,thread 2" &&
    (await page.locator('input[name="filter"]').first().inputValue()) === "segment.duration < 2us");
}

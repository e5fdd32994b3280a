// SPDX-License-Identifier: Apache-2.0
// The page of many profiles, as one file: node history.mjs BROWSER SHOTS-FOLDER PAGE.html ROWS.json, the
// latter what the page's table says, for programs.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { newPage, painted, shot, until, withBrowser } from "./browser.mjs";

const [executablePath, shots, file, rowsFile] = process.argv.slice(2);
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const rows = JSON.parse(fs.readFileSync(rowsFile, "utf8"));
const BYTES_MOST = 120000; // uPlot is half of it
const MEASURES = { calls: "calls_count", allocations: "allocs_count", contexts: "contexts_count" };

async function openPage(browser, options) {
  const page = await newPage(browser, options);
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await painted(page);
  page.outside = () => asked.filter((url) => !url.startsWith("file:"));
  return page;
}

const drawn = (page) => page.evaluate(() => Number(document.querySelector("figure.chart").dataset.drawn));

async function choose(page, measure) {
  const before = await drawn(page);
  await page.locator(".chart select").selectOption({ label: measure });
  await until(page, (count) => Number(document.querySelector("figure.chart").dataset.drawn) > count, before);
}

// What the chart has, and where it put it: the pixel at a point has the colour of its build.
const points = (page) => page.evaluate(() => {
  const { plot } = document.querySelector("figure.chart").chart;
  const [xs, values, ...groups] = plot.data;
  const { canvas } = plot.ctx;
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height })
    .getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  return xs.map((x, i) => {
    const left = Math.round(plot.valToPos(x, "x", true)), top = Math.round(plot.valToPos(values[i], "y", true));
    return { x, value: values[i], group: groups.findIndex((group) => group[i] !== null), left, top,
      pixel: [...copy.getImageData(left, top, 1, 1).data] };
  });
});

async function checkValues(page) {
  for (const [measure, column] of Object.entries(MEASURES)) {
    await choose(page, measure);
    const shown = await points(page);
    assert.deepEqual(shown.map((point) => point.value), rows.map((row) => row[column]), measure);
    assert.deepEqual(shown.map((point) => point.group), [0, 0, 0, 1], "of two builds");
    for (let i = 1; i < shown.length; i++) {
      assert.ok(shown[i].left > shown[i - 1].left, "oldest first");
      const [higher, lower] = [shown[i - 1].top - shown[i].top, shown[i].value - shown[i - 1].value];
      assert.equal(Math.sign(higher), Math.sign(lower), `${measure}: more stands higher`);
    }
    assert.deepEqual(shown[0].pixel, shown[1].pixel, "points of one build have one colour");
    assert.notDeepEqual(shown[2].pixel, shown[3].pixel, "those of two have not");
  }
}

async function checkTold(page) {
  await choose(page, "calls");
  const [, , third] = await points(page);
  const place = await page.locator(".chart .u-over").boundingBox();
  const inside = await page.evaluate(() => {
    const { plot } = document.querySelector("figure.chart").chart;
    return { left: plot.bbox.left, top: plot.bbox.top, ratio: devicePixelRatio };
  });
  await page.mouse.move(place.x + (third.left - inside.left) / inside.ratio, place.y + (third.top - inside.top) / inside.ratio);
  const tip = page.locator(".chart .tip");
  await tip.waitFor();
  const said = await tip.innerText();
  const change = ((rows[2].calls_count / rows[1].calls_count - 1) * 100).toFixed(2);
  for (const part of ["three", `${rows[2].calls_count.toLocaleString("en")} calls`, `+${change} % against two`,
    rows[2].build_id.slice(0, 8), rows[2].recorded])
    assert.ok(said.includes(part), `${part} in: ${said}`);
  await page.mouse.move(0, 0); // else the pointer chooses a point, too
  await tip.waitFor({ state: "hidden" });
  await page.locator(".chart .plot").focus();
  await page.keyboard.press("End");
  assert.match(await page.locator(".chart output").innerText(), /^four, .*as before.*/);
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.locator(".chart output").innerText(), /^three, /);
  await page.keyboard.press("Home");
  assert.match(await page.locator(".chart output").innerText(), /^one, /);
}

async function checkChoices(page) {
  const before = await points(page);
  const count = await drawn(page);
  await page.getByLabel("from zero").check();
  await page.getByLabel("evenly spaced").check();
  await until(page, (old) => Number(document.querySelector("figure.chart").dataset.drawn) >= old + 2, count);
  const after = await points(page);
  assert.deepEqual(after.map((point) => point.x), [1, 2, 3, 4]);
  assert.deepEqual(after.map((point) => point.value), before.map((point) => point.value));
  assert.equal(await page.evaluate(() => document.querySelector("figure.chart").chart.plot.scales.y.min), 0);
  await page.getByLabel("from zero").uncheck();
  await page.getByLabel("evenly spaced").uncheck();
}

async function checkLook(page, name) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] }))
    .violations.map((each) => `${each.id}: ${each.nodes[0].html}`));
  assert.deepEqual(found, [], name);
  for (const width of [390, 1400, 2500]) {
    await page.setViewportSize({ width, height: 900 });
    await until(page, () => {
      const { plot, place } = document.querySelector("figure.chart").chart;
      return plot.width === Math.max(place.clientWidth, 200);
    });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name}: ${wide} pixels too wide at ${width}`);
    await shot(page, shots, `history-${name}-${width}`);
  }
}

await withBrowser(executablePath, async (browser) => {
  assert.ok(fs.statSync(file).size <= BYTES_MOST, `${fs.statSync(file).size} bytes`);
  for (const colorScheme of ["light", "dark"]) {
    const page = await openPage(browser, { colorScheme });
    await until(page, () => document.querySelector("figure.chart")?.dataset.drawn > 0);
    assert.equal(await page.locator("#history").isVisible(), false, "one picture, not two");
    await checkValues(page);
    await checkTold(page);
    await checkChoices(page);
    await checkLook(page, colorScheme);
    assert.deepEqual(page.outside(), [], "nothing is asked of a network");
    await page.finish();
  }
  const plain = await openPage(browser, { javaScriptEnabled: false });
  assert.equal(await plain.locator("figure.chart").isVisible(), false);
  assert.equal(await plain.locator("#history").isVisible(), true, "without scripts the bars stay");
  assert.equal(await plain.locator("table tbody tr").count(), rows.length);
  await shot(plain, shots, "history-plain-1400");
  await plain.finish();
});
console.log("history: values drawn, told, chosen, light and dark, at three widths, without scripts");

// SPDX-License-Identifier: Apache-2.0
// Pages of traces in wide and narrow windows: axe finds nothing, no two controls have one name, and events that are
// far apart are seen although all of them fill less than a pixel: node looks.mjs BASE-URL BROWSER SHOTS-FOLDER FILE APART
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { newPage, painted, shot, until, withBrowser } from "../browser.mjs";

const [base, executablePath, shots, file, apart] = process.argv.slice(2);
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function open(page, log) {
  await page.goto(`${base}trace?file=${encodeURIComponent(log)}`);
  await until(page, () => document.documentElement.dataset.trace === "ready");
  await painted(page);
}

async function isAccessible(page, what) {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] }))
    .violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`));
  assert.deepEqual(found, [], what);
  const twice = await page.evaluate(() => {
    const names = [...document.querySelectorAll("button, input:not([type=hidden]), select, summary")]
      .filter((each) => each.checkVisibility())
      .map((each) => (each.getAttribute("aria-label") ?? each.labels?.[0]?.textContent ?? each.textContent).trim());
    return names.filter((name, place) => names.indexOf(name) !== place);
  });
  assert.deepEqual(twice, [], `${what}: controls of one name`);
}

// Whether something is drawn within a few pixels of the left edge, and of the right one, of a canvas, but for some
// pixels of its frame: columns that differ from one in the middle, where nothing is.
function isDrawnAtEnds([selector, frame]) {
  const canvas = document.querySelector(selector);
  if (!canvas?.width) return false;
  const { width, height } = canvas, copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const middle = Math.round(width * 0.47);
  const differs = (x) => {
    let rows = 0;
    for (let y = 0; y < height; y++)
      if ([0, 1, 2].some((part) => Math.abs(data[(y * width + x) * 4 + part] - data[(y * width + middle) * 4 + part]) > 24)) rows++;
    return rows >= 6;
  };
  const isDrawn = (from, to) => Array.from({ length: to - from }, (_, i) => from + i).some(differs);
  return isDrawn(frame, frame + 2) && isDrawn(width - frame - 2, width - frame);
}

await withBrowser(executablePath, async (browser) => {
  for (const [width, colorScheme] of [[1400, "light"], [390, "dark"]]) {
    const page = await newPage(browser, { viewport: { width, height: 900 }, colorScheme });
    await open(page, file);
    await until(page, () => document.querySelectorAll(".labels > *").length > 0);
    await isAccessible(page, `${width}`);
    await open(page, apart);
    await until(page, isDrawnAtEnds, [".overview-canvas", 2]);
    await until(page, isDrawnAtEnds, [".lanes-canvas", 0]);
    await shot(page, shots, `traces-apart-${width}`, {});
    await page.finish();
  }
  console.log("axe finds nothing, and little is seen");
});

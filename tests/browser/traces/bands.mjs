// SPDX-License-Identifier: Apache-2.0
// The stacked heap profile, for traces.mjs.
import assert from "node:assert/strict";

// A heap profile of 40 bands: ten and the rest on top of each other, on the axis of the timeline.
export async function stacksBands(page, { bands, open, canvasOf, shot }) {
  await page.mouse.move(5, 5);
  await open(page, [bands], "&view=counters");
  await page.waitForSelector(".stack .u-over");
  const names = await page.locator(".stack .band:not(.heads) span").allInnerTexts();
  assert.deepEqual(names, [40, 39, 38, 37, 36, 35, 34, 33, 32, 31].map((band) => `band ${band}`).concat("the rest (30)"));
  // Of the last sample band i has 4 i KiB; the rest are 1 to 30 KiB times four.
  const told = await page.locator(".stack .band:not(.heads) b").allInnerTexts();
  assert.equal(told[0], "160.00 KiB");
  assert.equal(told[10], `${((4 * 30 * 31) / 2 / 1024).toFixed(2)} MiB`);
  const change = await page.locator(".stack .band:not(.heads) small").first().innerText();
  assert.equal(change, "+120.00 KiB", "from the first sample, 40 KiB, to the last");
  const over = await page.locator(".stack .u-over").boundingBox(), lanes = await canvasOf(page);
  assert.ok(Math.abs(over.x - lanes.x) <= 2 && Math.abs(over.width - lanes.width) <= 3, JSON.stringify([over, lanes]));
  await shot(page, "bands");
  await page.locator(".chart-toggle button").click();
  await page.waitForSelector(".stack", { state: "detached" });
  assert.equal(await page.locator(".chart-row").count(), 32);
  assert.match(await page.locator(".panel-counters").innerText(), /8 more counters not shown/);
  await page.locator(".chart-toggle button").click();
  await page.waitForSelector(".stack .u-over");
}

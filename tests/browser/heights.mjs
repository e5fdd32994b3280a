// SPDX-License-Identifier: Apache-2.0
// The first page of a program that has every section is no longer than 2,500 pixels in a window 1,400 wide:
// each table has as many rows as it may. Marks of the curve of memory lead to their contexts.
// node heights.mjs SERVER BROWSER SHOTS-FOLDER FILE
import assert from "node:assert/strict";
import { addressOf, dressed, follow, json, newPage, open, resize, shot, withBrowser } from "./browser.mjs";

const [server, executablePath, shots, file] = process.argv.slice(2);
const HEIGHT_MAX = 2500;
const ROWS_MAX = { hot_paths: 5, hot_functions: 8, unhooked: 5, lines: 5, hot_recursions: 3, hot_waits: 4 };
const FULL = ["hot_paths", "hot_functions", "hot_recursions", "hot_waits"]; // the program has more rows
const OF_MEMORY = ["hot_allocators", "hot_holders", "hot_at_peak"]; // one of them
const MEMORY_ROWS = 4;

async function assertRows() {
  const { tables } = await json(server, file, "menu");
  const rows = new Map(tables.map((table) => [table.name, table.rows.length]));
  for (const [name, most] of Object.entries(ROWS_MAX))
    assert.ok((rows.get(name) ?? 0) <= most, `${name} has ${rows.get(name)} rows`);
  for (const name of FULL) assert.ok(rows.get(name) >= 3, `${name} has ${rows.get(name)} rows`);
  assert.ok(rows.has("lines"), "the hottest lines are there");
  const memory = OF_MEMORY.filter((name) => rows.has(name));
  assert.deepEqual(memory, ["hot_holders"], "one table of memory: what was never freed");
  assert.equal(rows.get("hot_holders"), MEMORY_ROWS);
}

async function assertMarksLead(browser) {
  const page = await newPage(browser);
  for (const [place, side] of [[0, "peak"], [1, "held"]]) {
    await open(page, addressOf(server, file, "memory/freed"));
    await follow(page, page.getByRole("link", { name: "Live at the end" }));
    await page.locator("#memory-over-time a").nth(place).focus();
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    assert.ok(page.url().includes(`memory/${side}`), page.url());
  }
  await page.finish();
}

await withBrowser(executablePath, async (browser) => {
  await assertRows();
  await assertMarksLead(browser);
  for (const colorScheme of ["light", "dark"]) {
    const page = await newPage(browser, { colorScheme });
    await open(page, addressOf(server, file, "menu"));
    await dressed(page);
    for (const width of [390, 1400, 2500]) {
      await resize(page, width, 900);
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      if (width >= 1400) assert.ok(height <= HEIGHT_MAX, `${height} pixels high at ${width}`);
      await shot(page, shots, `heights-${colorScheme}-${width}`, { fullPage: true });
    }
    await page.finish();
  }
});

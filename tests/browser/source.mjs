// SPDX-License-Identifier: Apache-2.0
// The source on a function's page begins at its hottest line; links lead to lines, which the heading of the listing
// does not cover: node source.mjs SERVER BROWSER SHOTS-FOLDER FILE...
import assert from "node:assert/strict";
import { addressOf, follow, json, newPage, open, resize, shot, until, withBrowser } from "./browser.mjs";

const [server, executablePath, shots, file] = process.argv.slice(2);
const HEIGHT = 240; // lower than the listing

const COMMAND = "proc/main"; // of examples/faults/parse.c: its hottest line is near the end

// Of the row: whether all of it is within its frame, below the heading that stays.
function isSeen(selector) {
  const row = document.querySelector(selector), frame = row?.closest(".wide");
  if (!row) return false;
  const at = row.getBoundingClientRect(), around = frame.getBoundingClientRect();
  const head = frame.querySelector("thead th").getBoundingClientRect();
  return at.top >= head.bottom - 1 && at.bottom <= around.top + frame.clientHeight + 1;
}

await withBrowser(executablePath, async (browser) => {
  const { lines } = (await json(server, file, COMMAND)).sources[0];
  assert.ok(lines.length > 12, `${lines.length} lines`);
  const page = await newPage(browser);
  await resize(page, 1400, HEIGHT);
  await open(page, addressOf(server, file, COMMAND));
  await until(page, isSeen, "table.source tr.hottest");
  const frame = page.locator(".wide:has(table.source)");
  const size = await frame.evaluate((each) => ({ content: each.scrollHeight, window: each.clientHeight }));
  assert.ok(size.content > size.window, `the listing scrolls: ${JSON.stringify(size)}`);
  assert.equal(await page.locator("table.source tr.hottest").count(), 1, "one line is the hottest");
  await shot(page, shots, "source-hottest");
  const { line } = lines.at(-1);
  await page.goto(`${page.url().split("#")[0]}#L${line}`);
  await until(page, isSeen, `table.source tr:has(#L${line})`);
  await page.reload(); // the line of the address goes before the hottest one
  await until(page, isSeen, `table.source tr:has(#L${line})`);
  const first = lines[0].line;
  await page.goto(`${page.url().split("#")[0]}#L${first}`);
  await until(page, isSeen, `table.source tr:has(#L${first})`);
  await open(page, addressOf(server, file, "tree/calls/down/5/all"));
  await follow(page, page.locator("table.ranked a[href*='#L']").first());
  const [, called] = /#L(\d+)$/.exec(page.url());
  await until(page, isSeen, `table.source tr:has(#L${called})`);
  await page.finish();
  console.log(`${COMMAND}: ${lines.length} lines`);
});

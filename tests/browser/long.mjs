// SPDX-License-Identifier: Apache-2.0
// A table of thousands of rows: a part of them is in the document, all are sorted, found, scrolled to
// and copied: node long.mjs SERVER BROWSER SHOTS-FOLDER FILE.
import assert from "node:assert/strict";
import { addressOf, follow, json, newPage, open, until, withBrowser } from "./browser.mjs";

const [server, executablePath, , file] = process.argv.slice(2);
const ALL = "top_procs/1-1000/calls/self/oa", MORE = "top_procs/1-10000/calls/self/oa";

await withBrowser(executablePath, async (browser) => {
  const { tables } = await json(server, file, ALL);
  const names = tables[0].rows.map(({ cells }) => cells.proc);
  assert.equal(names.length, 1000);
  assert.ok((await json(server, file, MORE)).tables[0].rows.length > 1000);
  const page = await newPage(browser);
  await open(page, addressOf(server, file, ALL));
  const rows = page.locator("tbody tr:not(.spacer)");
  assert.equal(await rows.count(), 150);
  assert.equal(await page.locator("table").first().getAttribute("aria-rowcount"), String(names.length));

  // To the end: the last row is there, and the first is not.
  await page.evaluate(() => {
    (document.querySelector(".wide") ?? document.scrollingElement).scrollTo(0, 1e9);
    window.scrollTo(0, 1e9);
  });
  const last = names.at(-1).split(":").at(-1);
  await until(page, (name) => document.querySelector("tbody").textContent.replaceAll("\u200b", "").includes(name), last);
  assert.ok(await rows.count() <= 150);

  // The filter looks at all rows.
  await page.locator(".tools input").fill(last);
  await until(page, () => document.querySelectorAll("tbody tr:not(.spacer)").length < 150);
  assert.match(await page.locator("tbody").innerText(), new RegExp(last));
  await page.locator(".tools input").fill("");
  assert.equal(await rows.count(), 150);

  // Sorting too: the least first and the greatest last.
  const button = page.locator("thead th button:visible").last();
  await button.click();
  const first = await rows.first().innerText();
  await button.click();
  assert.notEqual(await rows.first().innerText(), first);

  await page.locator(".tools button", { hasText: "All " }).click();
  assert.equal(await rows.count(), names.length);
  await page.finish();

  const plain = await newPage(browser, { javaScriptEnabled: false });
  await open(plain, addressOf(server, file, ALL));
  assert.equal(await plain.locator("tbody tr").count(), names.length);
  await open(plain, addressOf(server, file, MORE)); // as many as a page may have, and the way on
  assert.equal(await plain.locator("tbody tr").count(), names.length);
  await follow(plain, plain.locator("main a", { hasText: /^Next$/ }));
  assert.match(await plain.locator("main").innerText(), /1001 to /);
  await plain.finish();
});

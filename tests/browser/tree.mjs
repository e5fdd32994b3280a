// SPDX-License-Identifier: Apache-2.0
// Opens and closes rows of a tree where they stand: node tree.mjs SERVER BROWSER SHOTS-FOLDER FILE...
import assert from "node:assert/strict";
import { addressOf, follow, newPage, open, shot, until, withBrowser } from "./browser.mjs";

const [server, executablePath, shots, ...files] = process.argv.slice(2);
const mercury = files.find((file) => file.endsWith("Deep.data"));
const parse = files.find((file) => file.endsWith("parse.data"));
const DEEP = "tree/calls/down/5/all";

// Rows as they are seen: depth, and text without the mark.
function seen(page) {
  return page.locator("table.ranked tbody tr").evaluateAll((rows) => rows
    .filter((row) => row.getClientRects().length > 0)
    .map((row) => [Number(row.querySelector(".path").dataset.depth ?? 0),
      [...row.cells].slice(0, -1).map((cell) => cell.textContent).join(" "),
      row.querySelector(".path a:not(.open)")?.textContent ?? ""]));
}

async function dressed(page) {
  await until(page, () => document.querySelector("table[role=treegrid]"));
}

// Opened one after the other, the rows are those of the page that has all levels at once.
async function opensInPlace(page) {
  await open(page, addressOf(server, mercury, "tree/callseqs/down/2/all"));
  await dressed(page);
  const whole = (await seen(page)).filter(([depth]) => depth <= 2);
  await open(page, addressOf(server, mercury, "tree/callseqs/down/1/all"));
  await dressed(page);
  const before = await seen(page);
  const shut = page.locator("button.open[aria-expanded=false]");
  assert.ok(await shut.count() > 0, "there are rows to open");
  const count = await shut.count();
  for (let i = 0; i < count; i++) {
    const left = await shut.count();
    const address = await shut.first().getAttribute("data-address");
    await shut.first().click();
    await until(page, (old) => !document.querySelector(`button[aria-expanded=false][data-address="${old}"]`), address);
    assert.ok(await shut.count() >= left - 1);
    if (i >= 3) break;
  }
  const after = await seen(page);
  assert.ok(after.length > before.length);
  const key = ([depth, cells, name]) => `${depth} ${cells} ${name}`;
  const known = new Set(whole.map(key));
  for (const row of after.filter(([depth]) => depth <= 1)) assert.ok(known.has(key(row)), key(row));
  assert.match(page.url(), /#open=/);
}

async function remembers(page) {
  await open(page, addressOf(server, mercury, "tree/callseqs/down/1/all"));
  await dressed(page);
  await page.locator("button.open[aria-expanded=false]").first().click();
  await until(page, () => /open=/.test(location.hash));
  const opened = await seen(page);
  await page.reload();
  await dressed(page);
  await until(page, (count) => [...document.querySelectorAll("table.ranked tbody tr")]
    .filter((row) => row.getClientRects().length > 0).length === count, opened.length);
  assert.deepEqual(await seen(page), opened);
  await shot(page, shots, "tree-opened");
}

// Rows that the server opened close, the address knows, and they open again without asking.
async function closes(page) {
  await open(page, addressOf(server, parse, DEEP));
  await dressed(page);
  const before = await seen(page);
  const second = page.locator("button.open[aria-expanded=true]").nth(1);
  await second.click();
  const closed = await seen(page);
  assert.ok(closed.length < before.length);
  assert.match(page.url(), /#shut=/);
  await page.reload();
  await dressed(page);
  await until(page, (count) => [...document.querySelectorAll("table.ranked tbody tr")]
    .filter((row) => row.getClientRects().length > 0).length === count, closed.length);
  await page.locator("button.open[aria-expanded=false]").first().click();
  assert.deepEqual(await seen(page), before);
  assert.doesNotMatch(page.url(), /shut=/);
}

async function keys(page) {
  await open(page, addressOf(server, parse, DEEP));
  await dressed(page);
  const before = (await seen(page)).length;
  const second = page.locator("table.ranked tbody tr").nth(1);
  await second.locator(".path a").first().focus();
  await page.keyboard.press("ArrowLeft");
  assert.equal(await second.getAttribute("aria-expanded"), "false");
  assert.ok((await seen(page)).length < before);
  await page.keyboard.press("ArrowRight");
  assert.equal((await seen(page)).length, before);
  await page.keyboard.press("ArrowRight");
  const level = await page.evaluate(() => document.activeElement.closest("tr").getAttribute("aria-level"));
  assert.equal(Number(level), Number(await second.getAttribute("aria-level")) + 1);
  await open(page, addressOf(server, mercury, "tree/callseqs/down/1/all"));
  await dressed(page);
  await page.locator("table.ranked tbody tr .path a").first().focus();
  await page.keyboard.press("*");
  assert.equal(await page.locator("thead button").count(), 0, "a tree is not sorted row by row");
}

// A level a page without scripts.
async function withoutScripts(browser) {
  const page = await newPage(browser, { javaScriptEnabled: false });
  await open(page, addressOf(server, mercury, "tree/callseqs/down/1/all"));
  const heading = await page.locator("h1").innerText();
  await follow(page, page.locator("a.open").first());
  assert.notEqual(await page.locator("h1").innerText(), heading);
  assert.ok(await page.locator("table.ranked tbody tr").count() > 1);
  await page.finish();
}

await withBrowser(executablePath, async (browser) => {
  for (const work of [opensInPlace, remembers, closes, keys]) {
    const page = await newPage(browser);
    await work(page);
    await page.finish();
  }
  await withoutScripts(browser);
  console.log("opens in place, remembers, closes, keys, without scripts");
});

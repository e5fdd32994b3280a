// SPDX-License-Identifier: Apache-2.0
// Pages kept without a server, opened as files, with scripts and without: node kept.mjs BROWSER
// SHOTS-FOLDER FILE.html LARGE.html FOLDER. Nothing is asked of a network, every link leads somewhere.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { follow, newPage, resize, shot, until, untilTrue, withBrowser } from "./browser.mjs";

const [executablePath, shots, file, large, folder] = process.argv.slice(2);
const WIDTHS = [360, 390, 1400, 2500];
const BYTES_MOST = 1000000;

async function openFile(browser, name, options) {
  const page = await newPage(browser, options);
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(name).href);
  page.outside = () => asked.filter((url) => !url.startsWith("file:"));
  return page;
}

const shownParts = (page) => page.evaluate(() =>
  [...document.querySelectorAll(".part")].filter((each) => each.offsetParent !== null).map((each) => each.id));

// A part is shown in an event after the address has changed.
async function shownOther(page, than) {
  return untilTrue(`another part than ${than}`, async () => {
    const [id] = await shownParts(page);
    return id !== than && id;
  });
}

async function drawn(page, part = "") {
  await page.locator(`${part} figure.flame canvas`).first().waitFor();
  await until(page, (selector) => Number(document.querySelector(`${selector} figure.flame`).dataset.drawn) > 0, part);
}

async function assertFits(page, what) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${what}: ${wide} pixels too wide`);
}

// One page at a time; links, search, Back.
async function walkOneFile(browser) {
  const page = await openFile(browser, file);
  await drawn(page, "#p0");
  assert.deepEqual(await shownParts(page), ["p0"]);
  await shot(page, shots, "kept-first-1400");
  await page.locator("#nav-flame").click();
  await drawn(page, "#p1");
  assert.deepEqual(await shownParts(page), ["p1"]);
  assert.equal(await page.locator("#nav-flame").getAttribute("aria-current"), "page");
  await page.goBack();
  await shownOther(page, "p1");
  assert.deepEqual(await shownParts(page), ["p0"]);
  await page.locator("#p0 table.ranked a", { hasText: "buf_append" }).first().click();
  const id = await shownOther(page, "p0");
  assert.match(await page.locator(`#${id}`).innerText(), /buf_append/);
  await page.keyboard.press("/");
  await page.keyboard.type("flame");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#p1").offsetParent !== null);
  for (const width of WIDTHS) {
    await resize(page, width, 900);
    for (const part of ["p0", "p1", "p2", "p3", id]) {
      await page.evaluate((each) => { location.hash = `#${each}`; }, part);
      await until(page, (each) => document.getElementById(each).offsetParent !== null, part);
      await assertFits(page, `${part} at ${width}`);
    }
  }
  assert.deepEqual(page.outside(), []);
  await page.finish();
}

// A click makes a box as wide as the picture, finds stay, Back and Zoom out undo it.
async function zoomOneFile(browser) {
  const page = await openFile(browser, file);
  // Of the graphs by exact measures one has boxes side by side.
  const box = await page.evaluate(() => {
    for (const figure of document.querySelectorAll(".part:not(#p0) figure.flame")) {
      const { flame } = JSON.parse(figure.querySelector("script").textContent);
      const found = flame.boxes.find((each) => each[2] > 200000 && each[2] < 900000 && !each[6] && each[11]);
      if (found)
        return { part: `#${figure.closest(".part").id}`, row: found[0], x: found[1] / 1e6, width: found[2] / 1e6,
          name: flame.names[found[3]] };
    }
    return null;
  });
  await page.evaluate((part) => { location.hash = part; }, box.part);
  await drawn(page, box.part);
  const canvas = page.locator(`${box.part} figure.flame canvas`);
  const { width } = await canvas.boundingBox();
  const before = await canvas.screenshot();
  await canvas.click({ position: { x: (box.x + box.width / 2) * width, y: box.row * 19 + 8 } });
  await until(page, () => /row=\d/.test(location.hash));
  const said = await page.locator(`${box.part} .said`).innerText();
  assert.ok(said.includes(box.name) && said.includes("total"), said);
  assert.notDeepEqual(await canvas.screenshot(), before);
  await shot(page, shots, "kept-zoom-1400");
  const address = page.url();
  await page.goBack();
  await until(page, () => !/row=/.test(location.hash));
  await page.goto("about:blank");
  await page.goto(address);
  await drawn(page, box.part);
  assert.deepEqual(await shownParts(page), [box.part.slice(1)]);
  await page.locator(`${box.part} figure.flame button`, { hasText: "Zoom out" }).click();
  await page.locator(`${box.part} figure.flame input`).fill("buf_append");
  assert.match(await page.locator(`${box.part} figure.flame .found`).innerText(), /box/);
  await page.locator(`${box.part} .said a`).click();
  assert.match(await page.locator(`#${await shownOther(page, box.part.slice(1))} h1`).innerText(), /\w/);
  await page.finish();
}

// Rows that are there open and close; those that are not are no links.
async function treeOneFile(browser) {
  const page = await openFile(browser, file);
  await page.locator("#nav-tree").click();
  const part = await shownOther(page, "p0");
  const shownRows = () => page.evaluate((each) =>
    [...document.querySelectorAll(`#${each} tbody tr`)].filter((row) => row.offsetParent !== null).length, part);
  const count = await shownRows();
  await page.locator(`#${part} button.open[aria-expanded=true]`).nth(1).click();
  assert.ok(await shownRows() < count, `${await shownRows()} of ${count} rows`);
  await page.finish();
}

async function withoutScripts(browser) {
  const page = await openFile(browser, file, { javaScriptEnabled: false });
  assert.ok(await page.locator("#p0 svg rect").count() > 0); // few functions may have all the samples
  assert.ok(await page.locator(".part").count() >= 8);
  const links = page.locator("#p0 table.ranked a");
  const address = await links.first().getAttribute("href");
  await follow(page, links.first());
  assert.ok(page.url().endsWith(address));
  await shot(page, shots, "kept-without-scripts");
  await page.finish();
}

async function everyLink(browser) {
  for (const name of [file, large]) {
    assert.ok(fs.statSync(name).size < BYTES_MOST, name);
    const page = await openFile(browser, name);
    const dead = await page.evaluate(() => [...document.querySelectorAll("a[href]")].filter((link) =>
      link.getAttribute("href")[0] !== "#" || !document.getElementById(link.getAttribute("href").slice(1))).map((link) => link.outerHTML));
    assert.deepEqual(dead, []);
    assert.deepEqual(page.outside(), []);
    await page.finish();
  }
}

// A name leads to its page, what nobody has is said.
async function searchFolder(page) {
  await page.keyboard.press("/");
  await page.keyboard.type("no such name");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("output").textContent.includes("No page here"));
  await page.locator("#search").fill("FORMAT_LINE");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("h1").textContent === "format_line");
  assert.deepEqual(page.outside(), []);
}

// From the index along every link, as a reader in the browser would get it.
async function walkFolder(browser) {
  const page = await openFile(browser, path.join(folder, "index.html"));
  await drawn(page);
  const seen = new Set(), wanted = ["index.html"];
  while (wanted.length) {
    const name = wanted.shift();
    if (seen.has(name)) continue;
    seen.add(name);
    await page.goto(pathToFileURL(path.join(folder, name)).href);
    const { links, styled } = await page.evaluate(() => ({ styled: getComputedStyle(document.body).marginTop === "0px",
      links: [...document.querySelectorAll("a[href]")].map((link) => link.getAttribute("href").split("#")[0]) }));
    assert.ok(styled, name);
    for (const link of links.filter(Boolean)) {
      assert.ok(fs.existsSync(path.join(folder, decodeURIComponent(link))), `${name}: ${link}`);
      wanted.push(decodeURIComponent(link));
    }
  }
  assert.ok(seen.size > 20, `${seen.size} pages`);
  assert.deepEqual(page.outside(), []);
  await page.goto(pathToFileURL(path.join(folder, "index.html")).href);
  await follow(page, page.locator("table.ranked a", { hasText: "buf_append" }).first());
  assert.match(await page.locator("main").innerText(), /buf_append/);
  await shot(page, shots, "kept-folder-page");
  await searchFolder(page);
  await page.finish();
  return seen.size;
}

await withBrowser(executablePath, async (browser) => {
  await walkOneFile(browser);
  await zoomOneFile(browser);
  await treeOneFile(browser);
  await withoutScripts(browser);
  await everyLink(browser);
  console.log(`${await walkFolder(browser)} pages of the folder`);
});

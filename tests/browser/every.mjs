// SPDX-License-Identifier: Apache-2.0
// One page of every kind, in narrow, usual and wide windows, light or dark, and with "light" without
// scripts, too: nothing is wider than the window, text can be read, axe finds nothing serious, no two
// controls have one name. node every.mjs SERVER BROWSER SHOTS-FOLDER light|dark FILE...
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { addressOf, dressed, newPage, open, resize, shot, withBrowser } from "./browser.mjs";

const [server, executablePath, shots, colorScheme, ...files] = process.argv.slice(2);
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [360, 390, 1400, 2500];
const OTHERS = ["quit", "restart", "timeout"]; // commands to the server
const HEIGHT = 900;

// The first page of each kind that links lead to, beginning with the menu.
async function kinds(file) {
  const found = new Map(), seen = new Set(), wanted = ["menu"];
  while (wanted.length && seen.size < 60) {
    const command = wanted.shift();
    const word = command.split("/")[0];
    if (seen.has(command) || OTHERS.includes(word) || found.has(word)) continue;
    seen.add(command);
    const answer = await fetch(addressOf(server, file, command, "deep.json"));
    if (!answer.ok) continue;
    found.set(word, command);
    const text = await answer.text();
    for (const [, query] of text.matchAll(/_?query": "([^"&]+)/g)) wanted.push(query);
    wanted.push("about", "recursions/calls", "find/e", "help/all");
  }
  return [...found.values()];
}

async function assertFits(page, what) {
  const wide = await page.evaluate(() => ({ content: document.documentElement.scrollWidth, window: innerWidth,
    widest: [...document.querySelectorAll("main *")].filter((each) => !each.closest(".wide, pre, svg") &&
      each.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((each) => each.outerHTML.slice(0, 90)) }));
  assert.ok(wide.content <= wide.window, `${what}: ${wide.content} in ${wide.window}: ${wide.widest}`);
  assert.deepEqual(wide.widest, [], what);
}

// Buttons, fields and switches of one group differ in name; links may repeat what they lead to.
async function assertNames(page, what) {
  const twice = await page.evaluate(() => {
    const names = [...document.querySelectorAll("button, input:not([type=hidden]), select, a.control, a.sort")]
      .filter((each) => !each.closest("tbody"))
      .map((each) => `${each.closest(".list")?.firstElementChild?.textContent ?? ""} ` +
        (each.getAttribute("aria-label") ?? each.textContent).trim());
    return names.filter((name, place) => names.indexOf(name) !== place);
  });
  assert.deepEqual(twice, [], `${what}: controls of one name`);
}

async function assertAccessible(page, what) {
  if (!await page.evaluate(() => "axe" in globalThis)) await page.evaluate(AXE);
  const bad = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
      .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
  });
  assert.deepEqual(bad, [], what);
}

// The colours by their names: what is written on what.
const PAIRS = [
  ["ink", "ground", 7], ["ink", "panel", 7], ["ink", "hover", 7], ["soft", "ground", 4.5], ["soft", "panel", 4.5],
  ["soft", "hover", 4.5], ["faint", "ground", 4.5], ["faint", "panel", 4.5], ["faint", "hover", 4.5],
  ["accent", "ground", 4.5], ["accent", "panel", 4.5], ["accent", "hover", 4.5], ["ground", "accent", 4.5],
  ["good", "ground", 4.5], ["bad", "ground", 4.5], ["warn", "warn-ground", 4.5], ["ink", "never", 4.5],
  ["ink", "raised", 7], ["ink", "tint", 7], ["faint", "tint", 4.5], ["faint", "never", 4.5],
  ["strong", "ground", 3], ["strong", "panel", 3], ["self", "panel", 3],
  ...[0, 1, 2, 3, 4, 5, 6].map((slot) => ["boxink", `m${slot}`, 4.5]),
  ...[1, 2, 3, 4, 5].map((heat) => ["boxink", `h${heat}`, 4.5]),
];

async function contrast(page) {
  const ratios = await page.evaluate((pairs) => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
      const hex = style.getPropertyValue(`--${name}`).trim();
      const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return pairs.map(([ink, ground, least]) => {
      const [a, b] = [light(ink), light(ground)];
      return { ink, ground, least, ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) };
    });
  }, PAIRS);
  for (const { ink, ground, least, ratio } of ratios)
    assert.ok(ratio >= least, `${colorScheme}: ${ink} on ${ground} has ${ratio.toFixed(2)}, wanted ${least}`);
}

// Scripts, pictures and styles of a page, packed, are small.
async function weight(page, file) {
  let bytes = 0;
  const sizes = [];
  page.on("requestfinished", (request) => sizes.push(request.sizes().then((size) => { bytes += size.responseBodySize; })));
  await open(page, addressOf(server, file, "flame/calls/down/_/all"));
  await page.locator("figure.flame canvas").waitFor();
  await Promise.all(sizes);
  assert.ok(bytes < 150 * 1024, `${bytes} bytes`);
}

async function walk(browser, file, commands) {
  const bad = [];
  const check = (work) => work.catch((error) => bad.push(error.message.slice(0, 600)));
  const page = await newPage(browser, { colorScheme });
  for (const command of commands) {
    const name = command.split("/")[0];
    await open(page, addressOf(server, file, command));
    await dressed(page);
    for (const width of WIDTHS) {
      await resize(page, width, HEIGHT);
      const what = `${command} at ${width}, ${colorScheme}`;
      await check(assertFits(page, what));
      if (width !== 390 && width !== 1400) continue;
      await check(assertAccessible(page, what));
      if (colorScheme === "light" && file === files[0]) await shot(page, shots, `every-${name}-${width}`);
    }
    await check(assertNames(page, command));
  }
  await check(contrast(page));
  await page.finish();
  assert.deepEqual(bad, []);
}

async function withoutScripts(browser, file, commands) {
  const page = await newPage(browser, { javaScriptEnabled: false });
  for (const command of commands) {
    await open(page, addressOf(server, file, command));
    assert.ok((await page.locator("h1").innerText()).length > 0, command);
    assert.ok((await page.locator("main").innerText()).length > 60, command);
    const size = await page.locator("html").boundingBox();
    assert.ok(size.width <= 1400, command);
  }
  await page.finish();
}

await withBrowser(executablePath, async (browser) => {
  let count = 0;
  for (const file of [files[0], files.at(-1)]) {
    const commands = await kinds(file);
    assert.ok(commands.length >= 12, commands.join(" "));
    await walk(browser, file, commands);
    if (colorScheme === "light") await withoutScripts(browser, file, commands);
    count += commands.length;
  }
  if (colorScheme === "light") {
    const page = await newPage(browser);
    await weight(page, files[0]);
    await page.finish();
  }
  console.log(`${count} pages at ${WIDTHS.join(", ")} pixels, ${colorScheme}`);
});

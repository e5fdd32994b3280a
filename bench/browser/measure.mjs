// SPDX-License-Identifier: Apache-2.0
// node measure.mjs SERVER BROWSER FILE: see run.py. Medians and worst of the rounds.
import { addressOf, newPage, open, until, withBrowser } from "./browser.mjs";

const [server, executablePath, file] = process.argv.slice(2);
const ROUNDS = 9;
const PAGES = ["menu", "flame/auto/down/_/all", "tree/auto/down/3/all", "top_procs/1-100/calls/self/oa", "proc/10"];
const ALL = "top_procs/1-10000/calls/self/oa";

function told(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return `${sorted[sorted.length >> 1].toFixed(1)} (worst of ${sorted.length}: ${sorted.at(-1).toFixed(1)})`;
}

// The first paint of a page that is asked for anew; scripts and styles come from the cache.
async function firstPaint(page, command) {
  await page.goto(addressOf(server, file, command));
  await until(page, () => performance.getEntriesByName("first-contentful-paint").length > 0);
  return page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime);
}

async function weigh(browser, command) {
  const page = await newPage(browser);
  const sizes = [];
  page.on("requestfinished", (request) => sizes.push(request.sizes().then((size) => size.responseBodySize)));
  await open(page, addressOf(server, file, command));
  await page.waitForTimeout(500);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await page.context().close();
  return bytes;
}

async function rounds(work) {
  const values = [];
  for (let round = 0; round < ROUNDS; round++) values.push(await work(round));
  return values;
}

async function zooms(page) {
  await open(page, addressOf(server, file, "flame/calls/down/_/all"));
  await page.locator("figure.flame canvas").waitFor();
  const canvas = page.locator("figure.flame canvas");
  return rounds(async () => {
    await open(page, addressOf(server, file, "flame/calls/down/_/all"));
    await until(page, () => Number(document.querySelector("figure.flame")?.dataset.drawn) > 0);
    const { width } = await canvas.boundingBox();
    await canvas.click({ position: { x: width * 0.2, y: 2 * 19 + 8 } });
    await until(page, () => performance.getEntriesByName("flame zoom").length > 0);
    return page.evaluate(() => performance.getEntriesByName("flame zoom")[0].duration);
  });
}

const sorting = (page) => page.evaluate(() => {
  const button = document.querySelector("thead th button");
  if (!button) return null;
  const began = performance.now();
  button.click();
  document.body.getBoundingClientRect(); // with the layout that follows
  return performance.now() - began;
});

await withBrowser(executablePath, async (browser) => {
  const page = await newPage(browser);
  await open(page, addressOf(server, file, "menu"));
  for (const command of PAGES) {
    const bytes = await weigh(browser, command);
    const paints = await rounds(() => firstPaint(page, command));
    console.log(`${command}: ${(bytes / 1024).toFixed(0)} KiB packed, first paint ${told(paints)} ms`);
  }
  console.log(`zoom of the flame graph: ${told(await zooms(page))} ms`);
  const paints = [];
  for (let round = 0; round < 3; round++) paints.push(await firstPaint(page, ALL));
  await page.waitForLoadState("load");
  const rows = await page.locator("tbody tr").count();
  const sorts = await sorting(page);
  console.log(`${rows} rows: first paint ${told(paints)} ms; sorted by the script in ${sorts?.toFixed(0) ?? "not at all: by the server"} ms`);
  await page.context().close();
});

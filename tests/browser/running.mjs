// SPDX-License-Identifier: Apache-2.0
// Pages of a program that runs: what changed is put in, without another document; paused; ended.
// node running.mjs FATHOM BROWSER FOLDER: the folder has steps, built with fathom cc.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import readline from "node:readline";
import { goTo, newPage, untilTrue, withBrowser } from "./browser.mjs";

const [fathom, executablePath, cwd] = process.argv.slice(2);
const program = spawn(fathom, ["record", "-q", "-k", "-o", "out", "--", "./steps"],
  { cwd, stdio: ["pipe", "pipe", "inherit"] });

async function step(order) {
  program.stdin.write(order);
  await once(program.stdout, "data");
}

await step("w 1234");
const view = spawn(fathom, ["view", "--no-open", "out.rec"],
  { cwd, stdio: ["ignore", "pipe", "inherit"] });
const [line] = await once(readline.createInterface({ input: view.stdout }), "line");
const url = /http:\S+/.exec(line)[0];
let page;
const address = (command) => `${url.split("?")[0]}?${command}&${url.split("&").pop()}`;
// A page with other rows than before is asked for again: there is none for a moment.
const text = () => page.evaluate(() => document.querySelector("#main")?.innerText ?? "").catch(() => "");

// A page that asks for itself again in the same moment may come instead.
async function open(command) {
  const at = address(command);
  do await goTo(page, at);
  while (page.url() !== at);
}

async function shows(pattern) {
  let last;
  await untilTrue(String(pattern), async () => pattern.test(last = await text())).catch((error) => {
    throw new Error(`${error.message} in: ${last}`);
  });
}

async function watch() {
  await open("top_procs/1-20/callseqs/self/oa");
  await shows(/1,234.*leaf/);
  await shows(/still runs/);
  await page.getByRole("button", { name: "Pause" }).waitFor(); // whose script puts in what changed
  await page.evaluate(() => { window.sameDocument = true; });
  await step("w 1000");
  await shows(/2,234.*leaf/);
  assert.ok(await page.evaluate(() => window.sameDocument), "rows are put in");

  // A function that was not called before: a row more, and still the same document, and the same row of leaf.
  await page.evaluate(() => {
    window.leafRow = [...document.querySelectorAll("#main tr")].find((row) => /leaf/.test(row.textContent));
  });
  await step("p 1");
  await shows(/2,235.*leaf/);
  await shows(/phase/);
  assert.ok(await page.evaluate(() => window.sameDocument), "rows that are new are put in");
  assert.ok(await page.evaluate(() => window.leafRow.isConnected && /2,235/.test(window.leafRow.textContent)),
    "a row stays the same element");

  // A click while the table changes is not lost.
  const link = await page.locator("#main td a, #main th a", { hasText: "leaf" }).first().boundingBox();
  await page.mouse.move(link.x + link.width / 2, link.y + link.height / 2);
  await page.mouse.down();
  const generation = () => page.evaluate(() => Number(document.querySelector("[data-live]").dataset.generation));
  const before_click = await generation();
  await step("w 2");
  await untilTrue("two generations", async () => await generation() >= before_click + 2);
  await page.mouse.up();
  await page.waitForURL((at) => at.href.includes("proc/"));
  await page.goBack();
  await shows(/2,237.*leaf/);

  await page.getByRole("button", { name: "Pause" }).click();
  const before = await text();
  await step("w 5");
  await page.waitForTimeout(1500);
  assert.equal(await text(), before, "a paused page stays as it is");
  await page.getByRole("button", { name: "Go on" }).click();
  await shows(/2,242.*leaf/);

  await page.getByRole("button", { name: "Since here" }).click();
  await page.waitForURL((at) => at.href.includes("since"));
  await shows(/This phase began at/);
  await step("w 17");
  await shows(/(^|\D)17\D.*leaf/m);
  assert.doesNotMatch(await text(), /2,2\d\d/, "the phase has its own counts");

  await leave();
  for (const command of ["menu", "tree/auto/down/3/all", "flame/auto/down/_/all"]) {
    await open(command);
    await shows(/still runs/);
  }
  program.stdin.end();
  if (program.exitCode === null) await once(program, "exit");
  await shows(/has ended/);
}

// No way out of a page is lost that asks for itself again and again: here since it is another than its stream tells.
async function leave() {
  const live = address("top_procs/1-20/callseqs/self/oa");
  await page.route(live, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<main[^>]*>/, "$&<p>Another page.</p>");
    await route.fulfill({ response, body }).catch(() => {});
  });
  let documents = 0;
  const count = (frame) => { documents += frame.url() === live; };
  page.on("framenavigated", count);
  for (let turn = 0; turn < 12; turn++) { // at any moment
    await open("top_procs/1-20/callseqs/self/oa");
    const before = documents;
    await untilTrue("two documents", () => documents >= before + 2);
    await page.waitForTimeout(turn * 10);
    await open("menu");
  }

  // Who listens to this is asked before the page is left. If the page is replaced by then, the answer never comes,
  // and the browser stays where it is, one of twenty times.
  await page.getByRole("button", { name: "Pause" }).waitFor();
  const client = await page.context().newCDPSession(page);
  const { result } = await client.send("Runtime.evaluate", { expression: "window" });
  const { listeners } = await client.send("DOMDebugger.getEventListeners", { objectId: result.objectId });
  const types = listeners.map((listener) => listener.type);
  assert.ok(types.includes("pagehide") && !types.includes("beforeunload"), String(types));
  await client.detach();

  // What a click asks for may take longer to come than the page itself.
  const asked = address("menu");
  await page.route(asked, async (route) => {
    await new Promise((done) => { setTimeout(done, 1000); });
    await route.continue().catch(() => {});
  });
  await open("top_procs/1-20/callseqs/self/oa");
  const arrived = page.waitForURL(asked, { waitUntil: "commit" });
  const click = (href) => new Promise((done) => {
    const timer = setInterval(() => {
      const link = document.querySelector("#main:has([data-live] button) a[href]");
      if (!link) return;
      clearInterval(timer);
      link.href = href;
      link.click();
      done(true);
    }, 1);
  });
  // A document that is replaced before it has its button is not clicked on.
  await untilTrue("a click", () => page.evaluate(click, asked).catch(() => false));
  await arrived;
  page.off("framenavigated", count);
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

try {
  await withBrowser(executablePath, async (browser) => {
    page = await newPage(browser);
    await watch();
    await page.finish();
  });
} finally { // else what still runs would keep this up to its time limit
  view.kill("SIGTERM");
  program.kill("SIGTERM");
}

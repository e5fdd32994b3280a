// SPDX-License-Identifier: Apache-2.0
// Pages of a program that runs: what changed is put in, without another document; paused; ended.
// node running.mjs FATHOM BROWSER FOLDER: the folder has steps, built with fathom cc.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import readline from "node:readline";
import { chromium } from "playwright-core";

const [fathom, executablePath, cwd] = process.argv.slice(2);
const complaints = [];
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
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage();
page.on("console", (message) => {
  if (["error", "warning"].includes(message.type())) complaints.push(message.text());
});
page.on("pageerror", (error) => complaints.push(String(error)));
const address = (command) => `${url.split("?")[0]}?${command}&${url.split("&").pop()}`;
// A page with other rows than before is asked for again: there is none for a moment.
const text = () => page.evaluate(() => document.querySelector("#main")?.innerText ?? "").catch(() => "");

// A page that asks for itself again in the same moment wins: what was asked for is given up, or never told of.
async function open(command) {
  for (let left = 3; left > 0; left--) {
    try {
      await page.goto(address(command));
      return;
    } catch (error) {
      if (left === 1 || !/ERR_ABORTED|Timeout|interrupted/.test(String(error))) throw error;
    }
  }
}

async function shows(pattern) {
  for (const end = Date.now() + 60000; Date.now() < end;) {
    if (pattern.test(await text())) return;
    await page.waitForTimeout(50);
  }
  assert.match(await text(), pattern);
}

async function watch() {
  await page.goto(address("top_procs/1-20/callseqs/self/oa"));
  await shows(/1,234.*leaf/);
  assert.match(await text(), /still runs/);
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
  for (const end = Date.now() + 60000; await generation() < before_click + 2 && Date.now() < end;)
    await page.waitForTimeout(50);
  await page.mouse.up();
  await page.waitForURL((at) => at.href.includes("proc/"), { timeout: 60000 });
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
  await page.waitForURL((at) => at.href.includes("since"), { timeout: 60000 });
  await shows(/This phase began at/);
  await step("w 17");
  await shows(/(^|\D)17\D.*leaf/m);
  assert.doesNotMatch(await text(), /2,2\d\d/, "the phase has its own counts");

  for (const command of ["menu", "tree/auto/down/3/all", "flame/auto/down/_/all"]) {
    await open(command);
    await shows(/still runs/);
  }
  program.stdin.end();
  await once(program, "exit");
  await shows(/has ended/);
}

try {
  await watch();
} finally { // else what still runs would keep this up to its time limit
  await browser.close();
  view.kill("SIGTERM");
  program.kill("SIGTERM");
}
assert.deepEqual(complaints, []);

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

// A page that asks for itself again in the same moment wins.
async function open(command) {
  for (let left = 3; left > 0; left--) {
    try {
      await page.goto(address(command));
      return;
    } catch (error) {
      if (left === 1 || !String(error).includes("ERR_ABORTED")) throw error;
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

  await page.getByRole("button", { name: "Pause" }).click();
  const before = await text();
  await step("w 5");
  await page.waitForTimeout(1500);
  assert.equal(await text(), before, "a paused page stays as it is");
  await page.getByRole("button", { name: "Go on" }).click();
  await shows(/2,239.*leaf/);

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

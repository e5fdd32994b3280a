// SPDX-License-Identifier: Apache-2.0
// A large profile is opened: its pages come at once, say that they are not whole, and are shown
// again by themselves. node unfinished.mjs FATHOM PROFILE BROWSER SHOTS-FOLDER
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import readline from "node:readline";
import { chromium } from "playwright-core";

const [fathom, profile, executablePath, shots] = process.argv.slice(2);
const ATTEMPTS = 5; // on a busy machine the profile may be read before the browser has asked
const PATIENCE_MS = 120000;
const complaints = [];

async function serve() {
  const server = spawn(fathom, ["view", "--no-open", profile],
    { stdio: ["ignore", "pipe", "inherit"] });
  const lines = readline.createInterface({ input: server.stdout });
  const [line] = await once(lines, "line");
  return { server, url: /http:\S+/.exec(line)[0] };
}

async function stop({ server }) {
  server.kill("SIGTERM");
  const [status] = server.exitCode === null ? await once(server, "exit") : [server.exitCode];
  assert.equal(status, 0);
}

function address(url, command) {
  return `${url.split("?")[0]}?${command}&${url.split("&").pop()}`;
}

// Notes every text of the line, across the documents that follow each other.
function noteTexts() {
  const note = () => {
    const text = document.querySelector(".incomplete span")?.textContent;
    const texts = JSON.parse(sessionStorage.getItem("texts") ?? "[]");
    if (text && texts.at(-1) !== text)
      sessionStorage.setItem("texts", JSON.stringify([...texts, text]));
  };
  document.addEventListener("DOMContentLoaded", () => {
    note();
    new MutationObserver(note).observe(document.body,
      { childList: true, characterData: true, subtree: true });
    sessionStorage.setItem("documents", Number(sessionStorage.getItem("documents") ?? 0) + 1);
  });
}

async function newPage(browser, options) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return { context, page };
}

// Does `look` with a page that is not whole; starts anew when the profile was read too soon.
async function whileReading(command, page, look) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const running = await serve();
    try {
      const answer = await page.goto(address(running.url, command),
        { waitUntil: "domcontentloaded" });
      assert.equal(answer.status(), 200);
      if ((await answer.text()).includes('class="incomplete"')) {
        await look(running);
        return;
      }
    } finally {
      await stop(running);
    }
  }
  assert.fail("the profile was always read before the page was asked for");
}

async function redrawsByItself(browser) {
  const { context, page } = await newPage(browser);
  await page.addInitScript(noteTexts);
  await whileReading("top_procs/1-20/callseqs/self/oa", page, async ({ url }) => {
    await page.screenshot({ path: path.join(shots, "unfinished.png") });
    // Another tab comes and goes in the middle of it.
    const other = await context.newPage();
    await other.goto(address(url, "menu"), { waitUntil: "domcontentloaded" });
    await other.close();
    await page.locator(".incomplete").waitFor({ state: "detached", timeout: PATIENCE_MS });
    await page.waitForLoadState();
    assert.ok(await page.locator("tbody tr").count() >= 20);
    const texts = await page.evaluate(() => JSON.parse(sessionStorage.getItem("texts")));
    const documents = await page.evaluate(() => Number(sessionStorage.getItem("documents")));
    assert.ok(texts.length >= 2, `the line did not go on: ${texts}`);
    assert.ok(texts.every((text) => text.startsWith("Not all is known yet")), String(texts));
    assert.ok(documents >= 2, "the page was not asked for again");
    await page.screenshot({ path: path.join(shots, "finished.png") });
    // Once it is whole it stays.
    const connections = await page.evaluate(() =>
      performance.getEntriesByType("resource").filter((entry) => entry.name.includes("events")));
    assert.equal(connections.length, 0);
    console.log(`${texts.length} texts, ${documents} documents`);
  });
  await context.close();
}

async function withoutScripts(browser) {
  const { context, page } = await newPage(browser, { javaScriptEnabled: false });
  await whileReading("menu", page, async () => {
    await page.locator("th", { hasText: "Invariant" }).first()
      .waitFor({ timeout: PATIENCE_MS });
    assert.equal(await page.locator(".incomplete").count(), 0);
    assert.ok((await page.locator("main").innerText()).includes("Invariant"));
  });
  await context.close();
}

const browser = await chromium.launch({ executablePath, headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"] });
try {
  await redrawsByItself(browser);
  await withoutScripts(browser);
  assert.deepEqual(complaints, [], "the console is silent");
} finally {
  await browser.close();
}

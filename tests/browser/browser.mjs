// SPDX-License-Identifier: Apache-2.0
// What the tests of pages share: a browser, pages of one recording, and no complaint overlooked.
import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";

const PATIENCE_MS = 60000;

export async function withBrowser(executablePath, work) {
  const browser = await chromium.launch({ executablePath, headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}

// A page whose console must stay silent; options as of a browser's context.
export async function newPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.finish = async () => {
    assert.deepEqual(complaints, [], "the console is silent");
    await context.close();
  };
  return page;
}

// server: "http://127.0.0.1:PORT/"; file: as the server knows it.
export function addressOf(server, file, command, page = "deep") {
  return `${server}${page}?${command}&&${encodeURIComponent(file)}`;
}

export async function open(page, address) {
  const answer = await page.goto(address);
  assert.equal(answer.status(), 200, address);
  await page.locator(".incomplete").waitFor({ state: "detached" });
}

// Where a link leads, once it is there: a click alone may be over before the way has begun.
export async function follow(page, link) {
  await Promise.all([page.waitForNavigation({ timeout: PATIENCE_MS }), link.click()]);
}

export async function shot(page, folder, name, options = {}) {
  await page.screenshot({ path: path.join(folder, `${name}.png`), ...options });
}

// A page's JSON, as a program gets it.
export async function json(server, file, command) {
  const answer = await fetch(addressOf(server, file, command, "deep.json"));
  assert.equal(answer.status, 200, command);
  return answer.json();
}

// Until a function in the page says yes. (The browser's own waiting needs what the pages forbid.)
export async function until(page, condition, argument) {
  const end = Date.now() + PATIENCE_MS;
  while (!(await page.evaluate(condition, argument).catch(() => false))) {
    assert.ok(Date.now() < end, `never came: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

// SPDX-License-Identifier: Apache-2.0
// What the tests of pages share: a browser, pages of one recording, and no complaint overlooked.
import assert from "node:assert/strict";
import path from "node:path";
import { chromium } from "playwright-core";

// As in tests/patience.py: a wait ends with a condition, and its limit only ends a test that hangs.
export const PATIENCE_MS = 120000 * Number(process.env.FATHOM_PATIENCE ?? 1);

export async function withBrowser(executablePath, work) {
  const browser = await chromium.launch({ executablePath, headless: true, timeout: PATIENCE_MS,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"] });
  try {
    await work(browser);
  } finally {
    await browser.close();
  }
}

// Another page of a context, as another tab, whose console must stay silent until page.finish(). While
// page.expected is set, complaints that have this text are what the test wants.
export async function newTab(context) {
  const page = await context.newPage();
  const complaints = [];
  page.setDefaultTimeout(PATIENCE_MS);
  page.expected = null;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !(page.expected && message.text().includes(page.expected)))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.finish = async () => {
    assert.deepEqual(complaints, [], "the console is silent");
    await page.close();
  };
  return page;
}

// A page in a context of its own, with its own connections and cache; options as of a browser's context.
export async function newPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, ...options });
  const page = await newTab(context);
  const finish = page.finish;
  page.finish = async () => {
    await finish();
    await context.close();
  };
  return page;
}

// server: "http://127.0.0.1:PORT/"; file: as the server knows it.
export function addressOf(server, file, command, page = "deep") {
  return `${server}${page}?${command}&&${encodeURIComponent(file)}`;
}

// Until a page has been painted for the first time: before that Chromium drops what the mouse does, while scripts
// already run. On a busy machine the first frame comes long after them.
export async function painted(page) {
  await until(page, () => performance.getEntriesByName("first-contentful-paint").length > 0);
}

// A page that asks for itself again in the same moment may come instead: it is gone to once more.
export async function goTo(page, address) {
  for (;;) {
    try {
      const answer = await page.goto(address);
      await painted(page);
      return answer;
    } catch (error) {
      if (!/ERR_ABORTED|interrupted/.test(String(error))) throw error;
    }
  }
}

const isWhole = (page) => page.evaluate(() => !document.querySelector(".incomplete")).catch(() => false);

// A page that is whole. One of a profile that is still being read is asked for again when all is known.
export async function open(page, address) {
  const answer = await goTo(page, address);
  assert.equal(answer.status(), 200, address);
  if (await isWhole(page)) return;
  const whole = page.url(); // a command may have led on to it
  await untilTrue(`${whole} is whole`, async () => !(await (await fetch(whole)).text()).includes('class="incomplete"'));
  await goTo(page, whole);
  assert.ok(await isWhole(page), whole);
}

// What scripts of a page load later has done its part.
export async function dressed(page) {
  await until(page, () => {
    const all = (selector, is) => [...document.querySelectorAll(selector)].every(is);
    return all("figure.flame[data-query]", (figure) => figure.dataset.drawn !== undefined) &&
      all("body:not(.kept) figure.callgraph", (figure) => !figure.hidden) &&
      all("table.ranked:has([data-depth] .open)", (table) => table.getAttribute("role") === "treegrid");
  });
}

// What follows the window's size is drawn in the frames after.
export async function resize(page, width, height) {
  await page.setViewportSize({ width, height });
  await page.evaluate(() => new Promise((done) => {
    requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
  }));
}

// Where a link leads, once it is there: a click alone may be over before the way has begun.
export async function follow(page, link) {
  await Promise.all([page.waitForNavigation(), link.click()]);
}

// Pictures for people, when FATHOM_SCREENSHOTS is set: each takes as long as a page.
export async function shot(page, folder, name, options = {}) {
  if (!process.env.FATHOM_SCREENSHOTS) return;
  await page.screenshot({ path: path.join(folder, `${name}.png`), ...options });
}

// Until a function says yes; what it said last stands in the error.
export async function untilTrue(what, condition) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const seen = await condition();
    if (seen) return seen;
    assert.ok(Date.now() < end, `never came: ${what}; last seen: ${seen}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

// A page of a profile that is no longer being read, as JSON.
export async function json(server, file, command) {
  return untilTrue(`all of ${command} is known`, async () => {
    const answer = await fetch(addressOf(server, file, command, "deep.json"));
    assert.equal(answer.status, 200, command);
    const page = await answer.json();
    return page.incomplete ? null : page;
  });
}

// Until a function in the page says yes. (The browser's own waiting needs what the pages forbid.) A page
// that is just being replaced by another has no answer.
export async function until(page, condition, argument) {
  let error = "";
  try {
    await untilTrue(String(condition), () => page.evaluate(condition, argument).catch((problem) => {
      error = String(problem);
      return false;
    }));
  } catch (problem) {
    throw new Error(`${problem.message} ${error}`);
  }
}

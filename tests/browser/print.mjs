// SPDX-License-Identifier: Apache-2.0
// On paper all columns and rows are there, and what only serves a reader at a window is not:
// node print.mjs SERVER BROWSER SHOTS-FOLDER FILE...
import assert from "node:assert/strict";
import { addressOf, newPage, open, shot, withBrowser } from "./browser.mjs";

const [server, executablePath, shots, ...files] = process.argv.slice(2);
const PAGES = ["menu", "tree/calls/down/3/all", "top_procs/1-100/calls/self/oa", "program_modules", "clique/2"];
const PAPER = { width: 1032, height: 700 }; // A4 across within its margins

async function assertPrints(page, what) {
  await page.emulateMedia({ media: "print" });
  const { hidden, shown, wide } = await page.evaluate(() => {
    const gone = (each) => getComputedStyle(each).display === "none";
    const told = (list) => list.map((each) => each.outerHTML.slice(0, 90)).slice(0, 3);
    return {
      hidden: told([...document.querySelectorAll("main th, main td, .flame, caption.said")]
        .filter((each) => gone(each) && !each.closest("tr.closed, [hidden]"))),
      shown: told([...document.querySelectorAll("header nav, .search, footer, .controls, .tools, .skip")]
        .filter((each) => !gone(each) && !each.closest(".controls"))),
      wide: told([...document.querySelectorAll("table.ranked")]
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)),
    };
  });
  assert.deepEqual(hidden, [], `${what}: not on paper`);
  assert.deepEqual(shown, [], `${what}: of no use on paper`);
  assert.deepEqual(wide, [], `${what}: wider than the paper`);
  const paper = await page.pdf({ preferCSSPageSize: true, printBackground: true });
  assert.equal(paper.subarray(0, 5).toString(), "%PDF-", what);
  assert.ok(paper.length > 3000, what);
}

await withBrowser(executablePath, async (browser) => {
  for (const command of PAGES) {
    const page = await newPage(browser, { viewport: PAPER });
    await open(page, addressOf(server, files[0], command));
    await assertPrints(page, command);
    if (command === "menu") await shot(page, shots, "print-menu", { fullPage: true });
    await page.finish();
  }
});

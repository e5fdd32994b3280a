// SPDX-License-Identifier: Apache-2.0
// Pictures of trace pages when their scripts have drawn: shoot.mjs CHROMIUM WIDTH HEIGHT, and on standard input lines
// "FILE ADDRESS". playwright-core is looked for beside this file.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [executablePath, width, height] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) } });
for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const [file, address] = line.split(" ");
  await page.goto(address);
  const drawn = () => page.evaluate(() => document.documentElement.dataset.trace === "ready" &&
    globalThis.fathomTrace.set.progress === 1 && globalThis.fathomTrace.panels[globalThis.fathomTrace.panel].answer?.done);
  while (!(await drawn())) await page.waitForTimeout(100);
  await page.waitForTimeout(800); // until the last picture is drawn
  await page.screenshot({ path: file });
}
await browser.close();

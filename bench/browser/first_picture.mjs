// SPDX-License-Identifier: Apache-2.0
// node first_picture.mjs SERVER BROWSER LOG: see first_picture.py. Prints milliseconds from the navigation to the
// first paint and to the script's first picture, and how much of the log the pass had read then.
import { newPage, until, withBrowser } from "./browser.mjs";

const [server, executablePath, log] = process.argv.slice(2);

await withBrowser(executablePath, async (browser) => {
  const page = await newPage(browser);
  await page.addInitScript(() => {
    new MutationObserver((changes, observer) => {
      if (document.documentElement.dataset.trace !== "ready") return;
      observer.disconnect();
      const progress = document.querySelector("progress");
      const read = progress && !progress.hidden ? progress.value : 1;
      requestAnimationFrame(() => setTimeout(() => { // when it has been painted
        globalThis.firstPicture = { picture: performance.now(), read };
      }));
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-trace"] });
  });
  await page.goto(`${server}trace?file=${encodeURIComponent(log)}`, { waitUntil: "commit" });
  await until(page, () => globalThis.firstPicture !== undefined);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? null);
  const { picture, read } = await page.evaluate(() => globalThis.firstPicture);
  console.log(JSON.stringify({ paint, picture, read }));
  await page.finish();
});

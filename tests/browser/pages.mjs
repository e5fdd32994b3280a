// SPDX-License-Identifier: Apache-2.0
// Walks through the pages as a reader would: node pages.mjs URL BROWSER SHOTS-FOLDER
import assert from "node:assert/strict";
import { follow, newPage, open as openIn, resize, shot as shotInto, untilTrue, withBrowser } from "./browser.mjs";

const [url, executablePath, shots] = process.argv.slice(2);
let page;
let steps = 0;

async function open(address) {
  await openIn(page, address);
  steps++;
}

const shot = (name) => shotInto(page, shots, name);

function withCommand(command) {
  const file = url.split("?")[1].split("&").pop();
  return `${url.split("?")[0]}?${command}&${file}`;
}

async function mainText() {
  return page.locator("main").innerText();
}

// Every link on the menu leads to a page with a heading and something below it.
async function followMenu() {
  await open(url);
  await shot("menu");
  const links = await page.locator("main a.link").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(links.length >= 10, `${links.length} links on the menu`);
  for (const link of links) {
    await open(link);
    assert.ok((await page.locator("h1").innerText()).length > 0, link);
    assert.ok((await mainText()).length > 100, `${link} is empty`);
  }
  return links;
}

// Each heading that is a link sorts: the column it stands above is in descending order then.
async function sortByHeadings() {
  const address = withCommand("top_procs/1-100/callseqs/self/oa&" +
    "p-qtp-S-A-W/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev");
  await open(address);
  const headings = await page.locator("thead a").evaluateAll((all) =>
    all.map((a) => ({ href: a.href, label: a.innerText })));
  assert.ok(headings.length >= 8, `${headings.length} headings sort`);
  const orders = new Set();
  for (const heading of headings) {
    await open(heading.href);
    orders.add(await page.locator("tbody").first().innerText());
    const values = await page.evaluate(() => {
      const same = [...document.querySelectorAll("thead th")].find((th) =>
        th.getAttribute("aria-sort") === "descending");
      if (!same) return null;
      // The column of the heading, counting spans over both header rows.
      const rows = [...same.closest("thead").rows];
      const taken = rows.map(() => []);
      let column = -1;
      rows.forEach((row, y) => {
        let x = 0;
        for (const cell of row.cells) {
          while (taken[y][x]) x++;
          if (cell === same) column = x;
          for (let dy = 0; dy < cell.rowSpan && y + dy < rows.length; dy++)
            for (let dx = 0; dx < cell.colSpan; dx++) taken[y + dy][x + dx] = true;
          x += cell.colSpan;
        }
      });
      return [...document.querySelectorAll("tbody tr")].map((row) => {
        let at = 0;
        for (const cell of row.cells) {
          at += cell.colSpan;
          if (column < at) return cell.innerText.trim();
        }
        return "";
      }).filter((text) => /^[\d,.]+$/.test(text)).map((text) => Number(text.replaceAll(",", "")));
    });
    if (values)
      for (let i = 1; i < values.length; i++)
        assert.ok(values[i - 1] >= values[i], `${heading.label}: row ${i} is out of order`);
  }
  assert.ok(orders.size >= 3, "sorting changes the order of rows");
  await shot("top-procs");
}

// Every control changes the page: its address, its text, or how it looks.
async function toggleControls(command, name) {
  await open(withCommand(command));
  const before = await page.locator("main").innerHTML();
  const controls = await page.locator("a.control").evaluateAll((all) =>
    all.map((a) => ({ href: a.href, label: a.innerText })));
  assert.ok(controls.length > 3, `${controls.length} controls`);
  let toggled = 0;
  for (const { href, label } of controls) {
    if (/[?]quit/.test(href)) continue;
    await open(href);
    const after = await page.locator("main").innerHTML();
    assert.notEqual(after, before, `"${label}" changes nothing at ${command}`);
    toggled++;
  }
  await open(withCommand(command));
  await shot(name);
  return toggled;
}

async function keyboard() {
  await open(url);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#main",
    "the first Tab reaches the link past the navigation");
  const seen = new Set();
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const at = document.activeElement;
      const style = getComputedStyle(at);
      return { href: at.href ?? at.tagName, outline: style.outlineStyle + style.boxShadow };
    });
    assert.notEqual(focus.outline, "nonenone", `focus is not to be seen on ${focus.href}`);
    seen.add(focus.href);
  }
  assert.ok(seen.size >= 10, "Tab walks through the links");
  const first = page.locator("main a.link").first();
  const target = await first.evaluate((link) => link.href);
  assert.notEqual(target, page.url());
  await first.focus();
  await Promise.all([page.waitForURL(target), page.keyboard.press("Enter")]);
}

// Whether text and ground have a contrast of at least 4.5 (WCAG AA), dark and light.
async function contrast() {
  return page.evaluate(() => {
    const parts = (color) => {
      const [r, g, b, alpha = 1] = color.match(/[\d.]+/g).map(Number);
      return { rgb: [r, g, b], alpha };
    };
    const light = (rgb) => {
      const [r, g, b] = rgb.map((value) => {
        const part = value / 255;
        return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    // What lies below, each layer seen through the ones above it.
    const ground = (element) => {
      const layers = [];
      for (let at = element; at; at = at.parentElement) {
        layers.push(parts(getComputedStyle(at).backgroundColor));
        if (layers.at(-1).alpha === 1) break;
      }
      return layers.reduceRight((below, { rgb, alpha }) =>
        rgb.map((value, i) => value * alpha + below[i] * (1 - alpha)), [255, 255, 255]);
    };
    const bad = [];
    for (const element of document.querySelectorAll("h1, p, td, th, a")) {
      if (!element.innerText?.trim() || element.matches(".skip")) continue;
      const [a, b] = [light(parts(getComputedStyle(element).color).rgb), light(ground(element))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) bad.push(`${element.tagName} "${element.innerText.slice(0, 20)}" ${ratio}`);
    }
    return bad;
  });
}

async function lightAndDark(command, name) {
  const grounds = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await open(withCommand(command));
    assert.deepEqual(await contrast(), [], `${colorScheme}: too little contrast`);
    grounds.push(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
    await shot(`${name}-${colorScheme}`);
  }
  assert.notEqual(grounds[0], grounds[1], "dark and light look the same");
  await page.emulateMedia({ colorScheme: "light" });
}

async function narrowWindow() {
  await resize(page, 400, 800);
  await open(url);
  await shot("menu-narrow");
  await resize(page, 1400, 900);
}

// Whole without scripts, too.
async function withoutScripts(browser) {
  const other = await newPage(browser, { javaScriptEnabled: false });
  await openIn(other, url);
  const link = other.locator("main a.link").first(), heading = await other.locator("h1").innerText();
  const target = await link.evaluate((each) => each.href);
  await follow(other, link);
  assert.equal(other.url(), target);
  assert.notEqual(await other.locator("h1").innerText(), heading);
  await other.finish();
}

async function badAddress() {
  page.expected = "404";
  const answer = await page.goto(withCommand("clique/4000000000"));
  assert.equal(answer.status(), 404);
  assert.ok((await mainText()).includes("invalid clique index"));
  await shot("error");
  await open(withCommand("clikue/1"));
  page.expected = null;
  assert.ok(await page.locator(".notice").isVisible());
  await shot("notice");
}

// A wide table moves within its frame: the window keeps its width, headings and names stay in sight.
async function sideways() {
  await resize(page, 700, 500);
  await open(withCommand("top_procs/1-100/callseqs/self/oa&" +
    "p-qtp-S-A-W/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev"));
  const places = () => page.evaluate(() => {
    const frame = document.querySelector(".wide").getBoundingClientRect();
    const [head, name] = ["thead .proc", "tbody th[scope=row]"].map((what) =>
      document.querySelector(`.wide ${what}`).getBoundingClientRect());
    return { window: document.documentElement.scrollWidth, head: Math.round(head.top - frame.top),
      name: Math.round(name.left - frame.left), content: document.querySelector(".wide").scrollWidth };
  });
  const before = await places();
  assert.equal(before.window, 700);
  assert.ok(before.content > 1100, "the table is wider than the window");
  await page.evaluate(() => document.querySelector(".wide").scrollTo(400, 300));
  const after = await places();
  assert.ok(after.name >= 0 && after.name <= before.name, "names stay");
  assert.ok(after.head >= 0 && after.head <= before.head, "headings stay");
  assert.equal(after.window, 700);
  await resize(page, 1400, 900);
}

// A reader looks at a page for longer than the server waits on a connection, and goes on then. Its tab has
// connections of its own; the others are walked through in the meantime.
async function lookForAWhile(browser) {
  const other = await newPage(browser);
  await openIn(other, url);
  const end = Date.now() + 45000;
  return async () => {
    await untilTrue("the connection is old", () => Date.now() > end);
    const heading = await other.locator("h1").innerText();
    await follow(other, other.locator("main a.link").nth(1));
    assert.notEqual(await other.locator("h1").innerText(), heading);
    await other.finish();
    steps++;
  };
}

// The page's own link quits the server; it must be the last thing.
async function quit() {
  await open(url);
  await Promise.all([page.waitForURL(/quit/), page.locator("#quit, a.control:has-text('Quit')").first().click()]);
  assert.ok((await mainText()).includes("Shutting down"));
}

await withBrowser(executablePath, async (browser) => {
  const goOnAfterAWhile = await lookForAWhile(browser);
  page = await newPage(browser);
  const failed = [];
  page.on("requestfailed", (request) => {
    const { errorText } = request.failure();
    // The browser lets go of what a page asks for when another is gone to, and of its events.
    if (errorText !== "net::ERR_ABORTED") failed.push(`${request.url()}: ${errorText}`);
  });
  const links = await followMenu();
  await open(new URL("./", url).href);
  await shot("front");
  await sortByHeadings();
  let toggled = 0;
  for (const [command, name] of [["root/90", "clique"], ["proc/8", "proc"],
    ["proc_callers/8/cs/1/100/nc", "callers"], ["program_modules", "modules"],
    ["top_procs/1-100/callseqs/both/oa", "top"], ["dump_proc_dynamic/5", "dump"]].slice(0, 5))
    toggled += await toggleControls(command, name);
  await keyboard();
  await lightAndDark("root/90", "clique");
  await lightAndDark("menu", "menu");
  await narrowWindow();
  await sideways();
  await badAddress();
  await withoutScripts(browser);
  await goOnAfterAWhile();
  await quit();
  assert.deepEqual(failed, []);
  await page.finish();
  console.log(`${links.length} links, ${toggled} controls, ${steps} pages, no complaint`);
});

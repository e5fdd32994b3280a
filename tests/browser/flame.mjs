// SPDX-License-Identifier: Apache-2.0
// Works the flame graph as a reader would: node flame.mjs SERVER BROWSER SHOTS-FOLDER FILE...
import assert from "node:assert/strict";
import { addressOf, follow, json, newPage, open, shot, until, withBrowser } from "./browser.mjs";

const [server, executablePath, shots, ...files] = process.argv.slice(2);
const parse = files.find((file) => file.endsWith("parse.data"));
const ALL = "flame/calls/down/_/all";
const ROW = 19;

// The middle of a box on the canvas, from what the server tells of it.
async function boxes(command) {
  const { flame } = await json(server, parse, command);
  return flame.boxes.map((box) => ({ row: box[0], x: box[1], width: box[2], name: flame.names[box[3]],
    flags: box[6], total: box[7], calls: box[9], query: flame.queries[box[10]] }));
}

async function clickBox(page, box, options = {}) {
  const canvas = page.locator("figure.flame canvas");
  const { width } = await canvas.boundingBox();
  await canvas.click({ position: { x: (box.x + box.width / 2) / 1e6 * width, y: box.row * ROW + 8 }, ...options });
}

async function drawn(page) {
  await page.locator("figure.flame canvas").waitFor();
  await until(page, () => Number(document.querySelector("figure.flame").dataset.drawn) > 0);
}

// A click makes the box the focus, in address, heading and picture; Back undoes it.
async function zoom(page) {
  await open(page, addressOf(server, parse, ALL));
  await drawn(page);
  const all = await boxes(ALL);
  const parsing = all.find((box) => box.flags & 1);
  assert.ok(parsing, "there is a recursion");
  const heading = await page.locator("h1").innerText();
  await clickBox(page, parsing);
  await until(page, (old) => document.querySelector("h1").innerText !== old, heading);
  assert.ok(decodeURIComponent(page.url()).includes(parsing.query), page.url());
  const plain = (text) => text.replaceAll("\u00a0", " ");
  assert.ok(plain(await page.locator("h1").innerText()).includes(plain(parsing.name)));
  assert.equal(await page.locator("#way a").first().innerText(), "the whole program");
  await shot(page, shots, "flame-zoomed");
  assert.equal(await page.evaluate(() => performance.getEntriesByName("flame zoom").length), 1);
  await page.goBack();
  await until(page, (old) => document.querySelector("h1").innerText === old, heading);
  assert.equal(await page.locator("#way").count(), 0);
}

// What the tip says is what the server counted, to the last digit.
async function tip(page) {
  await open(page, addressOf(server, parse, ALL));
  await drawn(page);
  const all = await boxes(ALL);
  const box = all.find((each) => each.name === "sum" && each.flags & 2);
  assert.ok(box, "the recursion shows its functions");
  await page.locator("figure.flame canvas").hover({ position: await middle(page, box) });
  await page.locator(".tip").waitFor();
  const said = await page.locator(".tip").innerText();
  assert.match(said, /sum/);
  assert.ok(said.includes(box.total.toLocaleString("en-US")), said);
  assert.ok(said.includes(box.calls.toLocaleString("en-US")), said);
  assert.match(said, /main › /);
}

// Of sampled time it tells how far it may be off, as the server does, and of how many samples it is made.
async function sampled(page) {
  let looked = 0;
  for (const file of files) {
    const command = "flame/time/down/_/all";
    const { flame } = await json(server, file, command);
    const box = flame?.sample ? flame.boxes.find((each) => each[12] > 0 && each[2] > 50000) : null;
    if (!box) continue;
    await open(page, addressOf(server, file, command));
    await drawn(page);
    await page.locator("figure.flame canvas").hover({ position: await middle(page, { row: box[0], x: box[1], width: box[2] }) });
    await page.locator(".tip").waitFor();
    const said = (await page.locator(".tip").innerText()).replaceAll("\u00a0", " ");
    const samples = Math.round(box[7] / flame.sample), off = Math.round(box[12] * flame.unit_seconds * 1e3);
    assert.ok(said.includes(`(${samples.toLocaleString("en-US")} sample`), said);
    assert.ok(said.includes(`±${off.toLocaleString("en-US")} ms`) || off >= 1e4, said);
    assert.doesNotMatch(said, /exactly/);
    looked++;
  }
  assert.ok(looked > 0, "one of the profiles is sampled");
}

// The picture's script asks for the same graph, whatever preferences the address has.
async function preferred(page) {
  const preferences = "p-qtp-s-a-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev";
  const at = (command) => `${server}deep?${command}&${preferences}&${encodeURIComponent(parse)}`;
  await open(page, at("menu"));
  await drawn(page);
  await open(page, at(ALL));
  await drawn(page);
  const heading = await page.locator("h1").innerText();
  const box = (await boxes(ALL)).find((each) => each.flags & 1);
  await clickBox(page, box);
  await until(page, (old) => document.querySelector("h1").innerText !== old, heading);
  await drawn(page);
  const address = decodeURIComponent(page.url());
  assert.ok(address.includes(`${box.query}&${preferences}&`), address);
}

async function middle(page, box) {
  const { width } = await page.locator("figure.flame canvas").boundingBox();
  return { x: (box.x + box.width / 2) / 1e6 * width, y: box.row * ROW + 8 };
}

// Keys walk from box to box, the line below tells where one is.
async function keys(page) {
  await open(page, addressOf(server, parse, ALL));
  await drawn(page);
  const said = page.locator("figure.flame .said");
  await page.locator("figure.flame canvas").focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await said.innerText(), /^main/);
  await page.keyboard.press("ArrowDown");
  assert.match(await said.innerText(), /\u27f2/);
  await page.keyboard.press("ArrowUp");
  assert.match(await said.innerText(), /^main/);
  await page.keyboard.press("ArrowDown");
  await Promise.all([until(page, () => /clique/.test(location.href)), page.keyboard.press("Enter")]);
  await page.locator("#way").waitFor();
  await page.keyboard.press("Escape");
  await until(page, () => /all/.test(location.search));
}

// Found boxes are counted once where they lie within each other; the address keeps the text.
async function find(page) {
  await open(page, addressOf(server, parse, ALL));
  await drawn(page);
  await page.fill("#flame-find", "main");
  await until(page, () => document.querySelector("figure.flame .found").textContent);
  assert.equal(await page.locator("figure.flame .found").innerText(), "1 box, 100.0 %");
  assert.match(page.url(), /#find=main$/);
  await page.reload();
  await drawn(page);
  assert.equal(await page.locator("#flame-find").inputValue(), "main");
  await page.fill("#flame-find", "no such function");
  await until(page, () => /none/.test(document.querySelector("figure.flame .found").textContent));
}

// A function of a recursion has no context of its own: its part of the width is the address.
async function part(page) {
  await open(page, addressOf(server, parse, ALL));
  await drawn(page);
  const all = await boxes(ALL);
  const members = all.filter((box) => box.flags & 2);
  await clickBox(page, members.at(-1));
  await until(page, () => /x=\d+-\d+/.test(location.hash));
  const before = page.url();
  await page.reload();
  await drawn(page);
  assert.equal(page.url(), before);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await until(page, () => !/x=/.test(location.href));
}

// Measure, direction, colour and recursions are links above the picture; a way out is always there.
async function choices(page) {
  await open(page, addressOf(server, parse, ALL));
  await drawn(page);
  for (const id of ["flame-open", "flame-shut", "flame-own"]) {
    await open(page, addressOf(server, parse, ALL));
    await follow(page, page.locator(`#${id}`));
    await drawn(page);
    assert.match(page.url(), new RegExp(`/${id.slice(6)}/`));
  }
  await open(page, addressOf(server, parse, "flame/calls/down/shut/all"));
  assert.ok((await boxes("flame/calls/down/shut/all")).every((box) => !(box.flags & 2)));
}

// The picture of the first page leads to the graph; without scripts each box is a link.
async function elsewhere(browser, page) {
  await open(page, addressOf(server, parse, "menu"));
  await drawn(page);
  const canvas = page.locator("figure.flame canvas");
  await Promise.all([page.waitForURL(/flame/), canvas.click({ position: { x: 30, y: 8 } })]);
  const plain = await newPage(browser, { javaScriptEnabled: false });
  await open(plain, addressOf(server, parse, ALL));
  const links = plain.locator("figure.flame svg a");
  assert.ok(await links.count() >= 3);
  await follow(plain, links.nth(1));
  assert.match(await plain.locator("h1").innerText(), /\u27f2/);
  await plain.finish();
}

await withBrowser(executablePath, async (browser) => {
  for (const work of [zoom, tip, sampled, preferred, keys, find, part, choices]) {
    const page = await newPage(browser);
    await work(page);
    await page.finish();
  }
  const page = await newPage(browser);
  await elsewhere(browser, page);
  await page.finish();
  console.log("zoom, tip, sampled, preferred, keys, find, part, choices, elsewhere");
});

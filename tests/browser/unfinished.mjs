// SPDX-License-Identifier: Apache-2.0
// A profile is opened that is read as far as the test lets it: its pages come at once, say that they are not
// whole, and are shown again by themselves. node unfinished.mjs FATHOM PROFILE BROWSER SHOTS-FOLDER HOLD-FOLDER
// where FATHOM is the one that heeds FATHOM_HOLD (src/engine/hold.h).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { newPage, newTab, shot, until, withBrowser } from "./browser.mjs";

const [fathom, profile, executablePath, shots, hold] = process.argv.slice(2);

const letGo = (part) => fs.unlinkSync(path.join(hold, part));

// Does work with the address of a server that stops before these parts of reading.
async function whileHeld(parts, work) {
  for (const part of parts) fs.writeFileSync(path.join(hold, part), "");
  const server = spawn(fathom, ["view", "--no-open", profile],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, FATHOM_HOLD: hold } });
  try {
    const [line] = await once(readline.createInterface({ input: server.stdout }), "line");
    await work(/http:\S+/.exec(line)[0]);
  } finally {
    server.kill("SIGTERM");
    const [status] = server.exitCode === null ? await once(server, "exit") : [server.exitCode];
    assert.equal(status, 0);
  }
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

async function goToUnfinished(page, url, command) {
  const answer = await page.goto(address(url, command), { waitUntil: "domcontentloaded" });
  assert.equal(answer.status(), 200);
}

const says = (page, what) => until(page, (text) => document.querySelector(".incomplete span")?.textContent.includes(text), what);

async function redrawsByItself(browser) {
  const page = await newPage(browser);
  await page.addInitScript(noteTexts);
  await whileHeld(["cliques", "costs"], async (url) => {
    await goToUnfinished(page, url, "top_procs/1-20/callseqs/self/oa");
    await says(page, "cliques are being found");
    await shot(page, shots, "unfinished");
    // Another tab comes and goes in the middle of it.
    const other = await newTab(page.context());
    await goToUnfinished(other, url, "menu");
    await says(other, "cliques are being found");
    await other.finish();
    letGo("cliques");
    await says(page, "total costs");
    letGo("costs");
    await until(page, () => document.readyState === "complete" && !document.querySelector(".incomplete") &&
      document.querySelectorAll("tbody tr").length >= 20);
    const texts = await page.evaluate(() => JSON.parse(sessionStorage.getItem("texts")));
    const documents = await page.evaluate(() => Number(sessionStorage.getItem("documents")));
    assert.ok(texts.length >= 2, `the line did not go on: ${texts}`);
    assert.ok(texts.every((text) => text.startsWith("Not all is known yet")), String(texts));
    assert.ok(documents >= 2, "the page was not asked for again");
    await shot(page, shots, "finished");
    // Once it is whole it stays.
    const connections = await page.evaluate(() =>
      performance.getEntriesByType("resource").filter((entry) => entry.name.includes("events")));
    assert.equal(connections.length, 0);
    console.log(`${texts.length} texts, ${documents} documents`);
  });
  await page.finish();
}

async function withoutScripts(browser) {
  const page = await newPage(browser, { javaScriptEnabled: false });
  await whileHeld(["cliques"], async (url) => {
    await goToUnfinished(page, url, "menu");
    assert.equal(await page.locator(".incomplete").count(), 1);
    letGo("cliques");
    await page.locator("th", { hasText: "Invariant" }).first().waitFor();
    assert.equal(await page.locator(".incomplete").count(), 0);
    assert.ok((await page.locator("main").innerText()).includes("Invariant"));
  });
  await page.finish();
}

await withBrowser(executablePath, async (browser) => {
  await redrawsByItself(browser);
  await withoutScripts(browser);
});

// SPDX-License-Identifier: Apache-2.0
// Keeps the page of a running program up to date. The server sends the page, then the differences between versions.
// Changed rows are updated in place; everything else stays.
const LAST_MS = 30000;
let served = null; // tables and parts as loaded, before they were sorted or filtered
let partsOf = null; // parts of a document: its headings, texts and figures

function startFigure(figure) {
  if (figure.matches("figure.flame[data-query]"))
    import("./flame.js").then(({ startFlame }) => startFlame(figure));
}

// Key of a row that stays the same: its first link, else its position.
function keyOf(row, at) {
  return row.querySelector("a[href]")?.getAttribute("href") ?? `row ${at}`;
}

// Updates a row; an element in it that has the focus keeps it.
function fillRow(row, newer) {
  const links = "a, button, input, summary";
  const at = row.contains(document.activeElement)
    ? [...row.querySelectorAll(links)].indexOf(document.activeElement) : -1;
  row.className = newer.className;
  row.replaceChildren(...newer.childNodes);
  if (at >= 0) row.querySelectorAll(links)[at]?.focus({ preventScroll: true });
}

// Handles rows that were added, removed or moved; remaining rows keep their elements. False: the reader has sorted or
// filtered them, or a part of them is not in the document.
function moveRows(at, rows, texts) {
  const old = served.tables[at];
  const body = old.at(-1)?.parentElement;
  const isBody = (row) => !row.closest("thead");
  const shown = old.filter((row) => row.parentElement === body);
  if (!body || body.tagName !== "TBODY" || shown.length !== old.filter(isBody).length ||
    shown.length !== body.rows.length || shown.some((row, place) => row !== body.rows[place]) ||
    rows.filter((row) => !isBody(row)).length !== old.length - shown.length) return false;
  const known = new Map(shown.map((row) => [keyOf(row, old.indexOf(row)), old.indexOf(row)]));
  const heads = old.length - shown.length;
  const now = rows.map((row, place) => {
    const was = isBody(row) ? known.get(keyOf(row, place)) : place;
    if (was === undefined) return row;
    known.delete(keyOf(row, place));
    if (served.rowTexts[at][was] !== texts[place]) fillRow(old[was], row);
    return old[was];
  });
  now.slice(heads).forEach((row, place) => {
    if (body.rows[place] !== row) body.insertBefore(row, body.rows[place] ?? null);
  });
  while (body.rows.length > now.length - heads) body.rows[body.rows.length - 1].remove();
  served.tables[at] = now;
  served.rowTexts[at] = texts;
  return true;
}

function takeRows(at, rows) {
  const texts = rows.map((row) => row.outerHTML);
  const old = served.tables[at];
  const same = rows.length === old.length &&
    rows.every((row, place) => texts[place] === served.rowTexts[at][place] ||
      keyOf(row, place) === keyOf(old[place], place));
  if (!same && moveRows(at, rows, texts)) return true;
  if (rows.length !== old.length) return false;
  rows.forEach((row, place) => {
    if (texts[place] !== served.rowTexts[at][place]) fillRow(old[place], row);
  });
  served.rowTexts[at] = texts;
  return true;
}

// Updates what differs; false: it is a different page.
function takeNewer(text) {
  const main = new DOMParser().parseFromString(text, "text/html").getElementById("main");
  const tables = [...main.querySelectorAll("table")].map((table) => [...table.querySelectorAll("tr")]);
  const parts = partsOf(main);
  if (tables.length !== served.tables.length || parts.length !== served.parts.length) return false;
  if (!tables.every((rows, at) => takeRows(at, rows))) return false;
  parts.forEach((part, at) => {
    const now = part.outerHTML;
    if (now === served.partTexts[at]) return;
    served.partTexts[at] = now;
    if (part.matches("[data-live], .incomplete")) return;
    served.parts[at].replaceWith(part);
    served.parts[at] = part;
    startFigure(part);
  });
  return true;
}

// Applies the server's changes to a page's text: N characters unchanged, N (below zero) deleted, or new text.
function applyDelta(text, changes) {
  let at = 0;
  const out = [];
  for (const change of changes) {
    if (typeof change === "string") {
      out.push(change);
    } else {
      if (change > 0) out.push(text.slice(at, at + change));
      at += Math.abs(change);
    }
  }
  return out.join("");
}

// Goes to the profile of what comes from now on.
async function beginPhase(address) {
  const answer = await fetch(address, { method: "POST" });
  if (!answer.ok) throw new Error(String(answer.status));
  const { page } = await answer.json();
  location.assign(page); // the page is requested again until the phase is there
}

// Updates can be paused; a hidden page closes its connection. askAgain: reloads the page, unless the browser is leaving
// it.
export function watchGrowing(line, asServed, partsIn, askAgain) {
  served = asServed;
  partsOf = partsIn;
  const text = document.createElement("span");
  const button = document.createElement("button");
  let source = null;
  let newest = null; // text of the page; null: none received yet
  let shown = null;
  let held = false;
  let paused = false;
  text.textContent = line.textContent;
  button.type = "button";
  button.textContent = "Pause";
  const since = document.createElement("button");
  since.type = "button";
  since.textContent = "Since here";
  since.title = "Everything from now on, as a profile of its own";
  line.replaceChildren(text, " ", button, " ", since);
  since.addEventListener("click", () => {
    since.disabled = true;
    beginPhase(line.dataset.live.replace(/^live\?/, "moment?")).catch((error) => {
      since.disabled = false;
      text.textContent = `The phase could not begin: ${error.message}`;
    });
  });
  // While a mouse button is down nothing is moved: the click would miss.
  function show() {
    if (paused || held || newest === shown) return;
    shown = newest;
    if (!takeNewer(newest)) {
      askAgain();
      return;
    }
    line.dataset.shown = Number(line.dataset.shown ?? 0) + 1;
  }
  document.addEventListener("pointerdown", () => { held = true; });
  document.addEventListener("pointermove", (event) => { // the button may have been released outside of the window
    if (held && event.buttons === 0) held = false;
  });
  for (const name of ["pointerup", "pointercancel", "dragend"]) {
    document.addEventListener(name, () => setTimeout(() => {
      held = false;
      show();
    }));
  }
  function onPage(event) {
    newest = JSON.parse(event.data).text;
    show();
  }
  function onDelta(event) {
    newest = applyDelta(newest, JSON.parse(event.data));
    show();
  }
  function onGeneration(event) {
    const state = JSON.parse(event.data);
    text.textContent = state.text;
    if (state.finished) { // this page in the whole profile
      askAgain();
      return;
    }
    line.dataset.generation = state.generation;
    if (!state.running) {
      setTimeout(stop, LAST_MS); // its last version may still come
      button.remove();
      since.remove();
    }
  }
  function listen() {
    source = new EventSource(line.dataset.live);
    source.addEventListener("generation", onGeneration);
    source.addEventListener("page", onPage);
    source.addEventListener("delta", onDelta);
  }
  function stop() {
    source?.close();
    source = null;
  }
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    if (paused) stop();
    else listen();
  });
  if (!document.hidden) listen();
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) stop();
    else if (!source && !paused) listen();
  });
  window.addEventListener("pagehide", stop);
}

// SPDX-License-Identifier: Apache-2.0
// The page of a program that runs, kept up to date: the server sends the page and then what differs from
// one version to the next; rows that changed are put in, all else stays as it is.
const LAST_MS = 30000;
let served = null; // tables and parts as they came, before anything of them was sorted or taken out
let partsOf = null; // of a document: its headings, texts and figures

function startFigure(figure) {
  if (figure.matches("figure.flame[data-query]"))
    import("./flame.js").then(({ startFlame }) => startFlame(figure));
}

// A row by what it is of, which lasts: its first link, else where it stands.
function keyOf(row, at) {
  return row.querySelector("a[href]")?.getAttribute("href") ?? `row ${at}`;
}

// What a row shows; who has the focus in it, keeps it.
function fillRow(row, newer) {
  const links = "a, button, input, summary";
  const at = row.contains(document.activeElement)
    ? [...row.querySelectorAll(links)].indexOf(document.activeElement) : -1;
  row.className = newer.className;
  row.replaceChildren(...newer.childNodes);
  if (at >= 0) row.querySelectorAll(links)[at]?.focus({ preventScroll: true });
}

// Rows that came, went or changed places: each that stays is the same element. False: somebody has
// sorted or filtered them, or taken part of them out of the document.
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

// Puts what differs in the place of what was there; false: it is another page altogether.
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

// What the server says that a page's text differs by: so many characters are the same, so many (below
// zero) are gone, a text is new.
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

// On to the profile of what comes from now on.
async function beginPhase(address) {
  const answer = await fetch(address, { method: "POST" });
  if (!answer.ok) throw new Error(String(answer.status));
  const { page } = await answer.json();
  location.assign(page); // which is asked for again until the phase is there
}

// It can be paused; a hidden page lets its connection go. askAgain: for the page, unless it is being left.
export function watchGrowing(line, asServed, partsIn, askAgain) {
  served = asServed;
  partsOf = partsIn;
  const text = document.createElement("span");
  const button = document.createElement("button");
  let source = null;
  let newest = null; // the page's text; null: none came yet
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
  // While a button of the mouse is down nothing is moved from below it: the click would be lost.
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
  document.addEventListener("pointermove", (event) => { // it may have been let go outside of the window
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
    if (state.finished) { // this page of the whole profile
      askAgain();
      return;
    }
    line.dataset.generation = state.generation;
    if (!state.running) {
      setTimeout(stop, LAST_MS); // its last version is still to come
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

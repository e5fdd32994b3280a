// SPDX-License-Identifier: Apache-2.0
// Addresses of a profile's pages; amounts in the format of the pages.

const NBSP = "\u00a0";

// The parts of "?COMMAND[&PREFERENCES]&FILE", decoded.
export function readAddress(search = location.search) {
  const parts = search.slice(1).split("&").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part; // the server reports the error
    }
  });
  return {
    command: parts[0],
    preferences: parts.length > 2 ? parts.slice(1, -1).join("&") : "",
    file: parts.length > 1 ? parts.at(-1) : "",
  };
}

// The command of a query as the server writes it, percent-encoded, with the preferences of the page's own address.
export function commandOf(query) {
  const command = query.split("&", 1)[0];
  try {
    return decodeURIComponent(command);
  } catch {
    return command;
  }
}

function encode(part) {
  return encodeURIComponent(part).replaceAll("%2F", "/");
}

// The address of another command of the same recording, with the same preferences.
export function address(command, page = "deep", from = readAddress()) {
  const preferences = from.preferences ? `&${encode(from.preferences)}` : "";
  return `${page}?${encode(command)}${preferences}&${encode(from.file)}`;
}

// "flame/MEASURE/DIR/FLAGS/FOCUS"
export function readFlame(command) {
  const [, measure, direction, flags, ...focus] = command.split("/");
  return { measure, direction, flags: flags === "_" ? [] : flags.split("-"), focus: focus.join("/") };
}

export function writeFlame({ measure, direction, flags, focus }) {
  return `flame/${measure}/${direction}/${flags.length ? flags.join("-") : "_"}/${focus}`;
}

// The part of the address after "#", as names and values.
export function readState() {
  return new URLSearchParams(location.hash.slice(1));
}

// Does not scroll, and adds no entry to the history.
export function writeState(changes) {
  const state = readState();
  for (const [name, value] of Object.entries(changes)) {
    if (value) state.set(name, value);
    else state.delete(name);
  }
  const text = state.toString();
  history.replaceState(history.state, "", text ? `#${text}` : location.pathname + location.search);
}

export function formatCount(value) {
  return value.toLocaleString("en-US");
}

export function formatShare(share) {
  if (share === 0) return "0";
  return share < 0.001 ? "<0.1" : (share * 100).toFixed(1);
}

function threeDigits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function formatSeconds(seconds) {
  for (const [unit, least] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]])
    if (seconds >= least) return `${threeDigits(seconds / least)}${NBSP}${unit}`;
  return seconds === 0 ? "0" : `${threeDigits(seconds / 1e-9)}${NBSP}ns`;
}

const UNITS = { calls: "calls", callseqs: "call sequence numbers", allocs: "allocations", words: "words", bytes: "bytes",
  live: "bytes live at the end", peak: "bytes live at the peak" };

// Of one: "call", "page fault", "cache miss".
function nameOfOne(name) {
  return name.endsWith("sses") ? name.slice(0, -2) : name.replace(/s(?= live|$)/, "");
}

// An amount of a measure, exactly: "117 ms", "3,130,332 calls", "1 call", "1,024 bytes".
export function formatAmount(amount, measure, unitSeconds) {
  const name = UNITS[measure] ?? measure;
  if (!unitSeconds) return `${formatCount(amount)}${NBSP}${amount === 1 ? nameOfOne(name) : name}`;
  const milliseconds = amount * unitSeconds * 1e3;
  return milliseconds >= 10000 ? `${(milliseconds / 1e3).toFixed(2)}${NBSP}s`
    : unitSeconds < 1e-3 || (milliseconds > 0 && milliseconds < 1) ? `${formatCount(Math.round(milliseconds * 1e3))}${NBSP}µs`
      : `${formatCount(Math.round(milliseconds))}${NBSP}ms`;
}

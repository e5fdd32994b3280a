#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs web/fathom.js in headless Chromium on a small page: test_script.py FATHOM_JS.

The page's own script works the page as a reader would and leaves what it saw in the document,
which is then compared. Exit status 77 (skip) without Chromium. Speaks TAP.
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap, skip_all

ROWS = [("b.c", "1,234", "10.0ms"), ("a.c", "-5", "2.0s"), ("c<d>.c", "99", "3.0us")]
ROWS += [(f"z{n}.c", str(n), "0") for n in range(10)]

STEPS = """
const seen = {};
const table = document.querySelector("table");
const names = () => [...table.tBodies[0].rows].filter((row) => !row.hidden)
  .map((row) => row.cells[0].textContent);
const press = (key) => document.body.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true}));
const buttons = [...table.tHead.querySelectorAll("button")];
seen.buttons = buttons.map((button) => button.textContent);
buttons[0].click();
seen.down = names().slice(0, 4);
seen.sorted = buttons[0].closest("th").getAttribute("aria-sort");
buttons[0].click();
seen.up = names().slice(0, 2);
buttons[1].click();
seen.times = names().slice(0, 3);
seen.otherMark = table.tHead.querySelectorAll("[aria-sort]").length;
const input = document.querySelector(".tools input");
input.value = "C<D> 9";
input.dispatchEvent(new Event("input"));
seen.found = names();
seen.status = document.querySelector(".tools .found").textContent;
seen.csv = tableCsv(table);
input.value = "";
input.dispatchEvent(new Event("input"));
seen.all = names().length;
press("j"); press("j"); press("k"); press("j");
seen.row = document.activeElement.textContent;
press("/");
seen.focus = document.activeElement === input;
document.activeElement.blur();
press("?");
seen.keys = document.querySelectorAll("dialog.keys[open] dt").length === KEYS.length;
press("?");
seen.closed = document.querySelectorAll("dialog.keys[open]").length;
let menu = 0;
document.getElementById("nav-menu").addEventListener("click", (e) => { menu++; e.preventDefault(); });
press("m");
seen.menu = menu;
seen.untouched = document.querySelectorAll("#second button").length;
document.getElementById("result").textContent = JSON.stringify(seen);
"""

WANT = {
    "buttons": ["Count", "Time"],
    "down": ["b.c", "c<d>.c", "z9.c", "z8.c"],
    "sorted": "descending",
    "up": ["a.c", "z0.c"],
    "times": ["a.c", "b.c", "c<d>.c"],
    "otherMark": 1,
    "found": ["c<d>.c"],
    "status": "1 rows",
    "csv": "Name,Count,Time\r\nc<d>.c,99,3.0us\r\n",
    "all": 13,
    "row": "b.c",
    "focus": True,
    "keys": True,
    "closed": 0,
    "menu": 1,
    "untouched": 0,
}


def page(script):
    rows = "".join(
        f'<tr><th scope="row"><a href="#">{html.escape(name)}</a></th><td>{count}</td>'
        f"<td>{time}</td></tr>" for name, count, time in ROWS)
    return f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>t</title>
<script src="{script.as_uri()}" defer></script></head><body>
<a id="nav-menu" href="#menu">Menu</a>
<table><thead><tr><th rowspan="2"><a href="#">Name</a></th><th colspan="2">G</th></tr>
<tr><th>Count</th><th>Time</th></tr></thead><tbody>{rows}</tbody></table>
<table id="second"><thead><tr><th>N</th></tr></thead><tbody><tr class="section"><th>s</th></tr>
<tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>
<pre id="result"></pre><script>addEventListener("load", () => {{ {STEPS} }});</script>
</body></html>"""


def main(script):
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        skip_all("chromium is not installed")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "page.html"
        file.write_text(page(pathlib.Path(script).resolve()))
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             f"--user-data-dir={folder}/profile", "--dump-dom", file.as_uri()],
            capture_output=True, text=True, timeout=PATIENCE)
    found = re.search(r'<pre id="result">(.+?)</pre>', done.stdout, re.S)
    tap = Tap()
    if not found:
        tap.check(False, "the page's script ran to its end", done.stderr[-2000:])
        return tap.done()
    seen = json.loads(html.unescape(found.group(1)))
    for name, want in WANT.items():
        tap.check(seen.get(name) == want, name, f"saw {seen.get(name)!r}, expected {want!r}")
    return tap.done()


sys.exit(main(*sys.argv[1:]))

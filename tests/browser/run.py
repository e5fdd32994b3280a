#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a profile and runs pages.mjs against it in a headless Chromium; with "unfinished" as the
last argument makes a large one and runs unfinished.mjs, which serves it itself.

Installs playwright-core, as locked, into the build folder. Skips (77) when node, npm, the browser
or the package cannot be had. Screenshots: the folder screenshots below the build folder.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def install(source, build):
    """npm ci into the build folder, unless this lock file is installed there already."""
    lock = (source / "package-lock.json").read_text()
    mark = build / "installed-lock.json"
    if mark.exists() and mark.read_text() == lock and (build / "node_modules").exists():
        return
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, build / name)
    told = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=build,
                          capture_output=True, text=True)
    if told.returncode != 0:
        skip("npm cannot install playwright-core: " + told.stderr.strip()[-300:])
    mark.write_text(lock)


def read_while_open(fathom, generate, build, browser):
    shots = build / "screenshots"
    shots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        profile = os.path.join(folder, "large.data")
        subprocess.run([generate, "--nodes=5000000", "--seed=1", profile], check=True)
        return subprocess.run(["node", "unfinished.mjs", os.path.abspath(fathom), profile, browser,
                               str(shots)], cwd=build).returncode


def prepare(source, build):
    """Installs what tests in the browser need; returns the browser, or skips."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    for program, found in (("node", shutil.which("node")), ("npm", shutil.which("npm")),
                           ("chromium", browser)):
        if not found:
            skip(f"there is no {program}")
    build.mkdir(parents=True, exist_ok=True)
    install(source, build)
    return browser


def main(fathom, generate, build, what="pages"):
    source, build = pathlib.Path(__file__).resolve().parent, pathlib.Path(build)
    browser = prepare(source, build)
    for script in ("pages.mjs", "unfinished.mjs"):
        shutil.copy(source / script, build / script)
    if what == "unfinished":
        return read_while_open(fathom, generate, build, browser)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        real = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", ""), "mercury", "Deep.data")
        profile = str(real)
        if not real.exists():
            profile = os.path.join(folder, "Deep.data")
            subprocess.run([generate, "--nodes=3000", "--seed=1", profile], check=True)
        server = subprocess.Popen([fathom, "view", "--no-open", profile], text=True,
                                  stdout=subprocess.PIPE)
        try:
            url = re.search(r"http://\S+", server.stdout.readline())[0]
            shots = build / "screenshots"
            shots.mkdir(exist_ok=True)
            told = subprocess.run(["node", "pages.mjs", url, browser, os.path.join(folder, "user"),
                                   str(shots)], cwd=build)
            if told.returncode != 0:
                return 1
            return 0 if server.wait(20) == 0 else 1  # the last thing it does is Quit
        finally:
            if server.poll() is None:
                server.terminate()
            server.wait(20)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages kept without a server, opened as files, and a long table: run_kept.py FATHOM GENERATE BUILD EXAMPLES.
Skips (77) as run.py does."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run
import run_programs


def main(fathom, generate, build, examples):
    source, build = pathlib.Path(__file__).resolve().parent, pathlib.Path(build)
    browser = run.prepare(source, build)
    for each in ("browser.mjs", "kept.mjs", "long.mjs"):
        shutil.copy(source / each, build / each)
    shots = build / "screenshots"
    shots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        _, report = run_programs.record(os.path.abspath(fathom), examples, folder)
        # As many contexts and functions as an interpreter of scripts has.
        large = os.path.join(folder, "large.data")
        subprocess.run([generate, "--nodes=24000", "--procs=1079", "--c", "--seed=4", large], check=True)
        made = [os.path.join(folder, name) for name in ("report.html", "large.html", "site")]
        subprocess.run([fathom, "report", "--html", made[0], report], check=True)
        subprocess.run([fathom, "report", "--html", made[1], large], check=True)
        subprocess.run([fathom, "export", f"--static={made[2]}", "--pages=200", report], check=True)
        told = subprocess.run(["node", "kept.mjs", browser, str(shots), *made], cwd=build).returncode
        subprocess.run([generate, "--nodes=200000", "--procs=6000", "--c", "--seed=2", large], check=True)
        return told or serve_long(os.path.abspath(fathom), browser, build, shots, large)


def serve_long(fathom, browser, build, shots, profile):
    """All functions of a profile as one table, which needs a server."""
    server = subprocess.Popen([fathom, "view", "--no-open", profile], text=True, stdout=subprocess.PIPE)
    try:
        address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
        return subprocess.run(["node", "long.mjs", address, browser, str(shots), profile], cwd=build).returncode
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))

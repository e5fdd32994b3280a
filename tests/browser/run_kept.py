#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages kept without a server, opened as files: run_kept.py FATHOM GENERATE BUILD EXAMPLES.
Skips (77) as run.py does."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run
import run_programs


def main(fathom, generate, build, examples):
    source, build = pathlib.Path(__file__).resolve().parent, pathlib.Path(build)
    browser = run.prepare(source, build)
    for each in ("browser.mjs", "kept.mjs"):
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
        return subprocess.run(["node", "kept.mjs", browser, str(shots), *made], cwd=build).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at a program that runs, in headless Chromium: run_running.py FATHOM BUILD SOURCE. Skips (77) as
run.py does."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run


def main(fathom, build, program):
    source, build = pathlib.Path(__file__).resolve().parent, pathlib.Path(build)
    browser = run.prepare(source, build)
    shutil.copy(source / "running.mjs", build / "running.mjs")
    fathom = os.path.abspath(fathom)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        subprocess.run([fathom, "cc", "-O1", "-g", program, "-o", os.path.join(folder, "steps"),
                        "-lpthread"], check=True)
        return subprocess.run(["node", "running.mjs", fathom, browser, folder],
                              cwd=build).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))

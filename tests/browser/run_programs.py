#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the programs of examples/faults, makes a Mercury profile, serves them, and runs a script
against them in headless Chromium: run_programs.py FATHOM GENERATE BUILD EXAMPLES SCRIPT.

The script is called with the server's address, the browser, a folder for screenshots, and the
profiles as the server knows them. Skips (77) as run.py does.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run

PROGRAMS = ("parse", "report")


def record(fathom, examples, folder):
    """Profiles of the programs, compiled and run once."""
    profiles = []
    for name in PROGRAMS:
        program = os.path.join(folder, name)
        subprocess.run([fathom, "cc", "-O1", "-g", os.path.join(examples, f"{name}.c"), "-o", program],
                       check=True)
        subprocess.run([fathom, "record", "-o", program, "--", program], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        profiles.append(f"{program}.data")
    return profiles


def main(fathom, generate, build, examples, script):
    source, build = pathlib.Path(__file__).resolve().parent, pathlib.Path(build)
    browser = run.prepare(source, build)
    for each in ("browser.mjs", script):
        shutil.copy(source / each, build / each)
    shots = build / "screenshots"
    shots.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathom-browser-") as folder:
        profiles = record(os.path.abspath(fathom), examples, folder)
        mercury = os.path.join(folder, "Deep.data")
        subprocess.run([generate, "--nodes=3000", "--seed=1", mercury], check=True)
        server = subprocess.Popen([fathom, "view", "--no-open", *profiles, mercury], text=True,
                                  stdout=subprocess.PIPE)
        try:
            address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
            return subprocess.run(["node", script, address, browser, str(shots), *profiles, mercury],
                                  cwd=build).returncode
        finally:
            server.terminate()
            server.wait(20)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:6]))

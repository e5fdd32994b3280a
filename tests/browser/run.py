#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a profile and runs pages.mjs against it in a headless Chromium; with "unfinished" as the
last argument makes a large one and runs unfinished.mjs, which serves it itself: run.py FATHOM GENERATE BUILD
[unfinished]. Skips as browser_lib.py tells."""
import os
import pathlib
import subprocess
import sys

import browser_lib


def read_while_open(fathom, generate, place):
    profile, hold = place.path("large.data"), place.path("hold")
    os.mkdir(hold)
    subprocess.run([generate, "--nodes=200000", "--seed=1", profile], check=True)
    return place.run("unfinished.mjs", fathom, profile, place.browser, place.shots, hold)


def walk(fathom, generate, place):
    real = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", ""), "mercury", "Deep.data")
    profile = str(real)
    if not real.exists():
        profile = place.path("Deep.data")
        subprocess.run([generate, "--nodes=3000", "--seed=1", profile], check=True)
    with browser_lib.serving(fathom, [profile], [profile]) as address:
        return place.run("pages.mjs", address, place.browser, place.shots) # it ends the server


def main(fathom, generate, build, what="pages"):
    with browser_lib.place(build) as place:
        return (read_while_open if what == "unfinished" else walk)(os.path.abspath(fathom), generate, place)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))

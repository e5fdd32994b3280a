#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages kept without a server, opened as files, and a long table: run_kept.py FATHOM GENERATE BUILD EXAMPLES.
Skips as browser_lib.py tells."""
import os
import subprocess
import sys

import browser_lib
import run_programs


def main(fathom, generate, build, examples):
    fathom = os.path.abspath(fathom)
    with browser_lib.place(build) as place:
        _, report = run_programs.record(fathom, examples, place.folder)
        # As many contexts and functions as an interpreter of scripts has.
        large = place.path("large.data")
        subprocess.run([generate, "--nodes=24000", "--procs=1079", "--c", "--seed=4", large], check=True)
        made = [place.path(name) for name in ("report.html", "large.html", "site")]
        subprocess.run([fathom, "report", "--html", made[0], report], check=True)
        subprocess.run([fathom, "report", "--html", made[1], large], check=True)
        subprocess.run([fathom, "export", f"--static={made[2]}", "--pages=200", report], check=True)
        told = place.run("kept.mjs", place.browser, place.shots, *made)
        subprocess.run([generate, "--nodes=200000", "--procs=6000", "--c", "--seed=2", large], check=True)
        return told or serve_long(fathom, place, large)


def serve_long(fathom, place, profile):
    """All functions of a profile as one table, which needs a server."""
    with browser_lib.serving(fathom, [profile], [profile]) as address:
        return place.run("long.mjs", browser_lib.root_of(address), place.browser, place.shots, profile)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))

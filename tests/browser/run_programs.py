#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the programs of examples/faults, makes a Mercury profile, serves them, and runs a script
against them in headless Chromium: run_programs.py FATHOM GENERATE BUILD EXAMPLES SCRIPT [OPTION...].

The script is called with the server's address, the browser, a folder for screenshots, the options, and the
profiles as the server knows them. Skips as browser_lib.py tells.
"""
import os
import subprocess
import sys

import browser_lib

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


def main(fathom, generate, build, examples, script, *options):
    fathom = os.path.abspath(fathom)
    with browser_lib.place(build) as place:
        mercury = place.path("Deep.data")
        files = [*record(fathom, examples, place.folder), mercury]
        subprocess.run([generate, "--nodes=3000", "--seed=1", mercury], check=True)
        with browser_lib.serving(fathom, files, files) as address:
            return place.run(script, browser_lib.root_of(address), place.browser, place.shots, *options, *files)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

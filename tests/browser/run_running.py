#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at a program that runs, in headless Chromium: run_running.py FATHOM BUILD SOURCE. Skips as
browser_lib.py tells."""
import os
import subprocess
import sys

import browser_lib


def main(fathom, build, program):
    fathom = os.path.abspath(fathom)
    with browser_lib.place(build) as place:
        subprocess.run([fathom, "cc", "-O1", "-g", program, "-o", place.path("steps"), "-lpthread"], check=True)
        return place.run("running.mjs", fathom, place.browser, place.folder)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))

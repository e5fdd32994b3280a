#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a program whose first page has every section, serves the profile and runs heights.mjs against it in
headless Chromium: run_heights.py FATHOM BUILD SOURCE. Skips as browser_lib.py tells."""
import json
import os
import subprocess
import sys

import browser_lib

TRIES = 5


def record(fathom, program):
    """A profile with enough samples that time leads: a busy machine may have too few ticks."""
    for _ in range(TRIES):
        subprocess.run([fathom, "record", "-q", "-o", program, "--", program], check=True, stdout=subprocess.DEVNULL)
        page = json.loads(subprocess.run([fathom, "report", "--json", "menu", f"{program}.data"], check=True,
                                         stdout=subprocess.PIPE).stdout)
        if any(one["text"] == "Where the time goes" for one in page["text"]):
            break
    return f"{program}.data"


def main(fathom, build, source):
    fathom = os.path.abspath(fathom)
    with browser_lib.place(build) as place:
        program = place.path("sections")
        subprocess.run([fathom, "cc", "g++", "-std=c++17", "-O1", "-g", source, "-o", program], check=True)
        profile = record(fathom, program)
        with browser_lib.serving(fathom, [profile], [profile]) as address:
            return place.run("heights.mjs", browser_lib.root_of(address), place.browser, place.shots, profile)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves six logs that are made here and runs the scripts of traces/ against them in a headless Chromium: run_traces.py
FATHOM MAKE_TRACE BUILD, where FATHOM heeds FATHOM_HOLD (src/engine/hold.h). Skips as browser_lib.py tells."""
import os
import subprocess
import sys

import browser_lib

LONG_SPANS = 100000
TEN_SECONDS = 10 ** 10  # ns


def main(fathom, make_trace, build):
    fathom, make_trace = os.path.abspath(fathom), os.path.abspath(make_trace)
    with browser_lib.place(build) as place:
        os.mkdir(place.path("logs"))
        os.mkdir(place.path("hold"))
        os.environ["FATHOM_HOLD"] = place.path("hold")
        small, long, growing, haskell, bands = (
            place.path("logs", f"{name}.eventlog") for name in ("small", "long", "growing", "haskell", "bands"))
        subprocess.run([make_trace, "small", small], check=True)
        subprocess.run([make_trace, "long", long, str(LONG_SPANS)], check=True)
        subprocess.run([make_trace, "open", growing], check=True)
        subprocess.run([make_trace, "haskell", haskell], check=True)
        subprocess.run([make_trace, "bands", bands, "40"], check=True)
        apart = place.path("logs", "apart.eventlog")
        subprocess.run([make_trace, "open", apart], check=True)
        subprocess.run([make_trace, "append", apart, str(TEN_SECONDS), "3"], check=True)
        # A log that nobody has open for writing is not followed.
        with open(growing, "ab"), browser_lib.serving(fathom, [small, long, growing, haskell, bands, apart]) as address:
            root = browser_lib.root_of(address)
            return place.run("traces/looks.mjs", root, place.browser, place.shots, small, apart) or place.run(
                "traces/traces.mjs", root, place.browser, place.shots, make_trace, place.path("logs"), place.path("hold"))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))

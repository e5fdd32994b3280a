#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a reader of pages waits for in a browser: bench/browser/run.py [BUILD [NODES]].

Serves a generated profile of a C program with NODES contexts (10^6) on loopback and asks headless
Chromium: bytes of a page with its scripts, packed as they are sent; first paint; zoom of the flame
graph, from the click to the boxes painted; a list of all functions: first paint, and sorting it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "browser"))
import run as browser_tests  # noqa: E402


def main(build="build", nodes="1000000"):
    build = pathlib.Path(build).resolve()
    fathom = build / "src/cli/fathom"
    work = build / "tests" / "browser"
    browser = browser_tests.prepare(SOURCE / "tests" / "browser", work)
    shutil.copy(SOURCE / "tests/browser/browser.mjs", work)
    shutil.copy(SOURCE / "bench/browser/measure.mjs", work)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        profile = os.path.join(folder, "large.data")
        # generate-profile makes about half as many contexts as it is asked for nodes
        subprocess.run([build / "tests/tools/generate-profile", f"--nodes={2 * int(nodes)}", "--procs=10000", "--c",
                        "--seed=2", profile], check=True)
        server = subprocess.Popen([fathom, "view", "--no-open", profile], text=True, stdout=subprocess.PIPE)
        try:
            address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
            return subprocess.run(["node", "measure.mjs", address, browser, profile], cwd=work, check=False).returncode
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

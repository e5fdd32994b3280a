#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first picture of a long log in a browser while the pass over it runs: bench/browser/first_picture.py
[BUILD [EVENTS [ROUNDS]]]. Makes a log (11,000,000 events: 280 MB) and opens it ROUNDS times (5), each time in
a server and a browser of its own."""
import json
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


def look(fathom, work, browser, log):
    server = subprocess.Popen([fathom, "view", "--no-open", log], text=True, stdout=subprocess.PIPE)
    try:
        address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
        told = subprocess.run(["node", "first_picture.mjs", address, browser, log], cwd=work, check=True,
                              text=True, stdout=subprocess.PIPE)
        return json.loads(told.stdout)
    finally:
        server.terminate()
        server.wait()


def main(build="build", events="11000000", rounds="5"):
    build = pathlib.Path(build).resolve()
    work = build / "tests" / "browser"
    browser = browser_tests.prepare(SOURCE / "tests" / "browser", work)
    shutil.copy(SOURCE / "tests/browser/browser.mjs", work)
    shutil.copy(SOURCE / "bench/browser/first_picture.mjs", work)
    subprocess.run(["ninja", "-C", build, "bench/trace/make_log"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(prefix="fathom-bench-", dir="/var/tmp") as folder:
        log = os.path.join(folder, "log.eventlog")
        subprocess.run([build / "bench/trace/make_log", log, events, "c"], check=True, stdout=subprocess.DEVNULL)
        for _ in range(int(rounds)):
            found = look(build / "src/cli/fathom", work, browser, log)
            paint = f"{found['paint']:.0f} ms" if found["paint"] is not None else "not told"
            print(f"first paint {paint}, picture {found['picture']:.0f} ms, read {100 * found['read']:.0f} %", flush=True)
    print(f"load {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves three logs that are made here and runs traces.mjs against them in a headless Chromium:
run_traces.py FATHOM MAKE_TRACE BUILD_FOLDER. Skips (77) as run.py does."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run

LONG_SPANS = 700000


def main(fathom, make_trace, build):
    source = pathlib.Path(__file__).resolve().parent
    build = pathlib.Path(build).resolve() / "traces"
    make_trace = str(pathlib.Path(make_trace).resolve())  # it is run from another folder, too
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    for program, found in (("node", shutil.which("node")), ("npm", shutil.which("npm")),
                           ("chromium", browser)):
        if not found:
            run.skip(f"there is no {program}")
    build.mkdir(parents=True, exist_ok=True)
    run.install(source, build)
    shutil.copy(source / "traces.mjs", build / "traces.mjs")
    with tempfile.TemporaryDirectory(prefix="fathom-traces-") as folder:
        logs = pathlib.Path(folder, "logs")
        logs.mkdir()
        names = [str(logs / f"{name}.eventlog") for name in ("small", "long", "growing")]
        subprocess.run([make_trace, "small", names[0]], check=True)
        subprocess.run([make_trace, "long", names[1], str(LONG_SPANS)], check=True)
        subprocess.run([make_trace, "open", names[2]], check=True)
        # A log that nobody has open for writing is not followed.
        writer = open(names[2], "ab")  # until the end
        server = subprocess.Popen([fathom, "view", "--no-open", *os.environ.get("FATHOM_VIEW_OPTIONS", "").split(), *names], text=True,
                                  stdout=subprocess.PIPE)
        try:
            url = re.search(r"http://[^/]+/", server.stdout.readline())[0]
            shots = build / "screenshots"
            shots.mkdir(exist_ok=True)
            told = subprocess.run(["node", "traces.mjs", url, browser,
                                   os.path.join(folder, "user"), str(shots), make_trace,
                                   str(logs)], cwd=build)
            return 1 if told.returncode != 0 or server.poll() is not None else 0
        finally:
            if server.poll() is None:
                server.terminate()
            server.wait(20)
            writer.close()


sys.exit(main(*sys.argv[1:4]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of the stories in docs/traces.md, of real pages in headless Chromium:
tools/trace_pictures.py BUILD SAMPLES [FOLDER]. The C program is compiled and run for them; SAMPLES has the other
traces: eventlog/conc.eventlog and ctf/many-threads."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

import pictures

SOURCE = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 1200, 820
WAITS = "segment.state = waiting | group by segment.name | show count, sum, p99, max | order by max desc | limit 5"
MVARS = 'segment.name = "blocked on MVar" | group by lane.name | show count, sum, max | order by sum desc | limit 5'
READY = "lane.kind = thread & segment.state = ready | group by lane.name, lane.key | show count, sum, max | order by max desc | limit 5"
STORIES = [("trace-lock", "journal.eventlog", WAITS), ("trace-haskell", "eventlog/conc.eventlog", MVARS),
           ("trace-kernel", "ctf/many-threads", READY)]


def ask(address, **parameters):
    """An answer that is complete."""
    while True:
        with urllib.request.urlopen(f"{address}trace.json?{urllib.parse.urlencode(parameters)}") as page:
            answer = json.load(page)
        if answer["done"] and not answer["incomplete"]:
            return answer


def pages_of(address, trace, query):
    """What the query finds, and the critical path of the longest that it finds."""
    found = ask(address, file=trace, view="query", query=query)["tables"][0]["greatest"][0]
    margin = (found["end_ns"] - found["start_ns"]) // 2
    window = {"file": trace, "start": max(0, found["start_ns"] - margin), "end": found["end_ns"] + margin,
              "cursor": found["start_ns"], "selected": f"{found['lane']}:{found['start_ns']}:{found['level']}"}
    area = {"area_start": found["start_ns"], "area_end": found["end_ns"], "in": found["lane"]}
    ask(address, file=trace, view="path", **area)
    return {"query": {"file": trace, "view": "query", "query": query}, "path": {**window, **area, "view": "path", "busy": 1}}


def shoot(build, work, shots):
    """shots: pairs of file and address. Node looks for packages beside a script."""
    shutil.copy(SOURCE / "tools/shoot.mjs", work)
    if not (work / "node_modules").exists():
        (work / "node_modules").symlink_to(build / "tests/browser/node_modules")
    lines = "\n".join(f"{work / file.name} {address}" for file, address in shots)
    subprocess.run(["node", work / "shoot.mjs", shutil.which("chromium"), str(WIDTH), str(HEIGHT)], input=lines, text=True,
                   check=True)
    for file, _ in shots:
        pictures.write_png(file, *pictures.read_png((work / file.name).read_bytes()))
        print(file.name, file.stat().st_size)


def main(build, samples, folder=SOURCE / "docs" / "pictures"):
    build, samples, out = pathlib.Path(build).resolve(), pathlib.Path(samples).resolve(), pathlib.Path(folder).resolve()
    with tempfile.TemporaryDirectory(prefix="fathom-pictures-") as name:
        work = pathlib.Path(name)
        subprocess.run(["cc", "-O1", "-I", SOURCE / "include", SOURCE / "examples/live/journal.c",
                        build / "runtime/eventlog/libfathom-eventlog.a", "-pthread", "-o", work / "journal"], check=True)
        subprocess.run([work / "journal"], check=True, cwd=work)
        for picture, trace, query in STORIES:
            place = work / trace
            if (samples / trace).is_dir():
                shutil.copytree(samples / trace, place)
            elif trace != "journal.eventlog":
                place.parent.mkdir(exist_ok=True)
                shutil.copy(samples / trace, place)
            with subprocess.Popen([build / "src/cli/fathom", "view", "--no-open", place], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as server:
                address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
                shoot(build, work, [(out / f"{picture}-{kind}.png", f"{address}trace?{urllib.parse.urlencode(parameters)}")
                                    for kind, parameters in pages_of(address, str(place), query).items()])
                server.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/tutorial.md, of real pages in headless Chromium: tools/tutorial_pictures.py
[BUILD [FOLDER]]. The examples are compiled, recorded and compared for them."""
import pathlib
import re
import subprocess
import sys
import tempfile

import pictures

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {"report": "faults/report.c", "mended": "faults/mended/report.c", "parse": "faults/parse.c",
            "memory": "faults/memory.c", "market": "market.c"}
PAGES = {  # name: program, query, height
    "page-first": ("report", "menu", 800),
    "page-function": ("report", "proc/buf_append", 900),
    "page-tree": ("report", "tree/bytes/down/3/all", 480),
    "page-flame": ("market", "flame/auto/down/_/all", 620),
    "page-functions": ("market", "top_procs/1-100/time/self/oa", 620),
    "page-context": ("report", "clique/main/write_index", 620),
    "page-recursion": ("parse", "recursions/calls", 300),
    "page-memory": ("memory", "memory/allocated", 360),
    "page-help": ("report", "help/all", 560),
}
WIDTH = 1000


def record(fathom, folder):
    for name, source in PROGRAMS.items():
        program = folder / name
        subprocess.run([fathom, "cc", "-O1", "-g", "-pthread", SOURCE / "examples" / source, "-o", program, "-lm"], check=True)
        subprocess.run([fathom, "record", "-o", program, "--", program], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


def shoot(address, height, work, to):
    shot = work / "shot.png"
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={work}/browser", "--virtual-time-budget=5000", f"--window-size={WIDTH},{height}",
                    f"--screenshot={shot}", address], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pictures.write_png(to, *pictures.read_png(shot.read_bytes()))
    print(to.name, to.stat().st_size)


def main(build="build", folder=SOURCE / "docs" / "pictures"):
    fathom, out = pathlib.Path(build).resolve() / "src/cli/fathom", pathlib.Path(folder)
    with tempfile.TemporaryDirectory(prefix="fathom-pictures-") as name:
        work = pathlib.Path(name)
        record(fathom, work)
        told = subprocess.run([fathom, "diff", "--html", work / "report.data", work / "mended.data"], capture_output=True, check=False)
        (work / "diff.html").write_bytes(told.stdout)
        shoot(f"file://{work}/diff.html", 560, work, out / "page-diff.png")
        server = subprocess.Popen([fathom, "view", "--no-open", *(work / f"{each}.data" for each in PROGRAMS)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
            for page, (program, query, height) in PAGES.items():
                shoot(f"{address}deep?{query}&&{work}/{program}.data", height, work, out / f"{page}.png")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

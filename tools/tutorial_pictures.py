#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of README.md and docs/tutorial.md, of real pages in headless Chromium:
tools/tutorial_pictures.py [BUILD [FOLDER]]. The examples are compiled, recorded and compared for them."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pictures

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {"report": "faults/report.c", "mended": "faults/mended/report.c", "parse": "faults/parse.c",
            "memory": "faults/memory.c", "market": "market.c"}
PAGES = {  # name: program, query, height
    "page-first": ("report", "menu", 1300),
    # by bytes, which are exact and the same on each machine
    "page-function": ("report", "proc/buf_append&p-t-s-_-b/box/cols/5/20/nosum/cost-words-both-oa/nc/th/mqwd/hhh/nodev", 880),
    "page-tree": ("report", "tree/bytes/down/3/all", 480),
    "page-flame": ("market", "flame/auto/down/_/all", 620),
    "page-functions": ("market", "top_procs/1-100/callseqs/self/oa", 620),
    "page-context": ("report", "clique/main/write_index", 620),
    "page-recursion": ("parse", "recursions/calls", 300),
    "page-memory": ("memory", "memory/allocated", 360),
    "page-help": ("report", "help/all", 560),
}
BY_TIME = ("report", "market")
TRIES = 5
WIDTH = 1000


def has_time(fathom, profile):
    page = subprocess.run([fathom, "report", "menu", profile], check=True, capture_output=True, text=True).stdout
    return "Where the time goes" in page


def record(fathom, folder):
    """Profiles of the programs; where a busy machine left too few samples, once more."""
    for name, source in PROGRAMS.items():
        sources = folder / f"{name}.src"
        sources.mkdir()
        shutil.copy(SOURCE / "examples" / source, sources)
        subprocess.run([fathom, "cc", "-O1", "-g", "-pthread", pathlib.Path(source).name, "-o", folder / name, "-lm"],
                       check=True, cwd=sources)
        for _ in range(TRIES):
            subprocess.run([fathom, "record", "-o", name, "--", folder / name], check=True, cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if name not in BY_TIME or has_time(fathom, folder / f"{name}.data"):
                break


def shoot(address, height, work, to, width=WIDTH):
    shot = work / "shot.png"
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    f"--user-data-dir={work}/browser", "--virtual-time-budget=5000", f"--window-size={width},{height}",
                    f"--screenshot={shot}", address], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pictures.write_png(to, *pictures.read_png(shot.read_bytes()))
    print(to.name, to.stat().st_size)


def main(build="build", folder=SOURCE / "docs" / "pictures"):
    fathom, out = pathlib.Path(build).resolve() / "src/cli/fathom", pathlib.Path(folder)
    with tempfile.TemporaryDirectory(prefix="fathom-pictures-") as name:
        work = pathlib.Path(name)
        record(fathom, work)
        subprocess.run([SOURCE / "examples/record-demo.sh", fathom, work], check=True, stdout=subprocess.DEVNULL)
        told = subprocess.run([fathom, "diff", "--html", "report.data", "mended.data"], capture_output=True, check=False,
                              cwd=work)
        (work / "diff.html").write_bytes(told.stdout)
        shoot(f"file://{work}/diff.html", 780, work, out / "page-diff.png")
        server = subprocess.Popen([fathom, "view", "--no-open", *(work / f"{each}.data" for each in (*PROGRAMS, "demo"))],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
            for page, (program, query, height) in PAGES.items():
                parted = query if "&" in query else f"{query}&"
                shoot(f"{address}deep?{parted}&{work}/{program}.data", height, work, out / f"{page}.png")
            shoot(f"{address}deep?menu&{work}/demo.data", 860, work, out / "first-page.png", 1180)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

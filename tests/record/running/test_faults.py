#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What waits for a lock, and what memory is held, by one command in the terminal: of a program that runs, of
one that has ended, of one that forks, under `record --live`, and in `fathom top`."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
WAITED_MS, BLOCKS = 300, 2500
BYTES = BLOCKS * 4096


class Program:
    def __init__(self, folder, *options):
        self.folder = folder
        self.process = subprocess.Popen([lib.FATHOM, "record", "-q", *options, "-o", "out", "--", "./faults"],
                                        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def step(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()
        assert self.process.stdout.read(1) == b"k"

    def both(self):
        self.step(f"l {WAITED_MS}")
        self.step(f"m {BLOCKS}")

    def end(self):
        self.process.stdin.close()
        self.process.stdin = None
        self.process.communicate(timeout=PATIENCE)


def report(folder, *words):
    return lib.run([lib.FATHOM, "report", "--width=0", *words], folder)


def section(text, heading):
    """What stands below a heading of the first page."""
    found = re.search(rf"^(?:{heading})\n-+\n(.*?)(?=^[^\n]*\n-+\n\S|\Z)", text, re.S | re.M)
    return found[1].split("\n\n\n")[0] if found else ""


HELD = "Never freed|Still live[^\n]*"


def finds_both(tap, text, what):
    waits, memory = section(text, "Most waiting"), section(text, HELD)
    tap.check(re.search(r"^ *\d+ .* mutex .*worker › transfer$", waits, re.M) is not None,
              what + ": who waits stands on the first page", text[:3000])
    tap.check(re.search(r"^ *9\.8 MiB .*\bremember( › cons)?$", memory, re.M) is not None,
              what + ": who holds memory, too", text[:3000])
    tap.check(re.search(r"mutex 0\.3", text) is not None and "9.8 MiB of it" in text,
              what + ": both in the lines above", text[:1000])


def waits_page(tap, folder, of, what):
    done = report(folder, "waits", of)
    tap.check("account_lock" in done.stdout and "contend" in done.stdout,
              what + ": which lock, and who held it", done.stdout[:3000] + done.stderr)


def running(tap, folder):
    program = Program(folder, "-k")
    program.both()
    by_file = report(folder, "out.rec")
    pid = re.search(r"Process (\d+) still runs", by_file.stdout)
    tap.check(by_file.returncode == 0 and pid is not None, "a running program has a first page, which says so",
              by_file.stdout[:1000] + by_file.stderr)
    finds_both(tap, by_file.stdout, "running")
    by_pid = report(folder, f"pid:{pid[1] if pid else 0}")
    finds_both(tap, by_pid.stdout, "by its number")
    waits_page(tap, folder, "out.rec", "running")
    waits = report(folder, "waits", "out.rec").stdout
    tap.check("not over at that moment." in waits and "ended" not in waits, "waits that are open", waits[:1000])
    tree = lib.run([lib.FATHOM, "tree", "--by=live", "--depth=9", "--json", "out.rec"], folder)
    rows = json.loads(tree.stdout)["tables"][0]["rows"] if tree.returncode == 0 else []
    tap.check(str(BYTES) in json.dumps(rows), "the tree of what is held, to the byte",
              tree.stdout[:2000] + tree.stderr)
    page = pathlib.Path(folder, "page.html")
    done = report(folder, "--html", "page.html", "out.rec")
    tap.check(done.returncode == 0 and page.exists() and "still runs" in page.read_text(),
              "a page to give away, which says so", done.stderr)
    top(tap, folder, program)
    program.step("t")
    program.end()
    ended = report(folder, "out.rec")
    tap.check("has ended" in ended.stdout and "still runs" not in ended.stdout,
              "a recording of one that has ended: all of it", ended.stdout[:1000] + ended.stderr)
    finds_both(tap, report(folder, "out.data").stdout, "finished")
    waits_page(tap, folder, "out.data", "finished")
    leaks = json.loads(report(folder, "--json", "leaks", "out.data").stdout)
    rows = [(row["held_bytes"], row["held_blocks"]) for table in leaks["tables"] if table["name"] == "leaks"
            for row in (row.get("cells", row) for row in table["rows"]) if "keep" in json.dumps(row)]
    tap.same(rows, [(15000, 3)], "three threads that hold on one path are one row")
    tap.same([path.name for path in pathlib.Path(lib.os.environ["TMPDIR"]).glob("fathom-*")]
             if "TMPDIR" in lib.os.environ else [], [], "nothing is left of them")


def rows_of(text):
    """Of the last table that `fathom top --batch` printed."""
    lines = [line.split("\t") for line in text.strip().split("\n\n")[-1].splitlines()
             if not line.startswith("#")]
    return {row[-1]: dict(zip(lines[0], row)) for row in lines[1:]}


def top(tap, folder, program):
    def read(order):
        return lib.run([lib.FATHOM, "top", "--batch", "--count=1", f"--sort={order}", "out.rec"], folder).stdout
    held, waiting = rows_of(read("held")), rows_of(read("waiting"))
    tap.check(held and list(held)[0] in ("cons", "remember") and held.get("cons", {}).get("held_bytes") == str(BYTES),
              "fathom top by what is held", held)
    tap.check(waiting and float(waiting["transfer"]["wait_s"]) >= WAITED_MS / 1000 * 0.9, "and by what waits",
              waiting.get("transfer"))
    head = read("held").splitlines()[0]
    tap.check(re.search(r"\t[\d.]+ s waited\t(\d+) bytes held$", head) is not None and
              int(head.split("\t")[-1].split()[0]) >= BYTES,
              "and in all", head)
    program.step(f"d {BLOCKS}")
    after = rows_of(read("held"))
    tap.same((after["cons"]["held_bytes"], after["cons"]["bytes"]), ("0", str(BYTES)), "what was given back is not held")
    program.step(f"m {BLOCKS}")


def live(tap, folder):
    program = Program(folder, "--live", "--no-open")
    for line in program.process.stderr:
        if b"serving" in line:
            break
    program.both()
    finds_both(tap, report(folder, "out.rec").stdout, "under record --live")
    waits_page(tap, folder, "out.rec", "under record --live")
    program.process.stdin.close()
    for line in program.process.stderr:
        if b"still serving" in line:
            break
    program.process.terminate()
    program.process.wait(PATIENCE)
    program.process.stdout.close()
    program.process.stderr.close()


def joined(tap, folder):
    program = Program(folder)
    program.step("m 1000")
    program.process.stdin.write(b"f")
    program.process.stdin.flush()
    assert program.process.stdout.read(1) == b"k"  # the child
    program.both()
    program.end()
    text = report(folder, "out.data").stdout
    tap.check("2 processes" in text, "two processes are one profile", text[:1500])
    tap.check("transfer" in section(text, "Most waiting"), "joined: who waits", text[:3000])
    tap.check(re.search("remember.*cons", section(text, HELD)) is not None, "joined: who holds memory", text[:3000])
    waits_page(tap, folder, "out.data", "joined")


def main():
    tap = lib.Tap()
    for part in (running, live, joined):
        with tempfile.TemporaryDirectory() as folder:
            lib.must([lib.FATHOM, "cc", "--grade=full", "-O1", "-g", HERE / "faults.c", "-o", "faults",
                      "-lpthread"], folder)
            part(tap, folder)
    return tap.done()


sys.exit(main())

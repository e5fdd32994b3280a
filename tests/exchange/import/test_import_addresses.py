#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Text with stacks of addresses: heaps, growth, locks and threads of gperftools, heaps of jemalloc;
figures known by construction, and those of files of others beside the values of another reader.

usage: test_import_addresses.py FATHOM"""
import glob
import json
import math
import os
import sys
import tempfile

from exchange_lib import check, end, run, skip

fathom = os.path.abspath(sys.argv[1])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles", "gperftools")
MAPS = """MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 1 /nowhere/prog
7f0000000000-7f0000100000 r-xp 00001000 08:01 2 /nowhere/lib.so
"""


def imported(text):
    with open("in.txt", "wb") as out:
        out.write(text if isinstance(text, bytes) else text.encode())
    return run(fathom, "import", "-o", "out.data", "in.txt")


def rows(page):
    told = run(fathom, "report", "--json", page, "out.data")
    return [row["cells"] for row in json.loads(told.stdout)["tables"][0]["rows"]] if told.returncode == 0 else []


def own(column, page="words"):
    """{function: its own of a column}"""
    return {cells["proc"].split(":", 1)[-1]: cells[column] for cells in rows(f"top_procs/1-500/{page}/both/oa")
            if cells.get(column)}


def agrees(name):
    facts = json.loads(run(fathom, "report", "--json", "menu", "out.data").stdout)["facts"]
    check(f"{name}: all figures agree", facts["invariants_hold"] is True, facts)


def test_heaps():
    records = ("  2:  300 [  5:  900] @ 0x400010 0x7f0000000020\n"
               "  0:    0 [  1:   50] @ 0x7f0000000020 0x400030\n")
    told = imported("heap profile:   2:  300 [  6:  950] @ heapprofile\n" + records + "\n" + MAPS)
    check("a heap: allocated", told.returncode == 0 and own("memory_self_bytes") == {"[prog]": 900, "[lib.so]": 50}, told)
    check("a heap: held", own("live_bytes_self_bytes") == {"[prog]": 300} and
          own("live_blocks_self_blocks") == {"[prog]": 2}, rows("top_procs/1-50/words/both/oa"))
    agrees("a heap")
    # One sample in so many bytes: each stands for more.
    for kind, rate in (("heap_v2/1000", 1000), ("heap/2000", 1000)):
        told = imported(f"heap profile: 2: 300 [6: 950] @ {kind}\n" + records + MAPS)
        held = 300 / (1 - math.exp(-150 / rate))
        check(f"{kind}: scaled by the mean size", told.returncode == 0 and
              own("live_bytes_self_bytes") == {"[prog]": round(held)}, (told, held))
    told = imported("heap profile: 2: 300 [2: 300] @ growthz\n  2:  300 [  2:  300] @ 0x400010\n" + MAPS)
    check("growth: held alone", told.returncode == 0 and own("time_self_ticks", "time") == {"[prog]": 300} and
          "not recorded" in told.stderr, (told, rows("top_procs/1-50/time/both/oa")))
    jemalloc = """heap_v2/1
  t*: 3: 30 [{0}: {1}]
  t0: 3: 30 [{0}: {1}]
@ 0x400010 0x400020
  t*: 2: 20 [{0}: {1}]
  t0: 2: 20 [{0}: {1}]
@ 0x7f0000000020
  t*: 1: 10 [0: 0]

"""
    told = imported(jemalloc.format(9, 90) + MAPS)
    check("jemalloc: allocated and held", told.returncode == 0 and own("memory_self_bytes") == {"[prog]": 90} and
          own("live_bytes_self_bytes") == {"[prog]": 20, "[lib.so]": 10}, told)
    told = imported(jemalloc.format(0, 0) + MAPS)
    check("jemalloc without sums: what was allocated is not recorded", told.returncode == 0 and
          own("time_self_ticks", "time") == {"[prog]": 20, "[lib.so]": 10} and "not recorded" in told.stderr and
          run(fathom, "report", "top_procs/1-5/words/both/oa", "out.data").returncode == 1, told)
    told = imported("--- heapz 1 ---\nformat = java\nresolution = bytes\n  524288 1 @ 0x1 0x2\n 0x1 a.b (B.java:3)\n 0x2 c.d\n")
    check("Java: names are in the file", told.returncode == 0 and
          own("time_self_ticks", "time") == {"a.b": round(524288 / (1 - math.exp(-1)))}, told)


def test_others():
    told = imported("--- contentionz 1 ---\ncycles/second = 2000000000\nsampling period = 100\nms since reset = 1\n"
                    "  4000  3 @ 0x400010 0x7f0000000010\n  7f0000000000-7f0000100000: /nowhere/lib.so\n")
    found = rows("top_procs/1-50/time/both/oa")
    check("locks: time and how often", told.returncode == 0 and own("contentions_self_contentions", "time") == {"[unknown]": 300} and
          round(sum(cells["time_self_seconds"] for cells in found) * 1e9) == 200000, (told, found))
    told = imported("--- threadz 1 ---\n\n--- Thread 1 (name: main/1) stack: ---\n  PC: 0x10: f(int)\n  0x20: main\n"
                    "--- Thread 2 (name: x/2) stack: ---\n  PC: 0x30: sleep\n  0x40: start\n      creator: 0x20\n"
                    "--- Thread 3 (name: y/3) stack: ---\n  [same as previous thread]\n")
    check("threads", told.returncode == 0 and own("time_self_ticks", "time") == {"f": 1, "sleep": 2}, told)
    told = imported("threadcreate profile: total 5\n3 @ 0x10 0x20\n#\t0x10\tmain.f+0x3\t/x.go:1\n2 @ 0x20\n")
    check("threads of Go", told.returncode == 0 and own("time_self_ticks", "time") == {"main.f": 3, "[unknown]": 2}, told)


WRONG = {
    "heap profile: 1: 2 [3: 4] @ heap_v2/x\n": "line 1: expected a number of bytes behind '/'",
    "heap profile: 1: 2 [3: 4] @ heapprofile\n  1: 2 @ 0x10\n": "line 2: 2 numbers in front of '@', expected 4",
    "heap profile: 1: 2 [3: 4] @ heapprofile\n": "there is no stack in it",
    "heap_v2/1\n  t*: 1: 1 [0: 0]\n@ 0x10\n  t*: 1\n": "line 4: expected \"t*: OBJECTS: BYTES",
    "--- contentionz 1 ---\nsampling period = 1\n 1 1 @ 0x10\n": "line 3: expected \"cycles/second = NUMBER\"",
    "heap profile: 1: 2 [3: 4] @ heapprofile\n 1: 9223372036854775807 [1: 1] @ 0x10\n 1: 9 [1: 1] @ 0x10\n":
        "more than 2^63",
}


def test_wrong():
    for text, said in WRONG.items():
        told = imported(text)
        check(f"refused: {said}", told.returncode == 1 and said in told.stderr and "in.txt: " in told.stderr and
              len(told.stderr.splitlines()) == 1, told)


def test_samples():
    paths = sorted(glob.glob(os.path.join(SAMPLES, "*.expected.json")))
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        name = os.path.basename(path)[:-len(".expected.json")]
        if name.endswith(".cpu"):
            continue # binary
        with open(path[:-len(".expected.json")], "rb") as file:
            told = imported(file.read())
        check(f"{name} is read", told.returncode == 0, told)
        agrees(name)
        wanted = {measure["name"]: measure["total"] for measure in expected["measures"]}
        found = rows("top_procs/1-5000/words/both/oa") or rows("top_procs/1-5000/time/both/oa")

        def total(*columns):
            column = next((column for column in columns if column in found[0]), None)
            scale = 1e9 if column and column.endswith("seconds") else 1
            return None if column is None else sum(cells[column] or 0 for cells in found) * scale
        columns = {"held": ("live_bytes_self_bytes", "time_self_ticks"), "held_objects": ("live_blocks_self_blocks",),
                   "allocated": ("memory_self_bytes",), "delay": ("time_self_seconds",),
                   "contentions": ("contentions_self_contentions",), "threads": ("time_self_ticks", "threads_self_threads")}
        for measure, value in wanted.items():
            told_total = total(*columns.get(measure, ()))
            if told_total is not None: # each record is rounded to whole numbers
                check(f"{name}: {measure}", abs(told_total - value) <= expected.get("records", 1), (told_total, value))
        check(f"{name}: its first measure is there", any(total(*columns[measure]) for measure in wanted if measure in columns), found[:2])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_heaps()
    test_others()
    test_wrong()
    test_samples()
    os.chdir("/")
end()

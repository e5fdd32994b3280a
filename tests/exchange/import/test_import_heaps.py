#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Heap profiles of heaptrack, DHAT and massif, and compressed files: figures known by construction,
and those of files of others beside the values that other readers got.

usage: test_import_heaps.py FATHOM"""
import glob
import gzip
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile

from exchange_lib import check, end, run, skip

fathom = os.path.abspath(sys.argv[1])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles")


def made(name, content):
    with open(name, "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    return name


def imported(path):
    return run(fathom, "import", "-o", "out.data", path)


def whole(measure):
    """The sum over all contexts, as trees show it."""
    told = run(fathom, "report", "--json", f"tree/{measure}/down/1/all", "out.data")
    return json.loads(told.stdout)["facts"]["whole"] if told.returncode == 0 else told.stderr


def functions(words="top_procs/1-5000/words/both/oa"):
    """{function without its file: cells}; functions of one name in several files are left out"""
    rows = json.loads(run(fathom, "report", "--json", words, "out.data").stdout)["tables"][0]["rows"]
    names = [(row["cells"].get("proc_full") or row["cells"]["proc"].split(":", 1)[-1]).replace(", ", ",") for row in rows]
    return {name: row["cells"] for name, row in zip(names, rows) if names.count(name) == 1}


def agrees(name):
    told = run(fathom, "report", "--json", "menu", "out.data")
    facts = json.loads(told.stdout)["facts"]
    check(f"{name}: all figures agree", facts["invariants_hold"] is True, facts)
    return facts


# --- heaptrack ---

# main calls work at line 5, which allocates by operator new 16 bytes (kind 0) and, in helper, which
# is inlined into it at line 9, 4 KiB (kind 1).
HEAPTRACK = """v 10200 2
X ./prog with arguments
I 1000 3e44e5
s /bin/prog
s main
s main.c
s work
s helper
s operator new(unsigned long)
s /lib/libx.so
i 401000 1 2 3 5
t 1 0
i 402000 1 4 3 7
t 2 1
i 403000 7 6
t 3 2
a 10 3
+ 0
+ 0
i 404000 1 5 3 b 4 3 9
t 4 1
a 1000 4
+ 1
R 10
c 5
- 1
- 0
+ 0
# a comment
+ 1
- 1
i 405000 7
t 5 1
a 1 5
+ 2
c 20
"""


def test_heaptrack():
    told = imported(made("heap.txt", HEAPTRACK))
    check("heaptrack: it is read", told.returncode == 0, told)
    check("heaptrack: blocks, bytes, live at the end and at the peak",
          (whole("allocs"), whole("bytes"), whole("live"), whole("peak")) == (6, 8241, 33, 4128),
          [whole(m) for m in ("allocs", "bytes", "live", "peak")])
    found = functions()
    self = {name: (cells["memory_self_bytes"], cells["live_bytes_self_bytes"], cells["peak_bytes_self_bytes"],
                   cells["live_blocks_self_blocks"], cells["temporary_blocks_self_blocks"])
            for name, cells in found.items() if cells["memory_self_bytes"]}
    check("heaptrack: by function; operator new is its caller, what is inlined a function of its own",
          self == {"work": (48, 32, 32, 2, 0), "helper": (8192, 0, 4096, 0, 2), "[libx.so]": (1, 1, 0, 1, 0)}, self)
    check("heaptrack: totals hold what is called", found["work"]["memory_total_bytes"] == 8240 and
          found["main"]["memory_total_bytes"] == 8241, found)
    facts = agrees("heaptrack")
    check("heaptrack: the peak", facts["peak_heap_bytes"] == 4128, facts)
    text = run(fathom, "report", "proc/helper", "out.data").stdout
    check("heaptrack: the line of a call", "main.c:9" in text, text)
    # The file of version 3 tells the lengths of texts, in which there may be line feeds.
    lengths = "\n".join(f"s {len(line) - 2:x} {line[2:]}" if line.startswith("s ") else line
                        for line in HEAPTRACK.replace("10200 2", "10400 3").split("\n"))
    told = imported(made("heap3.txt", lengths.replace("s 4 main\n", "s 6 ma\nin2\n", 1)))
    check("heaptrack: texts with their length", told.returncode == 0 and "ma\nin2" in str(functions()) or
          "ma" in str(functions()), (told, functions()))
    old = """v 10000
X x
s f
s prog
i 1 2 1
t 1 0
+ 8 1 7fff0
+ 8 1 7fff8
- 7fff0
- 123
"""
    told = imported(made("heap0.txt", old))
    check("heaptrack: blocks by address, as in version 0", told.returncode == 0 and
          (whole("allocs"), whole("bytes"), whole("live"), whole("peak")) == (2, 16, 8, 16), told)
    attached = imported(made("attached.txt", HEAPTRACK.replace("R 10\n", "A\n").replace("- 1\n- 0\n", "", 1)))
    check("heaptrack: what was before it was attached does not count", attached.returncode == 0 and
          whole("allocs") == 3, (attached, whole("allocs")))


WRONG_HEAPTRACK = {
    "v 10200 9\nX x\n": "line 1: version 9 of heaptrack's file",
    "v 10200 2\nX x\nt 1 0\n": "line 3: a stack of address 1 below stack 0, of 0 and 0",
    "v 10200 2\nX x\na 10 1\n": "line 3: stack 1, of 0",
    "v 10200 2\nX x\n+ 0\n": "line 3: allocation 0, of 0",
    "v 10200 2\nX x\n+ z\n": "line 3: expected 1 hexadecimal number behind '+'",
    "v 10200 2\nX x\ni 1 5 6\n": "line 3: text 5, of 0",
    "v 10200 2\nX x\ns f\ni 1 1 1\nt 1 0\na 8 1\n- 0\n": "line 7: more blocks are freed than were allocated",
    "v 10400 3\nX x\ns ff abc\n": "line 3: a text of 255 bytes, 4 are left",
    "v 10400 3\nX x\ns 2 abc\n": "line 3: expected the line's end behind a text of 2 bytes",
    "v 10200 2\nX x\n": "no allocation is in it",
    "v 10400 3\nX x\nx 9 /bin/prog\n": "line 3: it is a raw file of heaptrack",
}


def test_wrong_heaptrack():
    for content, said in WRONG_HEAPTRACK.items():
        told = imported(made("wrong.txt", content))
        check(f"heaptrack: {said}", told.returncode == 1 and "wrong.txt: " + said in told.stderr, told)


# --- DHAT ---

DHAT = {"dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": True, "bkacc": True, "tu": "instrs",
        "Mtu": "Minstr", "tuth": 500, "cmd": "./x", "pid": 1, "te": 100, "tg": 50,
        "ftbl": ["[root]", "0x1: malloc (vg_replace_malloc.c:381)", "0x2: make(int (*)(char)) (a.cc:3:7)",
                 "0x3: main (in /bin/x)", "0x4: ???"],
        "pps": [{"tb": 100, "tbk": 10, "tl": 7, "mb": 60, "mbk": 6, "gb": 50, "gbk": 5, "eb": 20, "ebk": 2, "rb": 3,
                 "wb": 4, "fs": [1, 2, 3]},
                {"tb": 11, "tbk": 1, "tl": 1, "mb": 11, "mbk": 1, "gb": 0, "gbk": 0, "eb": 0, "ebk": 0, "rb": 1,
                 "wb": 0, "fs": [1, 4]}]}


def test_dhat():
    told = imported(made("dhat.out", json.dumps(DHAT)))
    check("dhat: it is read", told.returncode == 0, told)
    check("dhat: blocks, bytes, live at the end and at the peak",
          (whole("allocs"), whole("bytes"), whole("live"), whole("peak")) == (11, 111, 20, 50), whole("bytes"))
    found = functions()
    check("dhat: names, and what is read, written and how long",
          {name: (cells["memory_total_bytes"], cells["read_bytes_total_bytes"], cells["written_bytes_total_bytes"],
                  cells["block_lifetimes_total_instrs"]) for name, cells in found.items()} ==
          {"malloc": (111, 4, 4, 8), "make(int (*)(char))": (100, 3, 4, 7), "main": (100, 3, 4, 7),
           "???": (11, 1, 0, 1)}, found)
    check("dhat: the peak", agrees("dhat")["peak_heap_bytes"] == 50)
    short = {**DHAT, "bklt": False, "bkacc": False}
    told = imported(made("short.out", json.dumps(short)))
    cells = functions()["main"]
    check("dhat: what was not recorded has no column", told.returncode == 0 and
          not any(name.startswith(("live", "peak", "read", "written", "block")) for name in cells), cells)
    copies = {**DHAT, "mode": "copy", "bklt": False, "bkacc": False}
    told = imported(made("copy.out", json.dumps(copies)))
    check("dhat: bytes copied are no allocations", told.returncode == 0 and
          functions("top_procs/1-9/time/both/oa")["main"].get("memory_total_bytes") is None and
          whole("allocs") != 11, functions("top_procs/1-9/time/both/oa"))
    for changed, said in (({"dhatFileVersion": 3}, "a newer version of DHAT's file"),
                          ({"pps": []}, "nothing is recorded in it"),
                          ({"pps": [{"tb": 1, "tbk": 1, "fs": [9]}]}, 'a frame that is none of "ftbl"'),
                          ({"pps": [{"tb": -1, "tbk": 1, "fs": [1]}]}, 'expected a whole number as "tb"'),
                          ({"pps": [{"tb": 1, "tbk": 1}]}, 'expected a program point with "fs"'),
                          ({"ftbl": 7}, 'expected "pps" and "ftbl"')):
        told = imported(made("wrong.out", json.dumps({**DHAT, **changed})))
        check(f"dhat: {said}", told.returncode == 1 and "wrong.out: " in told.stderr and said in told.stderr, told)
    told = imported(made("cut.out", json.dumps(DHAT)[:200]))
    check("dhat: a file that is cut off", told.returncode == 1 and "cut.out: offset 200: " in told.stderr, told)


# --- massif ---

MASSIF = """desc: --massif-out-file=m
cmd: ./x
time_unit: i
#-----------
snapshot=0
#-----------
time=0
mem_heap_B=0
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=empty
#-----------
snapshot=1
#-----------
time=5
mem_heap_B=110
mem_heap_extra_B=8
mem_stacks_B=0
heap_tree={0}
n2: 110 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n2: 100 0x1: make (a.c:3)
  n0: 70 0x2: main (a.c:9)
  n1: 30 0x3: twice (a.c:12)
   n0: 30 0x4: main (a.c:10)
 n0: 10 in 2 places, all below massif's threshold (1.00%)
#-----------
snapshot=2
#-----------
time=6
mem_heap_B=1
mem_heap_extra_B=0
mem_stacks_B=0
heap_tree=detailed
n1: 1 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
 n0: 1 0x1: late (a.c:3)
"""


def test_massif():
    told = imported(made("massif.out", MASSIF.format("peak")))
    found = functions("top_procs/1-99/time/both/oa")
    check("massif: the tree of the peak, callers outermost", told.returncode == 0 and
          {name: (cells["time_self_ticks"], cells["time_total_ticks"]) for name, cells in found.items()} ==
          {"main": (0, 100), "twice": (0, 30), "make": (100, 100),
           "in 2 places,all below massif's threshold (1.00%)": (10, 10)}, (told, found))
    check("massif: which snapshot it is", "snapshot 1, the peak" in told.stderr, told)
    agrees("massif")
    told = imported(made("last.out", MASSIF.format("detailed")))
    check("massif: else the last tree", told.returncode == 0 and "snapshot 2, the last with a tree" in told.stderr and
          list(functions("top_procs/1-99/time/both/oa")) == ["late"], told)
    for content, said in ((MASSIF.format("empty").split("snapshot=2")[0].replace("heap_tree=peak", ""),
                           "no snapshot in it has a tree"),
                          (MASSIF.format("peak").replace("n0: 70", "n0: 80"), "line 24: the callers up to here have 110"),
                          (MASSIF.format("peak").replace("  n0: 70", "n0: 70"), "line 22: expected"),
                          (MASSIF.format("peak").split(" n0: 10")[0], "unexpected end of file within a tree")):
        told = imported(made("wrong.out", content))
        check(f"massif: {said}", told.returncode == 1 and "wrong.out: " in told.stderr and said in told.stderr, told)


# --- compressed files ---


def test_compressed():
    text = HEAPTRACK.encode()
    forms = {"gzip": gzip.compress(text), "xz": lzma.compress(text),
             "gzip in gzip": gzip.compress(gzip.compress(text)), "xz in gzip": gzip.compress(lzma.compress(text))}
    if shutil.which("zstd"):
        forms["zstd"] = subprocess.run(["zstd", "-c"], input=text, capture_output=True, check=True).stdout
    else:
        skip("zstd", "there is no zstd to make a file with")
    for name, content in forms.items():
        told = imported(made("packed", content))
        check(f"compressed by {name}", told.returncode == 0 and whole("bytes") == 8241, told)
        told = imported(made("packed", content[:len(content) // 2]))
        check(f"compressed by {name}, and cut off", told.returncode == 1 and "packed: offset " in told.stderr, told)
        damaged = bytearray(content)
        damaged[len(content) // 2:len(content) // 2 + 20] = bytes(20)
        told = imported(made("packed", bytes(damaged)))
        check(f"compressed by {name}, and damaged", told.returncode == 1 and "packed: " in told.stderr, told)
    told = imported(made("bomb", lzma.compress(bytes(200 << 20))))
    check("what becomes far larger than the file is refused", told.returncode == 1 and
          "bytes when unpacked, expected less" in told.stderr, told)
    told = imported(made("packed", lzma.compress(b"PERFFILE" + bytes(100))))
    check("what cannot be read is named within", told.returncode == 1 and "within xz (unxz -k" in told.stderr, told)


# --- files of others ---

NAMES = {"allocated": "bytes", "allocations": "allocs", "leaked": "live", "at_peak": "peak", "total": "bytes",
         "total_blocks": "allocs", "at_gmax": "peak", "at_end": "live", "held_at_peak": "time"}


def test_samples():
    paths = [path for kind in ("heaptrack", "dhat", "massif")
             for path in sorted(glob.glob(os.path.join(SAMPLES, kind, "*.expected.json")))]
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        name = os.path.basename(path)[:-len(".expected.json")]
        told = imported(path[:-len(".expected.json")])
        if expected["verdict"] != "open":
            check(f"{name} is refused", told.returncode == 1, told)
            continue
        check(f"{name} is read", told.returncode == 0, told)
        for measure in expected["measures"]:
            if measure["name"] in NAMES:
                check(f"{name}: {measure['name']}", whole(NAMES[measure["name"]]) == measure["total"],
                      (whole(NAMES[measure["name"]]), measure))
        words, column = ("time", "time_{}_ticks") if "massif" in name else ("words", "memory_{}_bytes")
        found = functions(f"top_procs/1-5000/{words}/both/oa")
        for what, kind in (("largest_self", "self"), ("largest_inclusive", "total")):
            for row in expected[what]:
                known = found.get(row["name"].replace(", ", ","))
                # An address without a name is its file's; names without a function are many's.
                if known and not row["name"].startswith(("0x", "?")) and row["value"] > 0:
                    check(f"{name}: {kind} of {row['name']}", known[column.format(kind)] == row["value"],
                          (row, known))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_heaptrack()
    test_wrong_heaptrack()
    test_dhat()
    test_massif()
    test_compressed()
    test_samples()
    os.chdir("/")
end()

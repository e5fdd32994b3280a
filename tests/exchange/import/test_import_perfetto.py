#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of Perfetto's: spans, samples and heaps known by construction, what fathom export wrote, and files of
others beside the values of another reader.

usage: test_import_perfetto.py FATHOM GENERATE_EVENTLOG"""
import collections
import glob
import json
import os
import re
import sys
import tempfile
import zlib

from exchange_lib import bytes_field, check, end, must, number_field, run, skip, varint

fathom, generate = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles", "perfetto")
BEGIN, END = 1, 2


def packet(*fields, time=None, sequence=1, flags=2):
    told = number_field(8, time) if time is not None else b""
    return bytes_field(1, told + number_field(10, sequence) + number_field(13, flags) + b"".join(fields))


def named(number, text):
    return number_field(1, number) + bytes_field(2, text.encode())


def thread(track, pid, tid, name):
    return bytes_field(60, number_field(1, track) + bytes_field(4, number_field(1, pid) + number_field(2, tid) +
                                                                bytes_field(5, name.encode())))


def event(kind, name=None, track=None, number=None):
    told = number_field(9, kind)
    told += bytes_field(23, name.encode()) if name is not None else b""
    told += number_field(10, number) if number is not None else b""
    told += number_field(11, track) if track is not None else b""
    return bytes_field(11, told)


def imported(content):
    with open("x.perfetto-trace", "wb") as out:
        out.write(content)
    return run(fathom, "import", "-o", "out.data", "x.perfetto-trace")


def rows(page="time"):
    told = run(fathom, "report", "--json", f"top_procs/1-9999/{page}/both/oa", "out.data")
    return [row["cells"] for row in json.loads(told.stdout)["tables"][0]["rows"]] if told.returncode == 0 else []


def own(column="time_self_seconds", scale=1e9, page="time"):
    sums = collections.Counter()
    for cells in rows(page):
        if cells.get(column):
            sums[re.sub(r"^(x|libx\.so|x\.c):", "", cells.get("proc_full", cells["proc"]))] += round(cells[column] * scale)
    return dict(sums)


def lanes():
    return sorted(cells["proc"] for cells in rows() if " (" in cells["proc"] or "thread" in cells["proc"])


def spans():
    data = bytes_field(12, bytes_field(2, named(1, "outer")) + bytes_field(2, named(2, "inner")))
    defaults = bytes_field(59, bytes_field(11, number_field(11, 77)))
    return (packet(thread(77, 5, 6, "main thread"), data, defaults, flags=1) +
            packet(event(BEGIN, number=1), time=1000) + packet(event(BEGIN, number=2), time=1100) + b"\0\0" +
            packet(event(END), time=1400) + packet(event(BEGIN, name="own name"), time=1500) +
            packet(event(END), time=1600) + packet(event(END), time=2000))


WANTED = {"outer": 600, "inner": 300, "own name": 100}


def test_spans():
    told = imported(spans())
    check("spans nest, by names in place and by number", told.returncode == 0 and own() == WANTED, (told, rows()))
    check("each is a call", own("calls_count", 1) == {"outer": 1, "inner": 1, "own name": 1}, rows())
    packed = zlib.compress(spans())
    told = imported(bytes_field(1, bytes_field(50, packed)))
    check("compressed packets", told.returncode == 0 and own() == WANTED, told)
    told = imported(spans()[:-3])
    check("a file that ends within a packet", told.returncode == 0 and "the file ends within a packet" in told.stderr and
          "1 span never ended" in told.stderr, told)
    cleared = packet(bytes_field(12, bytes_field(2, named(1, "again"))), flags=1)
    told = imported(spans() + cleared + packet(event(BEGIN, track=77, number=1), time=3000) +
                    packet(event(END, track=77), time=3010))
    check("numbers mean something else when the state is cleared", told.returncode == 0 and
          own() == {**WANTED, "again": 10}, (told, rows()))
    told = imported(spans() + packet(event(BEGIN, number=9), time=3000) + packet(event(END), time=3007) +
                    packet(number_field(42, 1)))
    check("names and packets that were lost are told", told.returncode == 0 and own()["[unknown]"] == 7 and
          "1 span has no name" in told.stderr and "warning: packets are missing in 1 places" in told.stderr, told)


def test_lanes():
    process = bytes_field(60, number_field(1, 9) + bytes_field(3, number_field(1, 5) + bytes_field(6, b"/bin/prog")))
    child = bytes_field(60, number_field(1, 10) + number_field(5, 9) + bytes_field(2, b"loads"))
    other = thread(88, 40, 41, "main thread")
    content = spans() + packet(process) + packet(child) + packet(other)
    for track, at in ((10, 100), (88, 200)):
        content += packet(event(BEGIN, "x", track), time=at) + packet(event(END, None, track), time=at + 4)
    told = imported(content)
    check("tracks by thread and process", told.returncode == 0 and own()["x"] == 8 and
          lanes() == ["loads (prog 5)", "main thread (process 40)", "main thread (prog 5)"], (told, lanes()))


def clock(number, time, incremental=0, multiplier=0):
    return bytes_field(1, number_field(1, number) + number_field(2, time) + number_field(3, incremental) +
                       number_field(4, multiplier))


def test_clocks():
    told = imported(spans() + packet(bytes_field(6, clock(6, 5000) + clock(64, 10, 1, 1000))) +
                    packet(event(BEGIN, "a"), number_field(58, 64), time=1) +
                    packet(event(END), number_field(58, 64), time=7))
    check("a writer's own clock tells differences of microseconds", told.returncode == 0 and own()["a"] == 7000,
          (told, rows()))
    old = (packet(bytes_field(44, number_field(1, 3) + number_field(2, 4) + number_field(6, 50)), flags=1, sequence=3) +
           packet(bytes_field(11, number_field(1, 5) + number_field(9, BEGIN) + bytes_field(23, b"old")), sequence=3) +
           packet(bytes_field(11, number_field(1, 2) + number_field(9, END)), sequence=3) +
           packet(bytes_field(11, number_field(16, 90) + bytes_field(23, b"whole") +
                              bytes_field(6, number_field(2, ord("X")) + number_field(3, 8))), sequence=3))
    told = imported(old)
    check("old times, and phases of Chrome's", told.returncode == 0 and own() == {"old": 2000, "whole": 8000}, (told, rows()))


STACKS = (bytes_field(5, named(1, "main")) + bytes_field(5, named(2, "work")) +
          bytes_field(16, named(1, "\1\2")) + bytes_field(17, named(1, "lib")) + bytes_field(17, named(2, "libx.so")) +
          bytes_field(19, number_field(1, 1) + number_field(2, 1) + number_field(7, 1) + number_field(7, 2)) +
          bytes_field(6, number_field(1, 1) + number_field(2, 1)) + bytes_field(6, number_field(1, 2) + number_field(2, 2)) +
          bytes_field(6, number_field(1, 3) + number_field(3, 1) + number_field(4, 64)) +
          bytes_field(7, number_field(1, 1) + number_field(2, 1) + number_field(2, 2)) +
          bytes_field(7, number_field(1, 2) + bytes_field(2, varint(1) + varint(3))))


def sample(stack, more=b""):
    return bytes_field(66, number_field(2, 5) + number_field(3, 6) + number_field(4, stack) + more)


def test_samples():
    content = packet(bytes_field(12, STACKS), flags=1) + packet(sample(1), time=1) + packet(sample(2), time=2) + \
        packet(sample(2), time=3) + packet(sample(9), time=4) + packet(sample(1, number_field(18, 1)), time=5)
    told = imported(content)
    check("samples by stack", told.returncode == 0 and
          own("time_self_ticks", 1) == {"work": 1, "[libx.so]": 2, "(no stack)": 1} and
          "warning: 1 samples were lost" in told.stderr, (told, rows()))
    lines = bytes_field(2, bytes_field(1, b"inlined") + bytes_field(2, b"x.c")) + bytes_field(2, bytes_field(1, b"outer"))
    symbols = bytes_field(61, bytes_field(1, b"/lib/libx.so") + bytes_field(2, b"\1\2") +
                          bytes_field(3, number_field(1, 64) + lines))
    told = imported(content + packet(symbols))
    check("names that stand behind the samples", told.returncode == 0 and own("time_self_ticks", 1)["inlined"] == 2,
          (told, rows()))
    told = imported(packet(bytes_field(12, STACKS), flags=1) +
                    packet(bytes_field(54, bytes_field(1, varint(1) + varint(1)) + number_field(1, 2))))
    check("streamed samples", told.returncode == 0 and own("time_self_ticks", 1) == {"work": 2, "[libx.so]": 1},
          (told, rows()))
    told = imported(spans() + content)
    check("spans and samples", told.returncode == 0 and own() == WANTED and sum(own("samples_self_samples", 1).values()) == 4,
          (told, rows()))


def dump(*samples, more=b""):
    told = b"".join(bytes_field(2, number_field(1, stack) + number_field(2, bytes_) + number_field(3, freed) +
                                number_field(5, allocs) + number_field(6, frees))
                    for stack, bytes_, freed, allocs, frees in samples)
    return bytes_field(37, bytes_field(5, number_field(1, 5) + bytes_field(11, b"libc.malloc") + told +
                                       number_field(12, 4096) + more))


def test_heap():
    content = packet(dump((1, 100, 0, 1, 0)), time=1, flags=1) + \
        packet(dump((1, 1000, 400, 10, 4)), time=9) + packet(dump((2, 50, 50, 2, 2), more=number_field(7, 1)), time=9) + \
        packet(bytes_field(12, STACKS))
    told = imported(content)
    check("a heap: what was allocated and is held, of the last dump", told.returncode == 0 and
          own("memory_self_bytes", 1, "words") == {"work": 1000, "[libx.so]": 50} and
          own("live_bytes_self_bytes", 1, "words") == {"work": 600} and
          own("live_blocks_self_blocks", 1, "words") == {"work": 6}, (told, rows("words")))
    check("and what is not sure about it", "of several dumps" in told.stderr and "lost samples of the heap" in told.stderr,
          told)


def test_own_export():
    must(generate, "--events=20000", "--caps=3", "--disorder=0", "log.eventlog")
    found = {}
    for to in ("chrome", "perfetto"):
        must(fathom, "export", f"--to={to}", "-o", f"out.{to}", "log.eventlog")
        told = run(fathom, "import", "-o", "out.data", f"out.{to}")
        check(f"what fathom export --to={to} wrote is read", told.returncode == 0, told)
        found[to] = own()
    check("and both say the same of functions", found["chrome"] and sorted(found["chrome"].values()) ==
          sorted(found["perfetto"].values()), found)


def test_wrong():
    for content, said in ((packet(number_field(42, 0)), "no span of a track, no sample and no heap is in its 1 packets"),
                          (bytes_field(1, number_field(8, 1) + number_field(10, 1)) +
                           bytes_field(1, number_field(8, 1) + b"\x5a\x50"), "packet 2 is damaged"),
                          (bytes_field(1, bytes_field(50, b"\x78\x9cnothing")), "compressed packets of 9 bytes are damaged"),
                          (spans() + b"\x0f" * 4, "expected a packet")):
        told = imported(content)
        check(f"refused: {said}", told.returncode == 1 and said in told.stderr and "x.perfetto-trace: " in told.stderr and
              len(told.stderr.splitlines()) == 1, told)


def test_samples_of_others():
    paths = sorted(glob.glob(os.path.join(SAMPLES, "*.expected.json")))
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        name = os.path.basename(path)[:-len(".expected.json")]
        with open(path[:-len(".expected.json")], "rb") as file:
            told = imported(file.read())
        check(f"{name} is read", told.returncode == 0, told)
        facts = json.loads(run(fathom, "report", "--json", "menu", "out.data").stdout)["facts"]
        check(f"{name}: all figures agree", facts["invariants_hold"] is True, facts)
        time, calls = own(), own("calls_count", 1)
        check(f"{name}: time", sum(time.values()) == expected["total_ns"], (sum(time.values()), expected["total_ns"]))
        check(f"{name}: spans", sum(calls.values()) == expected["slices"], sum(calls.values()))
        for found, wanted in ((time, expected["largest_self"]), (calls, expected["most_frequent"])):
            for one in wanted:
                check(f"{name}: {one['name']}", found.get(one["name"]) == one["value"], (found.get(one["name"]), one))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_spans()
    test_lanes()
    test_clocks()
    test_samples()
    test_heap()
    test_own_export()
    test_wrong()
    test_samples_of_others()
    os.chdir("/")
end()

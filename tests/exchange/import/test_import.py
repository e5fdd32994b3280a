#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom import` and `fathom view` of other tools' files: what comes out, what is said, what stays.

usage: test_import.py FATHOM GENERATE_PROFILE"""
import gzip
import json
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

from exchange_lib import bytes_field, check, end, must, number_field, run, said, varint
from patience import PATIENCE, wait_until

fathom, generate = sys.argv[1:3]


def page(path, words):
    told = run(fathom, "report", "--json", words, path)
    assert told.returncode == 0, told.stderr
    return json.loads(told.stdout)


FOLDED = "main;parse;term 120\nmain;parse;term;factor 300\nmain;write 50\n"


def test_folded(folder):
    path = os.path.join(folder, "a.folded")
    with open(path, "w", encoding="utf-8") as out:
        out.write(FOLDED)
    told = run(fathom, "import", path)
    check("folded stacks become a profile beside them", told.returncode == 0 and
          os.path.exists(os.path.join(folder, "a.data")), told)
    check("and it is said that calls are not known", "has no numbers of calls" in told.stderr and
          "folded stacks" in told.stdout, told)
    check("the profile's figures agree",
          run(fathom, "check", os.path.join(folder, "a.data")).returncode == 0)
    tree = page(os.path.join(folder, "a.data"), "tree/time/down/9/all")
    text = run(fathom, "tree", os.path.join(folder, "a.data")).stdout
    rows = [line.split() for line in text.splitlines() if re.match(r"\s+\d+ ", line)]
    totals = {row[-1]: row[0] for row in rows}
    check("totals are sums of samples", totals.get("main") == "470" and
          totals.get("term") == "420" and totals.get("write") == "50", text)
    check("no number of calls is made up", all("–" in row for row in rows[1:]), text)
    check("nor for programs", '"calls_count": 0' not in json.dumps(tree), tree)
    check("samples are called so in the summary", "Total samples:" in
          run(fathom, "report", "menu", os.path.join(folder, "a.data")).stdout)
    for words, told in (("top_procs/1-10/allocs/self/oa", "allocations were not recorded"),
                        ("top_procs/1-10/calls/self/oa", "numbers of calls were not recorded"),
                        ("top_procs/1-10/callseqs/both/pc", "numbers of calls were not recorded"),
                        ("tree/bytes/down/3/all", "allocated memory was not recorded"),
                        ("flame/calls/down/_/all", "numbers of calls were not recorded"),
                        ("recursions/allocs", "allocations were not recorded"),
                        ("graph/bytes/main", "allocated memory was not recorded")):
        refused = run(fathom, "report", words, os.path.join(folder, "a.data"))
        check(f"{words}: what is not recorded orders nothing", refused.returncode == 1 and
              refused.stdout == "" and told in refused.stderr and len(refused.stderr.splitlines()) == 1, refused)
    top = run(fathom, "report", "--html", "top_procs/1-10/time/self/oa", os.path.join(folder, "a.data")).stdout
    check("no link leads there", "Sort by time" not in top and "factor" in top and
          not re.search(r"top_procs/[^\"]*/(allocs|calls|callseqs|words|redos)/", top), top[:3000])
    told = run(fathom, "import", "--unit=bytes", "-o", os.path.join(folder, "bytes.data"), path)
    by_bytes = page(os.path.join(folder, "bytes.data"), "top_procs/1-10/time/self/oa")
    names = [row["cells"]["proc"] for table in by_bytes["tables"] if table["name"] == "procs" for row in table["rows"]]
    check("without times the order of functions is by what there is",
          [name.rpartition(":")[2] for name in names] == ["factor", "term", "write"], (told, names))
    for words in ("menu", "proc/main", "top_procs", "flame", "find/term"):
        told = run(fathom, "report", words, os.path.join(folder, "a.data"))
        if told.returncode == 0 and re.search(r"\b0 calls", told.stdout):
            check(f"{words} says nothing of calls", False, told.stdout)
    check("the first page says what it was made of",
          "imported from folded stacks" in run(fathom, "report", os.path.join(folder, "a.data")).stdout)
    exported = run(fathom, "export", "--to=folded", "-o", "-", os.path.join(folder, "a.data"))
    check("the same stacks go out again", exported.stdout == FOLDED, exported)


def test_standard_input_and_gzip(folder):
    out = os.path.join(folder, "in.data")
    told = run(fathom, "import", "-o", out, "-", input=FOLDED)
    check("standard input is read", told.returncode == 0 and os.path.exists(out), told)
    check("which has no name", run(fathom, "import", "-", input=FOLDED).returncode == 2)
    path = os.path.join(folder, "z.folded.gz")
    with gzip.open(path, "wt") as z:
        z.write(FOLDED)
    told = run(fathom, "import", path)
    check("a gzipped file is unpacked", told.returncode == 0 and
          os.path.exists(os.path.join(folder, "z.data")), told)
    whole = gzip.compress(FOLDED.encode() * 50)
    with open(path, "wb") as cut:
        cut.write(whole[:len(whole) // 2])
    told = run(fathom, "import", path)
    check("a cut one is refused with file and offset", told.returncode == 1 and
          re.search(r"z\.folded\.gz: offset \d+: unexpected end of file", told.stderr), told)
    bomb = os.path.join(folder, "bomb.gz")
    with open(bomb, "wb") as out_file:
        out_file.write(gzip.compress(b"a" * (200 << 20), 9))
    told = run(fathom, "import", bomb)
    check("what unpacks to hundreds of times its size is refused", told.returncode == 1 and
          "when unpacked" in told.stderr, told)


def test_faults(folder):
    path = os.path.join(folder, "text")
    with open(path, "w", encoding="utf-8") as out:
        out.write("no profile at all\n")
    told = run(fathom, "import", path)
    check("other text is of none of the formats", told.returncode == 1 and
          "unknown format, expected one of" in told.stderr and told.stderr.count("\n") == 1, told)
    told = run(fathom, "import", "--from=nothing", path)
    check("a format that there is not is told with those there are", told.returncode == 2 and
          "pprof" in told.stderr, told)
    told = run(fathom, "import", os.path.join(folder, "missing"))
    check("so is a missing file", told.returncode == 1 and "missing" in told.stderr, told)
    path = os.path.join(folder, "late.folded")
    with open(path, "w", encoding="utf-8") as out:
        out.write(FOLDED + "main;oops\n" * FOLDED.count("\n"))
    told = run(fathom, "import", path)
    check("an error names file and line, and nothing is written", told.returncode == 1 and
          "late.folded: line 4: expected" in told.stderr and
          not os.path.exists(os.path.join(folder, "late.data")), told)
    told = run(fathom, "report", os.path.join(folder, "a.folded"))
    check("other commands name the one that reads it", told.returncode == 1 and
          "fathom import" in told.stderr, told)


def test_there_and_back(folder):
    data = os.path.join(folder, "made.data")
    made = run(generate, "--c", "--nodes=2000", "--seed=3", data)
    check("a profile to send out", made.returncode == 0, made)
    sums = {}
    for form in ("pprof", "speedscope"):
        out = os.path.join(folder, f"made.{form}")
        run(fathom, "export", f"--to={form}", "-o", out, data)
        told = run(fathom, "import", "-o", out + ".data", out)
        check(f"{form} comes back", told.returncode == 0, told)
        sums[form] = page(out + ".data", "menu")
    before = page(data, "menu")["facts"]
    for form, menu in sums.items():
        facts = menu["facts"]
        check(f"{form} with all its time and calls",
              facts["user_quanta"] * before["ticks_per_second"] ==
              before["user_quanta"] * facts["ticks_per_second"] and
              facts["callseqs"] == before["callseqs"], facts)


def test_what_is_there_stays(folder):
    path = os.path.join(folder, "perf.folded")
    with open(path, "w", encoding="utf-8") as out:
        out.write(FOLDED)
    other = os.path.join(folder, "perf.data")
    with open(other, "wb") as out:
        out.write(b"PERFILE2" + b"\0" * 100)
    told = run(fathom, "import", path)
    with open(other, "rb") as kept:
        check("another's file of that name stays", told.returncode == 1 and
              kept.read().startswith(b"PERFILE2") and "--output" in told.stderr, told)
    told = run(fathom, "import", "-o", other, path)
    check("unless it is asked for", told.returncode == 0, told)
    told = run(fathom, "import", path)
    check("and an earlier profile is replaced", told.returncode == 0, told)


def go_profile():
    """In the order in which Go writes it: times first; the second sample has no location."""
    text = number_field(9, 1700000000000000000) + number_field(10, 3000000000)
    text += bytes_field(1, number_field(1, 1) + number_field(2, 2))
    text += bytes_field(2, bytes_field(1, varint(1)) + bytes_field(2, varint(1500000000)))
    text += bytes_field(2, bytes_field(2, varint(500000000)))
    text += bytes_field(4, number_field(1, 1) + bytes_field(4, number_field(1, 1) +
                                                             number_field(2, 5)))
    text += bytes_field(5, number_field(1, 1) + number_field(2, 3) + number_field(4, 4))
    for string in (b"", b"cpu", b"nanoseconds", b"main.f", b"m.go"):
        text += bytes_field(6, string)
    return gzip.compress(text)


def test_go(folder):
    path = os.path.join(folder, "go.pb.gz")
    with open(path, "wb") as out:
        out.write(go_profile())
    told = run(fathom, "import", path)
    data = os.path.join(folder, "go.data")
    check("a profile whose fields stand in another order is recognised", told.returncode == 0, told)
    text = run(fathom, "export", "--to=folded", "-o", "-", data).stdout
    check("with all its time, also that of no function", "main.f 1500000000\n" in text and
          "[unknown] 500000000\n" in text, text)


def test_bomb(folder):
    """Messages of nothing: two bytes in the file, a hundred in memory; but samples are read where they stand."""
    path = os.path.join(folder, "bomb.pb.gz")
    text = bytes_field(1, number_field(1, 1) + number_field(2, 2))
    for string in (b"", b"cpu", b"nanoseconds"):
        text += bytes_field(6, string)
    for field, what, expected in ((2, "samples", "sample 1 has 0 values"), (3, "mappings", "bytes of memory"),
                                  (4, "locations", "bytes of memory"), (5, "functions", "bytes of memory"),
                                  (6, "strings", "bytes of memory")):
        with open(path, "wb") as out:
            out.write(gzip.compress(text + bytes_field(field, b"") * (10 << 20), 9))
        told = subprocess.Popen([fathom, "import", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _, errors = told.communicate()
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        check(f"{what} of nothing are refused before they take memory", told.returncode == 1 and
              expected in errors and most < 600 << 10, (errors, most))


def test_product(folder):
    """A location of many inlined frames below many others: small in the file, a product in memory."""
    for what, below, frames in (("contexts", True, 9000), ("frames", False, 9900)):
        path = os.path.join(folder, what + ".pb.gz")
        text = bytes_field(1, number_field(1, 1) + number_field(2, 2))
        lines = b"".join(bytes_field(4, number_field(1, i + 1)) for i in range(frames))
        text += bytes_field(4, number_field(1, 1) + lines)
        for i in range(4000):
            if below:
                text += bytes_field(4, number_field(1, i + 2) + bytes_field(4, number_field(1, frames + 1 + i)))
            text += bytes_field(2, bytes_field(1, varint(1) + (varint(i + 2) if below else b"")) +
                                bytes_field(2, varint(1)))
        text += b"".join(bytes_field(5, number_field(1, i + 1) + number_field(2, i + 3)) for i in range(frames + 4000))
        text += b"".join(bytes_field(6, word) for word in [b"", b"cpu", b"nanoseconds"] +
                         [b"f%d" % i for i in range(frames + 4000)])
        with open(path, "wb") as out:
            out.write(gzip.compress(text))
        told = subprocess.Popen([fathom, "import", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _, errors = told.communicate()
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        check(f"a product of {what} is refused before it takes memory", told.returncode == 1 and
              "location 1 alone stands for" in errors and len(errors.splitlines()) == 1 and most < 600 << 10,
              (errors, most))


def period_profile(kind, period_unit, period, values, types, beside=False):
    """A function with one sample; beside: and as much of no known one."""
    strings = [b"", b"f", kind, period_unit] + [word for pair in types for word in pair]
    text = b"".join(bytes_field(1, number_field(1, 4 + 2 * i) + number_field(2, 5 + 2 * i))
                    for i in range(len(types)))
    text += bytes_field(2, bytes_field(1, varint(1)) +
                        bytes_field(2, b"".join(varint(value) for value in values)))
    if beside:
        text += bytes_field(2, bytes_field(2, b"".join(varint(value) for value in values)))
    text += bytes_field(4, number_field(1, 1) + bytes_field(4, number_field(1, 1)))
    text += bytes_field(5, number_field(1, 1) + number_field(2, 1))
    text += b"".join(bytes_field(6, string) for string in strings)
    text += bytes_field(11, number_field(1, 2) + number_field(2, 3)) + number_field(12, period)
    return gzip.compress(text)


def test_several_measures(folder):
    path, data = os.path.join(folder, "several.pb.gz"), os.path.join(folder, "several.data")
    for count, told_left in ((3, False), (12, True)):
        types = [(b"cpu", b"nanoseconds")] + [(b"event%d" % i, b"count") for i in range(count - 1)]
        with open(path, "wb") as out:
            out.write(period_profile(b"cpu", b"nanoseconds", 10 ** 7, [10 ** 9] + list(range(5, 4 + count)), types))
        told = run(fathom, "import", path)
        check("which measures trees have not is told once", told.returncode == 0 and
              told.stderr.count("trees and flame graphs do not show event0, event1") == 1, told.stderr)
        check("and how many there was no room for", ("3 sample types are left out" in told.stderr) == told_left,
              told.stderr)
        top = page(data, "top_procs/1-10/time/self/oa")
        row, = [row["cells"] for table in top["tables"] if table["name"] == "procs" for row in table["rows"]]
        check("tables have them", row.get("event1_self_event1") == 6, row)


def test_large_json(folder):
    """Nothing is made of the text but what is asked for: a tree of it would take 25 times as much."""
    path = os.path.join(folder, "large.json")
    stack, samples = ",".join(str(i % 7) for i in range(40)), 150000
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[' +
                  ",".join(f'{{"name":"f{i}"}}' for i in range(7)) + ']},"profiles":[{"type":"sampled",'
                  '"name":"p","unit":"none","samples":[' + ",".join([f"[{stack}]"] * samples) +
                  '],"weights":[' + ",".join(["1"] * samples) + "]}]}")
    started = subprocess.Popen([fathom, "import", path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    _, status, usage = os.wait4(started.pid, 0)
    check("speedscope's JSON takes a small multiple of its size", status == 0 and
          usage.ru_maxrss < 200 << 10, (os.path.getsize(path), usage.ru_maxrss))


def speedscope(path, profile):
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"$schema": "https://www.speedscope.app/file-format-schema.json",
                   "shared": {"frames": [{"name": "main"}, {"name": "a"}, {"name": "b"}]},
                   "profiles": [{"name": "t", "startValue": 0, "endValue": 100, **profile}]}, out)


def test_speedscope_closes_what_it_opened(folder):
    path = os.path.join(folder, "crossed.json")
    for closed, right in (((2, 1, 0), True), ((1, 2, 0), False)):
        events = [("O", 0), ("O", 1), ("O", 2)] + [("C", frame) for frame in closed]
        speedscope(path, {"type": "evented", "unit": "nanoseconds",
                          "events": [{"type": kind, "frame": frame, "at": 10 * at}
                                     for at, (kind, frame) in enumerate(events)]})
        told = run(fathom, "import", path)
        check("frames are closed in the order in which they were opened, or refused",
              (told.returncode == 0) == right and (right or "opened last" in told.stderr), told)


def test_bytes_without_blocks(folder):
    path, data = os.path.join(folder, "bytes.json"), os.path.join(folder, "bytes.data")
    speedscope(path, {"type": "sampled", "unit": "bytes", "samples": [[0], [0, 1]],
                      "weights": [10, 20]})
    run(fathom, "import", path)
    first = run(fathom, "report", data).stdout
    check("blocks that are not known are not 0", "30 bytes allocated" in first and
          "0 block" not in first, first)
    found = run(fathom, "report", "--json", "find/main", data).stdout
    check("nor are calls that are not known", '"time_self_count": null' in found, found)


def test_natures(folder):
    """What a file's figures are is told: a sampled heap is not exact, waiting is no CPU time."""
    data = {}
    for name, content in {
            "heap": period_profile(b"space", b"bytes", 524288, [4000, 2 << 20],
                                   [(b"alloc_objects", b"count"), (b"alloc_space", b"bytes")]),
            "heap2": period_profile(b"space", b"bytes", 524288, [4200, 21 << 17],
                                    [(b"alloc_objects", b"count"), (b"alloc_space", b"bytes")]),
            "mutex": period_profile(b"contentions", b"count", 1, [30, 5 * 10 ** 9],
                                    [(b"contentions", b"count"), (b"delay", b"nanoseconds")]),
            "long": period_profile(b"cpu", b"nanoseconds", 10 ** 7, [10 ** 6, 10 ** 13],
                                   [(b"samples", b"count"), (b"cpu", b"nanoseconds")],
                                   beside=True)}.items():
        path = os.path.join(folder, name + ".pb.gz")
        with open(path, "wb") as out:
            out.write(content)
        told = run(fathom, "import", "--program=served", path)
        check(f"{name} is read", told.returncode == 0, told)
        data[name] = os.path.join(folder, name + ".data")
    told = run(fathom, "diff", data["heap"], data["heap2"]).stdout
    check("a sampled heap is estimated", len(re.findall(r"estimated$", told, re.M)) == 2 and
          "exact" not in told, told)
    check("and a difference of few samples is none that can be told",
          "No single cause is significant" in told, told)
    told = run(fathom, "check", "--against", data["heap"], data["heap2"])
    check("nor does it break a limit", told.returncode == 0, told)
    text = run(fathom, "report", data["mutex"]).stdout
    check("waiting is no CPU time", "5,000 ms of time in" in text and "CPU time" not in text, text)
    facts = json.loads(run(fathom, "dump", "--json", data["mutex"]).stdout)["facts"]
    check("which stands in the profile", facts["natures"] == ["clock"], facts)
    told = run(fathom, "merge", "-o", os.path.join(folder, "mixed.data"), data["mutex"],
               data["long"])
    check("and is not added to CPU time", told.returncode == 1, told)
    out = os.path.join(folder, "both.data")
    told = run(fathom, "merge", "-o", out, data["heap"], data["heap2"])
    check("runs of one program are merged", told.returncode == 0, told)
    facts = json.loads(run(fathom, "dump", "--json", out).stdout)["facts"]
    check("and stay estimates", facts["natures"] == ["heap_sampled"] and
          facts["heap_period"] == 524288, facts)
    text = run(fathom, "report", "proc/f", data["long"]).stdout
    # Half of 2 * 10^6 samples of 10 ms: a deviation of 7 s. Squares of nanoseconds were cut at 2^64.
    found = re.search(r"±([\d.]+) ms", text)
    check("chance is that of the samples, also of many nanoseconds", found is not None and
          6500 < float(found[1]) < 25000, text)


def test_cplusplus_names(folder):
    path = os.path.join(folder, "cxx.folded")
    with open(path, "w", encoding="utf-8") as out:
        out.write("main;_ZN4tree6insertEi 7\n")
    run(fathom, "import", path)
    text = run(fathom, "export", "--to=folded", "-o", "-", os.path.join(folder, "cxx.data")).stdout
    check("names of C++ are demangled", "main;tree::insert(int) 7" in text, text)
    text = run(fathom, "dump", os.path.join(folder, "cxx.data")).stdout
    check("and the linker's is kept", "_ZN4tree6insertEi" in text, text)


def test_no_threads_are_made_up(folder):
    path = os.path.join(folder, "plain.folded")
    with open(path, "w", encoding="utf-8") as out:
        out.write(FOLDED)
    run(fathom, "import", path)
    data = os.path.join(folder, "plain.data")
    for form in ("pprof", "speedscope", "firefox", "callgrind"):
        run(fathom, "export", f"--to={form}", "-o", os.path.join(folder, "plain." + form), data)
    with gzip.open(os.path.join(folder, "plain.pprof")) as packed:
        check("no label of a thread", b"thread" not in packed.read())
    with open(os.path.join(folder, "plain.speedscope"), encoding="utf-8") as text:
        profiles = json.load(text)["profiles"]
    check("nor a profile each", [p["name"] for p in profiles] == ["samples (order is not time)"],
          profiles)
    with gzip.open(os.path.join(folder, "plain.firefox")) as packed:
        threads = json.load(packed)["threads"]
    check("nor a track each", len(threads) == 1 and threads[0]["name"].startswith("plain: "),
          [t["name"] for t in threads])
    with open(os.path.join(folder, "plain.callgrind"), encoding="utf-8") as text:
        lines = text.read()
    check("no arc was called 0 times, and why is told", "\ncalls=0 " not in lines and
          "desc: fathom: numbers of calls are not known" in lines, lines)


def test_what_is_not_known_is_not_compared(folder):
    one, two = os.path.join(folder, "one"), os.path.join(folder, "two")
    for name, count in ((one, 1200), (two, 3300)):
        with open(name + ".folded", "w", encoding="utf-8") as out:
            out.write(f"main;parse {count}\nmain;write 500\n")
        run(fathom, "import", name + ".folded")
    told = run(fathom, "check", "--against", one + ".data", two + ".data")
    check("what is known of both is held against the base when nobody says more",
          told.returncode == 1 and "samples total" in told.stdout, told)
    told = run(fathom, "check", "--against", one + ".data", one + ".data")
    check("which is kept by the same", told.returncode in (0, 1) and "error" not in
          told.stdout.replace("0 errors", ""), told)
    told = run(fathom, "check", "--against", one + ".data", "--expect=calls total <= +0 %",
               two + ".data")
    check("limits on calls that nobody knows are an error", told.returncode == 2, told)
    told = run(fathom, "diff", one + ".data", two + ".data")
    check("samples are compared, calls are not", "samples" in told.stdout and
          not re.search(r"^calls ", told.stdout, re.M) and "3,800" in told.stdout, told)


def record(time, kind, depth, address):
    return struct.pack("<QQ", time, kind | 5 << 3 | depth << 6 | address << 16)


def uftrace_folder(folder, records):
    os.makedirs(folder, exist_ok=True)
    parts = {
        "info": b"Ftrace!\0" + struct.pack("<IHBBQQHHI", 4, 40, 1, 2, 0, 0, 1024, 0, 0),
        "task.txt": b'SESS timestamp=1.0 pid=70 sid=00ab exename="/x/prog"\n'
                    b"TASK timestamp=1.1 tid=70 pid=70\n",
        "sid-00ab.map": b"400000-500000 r-xp 00000000 00:00 0      /x/prog build-id:12\n",
        "prog.sym": b"# symbols: 3\n0000000000001000 T main\n0000000000001100 t leaf\n"
                    b"0000000000001200 ? __sym_end\n",
        "70.dat": records,
    }
    for name, content in parts.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(content)


def test_uftrace_names(folder, trace):
    """Those in task.txt and in maps; with what they would lead to."""
    for name in ("sid-x", "x"):
        os.makedirs(os.path.join(trace, name))
    with open(os.path.join(folder, "outside.map"), "wb") as out:
        out.write(b"400000-500000 r-xp 00000000 00:00 0      /x/prog build-id:12\n")
    with open(os.path.join(folder, "prog.sym"), "wb") as out:
        out.write(b"0000000000001000 T main\n0000000000002000 ? __sym_end\n")

    def names():
        must(fathom, "import", trace)
        return said(fathom, "export", "--to=folded", "--measure=calls", "-o", "-", trace + ".data")

    with open(os.path.join(trace, "task.txt"), "wb") as out:
        out.write(b'SESS timestamp=1.0 pid=70 sid=x/../../outside exename="/x/prog"\n'
                  b"TASK timestamp=1.1 tid=70 pid=70\n")
    text = names()
    check("a session's name leads to no file outside the folder", "main thread;0x401000 1\n" in text, text)
    uftrace_folder(trace, b"".join((record(1000, 0, 0, 0x401000), record(2000, 1, 0, 0x401000))))
    os.remove(os.path.join(trace, "prog.sym"))
    with open(os.path.join(trace, "sid-00ab.map"), "wb") as out:
        out.write(b"400000-500000 r-xp 00000000 00:00 0      /x/../../prog build-id:12\n")
    text = names()
    check("nor does a library's", text == "main thread;0x401000 1\n", text)
    for name in ("sid-x", "x"):
        os.rmdir(os.path.join(trace, name))


def test_uftrace(folder):
    trace = os.path.join(folder, "u")
    main_at, leaf, beyond = 0x401000, 0x401140, 0x401300
    records = (record(1000, 0, 0, main_at) + record(1100, 0, 1, leaf) + record(1400, 1, 1, leaf) +
               record(1450, 0, 1, leaf) + record(1500, 1, 1, leaf) +
               record(1600, 0, 1, beyond) + record(1650, 1, 1, beyond) + record(2000, 1, 0, main_at))
    uftrace_folder(trace, records)
    told = run(fathom, "import", trace)
    check("a folder of uftrace is read", told.returncode == 0 and
          os.path.exists(trace + ".data"), told)
    text = run(fathom, "export", "--to=folded", "--measure=time", "-o", "-", trace + ".data").stdout
    check("time is what lies between entries and exits", text ==
          "main thread;main 600\nmain thread;main;leaf 350\nmain thread;main;0x401300 50\n", text)
    text = run(fathom, "export", "--to=folded", "--measure=calls", "-o", "-",
               trace + ".data").stdout
    check("and calls are counted", text ==
          "main thread;main 1\nmain thread;main;leaf 2\nmain thread;main;0x401300 1\n", text)
    test_uftrace_names(folder, trace)
    uftrace_folder(trace, records)
    child = record(1200, 0, 0, main_at) + record(1300, 1, 0, main_at)
    uftrace_folder(trace, records)
    with open(os.path.join(trace, "task.txt"), "ab") as out:
        out.write(b"FORK timestamp=1.2 pid=71 ppid=70\nTASK timestamp=1.3 tid=71 pid=71\n")
    with open(os.path.join(trace, "71.dat"), "wb") as out:
        out.write(child)
    run(fathom, "import", trace)
    text = run(fathom, "export", "--to=folded", "--measure=calls", "-o", "-",
               trace + ".data").stdout
    check("a process that was forked is read once",
          [line for line in text.splitlines() if "71" in line] ==
          ["process 71, thread 71;main 1"], text)
    uftrace_folder(trace, records[:-20])
    told = run(fathom, "import", trace)
    check("a record that is cut is told with its offset", told.returncode == 1 and
          "70.dat: offset 96: unexpected end" in told.stderr, told)
    uftrace_folder(trace, records[:48] + b"\0" * 16)
    told = run(fathom, "import", trace)
    check("and what is none", told.returncode == 1 and
          "70.dat: offset 48: not a record of uftrace" in told.stderr, told)
    uftrace_folder(trace, records[:48] + record(10, 0, 1, leaf))
    told = run(fathom, "import", trace)
    check("and time that runs backwards", told.returncode == 1 and
          "70.dat: offset 48: a time before" in told.stderr, told)


def page_of_profile(url):
    text = urllib.request.urlopen(url, timeout=PATIENCE).read().decode()
    return text if "imported from" in text else None


def test_view(folder):
    home = os.path.join(folder, "tmp")
    os.mkdir(home)
    server = subprocess.Popen([fathom, "view", "--no-open", os.path.join(folder, "a.folded")],
                              stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "TMPDIR": home})
    try:
        url = re.search(r"http\S+", server.stdout.readline())[0]
        text = wait_until(lambda: page_of_profile(url), "the file has been read")
        check("view shows such a file at once", "imported from folded stacks" in text, text)
        check("by its own name", "a.folded" in text, text)
    finally:
        server.send_signal(signal.SIGHUP)  # the terminal is closed
        server.wait(timeout=PATIENCE)
    check("and leaves nothing behind", os.listdir(home) == [], os.listdir(home))


def main():
    folder = tempfile.mkdtemp()
    try:
        test_large_json(folder)  # first: what this process had at most counts for those it starts
        test_folded(folder)
        test_standard_input_and_gzip(folder)
        test_faults(folder)
        test_there_and_back(folder)
        test_what_is_there_stays(folder)
        test_go(folder)
        test_product(folder)
        test_bomb(folder)
        test_speedscope_closes_what_it_opened(folder)
        test_bytes_without_blocks(folder)
        test_natures(folder)
        test_cplusplus_names(folder)
        test_no_threads_are_made_up(folder)
        test_several_measures(folder)
        test_what_is_not_known_is_not_compared(folder)
        test_uftrace(folder)
        test_view(folder)
    finally:
        shutil.rmtree(folder)
    end()


if __name__ == "__main__":
    main()

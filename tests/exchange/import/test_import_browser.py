#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces in Chrome's format, profiles of V8 and of Firefox: figures known by construction, and those of files of
others beside the values that another reader got.

usage: test_import_browser.py FATHOM"""
import glob
import json
import os
import sys
import tempfile

from exchange_lib import check, end, run, skip

fathom = os.path.abspath(sys.argv[1])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles")


def imported(content, name="trace.json"):
    with open(name, "w", encoding="utf-8") as out:
        out.write(content if isinstance(content, str) else json.dumps(content))
    return run(fathom, "import", "-o", "out.data", name)


def rows():
    told = run(fathom, "report", "--json", "top_procs/1-9999/time/both/oa", "out.data")
    return [row["cells"] for row in json.loads(told.stdout)["tables"][0]["rows"]]


def cells_of(name):
    """Of the functions of that name, in whatever category."""
    return [cells for cells in rows() if cells.get("proc_full") == name or
            "proc_full" not in cells and (cells["proc"] == name or cells["proc"].endswith(":" + name))]


def self_of(name, column=None):
    """Nanoseconds, or samples."""
    total = 0
    for cells in cells_of(name):
        if column is not None:
            total += cells.get(column) or 0
        elif "time_self_seconds" in cells:
            total += round(cells["time_self_seconds"] * 1e9)
        else:
            total += cells.get("time_self_ticks") or 0
    return total




def span(kind, ts, name=None, **more):
    event = {"ph": kind, "ts": ts, "pid": 1, "tid": 1, **more}
    if name is not None:
        event["name"] = name
    return event


def test_nesting():
    events = [span("X", 0, "outer", dur=100), span("X", 10, "inner", dur=20), span("B", 40, "begun"),
              span("X", 45, "deep", dur=5.5), span("E", 60), span("X", 70, "outer", dur=10)]
    told = imported({"traceEvents": events})
    check("spans nest", told.returncode == 0 and
          {name: self_of(name) for name in ("outer", "inner", "begun", "deep")} ==
          {"outer": 60000, "inner": 20000, "begun": 14500, "deep": 5500}, (told, rows()))
    check("a span is a call", {name: self_of(name, "calls_count") for name in ("outer", "inner", "begun", "deep")} ==
          {"outer": 2, "inner": 1, "begun": 1, "deep": 1}, rows())
    told = imported(events[::-1])
    check("an array alone, in another order", told.returncode == 0 and self_of("outer") == 60000, (told, rows()))
    told = imported(json.dumps(events)[:-1])
    check("an array that was never closed", told.returncode == 0 and self_of("outer") == 60000 and
          "does not end as it should" in told.stderr, told)
    told = imported(json.dumps(events)[:-1] + ",\n")
    check("and one with a comma at its end", told.returncode == 0 and self_of("outer") == 60000, told)
    told = imported(json.dumps(events)[:-20])
    check("one that is cut within an event is refused", told.returncode == 1 and "trace.json: offset " in told.stderr,
          told)


def test_what_does_not_nest():
    told = imported([span("X", 0, "a", dur=10), span("X", 5, "b", dur=10)])
    check("a span that ends after the one around it is cut there", told.returncode == 0 and
          (self_of("a"), self_of("b")) == (5000, 5000) and "1 span ends after the one around it" in told.stderr, told)
    told = imported([span("B", 0, "a"), span("B", 1, "b"), span("E", 3, "a"), span("E", 4, "b")])
    check("an end ends the innermost of its name, and what is within", told.returncode == 0 and
          (self_of("a"), self_of("b")) == (1000, 2000) and "1 end is of no span that began" in told.stderr, told)
    told = imported([span("B", 0, "a"), span("B", 1, "b"), span("X", 2, "c", dur=7)])
    check("what never ends ends at the last time", told.returncode == 0 and
          (self_of("a"), self_of("b"), self_of("c")) == (1000, 1000, 7000) and
          "2 spans never ended" in told.stderr, (told, rows()))
    told = imported([span("X", 3, "short", dur=1), span("X", 3, "long", dur=5), span("X", 3, "none", dur=0)])
    check("of one time the longer is the outer", told.returncode == 0 and
          (self_of("long"), self_of("short")) == (4000, 1000), rows())
    told = imported([span("X", 1, "a"), span("X", 2, "b", dur=1), span("b", 2, "x", id=1), span("C", 2, "n")])
    check("what is left out is told", told.returncode == 0 and "1 span without a duration is left out" in told.stderr and
          "1 asynchronous span is not in this tree" in told.stderr, told)


def test_no_time():
    told = imported({"traceEvents": [span("X", 5, "once", dur=0), span("X", 5, "once", dur=0)]})
    first = run(fathom, "report", "menu", "out.data").stdout
    check("a trace without any time says so, in front of all figures", told.returncode == 0 and
          "warning: all spans have the duration 0" in told.stderr and
          first.find("All spans have the duration 0") in range(1, first.find("calls of")), (told, first))
    told = imported({"traceEvents": [span("X", 5, "once", dur=0), span("X", 6, "twice", dur=1)]})
    check("not where one has", "duration 0" not in told.stderr, told)


def test_times():
    told = imported([span("X", 1700000000000000.25, "a", dur=0.125), span("X", "1700000000000001.5", "b", dur="2")])
    check("a fraction of microseconds since 1970 is kept, in strings, too", told.returncode == 0 and
          (self_of("a"), self_of("b")) == (125, 2000), (told, rows()))
    told = imported([span("X", 1e3, "a", dur=1.5e1)])
    check("exponents", told.returncode == 0 and self_of("a") == 15000, (told, rows()))
    for wrong in ({"ts": "soon"}, {"ts": None}, {"ts": 1e300}, {"ts": "9" * 30}):
        told = imported([{**span("X", 0, "a", dur=1), **wrong}])
        check(f"a time of {wrong['ts']!r} is refused", told.returncode == 1 and
              "trace.json: offset 1: expected a time in microseconds" in told.stderr, told)


def test_threads():
    events = [span("X", 0, "a", dur=1), span("X", 0, "a", dur=2, tid=2), span("X", 0, "a", dur=4, pid=9, tid="x"),
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "main"}},
              {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "browser"}}]
    told = imported(events)
    names = sorted(cells["proc"] for cells in rows())
    check("threads by name, of one name by number", told.returncode == 0 and
          [name for name in names if "a" != name.rpartition(":")[2]] ==
          ["main (browser 1)", "main (browser 1), thread 2", "thread x (process 9)"], (told, names))
    told = imported([span("i", 0, "x"), span("C", 0, "y")])
    check("without a span there is nothing", told.returncode == 1 and
          "trace.json: no span or sample is in it" in told.stderr, told)


def test_build():
    events = [span("X", 0, "ExecuteCompiler", dur=100), span("X", 10, "Source", dur=30, args={"detail": "a.h"}),
              span("b", 20, "Source", cat="Source", id=0, args={"detail": "b.h"}),
              span("e", 35, "Source", cat="Source", id=0), span("X", 0, "Total Source", dur=45, tid=7)]
    told = imported({"traceEvents": events, "beginningOfTime": 1})
    check("-ftime-trace: headers with their names, no sums", told.returncode == 0 and
          (self_of("ExecuteCompiler"), self_of("Source a.h"), self_of("Source b.h"), len(rows())) ==
          (70000, 15000, 15000, 3), (told, rows()))


def node(number, name, children=(), line=0, url="file:///x.js", **more):
    return {"id": number, "callFrame": {"functionName": name, "url": url, "lineNumber": line, "columnNumber": 0},
            "children": list(children), **more}


CPU = {"nodes": [node(1, "(root)", [2, 3], -1, ""), node(2, "f", [4], 6), node(3, "", (), 8), node(4, "g")],
       "startTime": 1000, "endTime": 1100, "samples": [2, 4, 4, 3], "timeDeltas": [10, 20, 30, 5]}


def test_cpuprofile():
    told = imported(CPU, "x.cpuprofile")
    check("V8: samples, and the time until the next one", told.returncode == 0 and
          {name: (self_of(name), round(self_of(name, "wall_time_self_s") * 1e6))
           for name in ("f", "g", "(anonymous)")} ==
          {"f": (1, 20), "g": (2, 35), "(anonymous)": (1, 35)}, (told, rows()))
    check("V8: what is called counts for its callers", cells_of("f")[0]["time_total_ticks"] == 3, rows())
    told = imported({**CPU, "timeDeltas": [10, 20, 30, -15]}, "x.cpuprofile")
    check("V8: samples in the order of time", told.returncode == 0 and
          round(self_of("(anonymous)", "wall_time_self_s") * 1e6) == 15, (told, rows()))
    told = imported({"nodes": [node(1, "(root)", [2]), node(2, "f", hitCount=5)]}, "x.cpuprofile")
    check("V8: hits where there are no samples", told.returncode == 0 and self_of("f") == 5, (told, rows()))
    told = imported({**CPU, "samples": [2, 4, 9, 3]}, "x.cpuprofile")
    check("V8: a sample of a node that is not there is told", told.returncode == 0 and
          "1 sample is of functions that are not in the file" in told.stderr, told)
    for changed, said in (({"nodes": [node(1, "a", [1])]}, "expected a node that is no other's child"),
                          ({"nodes": [node(1, "a", [2]), node(2, "b", [1])], "samples": [1], "timeDeltas": [1]},
                           "a node that stands below itself"),
                          ({"nodes": [node(1, "a"), node(1, "b")]}, "a second node 1"),
                          ({"nodes": [{"id": 1, "callFrame": 7, "functionName": ""}]}, 'expected a node with "id"'),
                          ({"timeDeltas": [1]}, "expected a number for each sample"),
                          ({"samples": []}, "no sample is in it")):
        told = imported({**CPU, **changed}, "wrong.cpuprofile")
        check(f"V8: {said}", told.returncode == 1 and "wrong.cpuprofile: " in told.stderr and said in told.stderr, told)


def test_heapprofile():
    head = {**node(1, "(root)", [{**node(2, "f", [{**node(3, "g"), "selfSize": 40}]), "selfSize": 2}]), "selfSize": 0}
    told = imported({"head": head, "samples": []}, "x.heapprofile")
    check("V8: bytes by context", told.returncode == 0 and (self_of("f"), self_of("g")) == (2, 40) and
          cells_of("f")[0]["time_total_ticks"] == 42, (told, rows()))
    deep = {**node(1000, "leaf"), "selfSize": 1}
    for number in range(200):
        deep = {**node(number, f"f{number}", [deep]), "selfSize": 0}
    told = imported({"head": deep}, "deep.heapprofile")
    check("V8: 200 functions within one another", told.returncode == 0 and
          cells_of("f199")[0]["time_total_ticks"] == 1, told)
    told = imported({"head": {**head, "selfSize": -1}}, "wrong.heapprofile")
    check("V8: a size below 0 is refused", told.returncode == 1 and "wrong.heapprofile: offset 9: " in told.stderr, told)


def test_profiles_in_traces():
    chunk = {"ph": "P", "pid": 1, "tid": 5, "id": "0x1", "name": "ProfileChunk"}
    first = {**chunk, "ts": 10, "args": {"data": {"cpuProfile": {"nodes": [
        {"id": 1, "callFrame": CPU["nodes"][0]["callFrame"]},
        {"id": 2, "parent": 1, "callFrame": CPU["nodes"][1]["callFrame"]}], "samples": [2, 2]},
        "timeDeltas": [5, 5]}}}
    second = {**chunk, "ts": 20, "args": {"data": {"cpuProfile": {"nodes": [
        {"id": 3, "parent": 2, "callFrame": CPU["nodes"][3]["callFrame"]}], "samples": [3]}, "timeDeltas": [7]}}}
    start = {**chunk, "ts": 1, "name": "Profile", "tid": 1, "args": {"data": {"startTime": 1}}}
    told = imported({"traceEvents": [second, start, first, {**chunk, "ts": 30, "args": {}}]})
    check("chunks of a profile, in any order", told.returncode == 0 and (self_of("f"), self_of("g")) == (2, 1) and
          cells_of("f")[0]["time_total_ticks"] == 3, (told, rows()))
    frames = {"1": {"name": "main", "category": "x"}, "2": {"name": "leaf", "parent": "1"}}
    told = imported({"traceEvents": [], "stackFrames": frames,
                     "samples": [{"tid": 1, "ts": 1, "sf": 2, "weight": 3}, {"tid": 1, "ts": 2, "sf": 1}, {"tid": 1}]})
    check("samples of stacks", told.returncode == 0 and
          (self_of("leaf"), self_of("main"), self_of("(no stack)")) == (3, 1, 1), (told, rows()))
    told = imported({"traceEvents": [], "stackFrames": {"1": {"name": "a", "parent": 1}},
                     "samples": [{"tid": 1, "ts": 1, "sf": 1}]})
    check("a frame within itself is refused", told.returncode == 1 and "or one within itself" in told.stderr, told)


STRINGS = ["main", "f (a.js:7:2)", "0x1010", "g", "b.js"]
GECKO = {"meta": {"version": 20, "interval": 1}, "libs": [{"name": "libx.so", "start": 0x1000, "end": 0x2000}],
         "threads": [{"name": "GeckoMain", "pid": 7, "stringTable": STRINGS,
                      "frameTable": {"schema": {"line": 0, "location": 1}, "data": [[0, 0], [0, 1], [0, 2]]},
                      "stackTable": {"schema": {"prefix": 0, "frame": 1}, "data": [[None, 0], [0, 1], [1, 2]]},
                      "samples": {"schema": {"time": 0, "stack": 1}, "data": [[1, 2], [2, 1], [3, None], [4], [5, 2]]}}]}
PROCESSED = {"meta": {"interval": 1, "preprocessedProfileVersion": 60, "sampleUnits": {"threadCPUDelta": "µs"}},
             "libs": [{"name": "libx.so"}],
             "shared": {"stringArray": STRINGS, "sources": {"filename": [4]},
                        "frameTable": {"func": [0, 1, 2]},
                        "funcTable": {"name": [0, 3, 2], "source": [None, 0, None], "lineNumber": [None, 9, None],
                                      "resource": [-1, -1, 0]},
                        "resourceTable": {"lib": [0]},
                        "stackTable": {"frame": [0, 1, 2], "prefix": [None, 0, 1]}},
             "threads": [{"name": "a", "pid": "1", "samples": {"stack": [2, 1, None], "weight": [3, None, 1],
                                                               "threadCPUDelta": [100, None, 7]}},
                         {"name": "a", "pid": "1", "samples": {"stack": [0], "threadCPUDelta": [5]}},
                         {"name": "idle", "pid": "1", "samples": {"stack": []}}]}


def test_firefox():
    told = imported(GECKO)
    check("Firefox: Gecko's rows", told.returncode == 0 and
          {name: self_of(name) for name in ("main", "f", "[libx.so]", "(no stack)")} ==
          {"main": 0, "f": 1, "[libx.so]": 2, "(no stack)": 2} and "2 of 5 samples have no stack" in told.stderr,
          (told, rows()))
    check("Firefox: a script's place is its file", any(cells["proc"] == "a.js:f" for cells in rows()), rows())
    nested = {"meta": {"version": 20, "interval": 1}, "threads": [],
              "processes": [GECKO, {"threads": [{**GECKO, "meta": {}}]}]}
    told = imported(nested)
    check("Firefox: processes, and processes among threads", told.returncode == 0 and self_of("f") == 2, (told, rows()))
    told = imported({"meta": {"interval": 1}, "libs": [], "threads": [json.dumps(GECKO)]})
    check("Firefox: a process as text", told.returncode == 0 and self_of("f") == 1, (told, rows()))
    told = imported({"meta": {"interval": 1}, "libs": [], "threads": ["{]"]})
    check("Firefox: that is not JSON", told.returncode == 1 and "within this text, at 1: expected" in told.stderr, told)
    told = imported({"fileType": "Recorded Performance Data", "profile": GECKO})
    check("Firefox: a recording of the developer tools", told.returncode == 0 and self_of("f") == 1, told)
    told = imported(PROCESSED)
    found = {name: (self_of(name), round(self_of(name, "cpu_time_self_s") * 1e6))
             for name in ("main", "g", "[libx.so]", "(no stack)")}
    check("Firefox: columns, weights and CPU time", told.returncode == 0 and
          found == {"main": (1, 5), "g": (1, 0), "[libx.so]": (3, 100), "(no stack)": (1, 7)}, (told, rows()))
    check("Firefox: threads of one name", sorted(cells["proc"] for cells in rows() if cells["proc"].startswith("a ")) ==
          ["a (1)", "a (1), 2"], rows())
    shared = {**PROCESSED["shared"], "stackTable": {"frame": [0, 1, 2], "prefixOffset": [0, 1, 1]}}
    told = imported({**PROCESSED, "shared": shared})
    check("Firefox: callers by their distance", told.returncode == 0 and cells_of("g")[0]["time_total_ticks"] == 4,
          (told, rows()))
    thread = PROCESSED["threads"][0]
    timed = {**PROCESSED, "threads": [{**thread, "samples": {"stack": [1], "weight": [2.5], "weightType": "tracing-ms"}}]}
    told = imported(timed)
    check("Firefox: milliseconds", told.returncode == 0 and self_of("g") == 2500000, (told, rows()))
    for changed, said in (({"stack": [9]}, "sample 0 of a (1) is of stack 9, of 3"),
                          ({"stack": [1], "weight": [-1]}, "a difference of two profiles"),
                          ({"stack": [1], "weight": [1e300]}, "the weights of a (1) are too large"),
                          ({"stack": []}, "no sample is in it")):
        told = imported({**PROCESSED, "threads": [{**thread, "samples": changed}]})
        check(f"Firefox: {said}", told.returncode == 1 and "trace.json: " in told.stderr and said in told.stderr, told)
    told = imported({**PROCESSED, "shared": {**shared, "stackTable": {"frame": [0, 1, 2], "prefix": [1, 2, 0]}}})
    check("Firefox: stacks that call each other are refused", told.returncode == 1 and
          "expected a frame, and a caller in front of it" in told.stderr, told)
    told = imported({"meta": {"interval": 1}, "threads": 7, "libs": []})
    check("Firefox: without threads", told.returncode == 1 and 'expected "threads"' in told.stderr, told)


# Self times of single spans in it hang on names that end others', which readers decide unlike.
AMBIGUOUS = {"simple_trace.json"}


def test_samples():
    paths = [path for kind in ("chrome-trace", "firefox")
             for path in sorted(glob.glob(os.path.join(SAMPLES, kind, "*.expected.json")))]
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        name = os.path.basename(path)[:-len(".expected.json")]
        told = run(fathom, "import", "-o", "out.data", path[:-len(".expected.json")])
        if expected["verdict"] != "open":
            check(f"{name} is refused", told.returncode == 1 and name in told.stderr, told)
            continue
        check(f"{name} is read", told.returncode == 0, told)
        found = rows()
        times = [cells.get("time_self_seconds", 0) for cells in found]
        build = expected.get("build_profile")
        totals = {measure["name"]: measure["total"] for measure in expected["measures"]}
        if build is not None:
            check(f"{name}: time of all", round(sum(times) * 1e6) == build["total_us"], (sum(times), build["total_us"]))
        elif totals.get("calls"):
            check(f"{name}: time of all", round(sum(times) * 1e9) == totals["wall"], (sum(times), totals))
        else:
            main = expected.get("cpu_profiles", [{"measures": expected["measures"]}])[0]["measures"][0]
            samples = sum(cells.get("time_self_ticks") or 0 for cells in found)
            check(f"{name}: {main['name']}", samples == main["total"], (samples, main))
        if build is None and name not in AMBIGUOUS:
            for row in expected.get("largest_self", []):
                if "firefox" in path and (" (" in row["name"] or row["name"].startswith("0x")):
                    continue  # a place is taken off, addresses are their library's
                check(f"{name}: {row['name']}", self_of(row["name"]) == row["value"], (self_of(row["name"]), row))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_nesting()
    test_what_does_not_nest()
    test_no_time()
    test_times()
    test_threads()
    test_build()
    test_cpuprofile()
    test_heapprofile()
    test_profiles_in_traces()
    test_firefox()
    test_samples()
    os.chdir("/")
end()

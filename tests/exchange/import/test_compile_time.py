#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of builds: folders of files as clang's -ftime-trace writes them, with figures known by construction.

usage: test_compile_time.py FATHOM"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from exchange_lib import check, end, run
from patience import PATIENCE

fathom = os.path.abspath(sys.argv[1])


def span(name, begin, duration, detail=None):
    event = {"pid": 7, "tid": 7, "ph": "X", "ts": begin, "dur": duration, "name": name}
    return {**event, "args": {"detail": detail}} if detail else event


def trace(*events):
    """As clang 14 writes it: sums on threads of their own stand behind the spans."""
    total = {"pid": 7, "tid": 8, "ph": "X", "ts": 0, "dur": 999999, "name": "Total Source",
             "args": {"count": 3, "avg ms": 1}}
    name = {"cat": "", "pid": 7, "tid": 7, "ts": 0, "ph": "M", "name": "thread_name", "args": {"name": "clang++"}}
    return json.dumps({"traceEvents": [*events, total, name], "beginningOfTime": 1795864325623106},
                      separators=(",", ":"))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def first_file(times=1):
    """clang names a header by the way to it, and a function by its symbol."""
    return trace(span("Source", 10, 100, "/usr/bin/../include/map"),
                 span("InstantiateClass", 40, 20 * times, "Box<int>"),
                 span("Frontend", 5, 200),
                 span("OptFunction", 300, 50, "_Z3useILi1EEii"),
                 span("Backend", 250, 150),
                 span("ExecuteCompiler", 0, 500))


def second_file(classes=("Box<int>", "Box<int>", "Box<char>")):
    return trace({"pid": 7, "tid": 7, "ph": "b", "id": 0, "cat": "Source", "ts": 10, "name": "Source",
                  "args": {"detail": "/usr/include/map"}},
                 {"pid": 7, "tid": 7, "ph": "e", "id": 0, "cat": "Source", "ts": 90, "name": "Source"},
                 *(span("InstantiateClass", 100 + 10 * at, 5, name) for at, name in enumerate(classes)),
                 span("Frontend", 5, 145),
                 span("ExecuteCompiler", 0, 300))


def build(folder, **more):
    write(f"{folder}/CMakeFiles/app.dir/src/a.cc.json", first_file(**more))
    write(f"{folder}/lib/b.json", second_file())
    write(f"{folder}/compile_commands.json", "[]")
    write(f"{folder}/.cmake/api/reply.json", '{"traceEvents": "of something else"}')
    return folder


def functions(data, column):
    rows = json.loads(run(fathom, "report", "--json", "top_procs/1-1000/time/both/oa", data).stdout)["tables"][0]["rows"]
    return {row["cells"].get("proc_full", row["cells"]["proc"].split(":", 1)[-1]): row["cells"][column] for row in rows}


def microseconds(data, column):
    return {name: round(seconds * 1e6) for name, seconds in functions(data, column).items()}


def test_figures():
    build("one")
    told = run(fathom, "import", "--compile-time", "one")
    check("a folder becomes a profile beside it", told.returncode == 0 and os.path.exists("one.data") and
          "compile times of 2 files are added up" in told.stderr and "granularity" in told.stderr, told)
    total = microseconds("one.data", "time_total_seconds")
    check("files have what they took", total["File CMakeFiles/app.dir/src/a.cc"] == 500 and total["File lib/b"] == 300,
          total)
    check("a header has what it took in all files, by whatever way it was found",
          total["Source /usr/include/map"] == 180 and microseconds("one.data", "time_self_seconds")
          ["Source /usr/include/map"] == 160, total)
    check("steps too", total["Frontend"] == 345 and total["Backend"] == 150 and total["ExecuteCompiler"] == 800, total)
    check("functions are named as in the source", total["OptFunction int use<1>(int)"] == 50, total)
    calls = functions("one.data", "calls_count")
    check("instantiations are counted", (calls["InstantiateClass Box<int>"], calls["InstantiateClass Box<char>"]) == (3, 1),
          calls)
    check("sums that clang writes beside the spans are left out", not any("Total" in name for name in total), total)
    check("all figures agree", run(fathom, "check", "one.data").returncode == 0)
    again = run(fathom, "import", "one/", "-o", "again.data")
    with open("one.data", "rb") as one, open("again.data", "rb") as other:
        check("the folder is known by what is in it, and gives the same", again.returncode == 0 and
              one.read() == other.read(), again)


def test_compared():
    build("before")
    build("after", times=3)
    write("after/lib/b.json", second_file(("Box<int>",) * 4))
    for folder in "before", "after":
        run(fathom, "import", folder)
    told = run(fathom, "diff", "--json", "before.data", "after.data")
    check("two builds are compared", told.returncode == 0 and "InstantiateClass Box<int>" in told.stdout, told)
    for limit, status in (('calls self "InstantiateClass Box<int>" <= 5', 0), ('calls self "InstantiateClass Box<int>" <= 4', 1),
                          ('calls self "InstantiateClass Box<int>" <= +1', 1),
                          ('calls self "InstantiateClass Box<int>" <= +2', 0),
                          ("calls self InstantiateClass Box* <= 5", 0), ("calls self InstantiateClass Box* <= 4", 1),
                          ("time Source */map <= 180 us", 0), ("time Source */map <= 100 us", 1)):
        told = run(fathom, "check", "--against", "before.data", "--expect", limit, "after.data")
        check(f"limit: {limit}", told.returncode == status, told)


def test_damaged():
    build("damaged")
    whole = first_file()
    write("damaged/cut.json", whole[:200] + whole[-40:])
    told = run(fathom, "import", "damaged")
    check("a damaged file is left out, which is said", told.returncode == 0 and
          re.search(r"1 files are damaged and left out: damaged/cut.json: offset \d+: expected", told.stderr) and
          "File cut" not in functions("damaged.data", "calls_count"), told)
    write("bad/cut.json", whole[:200] + whole[-40:])
    told = run(fathom, "import", "--compile-time", "bad")
    check("alone it is refused", told.returncode == 1 and "bad/cut.json: offset" in told.stderr and
          len(told.stderr.splitlines()) == 1, told)
    os.makedirs("empty/below")
    told = run(fathom, "import", "--compile-time", "empty")
    check("a folder without such files says how they are made", told.returncode == 1 and
          "empty: no file of clang's -ftime-trace is in it" in told.stderr and "clang++ -ftime-trace" in told.stderr, told)
    told = run(fathom, "import", "empty")
    check("without the option it is a folder", told.returncode == 1 and "is a directory" in told.stderr, told)
    os.symlink("..", "one/lib/round")
    os.symlink(os.path.abspath("damaged"), "one/linked")
    told = run(fathom, "import", "-o", "links.data", "one")
    check("links are not followed", told.returncode == 0 and "of 2 files" in told.stderr, told)


def test_view():
    build("viewed")
    with subprocess.Popen([fathom, "view", "--no-open", "viewed"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as server:
        line = server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)
    check("fathom view opens the folder itself", "/deep?" in line and "viewed" in line, line)
    check("and leaves nothing in it", sorted(os.listdir("viewed")) ==
          [".cmake", "CMakeFiles", "compile_commands.json", "lib"], os.listdir("viewed"))
    shutil.copy("one.data", "viewed/x.data")
    with subprocess.Popen([fathom, "view", "--no-open", "viewed"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as server:
        line = server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)
    check("where profiles are in it, these are served", "/deep?" not in line, line)


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    try:
        for test in test_figures, test_compared, test_damaged, test_view:
            test()
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    end()


main()

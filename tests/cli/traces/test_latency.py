#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom log latency`: durations of segments against a sort of those that were written, and against the
statistics, of samples too where FATHOM_SAMPLE_DATA names their folder: test_latency.py FATHOM CTF_WRITE
GENERATOR. Speaks TAP."""
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap

FATHOM, CTF_WRITE, GENERATOR = sys.argv[1:4]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-log-latency-"))
READS = 700


def run(*arguments, status=0):
    done = subprocess.run([FATHOM, "log", *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def rows(*arguments):
    page = json.loads(run(*arguments, "--json").stdout)
    return [row["cells"] for row in page["tables"][0]["rows"]]


def ns(seconds):
    return round(seconds * 1e9)


def write_reads():
    """One thread that reads again and again. Returns (begin, end) of each read, from the first event."""
    chance = random.Random(3)
    time, spans = 1000, []
    lines = ['1000 0 sched_switch prev_comm="swapper/0" prev_tid=0 prev_state=0 next_comm="cat" next_tid=7']
    for number in range(READS):
        begin = time + chance.randrange(100, 5000)
        time = begin + int(math.exp(chance.uniform(math.log(50), math.log(5e6))))
        lines += [f"{begin} 0 syscall_entry_read fd={number}", f"{time} 0 syscall_exit_read ret=1"]
        spans.append((begin - 1000, time - 1000))
    folder = FOLDER / "reads"
    subprocess.run([CTF_WRITE, folder], input="\n".join(lines) + "\n", text=True, check=True, timeout=PATIENCE)
    return folder, spans


def check_durations(row, spans, begin=0, end=math.inf):
    """The row against those of the spans that are in [begin, end)."""
    inside = [(a, b) for a, b in spans if b > begin and a < end]
    durations = sorted(b - a for a, b in inside)
    assert row["count"] == len(inside), row
    assert ns(row["total_seconds"]) == sum(min(b, end) - max(a, begin) for a, b in inside), row
    assert ns(row["longest_seconds"]) == durations[-1], row
    longest = max(inside, key=lambda span: span[1] - span[0])
    assert row["longest_at_ns"] == longest[0], row
    assert abs(row["mean_seconds"] * 1e9 - sum(durations) / len(durations)) < 1, row
    for part in 50, 90, 99:
        right = durations[math.ceil(part / 100 * len(durations)) - 1]
        assert abs(row[f"p{part}_seconds"] * 1e9 - right) <= right / 256 + 1, (part, row, right)


def test_against_a_sort():
    folder, spans = write_reads()

    def read_of(*more):
        (found,) = [row for row in rows("latency", folder, *more)
                    if row["name"] == "read" and row["lanes"] == "thread"]
        return found

    check_durations(read_of(), spans)
    middle = (spans[300][0] + spans[300][1]) // 2
    end = spans[500][0]
    check_durations(read_of("--from", f"{middle}ns", "--to", f"{end}ns"), spans, middle, end)
    slow = [span for span in spans if span[1] - span[0] >= 1000000]
    assert 0 < len(slow) < len(spans)
    check_durations(read_of("--least", "1ms"), slow)
    fast = [span for span in spans if span[1] - span[0] <= 1000]
    check_durations(read_of("--most", "1us"), fast)
    check_durations(read_of("--lane", "nothing", "--lane", "ca?"), spans)
    told = run("latency", "--lane", "nothing*", folder, status=1).stderr
    assert "no lane has a name like 'nothing*'" in told, told


def test_groups():
    folder = FOLDER / "reads"
    names = rows("latency", folder)
    for by, key in ("state", None), ("lane", "cat"), ("kind", "thread"):
        groups = rows("latency", "--by", by, folder)
        for kind in {row["lanes"] for row in names}:
            assert (sum(row["count"] for row in names if row["lanes"] == kind) ==
                    sum(row["count"] for row in groups if row["lanes"] == kind)), (by, kind)
        assert key is None or key in [row["name"] for row in groups], (by, groups)
    assert "system call" in [row["name"] for row in rows("latency", "--by", "state", folder)]


def test_stacks():
    """Reads lie in the thread's user mode; self is what is left of it."""
    folder, spans = FOLDER / "reads", sum(row["count"] for row in rows("latency", FOLDER / "reads", "--lane", "cat")
                                          if row["name"] == "read")
    nodes = rows("latency", "--by", "stack", "--lane", "cat", folder)
    assert spans == READS
    path, found = [], {}
    for row in nodes:
        path[row["level"]:] = [row["name"].strip("\u2003")]
        found[tuple(path)] = row
    reads = [path for path in found if path[-1] == "read"]
    assert sum(found[path]["count"] for path in reads) == READS, found
    by_name = {row["name"]: row for row in rows("latency", "--lane", "cat", folder) if row["lanes"] == "thread"}
    for name, row in by_name.items():
        of_name = [found[path] for path in found if path[-1] == name]
        assert sum(ns(one["self_seconds"]) for one in of_name) == ns(row["self_seconds"]), (name, of_name, row)
    told = run("latency", "--by", "stack", "--least", "1ms", folder, status=2).stderr
    assert "--by stack takes neither --least nor --most" in told, told


def compare(trace):
    """Both count each name on each kind of lane, made apart from each other."""
    mine, theirs = {}, {}
    for row in rows("latency", trace):
        key = row["lanes"], row["name"]
        count, self_ns = mine.get(key, (0, 0))
        mine[key] = count + row["count"], self_ns + ns(row["self_seconds"])
    for row in rows("stat", "--by", "state", trace):
        key = row["lanes"], row["state"]
        count, self_ns = theirs.get(key, (0, 0))
        theirs[key] = count + row["count"], self_ns + ns(row["own_time_seconds"])
    assert len(mine) > 3, mine
    assert mine.keys() == theirs.keys(), mine.keys() ^ theirs.keys()
    for key, (count, self_ns) in mine.items():
        assert count == theirs[key][0], (key, count, theirs[key])
        assert abs(self_ns - theirs[key][1]) <= 2 + count, (key, self_ns, theirs[key])


def test_against_the_statistics():
    log = FOLDER / "made.eventlog"
    subprocess.run([GENERATOR, "--events", "30000", "--caps", "3", log], check=True, timeout=PATIENCE,
                   stdout=subprocess.DEVNULL)
    compare(log)
    samples = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", "none"))
    for name in "eventlog/conc.eventlog", "ctf/bug446190", "ctf/perf-taskset2":
        if (samples / name).exists():
            compare(samples / name)


def test_words():
    folder = FOLDER / "reads"
    text = run("latency", folder).stdout
    assert "read" in text and "Longest" in text, text
    lines = run("latency", "--csv", folder).stdout.splitlines()
    assert any(line.startswith("group,thread,read,700,") for line in lines), lines
    told = run("latency", "--by", "colour", folder, status=2).stderr
    assert "expected one of name, state, lane, kind" in told, told
    run("latency", status=2)
    run("latency", "--json", "--csv", folder, status=2)
    told = run("latency", "--from", "2", "--to", "1", folder, status=2).stderr
    assert "--from 2 is after --to 1" in told, told
    told = run("latency", FOLDER / "none", status=1).stderr
    assert "none" in told, told


tests = [test_against_a_sort, test_groups, test_stacks, test_against_the_statistics, test_words]
tap = Tap()
for test in tests:
    tap.case(test)
shutil.rmtree(FOLDER)
sys.exit(tap.done())

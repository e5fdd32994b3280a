#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom log query` against sums made here of what was written, and against the other commands:
test_query.py FATHOM CTF_WRITE GENERATOR ROOT. Each query of the manual, documents and pages runs. Speaks TAP."""
import collections
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap

FATHOM, CTF_WRITE, GENERATOR, ROOT = sys.argv[1:5]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-log-query-"))
CALLS = ["read", "write", "futex"]


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


def write_calls():
    """A thread on each of two CPUs that calls again and again. Returns (thread, call, begin, end, fd)."""
    chance = random.Random(8)
    lines, spans = [], []
    for cpu, (name, tid) in enumerate([("cat", 7), ("dog", 8)]):
        time = 1000 + cpu
        lines.append((time, f'{time} {cpu} sched_switch prev_comm="swapper/{cpu}" prev_tid=0 prev_state=0 '
                            f'next_comm="{name}" next_tid={tid}'))
        for number in range(300):
            call = chance.choice(CALLS)
            begin = time + 2 * chance.randrange(50, 3000)
            time = begin + 2 * int(math.exp(chance.uniform(math.log(20), math.log(1e6))))
            lines += [(begin, f"{begin} {cpu} syscall_entry_{call} fd={number % 5}"),
                      (time, f"{time} {cpu} syscall_exit_{call} ret={number % 7}")]
            spans.append((name, call, begin - 1000, time - 1000, number % 5))
    folder = FOLDER / "calls"
    subprocess.run([CTF_WRITE, folder], input="\n".join(line for _, line in sorted(lines)) + "\n", text=True,
                   check=True, timeout=PATIENCE)
    return folder, spans


FOLDER_OF_CALLS, SPANS = write_calls()


def percentile(durations, part):
    return sorted(durations)[max(1, math.ceil(part / 100 * len(durations))) - 1]


def test_against_sums():
    wanted = collections.defaultdict(list)
    for name, call, begin, end, _ in SPANS:
        if end - begin >= 1000:
            wanted[name, call].append(end - begin)
    found = rows("query", "where segment.name != running & segment.state = \"system call\" & lane.kind = thread & "
                 "segment.duration >= 1us | group by lane.name, segment.name | show count, sum, mean, min, max, p50, p99 "
                 "| order by p99 desc", FOLDER_OF_CALLS)
    assert {(row["lane_name"], row["segment_name"]) for row in found} == set(wanted), found
    for row in found:
        durations = wanted[row["lane_name"], row["segment_name"]]
        of = {key.split("_")[0]: value for key, value in row.items()}
        assert of["count"] == len(durations), row
        assert (ns(of["sum"]), ns(of["min"]), ns(of["max"])) == (sum(durations), min(durations), max(durations)), row
        assert abs(of["mean"] * 1e9 - sum(durations) / len(durations)) < 1, row
        for part in 50, 99:
            right = percentile(durations, part)
            assert abs(of[f"p{part}"] * 1e9 - right) <= right / 256 + 1, (part, row, right)
    order = [row["p99_segment_duration_seconds"] for row in found]
    assert order == sorted(order, reverse=True), order


def test_steps_of_time():
    wanted = collections.Counter(begin // 10000000 for _, _, begin, _, _ in SPANS)
    found = rows("query", 'lane.kind = thread & segment.state = "system call" | group by segment.start every 10ms | '
                 "show count | limit 100000", FOLDER_OF_CALLS)
    assert [ns(row["segment_start_every_10ms_seconds"]) for row in found] != [], found
    assert {ns(row["segment_start_every_10ms_seconds"]) // 10000000: row["count"] for row in found} == wanted


def test_events():
    wanted = collections.Counter((call, fd) for _, call, _, _, fd in SPANS)
    found = rows("query", "event.name = syscall_entry_* | group by event.name, event.field.fd | "
                 "show count, min(event.field.fd), sum(event.field.fd)", FOLDER_OF_CALLS)
    for row in found:
        call, fd = row["event_name"].removeprefix("syscall_entry_"), row["event_field_fd"]
        count = wanted.pop((call, fd))
        assert (row["count"], row["min_event_field_fd"], row["sum_event_field_fd"]) == (count, fd, fd * count), row
    assert not wanted, wanted
    by_lane = rows("query", "event.name = syscall_exit_* | group by lane.name", FOLDER_OF_CALLS)
    assert {row["lane_name"]: row["count"] for row in by_lane} == {"cat": 300, "dog": 300}, by_lane
    end = sorted(end for *_, end, _ in SPANS)[100]
    early = rows("query", "event.name = syscall_exit_* | show count", "--to", f"{end}ns", FOLDER_OF_CALLS)
    assert early[0]["count"] in (100, 101), early


def test_against_latency():
    """Self times and totals are those of the other command, of any log."""
    log = FOLDER / "made.eventlog"
    subprocess.run([GENERATOR, "--events", "30000", "--caps", "3", log], check=True, timeout=PATIENCE,
                   stdout=subprocess.DEVNULL)
    latency = {(row["lanes"], row["name"]): row for row in rows("latency", log)}
    found = rows("query", "group by lane.kind, segment.name | show count, sum(segment.self), sum, max", log)
    assert len(found) == len(latency) > 5
    compared = 0
    for row in found:
        right = latency[row["lane_kind"], row["segment_name"]]
        assert row["count"] == right["count"], (row, right)
        if "longest_seconds" in right and right["longest_seconds"] is not None:
            assert ns(row["max_segment_duration_seconds"]) == ns(right["longest_seconds"]), (row, right)
        if ns(row["sum_segment_duration_seconds"] or 0) == ns(right["total_seconds"]):  # none was open at the end
            compared += 1
            assert ns(row["sum_segment_self_seconds"]) == ns(right["self_seconds"]), (row, right)
    assert compared > 1, found


def test_many_groups():
    """Percentiles are kept of the first 8192 groups alone; all are counted."""
    found = rows("query", "group by segment.start, segment.name, lane.key, lane.kind | show count, p50, max | limit 1000000",
                 FOLDER / "made.eventlog")
    assert len(found) > 8192, len(found)
    known = [row for row in found if row["p50_segment_duration_seconds"] is not None]
    assert 8000 < len(known) <= 8192, (len(known), len(found))
    assert sum(row["count"] for row in found) == rows("query", "show count", FOLDER / "made.eventlog")[0]["count"]


def test_forms():
    text = run("query", "group by segment.name", FOLDER_OF_CALLS).stdout
    assert re.search(r"^futex +\|", text, re.M), text
    lines = run("query", "--csv", "lane.name = cat | group by segment.name | show count", FOLDER_OF_CALLS).stdout.splitlines()
    assert lines[0].endswith("segment_name,count"), lines
    limited = run("query", "group by segment.name | limit 1", FOLDER_OF_CALLS).stdout
    assert re.search(r"and \d+ more groups; limit shows more", limited), limited
    nothing = run("query", "segment.name = none", FOLDER_OF_CALLS)
    assert "nothing passes the query" in nothing.stderr, nothing
    lane = rows("query", "lane.kind = thread & segment.name = read | show count", "--lane", "c?t", FOLDER_OF_CALLS)
    assert lane[0]["count"] == sum(name == "cat" and call == "read" for name, call, *_ in SPANS), lane
    either = rows("query", "(segment.name = read | segment.name = write) & lane.kind = thread | show count", FOLDER_OF_CALLS)
    assert either[0]["count"] == sum(call in ("read", "write") for _, call, *_ in SPANS), either


def test_refused():
    for query, expected in [("group by colour", "'colour' is not a field of segments"),
                            ("show p200", "a percentile as p99"),
                            ("show sum(segment.name)", "a field with numbers"),
                            ("order by colour", "expected one of its columns"),
                            ("limit 0", "expected a number of rows"),
                            ("group by segment.name every 5", "FIELD every STEP"),
                            ("group by segment.start every 0s", "FIELD every STEP"),
                            ("events | show sum", "a field in brackets"),
                            ("segments | event.name = x", "a field of segments"),
                            ("segment.name", "one of = !="),
                            ("event.name = x | show sum(segment.self)", "is not a field of events")]:
        told = run("query", query, FOLDER_OF_CALLS, status=2).stderr
        assert expected in told, (query, told)
    run("query", "group by segment.name", status=2)
    run("query", "--lane", "x", "events", FOLDER_OF_CALLS, status=2)
    run("query", "group by segment.name", FOLDER / "none", status=1)


def test_queries_that_are_printed():
    root = pathlib.Path(ROOT)
    manual = re.findall(r"^fathom log query '([^']+)'", (root / "docs/man/fathom-log.1.scd").read_text(), re.M)
    text = (root / "docs/traces.md").read_text()
    tutorial = text.split("## Queries", 1)[1].split("```")[1].strip().splitlines()
    stories = text.split("## Three stories", 1)[1].split("## Filters", 1)[0].split("```")[1::2]
    assert len(stories) == 3, stories
    page = (root / "src/pages/trace/show_query.c").read_text().split("examples[] = {", 1)[1].split("};", 1)[0]
    script = (root / "web/trace/query.js").read_text().split("EXAMPLES = [", 1)[1].split("];", 1)[0]
    of_page, of_script = (re.findall(r'"([^"]+)"', text) for text in (page, script))
    assert of_page == of_script, (of_page, of_script)
    assert min(map(len, (manual, tutorial, of_page))) >= 3, (manual, tutorial, of_page)
    for query in [*manual, *tutorial, *of_page, *map(str.strip, stories)]:
        run("query", query, FOLDER_OF_CALLS)


tests = [test_against_sums, test_steps_of_time, test_events, test_against_latency, test_many_groups, test_forms, test_refused,
         test_queries_that_are_printed]
tap = Tap()
for test in tests:
    tap.case(test)
shutil.rmtree(FOLDER)
sys.exit(tap.done())

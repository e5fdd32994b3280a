#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time in `fathom diff` and limits: the whole by its clock, functions by all runs.

The programs differ by large factors, so that what is told does not depend on how busy the machine
is: the processor time of equal runs of 30 ms differs by up to 2 there.

usage: test_diff_time.py FATHOM"""
import json
import os
import sys
import tempfile

from exchange_lib import check, end, must, run, said

fathom = os.path.abspath(sys.argv[1])

PROGRAM = """
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone)) static
static volatile long sink;
OWN void turn(long n) { for (long i = 0; i < n * 100000; i++) sink += i; }
OWN void slow(long n) { for (long i = 0; i < n * 100000; i++) sink += i; }
OWN void other(void) { for (long i = 0; i < 1000; i++) sink += i; }
int main(int argc, char **argv) {
    for (int i = 0; i < 50; i++)
        other();
    turn(argc > 1 ? atol(argv[1]) : 0);
    slow(argc > 2 ? atol(argv[2]) : 0);
    return 0;
}
"""


def record(name, *arguments):
    said(fathom, "record", "-q", "-o", name, "--", "./prog", *arguments)
    return name + ".data"


def told(*arguments):
    """Facts, and rows by table and function."""
    document = json.loads(said(fathom, "diff", "--json", *arguments))
    rows = {}
    for table in document["tables"]:
        if table["name"].startswith("times"):
            rows[table["name"]] = {row["cells"]["function"]: row["cells"] for row in table["rows"]}
    return document["facts"], rows.get("times", {}), document


def a_hundred_times_as_slow():
    """One run of each side, one of which is over before the first tick."""
    short, long = record("short", "1", "1"), record("long", "1", "3000")
    facts, rows, _ = told(short, long)
    slow = rows.get("slow", {})
    check("time comes first where it differs", facts["measure"] == "time", facts)
    check("the whole is read from the clock", facts["clock"] and facts["whole_told"] and
          facts["whole_ratio_low"] > 10 and 0 < facts["whole_before"] < facts["whole_after"], facts)
    check("slow is significant, with at least how many times", slow.get("verdict") == "significant" and
          slow["ratio_low"] > 2 and slow["low"] > 0 and slow["p"] < 1e-3, rows)
    check("what has no sample is not known to be 0", slow.get("before") is not None or slow["ratio"] is None, slow)
    check("a pair is known to be one", facts["assumed"] and facts["variation_percent"] == 2, facts)
    text = said(fathom, "diff", short, long)
    check("text says so", "no change can be told" not in text and "slow" in text and
          "One run of each side" in text, text)
    back, rows, _ = told(long, short)
    check("the other way round it is gone, or less", rows["slow"]["verdict"] == "significant" and
          rows["slow"]["high"] < 0 and back["whole_ratio_high"] < 0.1, rows)
    facts, _, _ = told("--variation=5", short, long)
    check("another variation may be assumed", facts["variation_percent"] == 5, facts)


def several_runs():
    base = [record(f"a{i}", "600", "600") for i in range(4)]
    new = [record(f"b{i}", "600", "15000") for i in range(3)]
    facts, rows, document = told("--base", *base, "--new", *new, "--all-runs")
    check("runs are counted", (facts["runs_before"], facts["runs_after"], facts["assumed"]) == (4, 3, False), facts)
    check("what takes 25 times as long is significant", rows["slow"]["verdict"] == "significant" and
          9.4 < rows["slow"]["ratio"] < 62.5 and rows["slow"]["ratio_low"] > 1 and
          facts["measure"] == "time", rows)
    check("with its calls, which did not change",
          (rows["slow"]["calls_before_count"], rows["slow"]["calls_after_count"]) == (1, 1), rows["slow"])
    cause = [row["cells"] for table in document["tables"] if table["name"] == "causes" for row in table["rows"]][:1]
    check("it is slow itself", cause and cause[0]["what"].startswith("slow itself"), cause)
    check("main leads to it and is not listed", not any(table["name"] == "times_with_callees" and
          [row for row in table["rows"] if row["cells"]["function"] == "main"] for table in document["tables"]))
    again = run(fathom, "diff", "--base", *([base[0]] * 21), "--new", *new)
    check("over 20 runs are an error", again.returncode == 2 and "at most 20 files behind --base" in again.stderr, again)
    again = run(fathom, "diff", "--variation=-1", base[0], new[0])
    check("as is a variation below 0", again.returncode == 2 and "--variation" in again.stderr, again)
    return base, new


def imported(name, samples):
    with open(name, "w") as file:
        file.write(f"main;turn 600\nmain;slow {samples}\n")
    must(fathom, "import", "-o", name + ".data", name)
    return name + ".data"


def a_disturbed_run():
    """With counts of samples that are given: how far equal runs lie apart says what is far."""
    base = [imported(f"base{i}", 600 + 7 * i) for i in range(4)]
    new = [imported(f"new{i}", 15000 + 7 * i) for i in range(3)]
    odd = imported("odd", 23400)
    facts, _, document = told("--base", *base, odd, "--new", *new)
    notes = [item["text"] for item in document["text"] if "odd.data" in item.get("text", "")]
    check("a run that took another time than the others is left out, alone", facts["runs_before"] == 4 and
          len(notes) == 1 and "odd.data (24,000 samples)" in notes[0] and "base" not in notes[0], document["text"])
    facts, _, document = told("--base", *base, odd, "--new", *new, "--all-runs")
    check("unless all are wanted", facts["runs_before"] == 5 and "odd.data (" not in str(document["text"]), facts)
    apart = [imported(f"apart{i}", 600 << i) for i in range(4)]
    facts, _, document = told("--base", *apart, odd, "--new", *new)
    check("where equal runs lie far apart none is", facts["runs_before"] == 5 and
          "Left out" not in str(document["text"]), document["text"])


def limits(base, new):
    against = [f"--against={path}" for path in base]

    def judged(*arguments):
        answer = run(fathom, "check", "--json", *arguments)
        table, = json.loads(answer.stdout)["tables"]
        return answer.returncode, [row["cells"] for row in table["rows"]]
    status, rows = judged(*against, "--expect=time self slow ≤ +20 %", "--expect=time total <= +20 %",
                          "--expect=time self slow <= +100000 %", "--expect=time self slow <= 60 s", *new)
    check("limits take all runs of both sides", status == 1 and
          [row["verdict"] for row in rows] == ["broken", "broken", "kept", "kept"], rows)
    check("with the values of mean runs", rows[0]["before"] < rows[0]["after"] and
          rows[1]["after"] > rows[0]["after"], rows)
    status, rows = judged(f"--against={base[0]}", "--expect=time self other <= +5 %", base[1])
    check("where neither can be told, it says what would be needed, and nothing is broken", status == 0 and
          rows[0]["verdict"] == "not told" and
          ("runs a side" in rows[0]["why"] or "margin" in rows[0]["why"]), rows)
    status, rows = judged(*against, "--looks=5", "--expect=time self slow ≤ +20 %", *new)
    check("with several looks what is far beyond breaks still", status == 1 and rows[0]["verdict"] == "broken", rows)
    looks = run(fathom, "check", "--looks=21", f"--against={base[0]}", "--expect=time total <= +5 %", base[1])
    check("over 20 looks are an error", looks.returncode == 2 and "--looks is 2 to 20" in looks.stderr, looks)
    many = run(fathom, "check", *[f"--against={base[0]}"] * 21, "--expect=time total <= +5 %", base[1])
    check("over 20 runs are an error here, too", many.returncode == 2 and "20 runs a side" in many.stderr, many)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("prog.c", "w") as file:
        file.write(PROGRAM)
    must(fathom, "cc", "-O1", "-g", "prog.c", "-o", "prog")
    a_hundred_times_as_slow()
    a_disturbed_run()
    limits(*several_runs())
    os.chdir("/")
end()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom log critical-path` of a kernel trace whose waits are known: test_critical_path.py FATHOM CTF_WRITE.
Samples are read, too, where FATHOM_SAMPLE_DATA names their folder. Speaks TAP."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap

FATHOM, CTF_WRITE = sys.argv[1:3]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-log-critical-"))


def switch(time, cpu, before, after, state=0):
    def thread(which, one):
        tid, comm = one
        return f'{which}_comm="{comm}" {which}_tid={tid}'
    return f"{time} {cpu} sched_switch {thread('prev', before)} prev_state={state} {thread('next', after)}"


IDLE0, IDLE1, READER, WRITER = (0, "swapper/0"), (0, "swapper/1"), (7, "reader"), (8, "writer")
KERNEL = "\n".join([
    switch(1000, 0, IDLE0, READER),
    switch(1001, 1, IDLE1, WRITER),
    "2000 0 syscall_entry_read fd=3",
    switch(2500, 0, READER, IDLE0, 1),
    '5000 1 sched_wakeup comm="reader" tid=7 target_cpu=0',
    switch(5400, 0, IDLE0, READER),
    switch(6000, 0, READER, IDLE0, 1),
    '7000 1 irq_handler_entry irq=9 name="disk"',
    '7100 1 sched_wakeup comm="reader" tid=7 target_cpu=0',
    "7200 1 irq_handler_exit irq=9 ret=1",
    switch(7300, 0, IDLE0, READER),
    "7900 0 syscall_exit_read ret=4",
    switch(9000, 0, READER, IDLE0, 1),
    "9500 1 syscall_entry_write fd=4",
]) + "\n"


def run(*arguments, status=0):
    done = subprocess.run([FATHOM, "log", *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def ns(seconds):
    return round(seconds * 1e9)


def path_of(trace, thread, *more):
    page = json.loads(run("critical-path", trace, f"--thread={thread}", "--json", *more).stdout)
    tables = {table["name"]: [row["cells"] for row in table["rows"]] for table in page["tables"]}
    pieces = [(row["start_ns"], row["start_ns"] + ns(row["time_seconds"]), row["kind"], row["lane"], row["state"])
              for row in tables["path"]]
    return pieces, tables["parts"]


def write_kernel():
    folder = FOLDER / "kernel"
    if not folder.exists():
        subprocess.run([CTF_WRITE, folder], input=KERNEL, text=True, check=True, timeout=PATIENCE)
    return folder


def test_kernel():
    pieces, parts = path_of(write_kernel(), 7, "--from", "0ns", "--to", "8us")
    assert pieces == [
        (0, 1500, "running", "reader (7)", None),
        (1500, 4000, "running", "writer (8)", None),
        (4000, 4400, "ready", "reader (7)", "ready (woken)"),
        (4400, 5000, "running", "reader (7)", None),
        (5000, 6100, "interrupt", "reader (7)", pieces[4][4]),
        (6100, 6300, "ready", "reader (7)", "ready (woken)"),
        (6300, 8000, "running", "reader (7)", None)], pieces
    assert "disk" in pieces[4][4], pieces
    assert (parts[0]["kind"], parts[0]["lane"], ns(parts[0]["time_seconds"]), parts[0]["count"]) == \
           ("running", "reader (7)", 3800, 3), parts
    assert ns(sum(part["time_seconds"] for part in parts)) == 8000, parts
    # A part of the wait alone: what is before it is not the writer's.
    pieces, _ = path_of(write_kernel(), "reader", "--from", "2us", "--to", "4200ns")
    assert pieces == [(2000, 4000, "running", "writer (8)", None),
                      (4000, 4200, "ready", "reader (7)", "ready (woken)")], pieces


def test_words():
    kernel = write_kernel()
    text = run("critical-path", "--thread=reader", kernel).stdout
    assert "writer (8)" in text and "Share" in text, text
    told = run("critical-path", "--thread=nobody", kernel, status=1).stderr
    assert "no thread has the number or name 'nobody'" in told, told
    told = run("critical-path", "--thread=*er", kernel, status=2).stderr
    assert "expected one; by their numbers: reader (7), writer (8)" in told, told
    told = run("critical-path", kernel, status=2).stderr
    assert "--thread is missing" in told, told
    told = run("critical-path", "--thread=7", "--from", "1s", kernel, status=2).stderr
    assert "nothing lies between these times" in told, told


def test_samples():
    """Of whatever program, the pieces fill the interval."""
    samples = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", "none"))
    log = samples / "eventlog/conc.eventlog"
    if not log.exists():
        return "there are no samples"
    page = json.loads(run("critical-path", "--thread=2", "--json", log).stdout)
    pieces, parts = path_of(log, 2)
    assert len(pieces) > 3, pieces
    for before, after in zip(pieces, pieces[1:]):
        assert before[1] == after[0], (before, after)
    whole = page["facts"]["end_ns"] - page["facts"]["start_ns"] if "facts" in page else \
        page["end_ns"] - page["start_ns"]
    assert pieces[-1][1] - pieces[0][0] == whole, (pieces[0], pieces[-1], whole)
    assert abs(ns(sum(part["time_seconds"] for part in parts)) - whole) <= len(parts), parts
    return None


tests = [test_kernel, test_words, test_samples]
tap = Tap()
for test in tests:
    tap.case(test)
shutil.rmtree(FOLDER)
sys.exit(tap.done())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom log` on traces: CTF folders, filters, states, clocks: test_log_trace.py FATHOM CTF_WRITE
GENERATOR. Speaks TAP."""
import csv
import io
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap

FATHOM, CTF_WRITE, GENERATOR = sys.argv[1:4]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-log-trace-"))

KERNEL = """\
1000 0 sched_switch prev_comm="swapper/0" prev_tid=0 prev_state=0 next_comm="make" next_tid=7
2000 0 syscall_entry_read fd=3
2500 1 irq_handler_entry irq=9 name="eth0"
3000 0 syscall_exit_read ret=5
4000 0 sched_switch prev_comm="make" prev_tid=7 prev_state=1 next_comm="swapper/0" next_tid=0
"""


def run(*arguments, status=0):
    done = subprocess.run([FATHOM, "log", *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def write_ctf(name, text):
    folder = FOLDER / name
    subprocess.run([CTF_WRITE, folder], input=text, text=True, check=True, timeout=PATIENCE)
    return folder


def test_cat_of_ctf():
    folder = write_ctf("kernel", KERNEL)
    lines = run("cat", folder).stdout.splitlines()
    assert len(lines) == 5
    assert lines[1] == "   0.000001000    0 syscall_entry_read fd=3", lines[1]
    assert lines[2] == '   0.000001500    1 irq_handler_entry irq=9 name="eth0"', lines[2]
    line = json.loads(run("cat", "--json", "--from", "2us", "--to", "2us", folder).stdout)
    assert line == {"time_ns": 2000, "cap": 0, "type": "syscall_exit_read", "fields": {"ret": 5}}
    out = run("cat", "--csv", "--type", "sched_switch", folder).stdout
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["time_ns"], row["capability"], row["type"], row["next_comm"], row["next_tid"]) for row in rows] == [
        ("0", "0", "sched_switch", "make", "7"), ("3000", "0", "sched_switch", "swapper/0", "0")], out
    lists = write_ctf("lists", "1000 0 call args=[1,-2,3] t=\"[1]\"\n")
    fields = json.loads(run("cat", "--json", lists).stdout)["fields"]
    assert fields["args"] == [1, -2, 3] and fields["t"] == "[1]", fields
    out = run("cat", "--csv", "--cap", "1", folder).stdout
    assert out.splitlines()[1] == '1500,1,irq_handler_entry,"irq=9 name=""eth0"""', out
    out = run("cat", "--type", "sched_switch", "--type", "irq_handler_entry", folder).stdout
    assert [line.split()[2] for line in out.splitlines()] == ["sched_switch", "irq_handler_entry",
                                                              "sched_switch"], out
    done = run("cat", "--type", "irq_handler_entry", "--type", "shed_switch", folder, status=1)
    assert len(done.stdout.splitlines()) == 1, done.stdout
    assert "no event there has the type 'shed_switch'" in done.stderr, done.stderr


def test_filters():
    folder = FOLDER / "kernel"
    out = run("cat", "--filter", "state.execution_mode = SYSCALL & state.pid = 7", folder).stdout
    assert [line.split()[2] for line in out.splitlines()] == ["syscall_entry_read"], out
    out = run("cat", "--filter", "event.field.next_tid = 7 | event.name = *exit*", folder).stdout
    assert [line.split()[2] for line in out.splitlines()] == ["sched_switch", "syscall_exit_read"]
    out = run("cat", "--filter", "event.field.next_tid = 7 | event.name = *exit*", "--filter",
              "event.name = sched*", folder).stdout
    assert [line.split()[2] for line in out.splitlines()] == ["sched_switch"], out
    told = run("cat", "--filter", "event.cpu = 0", "--filter", "event.cpu=0) | (event.cpu=1", folder,
               status=2).stderr
    assert "offset 11" in told, told
    told = run("cat", "--filter", "event.name", folder, status=2).stderr
    assert "offset 10: found the end, expected one of = !=" in told, told
    log = FOLDER / "made.eventlog"
    subprocess.run([GENERATOR, "--events", "5000", "--caps", "3", log], check=True, timeout=PATIENCE,
                   stdout=subprocess.DEVNULL)
    every = run("cat", "--sort", log).stdout.splitlines()
    chosen = run("cat", "--filter", "event.cpu = 1", log).stdout.splitlines()
    assert 0 < len(chosen) < len(every)
    assert [line.split()[:3] for line in chosen] == \
           [line.split()[:3] for line in every if line.split()[1] == "1"]
    counted = json.loads(run("stat", "--json", "--filter", "event.cpu = 1", log).stdout)
    assert counted["events"] == len(chosen) and counted["caps"] == {"1": len(chosen)}, counted


def test_stat():
    folder = FOLDER / "kernel"
    counted = json.loads(run("stat", "--json", folder).stdout)
    assert counted == {"events": 5, "min_ns": 0, "max_ns": 3000, "time_0_utc": "1970-01-01T00:00:00.000001000Z", "caps": {"0": 4, "1": 1},
                       "types": {"irq_handler_entry": 1, "sched_switch": 2,
                                 "syscall_entry_read": 1, "syscall_exit_read": 1}}, counted
    assert "type sched_switch 2\n" in run("stat", folder).stdout
    page = json.loads(run("stat", "--by", "tree", "--json", folder).stdout)
    path, found = [], None
    for row in (row["cells"] for row in page["tables"][0]["rows"]):
        path = path[:row["depth"]] + [row["name"].strip()]
        if path == ["thread", "make", "read"]:
            found = (round(row["time_seconds"] * 1e9), row["count"])
    assert found == (1000, 1), page
    states = json.loads(run("stat", "--by", "state", "--json", folder).stdout)
    assert [row["cells"]["count"] for row in states["tables"][0]["rows"]
            if row["cells"]["lanes"] == "thread" and row["cells"]["state"] == "read"] == [1]
    assert "thread" in run("stat", "--by", "state", folder).stdout
    run("stat", "--by", "colour", folder, status=2)
    run("stat", "--by", "state", "--filter", "event.cpu = 1", folder, status=2)


def test_stat_by_covers_all():
    """More than the import's first round of blocks, and than one pipeful of what it tells."""
    events = 60000
    folder = write_ctf("long", "".join(f"{1000 + n * 10} {n % 2} tick n={n}\n"
                                       for n in range(events)))
    page = json.loads(run("stat", "--by", "type", "--json", folder).stdout)
    counts = [row["cells"]["events"] for row in page["tables"][0]["rows"]
              if "tick" in json.dumps(row)]
    assert counts == [events], page
    page = json.loads(run("stat", "--by", "type", "--json", "--to", "500us", folder).stdout)
    counts = [row["cells"]["events"] for row in page["tables"][0]["rows"]
              if "tick" in json.dumps(row)]
    assert counts == [50000], page


def test_cut_metadata():
    """Ends, says where the metadata is cut, and reads what is described."""
    folder = FOLDER / "cut-metadata"
    shutil.copytree(FOLDER / "kernel", folder)
    metadata = folder / "metadata"
    text = metadata.read_bytes()
    packet = struct.pack("<I16xIII5s", 0x75D11D57, 0, (37 + len(text)) * 8,
                         (137 + len(text)) * 8, bytes([0, 0, 0, 1, 8])) + text
    metadata.write_bytes(packet)
    done = run("cat", folder, status=1)
    assert len(done.stdout.splitlines()) == 5, done.stdout
    assert "metadata: offset 0: the file is cut: a packet of" in done.stderr, done.stderr
    metadata.write_bytes(packet[:60])
    told = run("cat", folder, status=1).stderr
    assert "metadata: offset 0: the file is cut" in told, told
    run("stat", "--by", "type", folder, status=1)


def test_hostile_texts():
    """What a terminal or a spreadsheet would act on."""
    told = run("cat", FOLDER / "no\x1b[31m", status=1).stderr
    assert "\x1b" not in told and "no\u241b[31m" in told, told
    told = run("stat", "--by", "colour\x1b[2J", FOLDER / "kernel", status=2).stderr
    assert "\x1b" not in told and "colour\u241b[2J" in told, told
    folder = write_ctf("hostile", '1000 0 =cmd t="=1+1"\n2000 0 @sum t="a,b"\n'
                       '3000 0 plain t="c\x1b[2J\x07"\n')
    lines = run("cat", "--csv", folder).stdout.splitlines()
    assert lines[1].startswith("0,0,'=cmd,"), lines
    assert lines[2].startswith("1000,0,'@sum,"), lines
    assert not any(ord(c) < 0x20 for line in lines for c in line), lines
    table = run("stat", "--by", "type", "--csv", folder).stdout
    assert ",'=cmd,1," in table and ",'@sum,1," in table, table


def test_damage():
    folder = FOLDER / "cut"
    shutil.copytree(FOLDER / "kernel", folder)
    stream = folder / "stream"
    os.truncate(stream, stream.stat().st_size - 3)
    done = run("cat", folder, status=1)
    assert len(done.stdout.splitlines()) == 1, done.stdout # what the other stream has
    assert "stream: damaged: " in done.stderr, done.stderr
    empty = FOLDER / "empty"
    empty.mkdir()
    assert "no folder with \"metadata\" in it" in run("cat", empty, status=1).stderr


def test_sync():
    messages = FOLDER / "messages"
    messages.write_text("2\n0 1 10.0 12.1\n0 1 20.0 22.1\n1 0 13.0 11.2\n1 0 23.0 21.2\n")
    found = json.loads(run("sync", "--json", "--messages", messages).stdout)
    assert found["pairs"] == [{"traces": [0, 1], "status": "accurate", "messages": 4}], found
    assert found["inversions"] == 0 and found["messages"] == 4
    drifts = [trace["drift"] for trace in found["traces"]]
    assert 10.9 / 11.2 < max(drifts) / min(drifts) < 9.1 / 8.8, drifts
    assert min(trace["offset_ns"] for trace in found["traces"]) == 0
    out = run("sync", "--stats", "--messages", messages).stdout
    assert "recorded             4           2        1800000000         0\n" in out, out
    here = write_ctf("here", '1000 0 AsyncBegin name="m" id=1\n3000 0 AsyncEnd name="r" id=1\n'
                     '8000 0 AsyncBegin name="m" id=2\n9000 0 AsyncEnd name="r" id=2\n')
    there = write_ctf("there", '71000 0 AsyncEnd name="m" id=1\n71500 0 AsyncBegin name="r" id=1\n'
                      '77600 0 AsyncEnd name="m" id=2\n77700 0 AsyncBegin name="r" id=2\n')
    found = json.loads(run("sync", "--json", here, there).stdout)
    assert found["pairs"][0]["status"] == "accurate" and found["messages"] == 4, found
    view = subprocess.Popen([FATHOM, "view", "--no-open", "--sync", here, there], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = ""
    while not line.startswith("fathom: serving"):
        line = view.stdout.readline()
        assert line, view.stderr.read()
        if line.startswith("  0   1"):
            assert "accurate" in line, line
    view.terminate()
    view.communicate(timeout=PATIENCE)
    messages.write_text("2\n0 7 1 2\n")
    assert "messages: line 2: expected" in run("sync", "--messages", messages, status=1).stderr
    run("sync", here, status=2)
    run("sync", "--method", "guess", here, there, status=2)


tests = [test_cat_of_ctf, test_filters, test_stat, test_stat_by_covers_all, test_cut_metadata,
         test_hostile_texts, test_damage, test_sync]
tap = Tap()
for test in tests:
    tap.case(test)
shutil.rmtree(FOLDER)
sys.exit(tap.done())

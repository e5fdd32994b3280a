#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom export` of traces: what stands in the files is what statistics count, both formats hold
the same, slices nest, and cut or unfit traces are told.

usage: test_trace_export.py FATHOM GENERATE_EVENTLOG"""
import collections
import csv
import io
import json
import os
import struct
import sys
import tempfile

from exchange_lib import check, end, must, run

fathom, generate = map(os.path.abspath, sys.argv[1:3])


# --- Chrome ---

def nanoseconds(microseconds):
    return round(microseconds * 1000)


class Chrome:
    def __init__(self, path):
        with open(path) as file:
            self.document = json.load(file)
        self.events = self.document["traceEvents"]
        names = {e["tid"]: e["args"]["name"] for e in self.events
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        groups = {e["pid"]: e["args"]["name"] for e in self.events
                  if e["ph"] == "M" and e["name"] == "process_name"}
        self.slices = collections.Counter()
        self.numbers = collections.Counter()
        self.marks = collections.Counter()
        self.by_lane = collections.defaultdict(list)
        for e in self.events:
            if e["ph"] == "M":
                continue
            lane = (groups[e["pid"]], names[e["tid"]])
            begin = nanoseconds(e["ts"])
            if e["ph"] == "X":
                end = begin + nanoseconds(e["dur"])
                self.slices[lane, e["name"], e["cat"], begin, end] += 1
                self.by_lane[e["pid"], e["tid"]].append((begin, end, e["name"]))
            elif e["ph"] == "C":
                self.numbers[lane, begin, e["args"]["value"]] += 1
            elif e["ph"] == "i":
                self.marks[lane, e["name"], begin] += 1
        self.arrows = [sorted(nanoseconds(e["ts"]) for e in self.events if e["ph"] == phase)
                       for phase in "sf"]

    def nests(self):
        for lane, slices in self.by_lane.items():
            open_until = []
            for begin, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
                while open_until and open_until[-1] <= begin:
                    open_until.pop()
                if open_until and end > open_until[-1]:
                    return False, (lane, begin, end, name, open_until)
                open_until.append(end)
        return True, None


# --- Perfetto: the wire format of protocol buffers, without a library ---

def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size = varint()
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        yield key >> 3, value


class Perfetto:
    """As a reader takes it: names by sequence, slices by track, times ascending in a sequence."""
    def __init__(self, path, start):
        with open(path, "rb") as file:
            data = file.read()
        tracks, names, open_slices = {}, {}, collections.defaultdict(list)
        self.slices, self.numbers = collections.Counter(), collections.Counter()
        self.marks, self.arrows = collections.Counter(), [[], []]
        self.wrong, latest, begun = [], {}, set()
        for number, packet in fields(data):
            assert number == 1
            packet = dict(fields(packet))
            if 60 in packet:
                track = dict(fields(packet[60]))
                parent = tracks.get(track.get(5))
                tracks[track[1]] = (parent[1], track[2].decode()) if parent else \
                    (None, track[2].decode())
                continue
            sequence, time = packet[10], packet[8] - start
            if (packet[13] & 1) != (sequence not in begun) or not packet[13] & 2:
                self.wrong.append(("flags", sequence, packet[13]))
            begun.add(sequence)
            if time < latest.get(sequence, 0):
                self.wrong.append(("time", sequence, time))
            latest[sequence] = time
            for kind, text in fields(packet.get(12, b"")):
                entry = dict(fields(text))
                names[sequence, kind, entry[1]] = entry[2].decode()
            event = dict(fields(packet[11]))
            lane, kind = tracks[event[11]], event[9]
            name = names.get((sequence, 2, event.get(10)))
            category = event.get(3)
            if isinstance(category, bytes):
                category = category[0]
            category = names.get((sequence, 1, category))
            if kind == 1:
                open_slices[event[11]].append((name, category, time))
            elif kind == 2:
                name, category, begin = open_slices[event[11]].pop()
                self.slices[lane, name, category, begin, time] += 1
            elif kind == 4:
                self.numbers[lane, time, struct.unpack("<d", event[44])[0]] += 1
            elif 47 in event:
                self.arrows[0].append(time)
            elif 48 in event:
                self.arrows[1].append(time)
            else:
                self.marks[lane, name, time] += 1
        self.open = sum(map(len, open_slices.values()))
        self.arrows = [sorted(times) for times in self.arrows]


def compare(name, log):
    must(fathom, "export", "--to=chrome", "-o", "t.json", log)
    must(fathom, "export", "--to=perfetto", "-o", "t.perfetto", log)
    chrome = Chrome("t.json")
    start = int(chrome.document["otherData"]["start_ns"])
    perfetto = Perfetto("t.perfetto", start)
    check(f"{name}: Chrome's slices nest in their lanes", *chrome.nests())
    check(f"{name}: Perfetto's sequences are whole and in order",
          not perfetto.wrong and perfetto.open == 0, perfetto.wrong[:5])
    check(f"{name}: both hold the same slices, counters, marks and arrows",
          chrome.slices and chrome.slices == perfetto.slices and
          chrome.numbers == perfetto.numbers and chrome.marks == perfetto.marks and
          chrome.arrows == perfetto.arrows,
          ((chrome.slices - perfetto.slices).most_common(3),
           (perfetto.slices - chrome.slices).most_common(3)))
    return chrome


def leaves(measure):
    told = must(fathom, "export", "--to=folded", f"--measure={measure}", "-o", "-", "back.data").stdout
    sums = collections.Counter()
    for line in told.splitlines():
        stack, _, number = line.rpartition(" ")
        sums[stack.rpartition(";")[2]] += int(number)
    return sums


def covered(events):
    """Nanoseconds in which each lane had an open slice, all lanes together; several may have one name."""
    lanes, sum_of = collections.defaultdict(list), 0
    for event in events:
        if event["ph"] == "X":
            begin = round(event["ts"] * 1000)
            lanes[event["pid"], event["tid"]].append((begin, begin + round(event["dur"] * 1000)))
    for spans in lanes.values():
        last = 0
        for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            sum_of += max(0, end - max(begin, last))
            last = max(last, end)
    return sum_of


def comes_back(name, chrome):
    """As a profile: every slice is a call of the function of its name."""
    calls = collections.Counter()
    for (_, function, _, _, _), slices in chrome.slices.items():
        calls[function] += slices
    expected = covered(chrome.document["traceEvents"])
    for path in ("t.json", "t.perfetto"):
        must(fathom, "import", "-o", "back.data", path)
        found, time = leaves("calls"), sum(leaves("wall").values())
        check(f"{name}: {path} is imported with all its slices", found == calls, (found - calls, calls - found))
        check(f"{name}: and all the time that they cover", abs(time - expected) <= sum(calls.values()), (time, expected))


def statistics(log):
    """Seconds by thread, as the statistics page counts them."""
    told = must(fathom, "log", "stat", "--by=thread", "--csv", log).stdout
    return {row["name"]: (float(row["time_seconds"]), int(row["count"]))
            for row in csv.DictReader(io.StringIO(told)) if row["role"] == "lane"}


def sums_are_those_of_the_statistics(chrome, log):
    times, counts = collections.Counter(), collections.Counter()
    for (lane, _, _, begin, end), slices in chrome.slices.items():
        if lane[0] == "threads":
            times[lane[1]] += (end - begin) * slices
            counts[lane[1]] += slices
    expected = statistics(log)
    check("time and number of slices of each thread are those of the statistics",
          expected and all(abs(times[name] / 1e9 - seconds) < 1e-9 and counts[name] == count
                           for name, (seconds, count) in expected.items()),
          [(name, times[name], counts[name], expected[name]) for name in list(expected)[:5]])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    must(generate, "--events=20000", "--caps=3", "--disorder=0", "made.eventlog")
    chrome = compare("a generated log", "made.eventlog")
    sums_are_those_of_the_statistics(chrome, "made.eventlog")
    comes_back("a generated log", chrome)
    sample = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "eventlog", "conc.eventlog")
    if os.path.exists(sample):
        comes_back("a real log", compare("a real log", sample))
    must(fathom, "export", "--to=chrome", "made.eventlog")
    check("the file stands beside the trace", os.path.exists("made.trace.json"), os.listdir("."))
    whole = must(fathom, "export", "--to=chrome", "-o", "-", "made.eventlog").stdout
    check("or goes to standard output", whole == open("made.trace.json").read())
    with open("made.eventlog", "rb") as file:
        bytes_of = file.read()
    for _ in range(50):  # on a busy machine it is no longer "just now" when the log is opened
        with open("cut.eventlog", "wb") as file:
            file.write(bytes_of[:len(bytes_of) * 2 // 3])
        told = run(fathom, "export", "--to=chrome", "-o", "now.json", "cut.eventlog")
        if told.returncode == 0:
            break
    check("a log that was written to just now may be written still, and that is said",
          "cut.eventlog may still grow" in told.stderr and Chrome("now.json").slices,
          told.stderr)
    os.utime("cut.eventlog", (1e9, 1e9))
    told = run(fathom, "export", "--to=chrome", "cut.eventlog")
    check("a cut log is written as far as it goes, and said to be cut",
          "cut.eventlog: offset" in told.stderr and Chrome("cut.trace.json").slices, told.stderr)
    with open("none.eventlog", "wb") as file:
        file.write(bytes_of[:40])
    os.utime("none.eventlog", (1e9, 1e9))
    told = must(fathom, "export", "--to=perfetto", "none.eventlog", status=1)
    check("what is no log leaves no file", "none.eventlog: offset" in told.stderr and
          not os.path.exists("none.perfetto-trace"), told.stderr)
    os.chdir("/")
end()

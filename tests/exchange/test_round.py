#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each format that is both written and read brings a profile back as it was: totals, trees, contexts, what is
known and how certain it is, of recordings and of samples.

usage: test_round.py FATHOM"""
import collections
import gzip
import json
import os
import re
import sys
import tempfile

from exchange_lib import bytes_field, check, end, must, number_field, run, said, varint

fathom = sys.argv[1]

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone))
OWN int leaf(int x) { volatile int sum = 0; for (int i = 0; i < x; i++) sum += i; return sum; }
OWN void *work(void *data) { char *volatile block = malloc(100); leaf(30); free(block); return data; }
OWN int deep(int x) { return x == 0 ? leaf(1) : deep(x - 1); }
int main(void) {
    pthread_t threads[3];
    void *volatile kept = malloc(50);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    return (leaf(2) + deep(3)) & 0 & (int)(long)kept;
}
"""

STACKS = {("main", "parse", "leaf"): 40, ("main", "parse"): 30, ("main", "run", "leaf"): 50,
          ("main", "run", "eval", "leaf"): 60, ("main", "run", "eval"): 20}


def perf_script(event):
    lines = []
    for number, (stack, count) in enumerate(STACKS.items()):
        for i in range(count):
            lines.append(f"prog 1/1 {number}.{i:06}: 1000000 {event}:")
            lines += [f"\t{4096 + 16 * depth:x} {function}+0x10 (/bin/prog)"
                      for depth, function in reversed(list(enumerate(stack)))]
            lines.append("")
    return "\n".join(lines) + "\n"


def pprof(types, period=None):
    """Each stack with its count in all of the sample types, by a factor of its own each."""
    strings = [b""]

    def text(word):
        if word not in strings:
            strings.append(word)
        return strings.index(word)

    functions = sorted({function for stack in STACKS for function in stack})
    out = b"".join(bytes_field(1, number_field(1, text(kind)) + number_field(2, text(unit))) for kind, unit, _ in types)
    for stack, count in STACKS.items():
        ids = b"".join(varint(functions.index(function) + 1) for function in reversed(stack))
        out += bytes_field(2, bytes_field(1, ids) + bytes_field(2, b"".join(varint(count * by) for _, _, by in types)))
    for i, function in enumerate(functions):
        out += bytes_field(4, number_field(1, i + 1) + bytes_field(4, number_field(1, i + 1)))
        out += bytes_field(5, number_field(1, i + 1) + number_field(2, text(function.encode())))
    if period:
        out += bytes_field(11, number_field(1, text(period[0])) + number_field(2, text(period[1])))
        out += number_field(12, period[2])
    return gzip.compress(out + b"".join(bytes_field(6, word) for word in strings))


GIVEN = {
    "samples of time": perf_script("cpu-clock"),
    "samples of an event": perf_script("cycles"),
    "folded stacks": "".join(f"{';'.join(stack)} {count}\n" for stack, count in STACKS.items()),
    "delays beside CPU time": pprof([(b"contentions", b"count", 3), (b"delay", b"nanoseconds", 10 ** 7),
                                     (b"cpu", b"nanoseconds", 10 ** 5)]),
    "CPU time with its samples": pprof([(b"samples", b"count", 1), (b"cpu", b"nanoseconds", 10 ** 7)],
                                       (b"cpu", b"nanoseconds", 10 ** 7)),
    "a sampled heap": pprof([(b"alloc_objects", b"count", 100), (b"alloc_space", b"bytes", 10 ** 5),
                             (b"inuse_objects", b"count", 7), (b"inuse_space", b"bytes", 999)],
                            (b"space", b"bytes", 524288)),
    "counts alone": pprof([(b"calls", b"count", 3), (b"alloc_objects", b"count", 5), (b"alloc_space", b"bytes", 80),
                           (b"free_objects", b"count", 4), (b"free_space", b"bytes", 64)]),
}


def measures(data):
    """The names of its columns, as exports call them."""
    told = must(fathom, "export", "--to=folded", "--measure=none-of-them", "-o", "-", data, status=2).stderr
    return re.search(r"expected one of (.*)", told)[1].split(", ")


def stacks_by(data, measure):
    """Own cost of each path of names."""
    sums = collections.Counter()
    for line in said(fathom, "export", "--to=folded", f"--measure={measure}", "-o", "-", data).splitlines():
        path, number = line.rsplit(" ", 1)
        sums[path] += int(number)
    return dict(sums)


def facts(data):
    document = json.loads(said(fathom, "dump", "--json", data))
    known = {key: document["facts"].get(key) for key in ("natures", "sample_count", "sample_squares", "heap_period")}
    return known, {key: document["stats"][key] for key in ("ticks_per_sec", "user_quanta")}, document["stats"]["max_pd"]


def units(data):
    document = json.loads(said(fathom, "dump", "--json", data))
    return document.get("measures") or document["facts"].get("measures")


def there_and_back(folder, data, to):
    out, back = os.path.join(folder, f"out.{to}"), os.path.join(folder, "back.data")
    must(fathom, "export", f"--to={to}", "-o", out, data)
    told = must(fathom, "import", f"--program={os.path.basename(data)[:-5]}", "-o", back, out)
    return out, back, told.stderr


def check_stacks(folder, what, data):
    before = {measure: stacks_by(data, measure) for measure in measures(data)}
    for to in ("pprof", "speedscope", "otlp", "firefox"):
        _, back, _ = there_and_back(folder, data, to)
        check(f"{what} by {to}: the same measures", measures(back) == list(before), (measures(back), list(before)))
        after = {measure: stacks_by(back, measure) for measure in before if measure in measures(back)}
        check(f"{what} by {to}: the same costs in the same stacks", after == before, (before, after))
        check(f"{what} by {to}: as certain, in the same units", facts(back)[:2] == facts(data)[:2] and
              units(back) == units(data), (facts(data), facts(back)))
        check(f"{what} by {to}: as many contexts", facts(back)[2] == facts(data)[2], (facts(data), facts(back)))
        for page in ("tree/time/down/9/all", "tree/calls/down/9/all", "tree/bytes/down/9/all"):
            one, other = run(fathom, "report", "--json", page, data), run(fathom, "report", "--json", page, back)
            rows = [[[row["cells"] for table in json.loads(told.stdout)["tables"] for row in table["rows"]]
                     if told.returncode == 0 else "none"] for told in (one, other)]
            check(f"{what} by {to}: {page} has as many rows, or says why not",
                  one.returncode == other.returncode and len(rows[0][0]) == len(rows[1][0]),
                  (one.stderr, other.stderr, rows))
    for measure, costs in before.items():
        out = os.path.join(folder, "out.folded")
        must(fathom, "export", "--to=folded", f"--measure={measure}", "-o", out, data)
        if not any(costs.values()):
            continue
        back = os.path.join(folder, "folded.data")
        must(fathom, "import", "-o", back, out)
        check(f"{what} by folded stacks: the same {measure}", stacks_by(back, "samples") == costs, costs)


def functions_of(path):
    """{function: own costs} and {(caller, callee, line): (calls, costs)} of a callgrind file; not counted: -1."""
    names, own, arcs = {}, {}, collections.Counter()
    now = callee = calls = None
    counted = True
    with open(path) as file:
        for line in file:
            found = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?", line)
            if found:
                names.setdefault(found[2], found[3])
                if found[1] == "fn":
                    now, callee = names[found[2]], None
                else:
                    callee = names[found[2]]
            elif line.startswith("# fathom: not counted"):
                counted = False
            elif line.startswith("calls="):
                calls = int(line[6:].split()[0]) if counted else -1
                counted = True
            elif line[:1].isdigit() and calls is None:
                own[now] = line.split()[1:]
            elif line[:1].isdigit():
                arcs[now, callee, line.split()[0]] += calls
                calls = None
    return own, dict(arcs)


def check_callgrind(folder, what, data):
    out, back, told = there_and_back(folder, data, "callgrind")
    again = os.path.join(folder, "again.callgrind")
    must(fathom, "export", "--to=callgrind", "-o", again, back)
    check(f"{what} by callgrind: functions and calls are the same", functions_of(again) == functions_of(out),
          (functions_of(out), functions_of(again)))
    known, _, _ = facts(data)
    after, _, _ = facts(back)
    check(f"{what} by callgrind: as certain", after.pop("natures") == ["arcs"] + known.pop("natures") and
          after == known, (known, after))
    check(f"{what} by callgrind: nothing is said to be cut off", "totals" not in told, told)


def check_calls_not_known(folder, data):
    """A count that nobody knows is no 1."""
    out, back, _ = there_and_back(folder, data, "callgrind")
    with open(out) as file:
        check("calls that were not counted say 1, since 0 would hide them", "\ncalls=1 " in file.read())
    told = run(fathom, "report", "top_procs/1-10/calls/self/oa", back)
    check("and come back as not recorded", told.returncode == 1 and
          "numbers of calls were not recorded" in told.stderr, told)


def main():
    with tempfile.TemporaryDirectory() as folder:
        profiles = {}
        for number, (what, content) in enumerate(GIVEN.items()):
            given = os.path.join(folder, f"given{number}")
            with open(given, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
            profiles[what] = given + ".data"
            must(fathom, "import", "-o", profiles[what], given)
        source, program = os.path.join(folder, "made.c"), os.path.join(folder, "made")
        with open(source, "w") as file:
            file.write(PROGRAM)
        must(fathom, "cc", "-O1", "-g", "-pthread", source, "-o", program)
        must(fathom, "record", "-o", program, "--", program)
        profiles["a recording"] = program + ".data"
        for what, data in profiles.items():
            check_stacks(folder, what, data)
            check_callgrind(folder, what, data)
        check_calls_not_known(folder, profiles["samples of time"])
    end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom diff` and the gate where one side does not know at which lines functions call: the same samples
differ nowhere, and what does differ is told.

usage: test_diff_places.py FATHOM"""
import json
import os
import sys
import tempfile

from exchange_lib import bytes_field, check, end, must, number_field, run, said, varint

fathom = sys.argv[1]

STACKS = {("main", "parse", "leaf"): 400, ("main", "parse"): 300, ("main", "run", "leaf"): 500,
          ("main", "run", "eval", "leaf"): 600, ("main", "run", "eval"): 200}


def knows_all(_function):
    return True


def knows_none(_function):
    return False


def perf_script(stacks, knows):
    """Samples of 1 ms. Each function calls from two lines, told of those that knows() says yes to."""
    lines = []
    for number, (stack, count) in enumerate(stacks.items()):
        for i in range(count):
            lines.append(f"prog 1/1 {number}.{i:06}: 1000000 cpu-clock:")
            for depth, function in reversed(list(enumerate(stack))):
                lines.append(f"\t{4096 + 16 * depth:x} {function}+0x10 (/bin/prog)")
                if knows(function):
                    lines.append(f"  main.c:{10 * len(function) + i % 2}")
            lines.append("")
    return "\n".join(lines) + "\n"


def pprof(stacks, knows):
    """The same as calls and as allocations, which are exact."""
    functions = sorted({function for stack in stacks for function in stack})
    strings = [b"", b"calls", b"count", b"alloc_objects", b"main.c"] + [name.encode() for name in functions]
    places = {}
    samples = b""
    for stack, count in stacks.items():
        for twice in range(2):
            ids = b""
            for function in reversed(stack):
                line = 10 * len(function) + twice if knows(function) and function != stack[-1] else 0
                ids += varint(places.setdefault((function, line), len(places) + 1))
            samples += bytes_field(2, bytes_field(1, ids) + bytes_field(2, varint(count) + varint(2 * count)))
    text = b"".join(bytes_field(1, number_field(1, kind) + number_field(2, 2)) for kind in (1, 3)) + samples
    for (function, line), number in places.items():
        text += bytes_field(4, number_field(1, number) + bytes_field(
            4, number_field(1, functions.index(function) + 1) + number_field(2, line)))
    for number in range(len(functions)):
        text += bytes_field(5, number_field(1, number + 1) + number_field(2, number + 5) + number_field(4, 4))
    return text + b"".join(bytes_field(6, string) for string in strings)


def imported(folder, name, text):
    """Each in a folder of its own: of one program, which is called like the file."""
    made = os.path.join(folder, name, "prog.data")
    os.mkdir(os.path.dirname(made))
    given = os.path.join(folder, name, "prog.given")
    with open(given, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    must(fathom, "import", "-o", made, given)
    return made


def compared(*arguments):
    document = json.loads(said(fathom, "diff", "--json", *arguments))
    tables = {table["name"]: table["rows"] for table in document["tables"]}
    return document["facts"]["difference"], [row["cells"] for row in tables.get("causes", [])
                                             if row["role"] == "cause"], tables


def check_same(profiles):
    for one in profiles:
        for other in profiles:
            difference, causes, _ = compared(profiles[one], profiles[other])
            check(f"{one} lines and {other} are known: nothing differs", difference == 0 and causes == [],
                  (difference, causes))


def check_told(folder, profiles, slower):
    """What is slower is one row whatever is known, with a place where there is one."""
    lines = {}
    for known, knows in (("all", knows_all), ("no", knows_none)):
        after = imported(folder, f"slower_{known}", perf_script(slower, knows))
        for before, profile in profiles.items():
            difference, causes, _ = compared(profile, after)
            check(f"{before} lines before, {known} after: the slower function is the one cause",
                  difference > 0 and [(cause["kind"], cause["what"].split()[0]) for cause in causes] ==
                  [("self", "eval")], (difference, causes))
            lines[before, known] = causes[0]["source"] if causes else None
    check("no place has a line that nobody knows", not any(str(place).endswith(":0") for place in lines.values()),
          lines)


def check_gate(folder, profiles, limits, what):
    """No alarm where nothing differs."""
    path = os.path.join(folder, "limits")
    with open(path, "w") as file:
        file.write("\n".join(limits) + "\n")
    for one in profiles:
        for other in profiles:
            told = run(fathom, "check", f"--limit={path}", "--against", profiles[one], profiles[other])
            check(f"gate: {what}, {one} lines against {other}: no alarm", told.returncode == 0,
                  told.stdout + told.stderr)


def check_counts(folder, more):
    """Of exact counts none may differ, in no context; and one that does is found."""
    counted = {known: imported(folder, f"counted_{known}", pprof(STACKS, knows))
               for known, knows in (("all", knows_all), ("no", knows_none), ("some", lambda name: name != "run"))}
    for one in counted:
        for other in counted:
            for measure in ("calls", "allocs"):
                difference, causes, _ = compared(f"--by={measure}", counted[one], counted[other])
                check(f"{measure}, {one} lines and {other} are known: nothing differs",
                      difference == 0 and causes == [], (difference, causes))
    limits = ["new allocations in main.c = 0", "calls main › run › eval = +0", "calls self leaf ≤ +0 %"]
    check_gate(folder, counted, limits, "counts")
    after = imported(folder, "counted_more", pprof(more, knows_none))
    told = run(fathom, "check", f"--limit={os.path.join(folder, 'limits')}", "--against", counted["all"], after)
    check("what is new is found, with how much it is", told.returncode == 1 and "800" in told.stdout, told)


def check_runs(profiles):
    """Sides whose runs know different things."""
    _, causes, tables = compared("--base", profiles["all"], profiles["no"], "--new", profiles["no"], profiles["some"])
    rows = [row["cells"] for row in tables["runs"]]
    check("several runs a side, each of which knows other lines: nothing differs",
          causes == [] and [row["low"] <= 0 <= row["high"] for row in rows if row["measure"] == "time"] == [True],
          (causes, rows))


def main():
    with tempfile.TemporaryDirectory() as folder:
        profiles = {
            "all": imported(folder, "all", perf_script(STACKS, knows_all)),
            "no": imported(folder, "no", perf_script(STACKS, knows_none)),
            "some": imported(folder, "some", perf_script(STACKS, lambda function: function != "run")),
        }
        # Of one function some calls have lines, others none: two profiles in one.
        both = os.path.join(folder, "both.data")
        must(fathom, "merge", "-o", both, profiles["all"], profiles["no"])
        twice = os.path.join(folder, "twice.data")
        must(fathom, "merge", "-o", twice, "--allow-repeats", profiles["no"], profiles["no"])
        slower = {stack: count * (2 if stack[-1] == "eval" else 1) for stack, count in STACKS.items()}
        check_same(profiles)
        for one, other in ((both, twice), (twice, both)):
            difference, causes, _ = compared(one, other)
            check("a function that knows lines of some of its calls", difference == 0 and causes == [],
                  (difference, causes))
        check_told(folder, profiles, slower)
        check_gate(folder, profiles, ["time main › run ≤ +5 % at 99 % confidence", "time total ≤ +5 %"], "time")
        check_counts(folder, slower)
        check_runs(profiles)
    end()


main()

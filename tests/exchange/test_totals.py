#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The total of a function is the cost of all stacks that hold it, each counted once, also inside
recursions. The oracle has the stacks and nothing else; profiles are drawn at random.

usage: test_totals.py FATHOM"""
import html
import json
import os
import random
import re
import sys
import tempfile

from exchange_lib import bytes_field, check, end, must, number_field, run, said, varint

fathom = sys.argv[1]

NAMELESS = ("[unknown]", "<lambda>", "(anonymous)")
RECURSIVE = "main;eval;apply;eval;apply;eval;leaf 90\nmain;eval 10\n"


def write(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def rows_of(words, path):
    return json.loads(said(fathom, "report", "--json", words, path))["tables"][0]["rows"]


def totals_of(path, column="time_total_ticks", order="time"):
    """{function: total} as the page of top functions tells it; nothing is marked as "at most"."""
    found = {}
    for row in rows_of(f"top_procs/1-100000/{order}/both/oa", path):
        cells = row["cells"]
        name = cells.get("proc_full") or cells["proc"].split(":")[-1]
        assert column + "_at_most" not in cells, cells
        found[name] = cells[column] if column in cells else round(1e9 * cells["time_total_seconds"])
    return found


# --- the oracle: stacks in, totals out ---


def oracle(stacks):
    """{function: cost of the stacks that hold it} of [(frames, cost)]."""
    totals = {}
    for frames, cost in stacks:
        for name in set(frames):
            totals[name] = totals.get(name, 0) + cost
    return {name: total for name, total in totals.items() if total > 0}


def draw(seed, count=60, names=7, depth=14, nameless=True):
    """Stacks with recursions of all kinds: each function calls a few others, as in a program."""
    rng = random.Random(seed)
    functions = [f"f{i}" for i in range(names)] + (list(NAMELESS) if nameless else [])
    calls = {name: rng.sample(functions, rng.randint(1, 3)) for name in functions}
    stacks = []
    for _ in range(count):
        frames = ["main", rng.choice(functions[:3])]
        while len(frames) < depth and rng.random() < 0.85:
            frames.append(rng.choice(calls[frames[-1]]))
        stacks.append((frames, rng.randint(1, 100)))
    return stacks


def folded(stacks):
    return "".join(f"{';'.join(frames)} {cost}\n" for frames, cost in stacks)


def imported(folder, name, text, *options):
    data = os.path.join(folder, name + ".data")
    must(fathom, "import", *options, "-o", data, write(os.path.join(folder, name), text))
    return data


# --- what is imported ---


def test_folded(folder):
    data = imported(folder, "simple.folded", RECURSIVE)
    check("a function inside a recursion has the stacks that hold it",
          totals_of(data) == {"main": 100, "eval": 100, "apply": 90, "leaf": 90}, totals_of(data))
    differ = {}
    for seed in range(24):
        stacks = draw(seed)
        data = imported(folder, f"random{seed}.folded", folded(stacks))
        if totals_of(data) != oracle(stacks):
            differ[seed] = totals_of(data), oracle(stacks)
        told = run(fathom, "check", data)
        if told.returncode != 0:
            differ[seed] = told.stdout
    check("and of profiles drawn at random, whose figures agree", differ == {}, differ)
    # The same stacks again, long enough that a text is read once and looked up after that.
    stacks = [(["main"] + ["a_rather_long_function"] * 3 + ["another_long_function"] * 2 +
               ["a_rather_long_function", "leaf"], 1)] * 50
    data = imported(folder, "again.folded", folded(stacks))
    check("stacks that come again count again", totals_of(data) == oracle(stacks), totals_of(data))


def test_nameless(folder):
    text = "main;[unknown];parse;[unknown];lex;[unknown];scan 90\nmain;other 10\n"
    data = imported(folder, "unknown.folded", text)
    totals = totals_of(data)
    check("frames without a name are no recursion",
          totals == {"main": 100, "[unknown]": 90, "parse": 90, "lex": 90, "scan": 90,
                     "other": 10}, totals)
    check("what stands between them keeps its place",
          said(fathom, "export", "--to=folded", "-o", "-", data).count("parse;") == 1 and
          "[unknown];parse;[unknown];lex;[unknown];scan" in
          said(fathom, "export", "--to=folded", "-o", "-", data).replace("unknown.folded:", ""),
          said(fathom, "export", "--to=folded", "-o", "-", data))
    deep = [(["main"] + ["[unknown]"] * n + ["end"], 1) for n in range(1, 60)]
    data = imported(folder, "deep.folded", folded(deep))
    check("however many of them follow each other", totals_of(data) == oracle(deep),
          totals_of(data))
    check("and the figures agree", run(fathom, "check", data).returncode == 0)


def test_events(folder):
    """Functions that are entered and left, and time that passes in between."""
    differ = {}
    for seed in range(8):
        rng = random.Random(1000 + seed)
        names, frames, stacks, events, now = "abcd", [], [], [], 0
        for _ in range(400):
            passed = rng.randint(0, 5)
            if frames:
                stacks.append((list(frames), passed))
                now += passed
            if frames and (len(frames) > 12 or rng.random() < 0.5):
                events.append({"type": "C", "at": now, "frame": names.index(frames.pop())})
            else:
                frames.append(rng.choice(names))
                events.append({"type": "O", "at": now, "frame": names.index(frames[-1])})
        while frames:
            events.append({"type": "C", "at": now, "frame": names.index(frames.pop())})
        text = json.dumps({
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": name} for name in names]},
            "profiles": [{"type": "evented", "name": "t", "unit": "nanoseconds", "startValue": 0,
                          "endValue": now, "events": events}]})
        data = imported(folder, f"events{seed}.speedscope.json", text)
        found = {name: total for name, total in totals_of(data).items() if name in names}
        if found != oracle(stacks) or run(fathom, "check", data).returncode != 0:
            differ[seed] = found, oracle(stacks)
    check("time between events belongs to all that is open, once", differ == {}, differ)


def pprof(stacks, lines=None):
    """A profile of two measures; lines: {name: first line} of functions of one file."""
    texts, names = ["", "samples", "count", "cpu", "nanoseconds", "x.js"], []
    out = b""

    def text_of(text):
        if text not in texts:
            texts.append(text)
        return texts.index(text)

    for kind, unit in ((1, 2), (3, 4)):
        out += bytes_field(1, number_field(1, kind) + number_field(2, unit))
    for frames, cost in stacks:
        ids = []
        for frame in reversed(frames):
            if frame not in names:
                names.append(frame)
            ids.append(names.index(frame) + 1)
        out += bytes_field(2, bytes_field(1, b"".join(varint(i) for i in ids)) +
                           bytes_field(2, varint(cost) + varint(10 * cost)))
    for number, frame in enumerate(names, 1):
        name, line = frame if isinstance(frame, tuple) else (frame, 0)
        out += bytes_field(4, number_field(1, number) +
                           bytes_field(4, number_field(1, number) + number_field(2, 1)))
        function = number_field(1, number) + number_field(2, text_of(name))
        if line:
            function += number_field(4, 5) + number_field(5, line)
        out += bytes_field(5, function)
    for text in texts:
        out += bytes_field(6, text.encode())
    return out


def test_pprof(folder):
    differ = {}
    for seed in range(6):
        stacks = draw(2000 + seed, names=5)
        path = os.path.join(folder, f"random{seed}.pb")
        with open(path, "wb") as out:
            out.write(pprof(stacks))
        data = path + ".data"
        must(fathom, "import", "-o", data, path)
        expected = {name: 10 * total for name, total in oracle(stacks).items()}
        if totals_of(data) != expected:
            differ[seed] = totals_of(data), expected
    check("each measure of a file has its own totals", differ == {}, differ)
    path = os.path.join(folder, "lines.pb")
    one, other = ("<lambda>", 3), ("<lambda>", 9)
    with open(path, "wb") as out:
        out.write(pprof([(["main", one, other, one], 5), (["main", other], 2)]))
    must(fathom, "import", "-o", path + ".data", path)
    rows = [row["cells"] for row in rows_of("top_procs/1-9/time/both/oa", path + ".data")]
    found = sorted(round(1e9 * row["time_total_seconds"]) for row in rows
                   if "lambda" in row["proc"])
    check("functions without a name are told apart by where they begin", found == [50, 70], rows)


# --- sums ---


def test_merge(folder):
    differ = {}
    for seed in range(8):
        parts = [draw(3000 + 10 * seed + k, count=25, nameless=seed % 2 == 0) for k in range(2)]
        parts.append([(["main", "f0", "f1", "f2"], 7), (["main", "f3"], 2)])  # no recursion
        random.Random(seed).shuffle(parts)
        same = []
        for k, part in enumerate(parts):  # of one program, whose name is that of the file
            at = os.path.join(folder, f"merge{seed}.{k}")
            os.mkdir(at)
            same.append(imported(at, "prog.folded", folded(part)))
        both = os.path.join(folder, f"both{seed}.data")
        must(fathom, "merge", "-o", both, *same)
        expected = oracle([stack for part in parts for stack in part])
        if totals_of(both) != expected or run(fathom, "check", both).returncode != 0:
            differ[seed] = totals_of(both), expected, run(fathom, "check", both).stdout
        step, twice = (os.path.join(folder, f"{kind}{seed}.data") for kind in ("step", "twice"))
        must(fathom, "merge", "-o", step, *same[:2])
        must(fathom, "merge", "-o", twice, step, same[2])
        if totals_of(twice) != expected:
            differ[seed, "in two steps"] = totals_of(twice), expected
    check("sums of profiles have the totals of all their stacks", differ == {}, differ)


# --- callgrind ---


CALLGRIND = """events: Ir
fn=main
1 10
cfn=eval
calls=1 2
1 990

fn=eval
2 90
cfn=apply
calls=2 3
2 800

fn=apply
3 100
cfn=eval
calls=2 2
3 500
cfn=leaf
calls=2 4
3 300

fn=leaf
4 800
"""


def test_callgrind(folder):
    data = imported(folder, "callgrind.out.1", CALLGRIND)
    check("callgrind's recursions have what was given for the calls of a function, at most all",
          totals_of(data) == {"main": 1000, "eval": 990, "apply": 800, "leaf": 800},
          totals_of(data))


# --- two profiles ---


def limits_of(base, new, *limits):
    """{limit: its row} of two profiles."""
    told = run(fathom, "check", "--json", f"--against={base}", *(f"--expect={one}" for one in limits),
               new)
    return {row["cells"]["limit"]: row["cells"]
            for row in json.loads(told.stdout)["tables"][0]["rows"]}


def milliseconds(seconds):
    return round(1000 * seconds)


def any_of(stacks, names):
    """What the stacks cost that hold one of these functions at least."""
    return sum(cost for frames, cost in stacks if names & set(frames))


def test_limits(folder):
    differ, bounds = {}, 0
    for seed in range(16):
        sides = [draw(5000 + 2 * seed + side, nameless=False) for side in range(2)]
        if seed % 4 == 0:  # one side without a recursion
            sides[1] = [(list(dict.fromkeys(frames)), cost) for frames, cost in sides[1]]
        files = [imported(folder, f"side{seed}.{side}", folded(stacks), "--unit=ms", "--program=p")
                 for side, stacks in enumerate(sides)]
        expected = [oracle(stacks) for stacks in sides]
        names = sorted(set(expected[0]) | set(expected[1]))
        rows = limits_of(*files, *(f"time {name} <= 1000 s" for name in names),
                         "time f* <= 1000 s", "time * <= 1000 s")
        for name in names:
            row = rows[f"time {name} <= 1000 s"]
            found = [milliseconds(row[side]) for side in ("before", "after")]
            right = [totals.get(name, 0) for totals in expected]
            if found != right or "before_at_most" in row:
                differ[seed, name] = found, right
        some, all_of_them = rows["time f* <= 1000 s"], rows["time * <= 1000 s"]
        for side, stacks in zip(("before", "after"), sides):
            right = any_of(stacks, {f"f{i}" for i in range(7)})
            found, bound = milliseconds(some[side]), some.get(side + "_at_most", False)
            bounds += bound
            if found < right or (found > right and not bound):
                differ[seed, side, "some"] = some, right
            if milliseconds(all_of_them[side]) != sum(cost for _, cost in stacks):
                differ[seed, side, "all"] = all_of_them
    check("limits have the totals of all stacks that hold a function", differ == {}, differ)
    check("and say of several in a recursion that the sum is a bound", bounds > 0)


def titles_of(base, new):
    """{function: lines below its name} of the boxes of a difference."""
    page = said(fathom, "diff", "--html", base, new)
    texts = [re.split("\n|\u240a", html.unescape(text)) for text in re.findall(r"<title>([^<]*)</title>", page)]
    return {text[0]: text[1:] for text in texts}


def test_difference(folder):
    before = imported(folder, "before.folded", RECURSIVE, "--unit=ms", "--program=p")
    after = imported(folder, "after.folded", "main;eval;apply;eval;apply;eval;leaf 1900\n"
                     "main;eval 10\nmain;eval;apply;rest 50\n", "--unit=ms", "--program=p")
    boxes = titles_of(before, after)
    check("a recursion has a box of its own, in which those of its functions add up",
          boxes["\u27f2\u00a0eval\u00a0+1"][0].startswith("100.0ms before, 2.0s after"), boxes)
    check("whose functions have both, their part and their total",
          boxes["apply"][0].startswith("its part of the recursion: 0 before, 50.0ms after") and
          boxes["apply"][1] == "total: 90.0ms before, 1.9s after", boxes)
    told = json.loads(said(fathom, "diff", "--json", before, after))
    rows = {row["cells"]["function"]: row["cells"] for table in told["tables"]
            if table["name"] == "times_with_callees" for row in table["rows"]}
    check("functions inside a recursion are among those whose total changed",
          "apply" in rows and milliseconds(rows["apply"]["before"]) == 90 and
          milliseconds(rows["apply"]["after"]) == 1950, told["tables"])


# --- pages ---


def test_pages(folder):
    data = imported(folder, "pages.folded", RECURSIVE)
    top = said(fathom, "report", "top_procs/1-9/time/both/oa", data)
    check("orders go by these totals", top.index("eval") < top.index("apply"), top)
    ps = {row["cells"]["proc"].split(":")[-1]: row["cells"]["proc_query"]
          for row in rows_of("top_procs/1-9/time/both/oa", data)}
    page = json.loads(said(fathom, "report", "--json", ps["apply"].split("&")[0], data))
    tables = {table["name"]: table for table in page["tables"]}
    own = [row["cells"] for row in tables["proc"]["rows"] if row["role"] == "proc"][0]
    check("the page of a function has its total", own["time_total_ticks"] == 90, page)
    sides = [name for name in tables if name in ("callers", "callees")]
    for side in sides:
        rows = [row["cells"] for row in tables[side]["rows"] if row["role"] != "member"]
        total = sum(cells.get("total_samples") or cells.get("total_count") or 0 for cells in rows)
        check(f"and its {side} add up to it", total == 90, tables[side])


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_folded(folder)
        test_nameless(folder)
        test_events(folder)
        test_pprof(folder)
        test_merge(folder)
        test_callgrind(folder)
        test_limits(folder)
        test_difference(folder)
        test_pages(folder)
    end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes a profile a bad one is said on the first page, in front of its figures, and stands in JSON: shares known
by construction, and nothing of a good profile.

usage: test_quality.py FATHOM"""
import glob
import json
import os
import sys
import tempfile

from exchange_lib import check, end, must, run, skip

fathom = os.path.abspath(sys.argv[1])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles", "perf-data")
SHARES = ("one_frame_percent", "cut_percent", "outermost_unnamed_percent", "unnamed_percent")


def menu():
    return json.loads(must(fathom, "report", "--json", "menu", "out.data").stdout)


def first_lines(stacks):
    """The sentences in front of the first figure, and the shares."""
    with open("in.folded", "w", encoding="utf-8") as out:
        out.write("".join(f"{';'.join(stack)} {count}\n" for stack, count in stacks.items()))
    must(fathom, "import", "-o", "out.data", "in.folded")
    page = menu()
    texts = [item["text"] for item in page["text"]]
    figures = next(number for number, text in enumerate(texts) if " function" in text and " in " in text and
                   text[0].isdigit() and "samples are few" not in text and "%" not in text.split(" in ")[0])
    text = must(fathom, "report", "menu", "out.data").stdout
    in_order = [text.find(line[:30]) for line in texts[:figures + 1]]
    check(f"text has the sentences in that order: {texts[:figures]}", in_order == sorted(in_order) and -1 not in in_order,
          (in_order, text[:600]))
    return texts[:figures], {name: round(page["facts"][name], 3) for name in SHARES}


def test_shares():
    good = {("main", "a", "b"): 600, ("main", "c"): 400}
    lines, shares = first_lines(good)
    check("of a good profile nothing is said", lines == [] and set(shares.values()) == {0}, (lines, shares))
    lines, shares = first_lines({**good, ("leaf",): 1000})
    check("stacks of one function", shares["one_frame_percent"] == 50 and len(lines) == 1 and
          lines[0].startswith("50 % stands in stacks of one function"), (lines, shares))
    lines, shares = first_lines({("a",): 300, ("b",): 700})
    check("no call chains at all", shares["one_frame_percent"] == 100 and
          lines == ["Call chains were not recorded: who called a function is not known (perf record -g)."], (lines, shares))
    lines, shares = first_lines({**good, ("main", "a", "[libx.so]"): 1000})
    check("functions without a name", shares["unnamed_percent"] == 50 and len(lines) == 1 and
          "50 % stands in functions without a name" in lines[0], (lines, shares))
    lines, shares = first_lines({**good, ("[libc.so.6]", "main", "a"): 3000})
    check("an outermost function without a name", shares["outermost_unnamed_percent"] == 75 and
          shares["unnamed_percent"] == 0 and "The outermost function of 75 % has no name" in lines[0], (lines, shares))
    lines, shares = first_lines({**good, ("[libc.so.6]", "x"): 150, ("main", "[y]"): 600, ("z",): 500})
    check("the worst first", [line.split(" % ")[0].rpartition(" ")[2] for line in lines] == ["27", "22"], (lines, shares))


def test_cut():
    whole = {("main", *(f"f{i}" for i in range(20))): 900}
    lines, shares = first_lines({**whole, **{(f"f{i}", f"f{i + 1}"): 10 for i in range(9)}})
    check("a few functions that stacks begin with are event loops", lines == [] and shares["cut_percent"] > 5,
          (lines, shares))
    lines, shares = first_lines({**whole, **{(f"f{i}", f"f{i + 1}"): 10 for i in range(10)}})
    check("ten are stacks that were cut off", shares["cut_percent"] == 10 and len(lines) == 1 and
          "10 % stands in stacks that do not begin where a thread begins" in lines[0], (lines, shares))


def test_few():
    with open("in.txt", "w", encoding="utf-8") as out:
        out.write("".join(f"prog 1 {number}.0: 1000000 cpu-clock:\n\t10 leaf+0x1 (/x)\n\t20 main+0x1 (/x)\n\n"
                          for number in range(25)))
    must(fathom, "import", "-o", "out.data", "in.txt")
    page = menu()
    check("few samples", page["facts"]["samples"] == 25 and page["text"][0]["text"].startswith(
        "25 samples are few: a share of 50 % is uncertain by 20 points"), page["text"][:2])


def test_lost():
    with open("in.json", "w", encoding="utf-8") as out:
        out.write('[{"ph":"X","ts":1,"dur":5,"pid":1,"tid":1,"name":"a"},\n')
    told = must(fathom, "import", "-o", "out.data", "in.json").stderr
    page = menu()
    check("a file that ends too early", "fathom import: warning: the file does not end" in told and
          page["text"][0]["text"].startswith("The file does not end as it should"), (told, page["text"][:2]))
    check("calls that were counted were not sampled", not any(name in page["facts"] for name in SHARES), page["facts"])


def perf_text(times):
    return "".join(f"prog 1 {time}: 1000000 cpu-clock:\n\t10 leaf+0x1 (/x)\n\t20 main+0x1 (/x)\n\n" for time in times)


def cpuprofile(deltas):
    nodes = [{"id": number, "callFrame": {"functionName": name, "url": "", "lineNumber": 0}, "children": below}
             for number, name, below in ((1, "(root)", [2]), (2, "f", []))]
    return json.dumps({"nodes": nodes, "startTime": 5, "endTime": 5000, "samples": [2] * len(deltas), "timeDeltas": deltas})


def test_one_time():
    """Times that are all equal: no clock ran."""
    same = "samples have one time: the recorder's clock did not run"
    for name, content, samples in (("perf.txt", perf_text(["3.000001"] * 12), 12), ("x.cpuprofile", cpuprofile([0] * 10), 10),
                                   ("perf.txt", perf_text(["3.000001"] * 11 + ["3.000002"]), None),
                                   ("perf.txt", perf_text(["3.000001"] * 9), None),
                                   ("x.cpuprofile", cpuprofile([7] + [0] * 10 + [1]), None)):
        with open(name, "w", encoding="utf-8") as out:
            out.write(content)
        told = must(fathom, "import", "-o", "out.data", name).stderr
        texts = [item["text"] for item in menu()["text"][:3]]
        expected = f"all {samples} {same}"
        check(f"{name}, one time {samples}: {texts[:2]}", (f"warning: {expected}" in told and any(
            text.startswith(f"All {samples} {same}") for text in texts)) if samples else
            (same not in told and not any(same in text for text in texts)), (told, texts))


def test_other_lines():
    """Files that somebody wrote by hand, or joined."""
    with open("in.folded", "w", encoding="utf-8") as out:
        out.write("// words\nmain;a 3.0\nmain;b 4\n\nno stack\nmain 5.\n")
    told = run(fathom, "import", "-o", "out.data", "in.folded")
    page = menu()
    check("lines that are no stacks are left out and told, fractions of zeros are none", told.returncode == 0 and
          page["facts"]["quanta"] == 12 and page["text"][0]["text"].startswith(
              "2 of 5 lines are no stacks with a number"), (told, page["facts"], page["text"][:2]))
    for content in ("main;a 1\nwords\n", "main;a 1.x\n", "words\nmain;a 1\nmain;b\n"):
        with open("in.folded", "w", encoding="utf-8") as out:
            out.write(content)
        told = run(fathom, "import", "-o", "out.data", "in.folded")
        check(f"refused: {content!r}", told.returncode == 1 and told.stderr.count("\n") == 1, told)


def test_others():
    """What another reader counted of files of others."""
    paths = sorted(glob.glob(os.path.join(SAMPLES, "*.expected.json")))
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    compared = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        quality = expected.get("quality", {})
        if expected["verdict"] != "open" or "one_frame_stacks" not in quality or len(expected["measures"]) != 1:
            continue
        told = run(fathom, "import", "-o", "out.data", path[:-len(".expected.json")])
        if told.returncode != 0 or quality["one_frame_stacks"] != expected["samples"]:
            continue
        compared += 1
        texts = [item["text"] for item in menu()["text"][:3]]
        check(f"{os.path.basename(path)}: call chains were not recorded",
              any("Call chains were not recorded" in text for text in texts), texts)
    check("there are files without call chains", not paths or compared > 0, compared)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_shares()
    test_cut()
    test_few()
    test_lost()
    test_one_time()
    test_other_lines()
    test_others()
    os.chdir("/")
end()

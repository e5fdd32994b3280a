#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom finish --since`: the difference of two moments of a recording is a profile of its own, exact,
and the phases of a run add up to the whole."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE, wait_until

HERE = pathlib.Path(__file__).resolve().parent
HEAP = ("ALLOCS", "frees", "freed_bytes", "usable_bytes")


def steps(program, *orders):
    for order in orders:
        program.stdin.write(order.encode())
        program.stdin.flush()
        assert program.stdout.read(1) == b"k"


def run(folder, grade):
    """Three phases, divided by two snapshots."""
    program = subprocess.Popen([lib.FATHOM, "record", "-q", "-k", "-o", "out", "--", "./" + grade],
                               cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    steps(program, "w 1000", "m 60", "r 9", "z 2", "t 5", "j 7", "j -1")
    lib.must([lib.FATHOM, "ctl", "--wait=0", "out.rec", "snapshot", "one"], folder)
    steps(program, "w 234", "m 30", "u 40", "r 3", "z 3", "t 7", "t 8", "j 5", "j -4")
    lib.must([lib.FATHOM, "ctl", "--wait=0", "out.rec", "snapshot", "two"], folder)
    steps(program, "w 11", "m 5", "j 2", "j -3")
    program.stdin.close()
    program.wait(PATIENCE)
    program.stdout.close()


def finish(folder, name, recording, *options):
    lib.must([lib.FATHOM, "finish", "-q", "-k", "-o", name, *options, recording], folder)
    lib.must([lib.FATHOM, "check", f"{name}.data"], folder)
    return lib.Profile(pathlib.Path(folder) / f"{name}.data")


def heap_of(profile):
    names = {name.lower(): name for _, name in profile.heap}
    return {key: profile.heap[key] for key in profile.heap
            if key[1] in [names.get(name.lower(), name) for name in HEAP]}


def check_phase(tap, middle, grade):
    calls = middle.calls()
    tap.same({name: calls[name] for name in ("leaf", "take", "give", "nap", "thread", "main")},
             {"leaf": 234 + 1 + 7 + 8, "take": 1, "give": 1, "nap": 1, "thread": 2, "main": 0},
             f"{grade}: calls of the phase")
    tap.same(calls["down"], 3, "recursion of the phase")
    contexts = [count for path, count in middle.contexts.items() if path.endswith("/leaf")]
    tap.check({234, 1} < set(contexts) and sum(contexts) == 250, "in its contexts", contexts)
    tap.same((middle.allocs["take"], middle.bytes["take"]), (30, 3000), "what it allocated")
    tap.same((middle.heap["give", "frees"], middle.heap["give", "freed_bytes"]), (40, 4000),
             "what it gave back, also of blocks from before")
    tap.same(middle.heap["take", "live_blocks"], 0, "it holds no more than when it began")
    tap.same(middle.heap["nap", "waits"], 3, "waits of the phase")
    tap.check(30e6 <= middle.heap["nap", "wait_ns"] < 30e9, "and their time",
              middle.heap["nap", "wait_ns"])


def check_words(tap, folder):
    """What is still to come may give back what is held: nothing is "never freed" before the end."""
    pages = {name: " ".join(lib.must([lib.FATHOM, "report", page, f"{name}.data"], folder).stdout
                            for page in ("menu", "leaks", "memory/held"))
             for name in ("whole", "first", "middle", "last")}
    tap.check("Never freed" in pages["whole"] and
              " were never freed. Whether" in pages["whole"] and
              "that moment" not in pages["whole"] and "this phase" not in pages["whole"],
              "what is held at the end was never freed", pages["whole"])
    tap.check("still live at that moment" in pages["first"] and
              "never freed" not in pages["first"].lower() and
              "may have freed them since" in pages["first"],
              "what a copy of a program that runs holds may yet be freed", pages["first"])
    tap.check("No context had more live memory at the end of this phase than at its begin." in pages["middle"] and
              "never freed" not in pages["middle"].lower(),
              "a phase that gave back more than it took", pages["middle"])
    tap.check("500 bytes in 5 blocks of 1 context of this phase were never freed" in
              " ".join(pages["last"].split()) and "Of this phase never freed" in pages["last"] and
              "the growth of its live memory in this phase" in pages["last"],
              "what the last phase added", pages["last"])
    facts = lib.must([lib.FATHOM, "dump", "--json", "middle.data"], folder).stdout
    facts = json.loads(facts)["facts"]
    tap.check(facts["unfinished"] and facts["later"] and facts["recorded_ns"] > 0,
              "which part of the run it is stands in the file", facts)


def check_sums(tap, parts, whole):
    edges, allocs = collections.Counter(), collections.Counter()
    heap = collections.Counter()
    for part in parts:
        # The program's calls of its threads are there in each phase.
        edges.update({key: count for key, count in part.edges.items() if key[0] != "the program"})
        allocs.update(part.bytes)
        heap.update(heap_of(part))
    tap.same(+edges, +collections.Counter({key: count for key, count in whole.edges.items()
                                           if key[0] != "the program"}),
             "calls of the phases add up to the whole")
    tap.same(+allocs, +whole.bytes, "bytes, too")
    tap.same(+heap, +collections.Counter(heap_of(whole)), "and what was given back")


def errors(tap, folder):
    wrong = lib.run([lib.FATHOM, "finish", "--since", "out.snap2.rec", "-o", "x", "out.snap1.rec"],
                    folder)
    tap.check(wrong.returncode == 1 and "out.snap2.rec: " in wrong.stderr, "a later one is refused",
              wrong.stderr)
    (pathlib.Path(folder) / "bad.rec").write_bytes(b"FATHOMR\n" + bytes(5000))
    wrong = lib.run([lib.FATHOM, "finish", "--since", "bad.rec", "-o", "x", "out.rec"], folder)
    tap.check(wrong.returncode == 1 and "bad.rec" in wrong.stderr, "one that is damaged",
              wrong.stderr)
    wrong = lib.run([lib.FATHOM, "finish", "--since", "out.snap1.rec", "out.rec"], folder)
    tap.check(wrong.returncode == 2 and "-o" in wrong.stderr, "it needs a name", wrong.stderr)


class Points(lib.Profile):
    """With how often the blocks ran, by function: an arm that has none is left out."""

    def __init__(self, path):
        self.points = collections.defaultdict(list)
        super().__init__(path)
        self.points = {name: sorted(counts) for name, counts in self.points.items()}

    def _point(self, proc, path, count):
        self.points[proc].append(int(count))


def values(folder, program, *phases):
    """The whole and its three phases, as profiles and what the dumps tell beside the graph."""
    run_phases(folder, program, phases)
    done = []
    for name, recording, since in (("whole", "out.rec", []), ("first", "out.snap1.rec", []),
                                   ("middle", "out.snap2.rec", ["--since", "out.snap1.rec"]),
                                   ("last", "out.rec", ["--since", "out.snap2.rec"])):
        lib.must([lib.FATHOM, "finish", "-q", "-k", "-o", name, *since, recording], folder)
        lib.must([lib.FATHOM, "check", f"{name}.data"], folder)
        dump = json.loads(lib.must([lib.FATHOM, "dump", "--json", f"{name}.data"], folder).stdout)
        done.append((Points(pathlib.Path(folder) / f"{name}.data"), dump["facts"]))
    return done


def run_phases(folder, program, phases):
    """Each phase is a function of the process; a snapshot ends it, and the end of the run the last."""
    process = subprocess.Popen([lib.FATHOM, "record", "-q", "-k", "--trace=nap", "-o", "out", "--", program],
                               cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for number, phase in enumerate(phases, 1):
        phase(process)
        if number < len(phases):
            lib.must([lib.FATHOM, "ctl", "--wait=0", "out.rec", "snapshot", f"phase {number}"], folder)
    process.stdin.close()
    process.wait(PATIENCE)
    process.stdout.close()


def charged(folder):
    """The CPU time of each function until now."""
    lib.must([lib.FATHOM, "finish", "-q", "-k", "-o", "now", "out.rec"], folder)
    return lib.Profile(pathlib.Path(folder) / "now.data").quanta


def use(process, folder, order, name):
    """Uses CPU time in this function until a tick has met it."""
    before = charged(folder)[name]

    def is_met():
        steps(process, order)
        return charged(folder)[name] > before
    wait_until(is_met, f"a tick has met {name}()")


def use_and_settle(process, folder, order, name):
    """A tick charges all that was used since the one before: a tick in rest() leaves nothing of what this function
    used to be charged later. Returns what it has then."""
    use(process, folder, order, name)
    use(process, folder, "r 20", "rest")
    return charged(folder)[name]


def blames(facts):
    """{lock: (waits, ns)}"""
    found = collections.defaultdict(lambda: (0, 0))
    names = ["?"] + [lock["name"] for lock in facts["locks"]]
    for blame in facts["blames"]:
        waits, ns = found[names[blame["lock"]]]
        found[names[blame["lock"]]] = waits + blame["waits"], ns + blame["ns"]
    return found


def check_values(tap, folder):
    """Locks, durations, samples: of the phases what the program did in them, together the whole."""
    lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "phase_values.c", "-o", "deep",
              "-lpthread"], folder)
    seen = {}

    def first_phase(process):
        steps(process, "l 2", "z 4")
        seen["spin"] = use_and_settle(process, folder, "s 60", "spin")

    def middle_phase(process):
        steps(process, "l 3", "z 5")
        seen["other"] = use_and_settle(process, folder, "o 80", "other")

    def last_phase(process):
        steps(process, "l 1")
        use(process, folder, "s 40", "spin")

    whole, first, middle, last = values(folder, "./deep", first_phase, middle_phase, last_phase)
    parts = (first, middle, last)
    tap.same([blames(facts)["gate"][0] for _, facts in (whole, *parts)], [6, 2, 3, 1],
             "waits for a lock, by phase")
    together = sum(blames(facts)["gate"][1] for _, facts in parts)
    tap.check(abs(together - blames(whole[1])["gate"][1]) <= 50, "and their time adds up, but for rounding",
              (together, blames(whole[1])))
    tap.same([sum(of["timed"] for of in facts["durations"]) for _, facts in (whole, *parts)], [9, 4, 5, 0],
             "calls that were timed, by phase")
    for name, (_, facts) in (("whole", whole), ("first", first), ("middle", middle)):
        tap.check(all(sum(step["calls"] for step in of["steps"]) == of["timed"] and
                      1000000 <= of["shortest_ns"] <= of["longest_ns"] <= of["ns"]
                      for of in facts["durations"]), f"{name}: each in a step, as long as it slept",
                  facts["durations"])
    tap.same(sum(of["ns"] for _, facts in parts for of in facts["durations"]),
             sum(of["ns"] for of in whole[1]["durations"]), "their time adds up")
    samples = [profile.quanta for profile, _ in (whole, *parts)]
    for name in ("spin", "other", "rest"):
        tap.same(sum(of[name] for of in samples[1:]), samples[0][name], f"CPU time of {name}() adds up")
    check_below(tap, folder)
    check_lines(tap, folder, zip(("whole", "first", "middle", "last"), samples))
    tap.same([of["spin"] for of in samples[1:]], [seen["spin"], 0, samples[0]["spin"] - seen["spin"]],
             "CPU time of spin(), by phase")
    tap.check(samples[3]["spin"] > 0, "some of it in the last", samples[3])
    tap.same([of["other"] for of in samples[1:]], [0, seen["other"], 0], "CPU time of other(), by phase")


def seconds_of_lines(folder, proc, name):
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", f"proc/{proc}", f"{name}.data"], folder).stdout)
    return sum(line.get("line_seconds") or 0 for source in page["sources"] for line in source["lines"])


def check_below(tap, folder):
    """Time by line is that below the function that was chosen."""
    lib.must([lib.FATHOM, "cc", "-O1", "-g", HERE / "below.c", "-o", "below"], folder)
    lib.must([lib.FATHOM, "record", "-q", "--when=chosen", "-o", "below", "--", "./below"], folder)
    quanta = lib.Profile(pathlib.Path(folder) / "below.data").quanta["leaf"]
    of_lines = seconds_of_lines(folder, "leaf", "below")
    tap.check(of_lines <= quanta / 1000 + 0.001, "--when: the lines of leaf() have no more than its CPU time",
              (of_lines, quanta))


def check_lines(tap, folder, names):
    """Time by line is that of the phase."""
    for name, quanta in names:
        for proc in ("spin", "other"):
            of_lines = seconds_of_lines(folder, proc, name)
            tap.check(of_lines <= quanta[proc] / 1000 + 0.001,
                      f"{name}: the lines of {proc}() have no more than its CPU time", (of_lines, quanta[proc]))


def check_points(tap, folder):
    """How often blocks ran: by phase, and together."""
    lib.must([lib.FATHOM, "cc", "--grade=coverage", "-O0", "-g", HERE / "phase_values.c", "-o", "coverage",
              "-lpthread"], folder)
    phases = [lambda process, orders=orders: steps(process, *orders)
              for orders in (("c 10", "d 3"), ("c 7", "d 20"), ("c 1",))]
    whole, first, middle, last = (profile.points["choose"]
                                  for profile, _ in values(folder, "./coverage", *phases))
    for name, points, even, odd in (("whole", whole, 18, 23), ("first", first, 10, 3),
                                    ("middle", middle, 7, 20), ("last", last, 1, 0)):
        tap.check({count for count in points} <= {even, odd, even + odd, 0} and even in points and odd in points,
                  f"{name}: how often each arm ran", (points, even, odd))
    tap.same(sum(map(sum, (first, middle, last))), sum(whole), "and they add up")


def main():
    tap = lib.Tap()
    for check in (check_values, check_points):
        with tempfile.TemporaryDirectory() as folder:
            check(tap, folder)
    for grade in ("deep", "full"):
        with tempfile.TemporaryDirectory() as folder:
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", "-O1", "-g", HERE / "phases.c", "-o",
                      grade, "-lpthread"], folder)
            run(folder, grade)
            whole = finish(folder, "whole", "out.rec")
            first = finish(folder, "first", "out.snap1.rec")
            middle = finish(folder, "middle", "out.snap2.rec", "--since", "out.snap1.rec")
            last = finish(folder, "last", "out.rec", "--since", "out.snap2.rec")
            check_phase(tap, middle, grade)
            tap.same((last.calls()["leaf"], last.calls()["work"], last.calls()["nap"]), (11, 1, 0),
                     "calls of the last phase")
            tap.same(last.heap["take", "live_bytes"], 500, "what is held more than when it began")
            tap.same([(of.calls()["jumping"], of.excps["jumping"], of.exits["jumping"], of.excps["jump"])
                      for of in (whole, first, middle, last)],
                     [(22, 14, 8, 0), (8, 7, 1, 0), (9, 5, 4, 0), (5, 2, 3, 0)], "calls that were left, by phase")
            check_words(tap, folder)
            check_sums(tap, (first, middle, last), whole)
            errors(tap, folder)
    return tap.done()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check and dump of what comes of a profile (bodies, feedback files), and advice as JSON and CSV:
test_companions.py FATHOM"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FEEDBACK = (
    "Mercury Compiler Feedback\n19\n./demo\n"
    "[fcw_candidate_parallel_conjunctions(feedback_info_candidate_parallel_conjunctions("
    "candidate_par_conjunctions_params(8.0, no, 100, 1000, 100, 100, 200, 1000, 2000, 2000, 1.01, "
    "parallelise_dep_conjs(estimate_speedup_by_overlap), affbp_complete_branches(1000)), "
    "[str_ordinary_proc_label(pf_predicate, \"demo\", \"demo\", \"work\", 4, 0) - "
    "candidate_par_conjunctions_proc(two(3, \"Acc\", empty, empty), "
    "[push_goal(\"t;\", 2, 2, [\"t;c1;\"])], [candidate_par_conjunction(\"t;c1;\", "
    "yes(push_goal(\"t;\", 2, 2, [\"t;c1;\"])), 1, conjuncts_are_dependent(sol([3])), [], 0.0, "
    "[seq_conj([goal_rep(atomic_goal_rep(\"\", 12, [3], plain_call_rep(\"demo\", \"slow\", [1, 3])), "
    "det_rep, pard_goal_annotation(5000.25, cost_above_par_threshold, [3 - 10.0], []))]), "
    "seq_conj([goal_rep(conj_rep([]), det_rep, pard_goal_annotation(3000.0, "
    "cost_above_par_threshold, [], [3 - 2.5]))])], [], 1.5, "
    "parallel_exec_metrics(4, 8001.75, 6000.5, 100.0, 200.0, 100.0, 200.0, 1000.0, 5.0))])]))].\n")

failures = 0


def expect(what, found, wanted):
    global failures
    if found != wanted:
        failures += 1
        print(f"{what}: {found!r}, expected {wanted!r}")


def run(fathom, *arguments):
    return subprocess.run([fathom, *arguments], capture_output=True, text=True)


def feedback(fathom, path):
    path.write_text(FEEDBACK)
    told = run(fathom, "check", str(path))
    expect("check", told.returncode, 0)
    expect("check's last line", told.stdout.splitlines()[-1], f"{path}: 2 invariants, 0 broken")
    both = json.loads(run(fathom, "check", "--json", str(path)).stdout)["files"][0]
    expect("invariants hold", [fact["holds"] for fact in both["invariants"]], [True, True])
    report = run(fathom, "feedback", "report", str(path)).stdout
    expect("dump", run(fathom, "dump", str(path)).stdout, report)
    found = json.loads(run(fathom, "feedback", "report", "--json", str(path)).stdout)
    expect("dump --json", json.loads(run(fathom, "dump", "--json", str(path)).stdout), found)
    expect("program", found["program"], "./demo")
    expect("best", found["parameters"]["best_algorithm"], "complete-branches")
    expect("limit", found["parameters"]["best_limit"], 1000)
    proc = found["procedures"][0]
    expect("procedure", proc["procedure"], "pred demo.work/4-0")
    one = proc["conjunctions"][0]
    expect("push", one["push"], {"path": "t;", "low": 2, "high": 2, "targets": ["t;c1;"]})
    expect("dependent", one["dependent_on"], ["Acc"])
    expect("overheads", one["overheads"], 600)
    expect("saving", one["time_saving"], 2001.25)
    expect("dead time", one["dead_time"], 1005)
    expect("goals", [(goal["part"], goal["conjunct"], goal["code"]) for goal in one["goals"]],
           [("parallel", 1, "demo.slow(V_1, Acc)"), ("parallel", 2, "conjunction")])
    expect("productions", one["goals"][0]["productions"], [{"variable": "Acc", "time": 10}])
    rows = list(csv.DictReader(run(fathom, "feedback", "report", "--csv", str(path))
                               .stdout.splitlines()))
    expect("rows", len(rows), 1)
    expect("row", (rows[0]["path"], rows[0]["calls"], rows[0]["speedup"][:6]),
           ("t;c1;", "4", str(8001.75 / 6000.5)[:6]))
    path.write_text(FEEDBACK.replace("sol([3])", "sol([3"))
    expect("damaged", run(fathom, "check", str(path)).returncode, 1)
    expect("damaged, JSON",
           json.loads(run(fathom, "check", "--json", str(path)).stdout)["files"][0]["problems_count"],
           1)


def bodies(fathom, sample, folder):
    told = run(fathom, "check", str(sample))
    expect("check of bodies", told.returncode, 0)
    expect("bodies", "8490 procedures, 104784 goals" in told.stdout, True)
    expect("same bytes", "3342597 and 3342597 bytes" in told.stdout, True)
    expect("dump of bodies", run(fathom, "dump", str(sample)).stdout,
           run(fathom, "procrep", "-f", str(sample)).stdout)
    damaged = folder / "Deep.procrep"
    content = bytearray(sample.read_bytes())
    content[1000000] ^= 0x55
    damaged.write_bytes(content)
    expect("damaged bodies", run(fathom, "check", str(damaged)).returncode, 1)


def nested(levels):
    """A procedure of so many negations, one in the other, around a call."""
    head = bytes.fromhex(
        "01 01 6d 20 00 3c 746f6f206d616e79207661726961626c6573 3e 00 612e6d00 5800 6d00 7100 01"
        "00 016d 016d 0170 02 00")
    body = (bytes.fromhex("0000002c 00 00000001 01 00000034 00000002 01 01 01 02 00 01") +
            b"\x05" * levels +
            bytes.fromhex("11 00000038 0000003c 00000002 01 02 00000000 0000000c 00000001 02 06") +
            b"\x06" * levels + b"\x06")
    return (b"Mercury deep profiler procrep version 5\n" + head +
            (len(body) + 4).to_bytes(4, "big") + body + b"\0\0")


def deep_nesting(fathom, path):
    """Each goal tells its whole path: of very deep ones that is not written."""
    for levels, shown in (3, True), (200000, False):
        path.write_bytes(nested(levels))
        told = run(fathom, "procrep", "--json", "-f", str(path))
        expect("nested bodies", told.returncode, 0)
        proc = json.loads(told.stdout)["modules"][0]["procedures"][0]
        expect("depth", proc["depth"], levels + 1)
        expect("goals", proc["goals"] is not None and len(proc["goals"]) == levels + 1, shown)
        text = run(fathom, "procrep", "-f", str(path)).stdout
        expect("text of nested bodies", "not printed" not in text, shown)


def main(fathom):
    with tempfile.TemporaryDirectory(prefix="fathom-companions-") as folder:
        where = pathlib.Path(folder)
        feedback(fathom, where / "Deep.feedback")
        deep_nesting(fathom, where / "nested.procrep")
        sample = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", "")) / "mercury" / "Deep.procrep"
        if sample.exists():
            bodies(fathom, sample, where)
    print(f"{failures} failures")
    return 1 if failures else 0


sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/faults: the first page names the fault first, by exact figures.
test_faults.py FATHOM EXAMPLES"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

from patience import PATIENCE

FATHOM, EXAMPLES = (os.path.abspath(each) for each in sys.argv[1:3])
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-faults-")


def run(*arguments):
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE, cwd=FOLDER.name)
    if told.returncode != 0:
        raise AssertionError(f"{arguments}: {told.stderr}")
    return told.stdout


def record(name):
    """The profile of a program, compiled and run once."""
    profile = os.path.join(FOLDER.name, f"{name}.data")
    if not os.path.exists(profile):
        program = os.path.join(FOLDER.name, name)
        run(FATHOM, "cc", "-O1", "-g", "-pthread", os.path.join(EXAMPLES, f"{name}.c"), "-o", program)
        run(FATHOM, "record", "-o", program, "--", program)
    return profile


def ask(name, query):
    return json.loads(run(FATHOM, "report", "--json", query, record(name)))


def rows(name, query, table):
    page = ask(name, query)
    found = [each for each in page["tables"] if each["name"] == table]
    return [row["cells"] for row in found[0]["rows"]]


def path(cells):
    return [step["name"] for step in cells["path"] if step["name"] != "\u2026"]


def place_of(name, code):
    """Where the example's source has this, as pages write it: "report.c:52"."""
    with open(os.path.join(EXAMPLES, f"{name}.c")) as source:
        lines = [number for number, line in enumerate(source, 1) if code in line]
    return [f"{name}.c:{line}" for line in lines]


def leads_to(name, table, code):
    """Whether the first row of the first page's table leads, at one click, to a page that names one
    of the lines with this code."""
    query = [part["query"] for part in rows(name, "menu", table)[0]["path"] if part["query"]][-1]
    text = json.dumps(ask(name, query)) + run(FATHOM, "report", query, record(name))
    return any(re.search(rf"\b{re.escape(place)}\b", text) for place in place_of(name, code))


class Faults(unittest.TestCase):
    def test_one_click_from_the_first_page_to_the_line(self):
        for name, table, code in (("report", "hot_allocators", "format_line(&buffer, i)"),
                                  ("hash", "hot_functions", "if (same("),
                                  ("parse", "hot_recursions", "try_comparison(&value) ?"),
                                  ("memory", "hot_holders", "cons(text, cache)"),
                                  ("lock", "hot_waits", "write_log(); /* would do")):
            self.assertTrue(leads_to(name, table, code), f"{name}: {code}")

    def test_one_command_in_the_terminal(self):
        for name, command, first in (("report", ["report"], "write_index"),
                                     ("hash", ["tree", "--from=find"], "same"),
                                     ("parse", ["report", "recursions/calls"], "entered at expr"),
                                     ("memory", ["report", "memory/held"], "remember \u203a cons"),
                                     ("lock", ["report", "waits"], "write_log")):
            told = run(FATHOM, *command, record(name))
            self.assertIn(first, told, name)

    def test_lock_contention(self):
        """The first page says how much of the run was waiting, and where; the page of waits, which
        lock it was, and where its holder was meanwhile."""
        page = ask("lock", "menu")
        texts = [each["text"] for each in page["text"]]
        told = [found for found in map(re.compile(
            r"([\d.]+) s wall: ([\d.]+) s CPU, ([\d.]+) s waiting \(mutex ([\d.]+), [^)]*\)"
            r"(?:, about [\d.]+ s of other sleep)?(?:, up to [\d.]+ s ready but without a processor)?"
            r", all threads together\.").fullmatch, texts) if found]
        self.assertEqual(len(told), 1, texts)
        wall, cpu, waiting, mutex = map(float, told[0].groups())
        self.assertGreaterEqual(wall, 800 * 0.0006)
        self.assertLess(cpu, wall / 2)
        self.assertGreater(mutex, wall)
        self.assertGreater(waiting, mutex)
        self.assertIn(told[0][0], run(FATHOM, "report", record("lock")))
        first = rows("lock", "menu", "hot_waits")[0]
        self.assertEqual((first["path"][-1]["name"].split(" \u203a ")[-1], first["kind"]),
                         ("account", "mutex"))
        self.assertIn("Functions that wait most", run(FATHOM, "report", record("lock")))
        functions = rows("lock", "menu", "hot_functions")
        waited = [row["waiting_self_seconds"] for row in functions]
        self.assertEqual((path(functions[0])[0], waited), ("account", sorted(waited, reverse=True)))
        self.assertGreater(waited[-1], 0)
        # a thread's beginning is no call of the program's
        functions = rows("lock", "top_procs/1-1000/calls/self/oa", "procs")
        calls = sum(row["calls_count"] for row in functions if ":" in row["proc"])
        # a run so short may have no tick: then the sentence begins with its calls
        self.assertRegex(page["text"][0]["text"], rf"(?:^| in ){calls:,} calls of ")
        lock, = rows("lock", "waits", "locks")
        self.assertEqual(lock["path"][0]["name"], "big")
        pair = rows("lock", "waits", "lock_holders")[0]
        self.assertEqual(pair["path"][-1]["name"].split(" \u203a ")[-1], "account")
        self.assertEqual(pair["holder"][-1]["name"].split(" \u203a ")[-1], "write_log")
        tree = rows("lock", "tree/waiting/up/1/account", "tree")
        self.assertGreaterEqual(tree[0]["waiting_total_seconds"], mutex)
        account = next(row for row in rows("lock", "top_procs/1-20/calls/self/oa", "procs")
                       if "account" in row["proc"])
        self.assertEqual(account["calls_count"], 800)

    def test_quadratic_append(self):
        first = rows("report", "menu", "hot_allocators")[0]
        self.assertEqual(path(first)[-1], "write_index")
        self.assertGreater(first["self_percent"], 95)
        tree = rows("report", "tree/bytes/up/9-p1e-09/buf_append", "tree")
        callers = [row for row in tree if path(row)[-1] == "write_index"]
        self.assertEqual(callers[0]["entered_count"], 60000)
        others = [row for row in tree if path(row)[-1] == "write_page"]
        self.assertGreater(callers[0]["bytes_total_bytes"] / 60000,
                           100 * others[0]["bytes_total_bytes"] / 40000)

    def test_bad_hash(self):
        functions = rows("hash", "top_procs/1-1/calls/self/oa", "procs")
        self.assertIn("same", functions[0]["proc"])
        tree = rows("hash", "tree/calls/down/2/find", "tree")
        same = next(row for row in tree if path(row)[-1] == "same")
        self.assertGreater(same["entered_per_call_count"], 100)
        hashes = next(row for row in tree if path(row)[-1] == "hash")
        self.assertEqual(hashes["entered_per_call_count"], 1)
        first = rows("hash", "menu", "hot_functions")[0]
        self.assertIn(path(first)[-1], ("same", "find"))

    def test_parsed_twice(self):
        first = rows("parse", "recursions/calls", "hot_recursions")[0]
        self.assertEqual(first["entered_count"], 3)
        self.assertGreater(first["calls_per_entry_count"], 500000)
        self.assertEqual(first["calls_total_count"], first["calls_self_count"])

    def test_memory(self):
        """What is allocated most is given back; what is held is another."""
        first = rows("memory", "memory/allocated", "hot_allocators")[0]
        self.assertEqual(path(first)[-1], "parse_request")
        for query, table in (("menu", "hot_holders"), ("memory/held", "hot_holders"),
                             ("memory/peak", "hot_at_peak")):
            first = rows("memory", query, table)[0]
            self.assertEqual(path(first)[-2:], ["remember", "cons"], query)
            self.assertGreater(first["self_percent"], 90, query)
        self.assertEqual(rows("memory", "memory/held", "hot_holders")[0]["live_self_bytes"],
                         3000 * 4008)
        tree = rows("memory", "tree/live/down/9-p1e-09/all", "tree")
        held = {path(row)[-1]: row["live_total_bytes"] for row in tree}
        self.assertEqual((held["remember"], held.get("parse_request", 0)), (3000 * 4008, 0))


unittest.main(argv=sys.argv[:1], verbosity=2)

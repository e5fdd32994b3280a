#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/faults: the first page names the fault first, by exact figures.
finish_faults.py FATHOM EXAMPLES"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

FATHOM, EXAMPLES = (os.path.abspath(each) for each in sys.argv[1:3])
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-faults-")


def run(*arguments):
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=300, cwd=FOLDER.name)
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
    query = rows(name, "menu", table)[0]["path"][-1]["query"]
    text = json.dumps(ask(name, query))
    return any(re.search(rf"\b{re.escape(place)}\b", text) for place in place_of(name, code))


class Faults(unittest.TestCase):
    def test_one_click_from_the_first_page_to_the_line(self):
        for name, table, code in (("report", "hot_allocators", "format_line(&buffer, i)"),
                                  ("hash", "hot_paths", "if (same("),
                                  ("parse", "hot_recursions", "try_comparison(&value) ?"),
                                  ("memory", "hot_allocators", "cons(text, cache)")):
            self.assertTrue(leads_to(name, table, code), f"{name}: {code}")

    def test_one_command_in_the_terminal(self):
        for name, command, first in (("report", ["report"], "write_index"),
                                     ("hash", ["tree", "--from=find"], "same"),
                                     ("parse", ["report", "recursions/calls"], "entered at expr"),
                                     ("memory", ["report", "memory/allocated"], "remember \u203a cons")):
            told = run(FATHOM, *command, record(name))
            self.assertIn(first, told, name)

    def test_lock_contention(self):
        """Until waiting is recorded, the first page says how much there was, and that it is not told."""
        page = ask("lock", "menu")
        texts = [each["text"] for each in page["text"]]
        told = [found for found in map(re.compile(
            r"It used ([\d.]+) s of CPU in ([\d.]+) s\. In the rest it waited, .*: which, and where, "
            r"was not recorded\.").fullmatch, texts) if found]
        self.assertEqual(len(told), 1, texts)
        cpu, wall = map(float, told[0].groups())
        self.assertGreaterEqual(wall, 800 * 0.0006)
        self.assertLess(cpu, wall / 2)
        self.assertIn(told[0][0], run(FATHOM, "report", record("lock")))
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
        first = rows("memory", "menu", "hot_allocators")[0]
        self.assertEqual(path(first)[-3:], ["handle", "remember", "cons"])
        self.assertGreater(first["self_percent"], 90)


unittest.main(argv=sys.argv[:1], verbosity=2)

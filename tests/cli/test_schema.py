#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers in JSON are as the installed schema says: pages of every kind, of a C program and of a
Mercury program, as the links lead to them. test_schema.py FATHOM GENERATE SCHEMA; skips (77) without
python3-jsonschema."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: there is no python3-jsonschema")
    sys.exit(77)

FATHOM, GENERATE, SCHEMA = (os.path.abspath(each) for each in sys.argv[1:4])
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-schema-")
NO_PAGES = ("quit", "restart", "timeout")
OF_A_KIND = 3
ALSO = ["about", "recursions/calls", "find/e", "help/all", "flame/calls/up/_/all", "dump_proc_static/5",
        "dump_proc_dynamic/5", "dump_call_site_static/5", "dump_call_site_dynamic/5", "dump_raw_clique/2",
        "proc_callers/5/cs/1/20/nc", "root/no", "root/90", "tree/calls/up/3/proc/5"]


def ask(profile, query):
    """A page, or None where this profile has none of that kind."""
    told = subprocess.run([FATHOM, "report", "--json", query, profile], capture_output=True, timeout=120)
    return json.loads(told.stdout) if told.returncode == 0 else None


def queries_of(value):
    """All queries in an answer, in its order."""
    if isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, str) and (name == "query" or name.endswith("_query")):
                yield part
            else:
                yield from queries_of(part)
    elif isinstance(value, list):
        for part in value:
            yield from queries_of(part)


class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(SCHEMA) as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)

    def profile(self, *options):
        path = os.path.join(FOLDER.name, "-".join(["made", *options]) + ".data")
        subprocess.run([GENERATE, "--nodes=800", "--seed=3", *options, path], check=True, capture_output=True)
        return path

    def check(self, profile):
        counts, seen, wanted = {}, set(), ["menu", *ALSO]
        while wanted:
            query = wanted.pop(0)
            kind = query.split("/")[0].split("&")[0]
            if query in seen or kind in NO_PAGES or counts.get(kind, 0) >= OF_A_KIND:
                continue
            seen.add(query)
            page = ask(profile, query)
            if page is None:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            for error in self.validator.iter_errors(page):
                self.fail(f"{query}: {list(error.absolute_path)}: {error.message[:300]}")
            wanted.extend(queries_of(page))
        return counts

    def test_c(self):
        counts = self.check(self.profile("--c"))
        for kind in ("menu", "flame", "tree", "proc", "clique", "top_procs", "find", "dump_raw_clique"):
            self.assertIn(kind, counts)
        self.assertGreater(sum(counts.values()), 25)

    def test_mercury(self):
        self.assertGreater(sum(self.check(self.profile()).values()), 20)

    def test_a_wrong_answer_is_refused(self):
        page = ask(self.profile("--c"), "menu")
        self.assertTrue(self.validator.is_valid(page))
        del page["facts"]["flavour"]
        self.assertFalse(self.validator.is_valid(page))
        page = ask(self.profile("--c"), "top_procs/1-5/calls/self/oa")
        page["tables"][0]["rows"][0]["cells"]["calls_percent"] = "much"
        self.assertFalse(self.validator.is_valid(page))


unittest.main(argv=sys.argv[:1], verbosity=2)

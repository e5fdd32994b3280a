#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers in JSON are as the installed schema says: pages of every kind, of a C program and of a
Mercury program, as the links lead to them, verdicts of limits, and what viewers of traces answer.
test_schema.py FATHOM GENERATE SCHEMA GENERATE-EVENTLOG TRACE-SCHEMA; skips (77) without python3-jsonschema."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import urllib.request

from patience import PATIENCE

try:
    import jsonschema
except ImportError:
    print("skipped: there is no python3-jsonschema")
    sys.exit(77)

FATHOM, GENERATE, SCHEMA, GENERATE_LOG, TRACE_SCHEMA = (os.path.abspath(each) for each in sys.argv[1:6])
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-schema-")
NO_PAGES = ("quit", "restart", "timeout")
OF_A_KIND = 3
ALSO = ["about", "recursions/calls", "find/e", "help/all", "flame/calls/up/_/all", "dump_proc_static/5",
        "dump_proc_dynamic/5", "dump_call_site_static/5", "dump_call_site_dynamic/5", "dump_raw_clique/2",
        "proc_callers/5/cs/1/20/nc", "root/no", "root/90", "tree/calls/up/3/proc/5"]


def ask(profile, query):
    """A page, or None where this profile has none of that kind."""
    told = subprocess.run([FATHOM, "report", "--json", query, profile], capture_output=True, timeout=PATIENCE)
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

    def test_of_several_profiles(self):
        before, after = self.profile("--c"), self.profile("--c", "--run=2")
        for command in (["diff", "--json", "--by=calls", before, after], ["history", "--json", before, after]):
            told = subprocess.run([FATHOM, *command], capture_output=True, timeout=PATIENCE, check=True)
            answer = json.loads(told.stdout)
            self.assertEqual([], [error.message for error in self.validator.iter_errors(answer)], command)
            self.assertTrue(answer["tables"][0]["rows"], command)
            self.assertEqual(command[0], answer["page"])
            self.assertEqual(command[0] == "diff", "flame" in answer)

    def test_a_wrong_answer_is_refused(self):
        page = ask(self.profile("--c"), "menu")
        self.assertTrue(self.validator.is_valid(page))
        del page["facts"]["flavour"]
        self.assertFalse(self.validator.is_valid(page))
        page = ask(self.profile("--c"), "top_procs/1-5/calls/self/oa")
        page["tables"][0]["rows"][0]["cells"]["calls_percent"] = "much"
        self.assertFalse(self.validator.is_valid(page))


    def test_limits(self):
        before, after = self.profile("--c"), self.profile("--c", "--run=2")
        told = subprocess.run([FATHOM, "check", "--json", f"--against={before}", "--expect=calls total <= +0 %", after],
                              capture_output=True, timeout=PATIENCE)
        self.assertIn(told.returncode, (0, 1), told.stderr)
        answer = json.loads(told.stdout)
        self.assertEqual([], [error.message for error in self.validator.iter_errors(answer)])
        self.assertEqual("limits", answer["page"])
        self.assertIn(answer["tables"][0]["rows"][0]["cells"]["verdict"], ("kept", "broken"))


class Traces(unittest.TestCase):
    VIEWS = ("set", "overview", "timeline", "resources", "events", "statistics", "counters", "area", "path", "step")

    def test_each_viewer(self):
        with open(TRACE_SCHEMA) as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        log = os.path.join(FOLDER.name, "made.eventlog")
        subprocess.run([GENERATE_LOG, "--events=3000", log], check=True, capture_output=True)
        server = subprocess.Popen([FATHOM, "view", "--no-open", log], stdout=subprocess.PIPE, text=True)
        try:
            address = re.search(r"http://[^/]+/", server.stdout.readline())[0]
            for view in self.VIEWS:
                query = urllib.parse.urlencode({"file": log, "view": view, "width": 50})
                with urllib.request.urlopen(f"{address}trace.json?{query}", timeout=PATIENCE) as told:
                    answer = json.load(told)
                self.assertEqual([], [f"{list(error.absolute_path)}: {error.message[:200]}"
                                      for error in validator.iter_errors(answer)], view)
                self.assertEqual(view, answer["viewer"])
                for key in list(answer)[:3]:
                    self.assertFalse(validator.is_valid({name: answer[name] for name in answer if name != key}), key)
        finally:
            server.terminate()
            server.wait(PATIENCE)
            server.stdout.close()


unittest.main(argv=sys.argv[:1], verbosity=2)

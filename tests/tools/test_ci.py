#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CI's judgement of results, its report, and the end of what it started."""
import contextlib
import datetime
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

CI = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(CI))
import report  # noqa: E402
import results  # noqa: E402
import run  # noqa: E402

LONG = [f"not ok {n} - case {n} has a long name, and says {'much ' * 60}" for n in range(300)]


def entry(name, result="OK", out="", err="", status=0):
    return {"name": f"fathom:unit / {name}", "result": result, "duration": 1.5, "returncode": status,
            "env": {"MALLOC_PERTURB_": "77"}, "stdout": out, "stderr": err}


def lists(skips="", unsteady="", today=datetime.date(2026, 5, 20)):
    folder = tempfile.mkdtemp()
    for name, text in (("skips", skips), ("unsteady", unsteady)):
        pathlib.Path(folder, name).write_text(text)
    try:
        return results.Skips(f"{folder}/skips"), results.Unsteady(f"{folder}/unsteady", today)
    finally:
        for name in ("skips", "unsteady"):
            os.unlink(f"{folder}/{name}")
        os.rmdir(folder)


def written(failures, detailed=3, told=()):
    state = types.SimpleNamespace(
        failures=failures, minutes=[("check", 12.25), ("lint", 1.0)],
        counts={"passed": 200, "failed": len(failures), "skipped": 2},
        unsteady=types.SimpleNamespace(told=list(told)))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        passed = report.write(state, detailed)
    return passed, out.getvalue().splitlines()


class Judging(unittest.TestCase):
    def test_a_failure_says_what_it_is(self):
        skips, _ = lists()
        result = results.Result(entry("graphs", "FAIL", "ok 1 - a\nnot ok 2 - b\n# 3 < 2\n", "x.c:7: 3 < 2\n", 1))
        self.assertEqual(result.problem(skips), ["result: FAIL, exit status 1, after 2 s"])
        self.assertEqual(result.said(), ["not ok 2 - b", "# 3 < 2"])
        self.assertEqual(result.last_lines(), ["x.c:7: 3 < 2"])
        self.assertEqual(result.again("build-x", "quick"),
                         "MALLOC_PERTURB_=77 meson test -C build-x --no-rebuild --setup quick "
                         "--print-errorlogs graphs")

    def test_time_outs_and_errors_are_failures(self):
        skips, _ = lists()
        for kind in ("FAIL", "TIMEOUT", "ERROR", "UNEXPECTEDPASS", "INTERRUPT"):
            self.assertIsNotNone(results.Result(entry("x", kind)).problem(skips), kind)
        for kind in ("OK", "EXPECTEDFAIL"):
            self.assertIsNone(results.Result(entry("x", kind)).problem(skips), kind)

    def test_skips_must_be_listed(self):
        skips, _ = lists("# comment\ncgi * | tmpfs | needs root* | runs as root elsewhere\n")
        one = entry("cgi faults", out="ok 1 - a\nok 2 - tmpfs # SKIP needs root here\n")
        self.assertIsNone(results.Result(one).problem(skips))
        other = entry("cgi faults", out="ok 1 - a # SKIP no npm\nok 2 - tmpfs # skip needs root here\n")
        self.assertEqual(results.Result(other).problem(skips),
                         ["skips what tests/skips.txt does not list: a: no npm"])
        whole = entry("browser", "SKIP", "skipped: npm ci failed\n", status=77)
        self.assertEqual(results.Result(whole).problem(skips),
                         ["skips what tests/skips.txt does not list: skipped: npm ci failed"])
        silent = entry("browser", "SKIP", status=77)
        self.assertIn("it does not say why", results.Result(silent).problem(skips)[0])

    def test_skips_of_every_form(self):
        skips, _ = lists()
        for out, err in (("    ok 1 - a # SKIP no tool\n", ""), ("ok - a # SKIP no tool\n", ""), ("ok # skip no tool\n", ""),
                         ("", "test_a (x.A.test_a) ... skipped 'no tool'\n")):
            found = results.Result(entry("x", out=out, err=err)).problem(skips)
            self.assertTrue(found and found[0].endswith("no tool"), (out, err, found))
        self.assertIsNotNone(results.Result(entry("x", out="not ok 1 - a # TODO later\n")).problem(skips))

    def test_unsteady_tests_are_few_and_young(self):
        lines = [f"test {n} | 2026-05-{6 + n:02} | its port" for n in range(5)]
        _, unsteady = lists(unsteady="\n".join(lines))
        self.assertEqual(unsteady.problems(), [])
        self.assertTrue(unsteady.tell("test 3", "check"))
        self.assertFalse(unsteady.tell("test 9", "check"))
        self.assertEqual(len(unsteady.told), 1)
        _, unsteady = lists(unsteady="\n".join(lines), today=datetime.date(2026, 5, 21))
        self.assertEqual(unsteady.problems(), ["test 0 stands there for more than 14 days"])
        _, unsteady = lists(unsteady=lines[4], today=datetime.date(2026, 5, 9))
        self.assertEqual(unsteady.problems(), ["test 4 has a date to come"])
        _, unsteady = lists(unsteady="\n".join(lines + ["test 5 | 2026-05-20 | its port"]))
        self.assertEqual(unsteady.problems(), ["6 tests; at most 5 may stand there"])

    def test_results_of_a_runner_that_was_killed(self):
        with tempfile.TemporaryDirectory() as build:
            os.mkdir(f"{build}/meson-logs")
            text = json.dumps(entry("a")) + "\n" + json.dumps(entry("b", "FAIL"))[:40]
            pathlib.Path(build, "meson-logs", "testlog-quick.json").write_text(text)
            self.assertEqual([r.name for r in results.read(build, 0)], ["a"])
            self.assertEqual(results.read(build, 2 ** 40), [])


class Reporting(unittest.TestCase):
    def test_a_green_run_says_no_other_word_of_failing(self):
        passed, lines = written([])
        self.assertTrue(passed)
        self.assertEqual(lines[-1], "200 passed, 0 failed, 2 skipped")
        self.assertNotIn("fail", "\n".join(lines[:-1]))
        self.assertIn("check 12.2", "\n".join(lines))

    def test_all_of_a_red_run_is_in_its_last_lines(self):
        failures = [report.Failure("check", f"test {n}", said=list(LONG), last=list(LONG), limit=300,
                                   again=f"meson test 'test {n}'", alone_passes=n == 1)
                    for n in range(40)]
        passed, lines = written(failures, told=["other (check): known"])
        self.assertFalse(passed)
        self.assertLess(len(lines), 60)
        for n in range(3):
            self.assertTrue(any(line.startswith(f"== check: test {n}, limit 300 s") for line in lines))
            self.assertIn(f"   again: meson test 'test {n}'", lines)
        self.assertTrue(any(line.endswith("run once more, alone, it passes") for line in lines))
        self.assertIn("check: test 39", "\n".join(lines))
        self.assertIn("   check: test 5: meson test 'test 5'", lines)
        self.assertLess(max(map(len, lines)), 1600)

    def test_commands_are_whole(self):
        again = "meson test " + "target " * 300
        _, lines = written([report.Failure("check", "many", said=["x" * 400], again=again)])
        self.assertIn(f"   again: {again}", lines)
        self.assertLess(max(len(line) for line in lines if "again" not in line), 400)

    def test_no_test_at_all_is_no_pass(self):
        state = types.SimpleNamespace(failures=[], minutes=[], counts={"passed": 0, "failed": 0, "skipped": 9},
                                    unsteady=types.SimpleNamespace(told=[]))
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertFalse(report.write(state, 3))


class Ending(unittest.TestCase):
    def test_a_stopped_run_leaves_no_process(self):
        before = os.getcwd()
        os.chdir(CI.parent.parent)
        try:
            state = run.Run(0)
        finally:
            os.chdir(before)
        with subprocess.Popen(["sh", "-c", "sleep 3600; true"], start_new_session=True) as process:
            state.groups.add(process.pid)
            state.end_groups()
            self.assertFalse(os.path.exists(f"/proc/{process.pid}"))
        self.assertEqual(state.groups, set())
        state.end_groups()


unittest.main()

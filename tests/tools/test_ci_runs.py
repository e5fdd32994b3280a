#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of CI over a project of a few tests: what makes them red, what their report names, what is left
of a run that hangs or is stopped, and when a commit counts as passed."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from patience import wait_until

CI = os.path.abspath(sys.argv.pop(1))
DRIVER = f"""
import sys
sys.path.insert(0, {CI!r})
import run

suites = sys.argv[1:]

def job(state):
    run.test(state, "check", "b", "full", run.by_suite("some", *suites, without=("soak",)))

run.JOBS.clear()
run.JOBS["check"] = job
sys.exit(run.main([]))
"""
PROJECT = """project('small')
sh = find_program('sh')
test('soaks', sh, args: ['-c', 'exit 1'], suite: 'soak')
test('good', sh, args: ['-c', 'exit 0'], suite: 'some')
add_test_setup('full', timeout_multiplier: 10)
"""


def test_of(name, script):
    return f"test('{name}', sh, args: ['-c', '''{script}'''], suite: 'some', timeout: 600)\n"


def git(*arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Runs(unittest.TestCase):
    def setUp(self):
        before, folder = os.getcwd(), tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, before)
        os.chdir(folder.name)

    def start(self, *tests, skips="", minutes=20, arguments=()):
        for name, text in (("meson.build", PROJECT + "".join(tests)), ("driver.py", DRIVER), ("tests/skips.txt", skips),
                           ("tests/unsteady.txt", ""), (".gitignore", "b\nbuild-ci\n__pycache__\n")):
            pathlib.Path(name).parent.mkdir(exist_ok=True)
            pathlib.Path(name).write_text(text)
        git("init", "-q")
        git("add", "-A")
        git("commit", "-q", "-m", "all")
        subprocess.run(["meson", "setup", "b"], check=True, stdout=subprocess.DEVNULL)
        return subprocess.Popen([sys.executable, "driver.py", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, env={**os.environ, "CI_MINUTES": str(minutes)}, start_new_session=True)

    def finish(self, process):
        out, _ = process.communicate()
        passed = os.path.exists(".git/ci-passed")
        return process.returncode, passed, out.splitlines()

    def named(self, lines, name):
        return [line for line in lines[-60:] if line.startswith(f"== check: {name}")]

    def test_green(self):
        status, passed, lines = self.finish(self.start())
        self.assertEqual((status, passed, lines[-2]), (0, True, "1 passed, 0 failed, 0 skipped"), lines)
        head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(pathlib.Path(".git/ci-passed").read_text(), head)

    def test_a_failure(self):
        status, passed, lines = self.finish(self.start(test_of("bad", "echo boom >&2; exit 1")))
        self.assertEqual((status, passed, lines[-1]), (1, False, "1 passed, 1 failed, 0 skipped"), lines)
        self.assertTrue(self.named(lines, "bad")[-1].endswith("alone, it does not pass"))
        self.assertIn("   boom", lines)

    def test_a_failure_that_passes_alone_is_a_failure(self):
        status, passed, lines = self.finish(self.start(test_of("shy", "test -e seen || { : > seen; exit 1; }")))
        self.assertEqual((status, passed), (1, False), lines)
        self.assertTrue(self.named(lines, "shy")[-1].endswith("alone, it passes"))

    def test_skips(self):
        status, passed, lines = self.finish(self.start(test_of("none", "echo no tool; exit 77")))
        self.assertEqual((status, passed), (1, False), lines)
        self.assertEqual(len(self.named(lines, "none")), 1)

    def test_skips_that_may_be(self):
        status, passed, lines = self.finish(self.start(test_of("none", "echo no tool; exit 77"), skips="none | * | no tool | why\n"))
        self.assertEqual((status, passed, lines[-2]), (0, True, "1 passed, 0 failed, 1 skipped"), lines)

    def test_a_changed_tree_has_not_passed(self):
        process = self.start(test_of("writes", "echo x > $MESON_SOURCE_ROOT/new.c; exit 0"))
        pathlib.Path("other.c").write_text("x")
        status, passed, lines = self.finish(process)
        self.assertEqual((status, passed), (0, False), lines)

    def test_a_suite_without_tests(self):
        status, passed, lines = self.finish(self.start(arguments=["nobody"]))
        self.assertEqual((status, passed), (1, False), lines)
        self.assertIn("   no test is in the suite nobody", lines)

    def hang(self, before="true"):
        return test_of("hangs", f"echo $$ > hanging; {before}; sleep 3600; sleep 3600")

    def has_ended(self):
        pid = int(next(pathlib.Path(".").rglob("hanging")).read_text())
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the hanging test has ended")

    def test_a_test_that_hangs_is_named(self):
        status, passed, lines = self.finish(self.start(self.hang("trap : TERM INT"), minutes=0.1))
        self.assertEqual((status, passed), (1, False), lines)
        self.has_ended()
        self.assertIn("hangs", "\n".join(lines[-60:]))
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")

    def test_a_run_that_is_stopped_reports(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            process = self.start(self.hang())
            wait_until(lambda: any(path.read_text() for path in pathlib.Path(".").rglob("hanging")), "the test hangs")
            os.kill(process.pid, number)
            status, passed, lines = self.finish(process)
            self.assertEqual((status, passed), (1, False), lines)
            self.has_ended()
            self.assertIn("== all: stopped", lines)
            shutil.rmtree("b")
            shutil.rmtree(".git")


unittest.main()

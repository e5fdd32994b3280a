#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What own_folder.py leaves in the temporary folder, however the test below it ends: nothing."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own_folder.py")
LEFTOVERS = 99
LEAVE = 'mkdir "$TMPDIR/a"; : >"$TMPDIR/a/b"; '


class OwnFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.env = {**os.environ, "TMPDIR": self.folder.name, "FATHOM_LEFTOVERS": "fail"}
        self.env.pop("FATHOM_KEEP_TEMPORARY", None)

    def tearDown(self):
        left = os.listdir(self.folder.name)
        self.folder.cleanup()
        self.assertEqual(left, [])

    def begin(self, script, **env):
        return subprocess.Popen([sys.executable, OWN_FOLDER, "sh", "-c", script],
                                env={**self.env, **env}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def run_script(self, script, **env):
        with self.begin(script, **env) as process:
            _, said = process.communicate(timeout=120)
            return process.returncode, said

    def test_a_clean_test(self):
        self.assertEqual(self.run_script('test -d "$TMPDIR" && : >"$TMPDIR/x" && rm "$TMPDIR/x"'),
                         (0, ""))

    def test_one_that_leaves_files(self):
        status, said = self.run_script(LEAVE)
        self.assertEqual(status, LEFTOVERS)
        self.assertIn("left in the temporary folder: 2", said)
        self.assertIn("a/b", said)
        self.assertEqual(self.run_script(LEAVE, FATHOM_LEFTOVERS="tell")[0], 0)

    def test_one_that_fails(self):
        self.assertEqual(self.run_script(LEAVE + "exit 3")[0], 3)
        self.assertEqual(self.run_script(LEAVE + "exit 77")[0], 77)

    def test_one_that_crashes(self):
        self.assertEqual(self.run_script(LEAVE + "kill -SEGV $$")[0], 128 + signal.SIGSEGV)

    def test_folders_that_cannot_be_entered(self):
        self.assertEqual(self.run_script(LEAVE + 'chmod 0 "$TMPDIR/a"')[0], LEFTOVERS)

    def test_one_that_is_ended(self):
        """As the runner ends one that takes too long: by the group, and by the wrapper alone."""
        for group in (True, False):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                with self.begin(LEAVE + "echo ready; exec sleep 1000") as process:
                    self.assertEqual(process.stdout.readline(), "ready\n")
                    if group:
                        os.killpg(process.pid, number)
                    else:
                        os.kill(process.pid, number)
                    process.communicate(timeout=120)
                    self.assertNotEqual(process.returncode, 0)

    def age(self):
        for name in os.listdir(self.folder.name):
            os.utime(os.path.join(self.folder.name, name), (0, 0))

    def test_one_whose_wrapper_is_killed(self):
        """The next one removes what stayed; not what a living one has, nor names of others."""
        with self.begin(LEAVE + "echo ready; exec sleep 1000") as killed, \
                self.begin(LEAVE + "echo ready; exec sleep 1000") as living:
            for process in (killed, living):
                self.assertEqual(process.stdout.readline(), "ready\n")
            os.killpg(killed.pid, signal.SIGKILL)
            killed.wait(120)
            self.assertEqual(len(os.listdir(self.folder.name)), 4)
            self.assertEqual(self.run_script("true")[0], 0)
            self.assertEqual(len(os.listdir(self.folder.name)), 4) # may be about to be locked
            os.mkdir(os.path.join(self.folder.name, "ft-somebody-else"))
            self.age()
            self.assertEqual(self.run_script("true")[0], 0)
            self.assertEqual(len(os.listdir(self.folder.name)), 3)
            os.rmdir(os.path.join(self.folder.name, "ft-somebody-else"))
            os.killpg(living.pid, signal.SIGTERM)
            living.communicate(timeout=120)


if __name__ == "__main__":
    unittest.main(verbosity=2)

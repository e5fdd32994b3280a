#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom merge as a program: sums, order, copies, lists of names, bodies, bad usage."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from patience import PATIENCE

FATHOM, GENERATE = sys.argv[1:3]
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-merge-")
PROFILE = os.path.join(FOLDER.name, "Deep.data")


def path(name):
    return os.path.join(FOLDER.name, name)


def run(*arguments, **options):
    return subprocess.run([FATHOM, *arguments], capture_output=True, timeout=PATIENCE, **options)


class Merge(unittest.TestCase):
    def test_sums_and_order(self):
        copy = path("copy.data")
        with open(PROFILE, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        one, forth, back = path("one.data"), path("forth.data"), path("back.data")
        self.assertEqual(run("merge", PROFILE, "-o", one).returncode, 0)
        refused = run("merge", PROFILE, copy, "-o", forth)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(b"copy.data: a copy of " + PROFILE.encode(), refused.stderr)
        self.assertFalse(os.path.exists(forth))
        twice = ("merge", "--allow-repeats")
        self.assertEqual(run(*twice, PROFILE, copy, one, "-o", forth).returncode, 0)
        self.assertEqual(run(*twice, one, PROFILE, copy, "-o", back).returncode, 0)
        with open(forth, "rb") as first, open(back, "rb") as second:
            self.assertEqual(first.read(), second.read())
        single = json.loads(run("report", "--json", "menu", PROFILE).stdout)["facts"]
        triple = json.loads(run("report", "--json", "menu", forth).stdout)["facts"]
        self.assertEqual(triple["callseqs"], 3 * single["callseqs"])
        self.assertTrue(triple["invariants_hold"])

    def test_names_in_a_list(self):
        names = [path("listed 1.data"), path("listed2.data")]
        for i, name in enumerate(names, 1):
            subprocess.run([GENERATE, "--c", "-n", "300", "-p", "20", "--run", str(i), name],
                           check=True, stdout=subprocess.DEVNULL)
        with open(path("list"), "w", encoding="utf-8") as file:
            file.write(names[1] + "\n\n" + names[0] + "\n")
        with open(path("empty.list"), "w", encoding="utf-8") as file:
            file.write("\n")
        one, other = path("given.data"), path("listed.data")
        self.assertEqual(run("merge", *names, "-o", one).returncode, 0)
        self.assertEqual(run("merge", "@" + path("list"), "-o", other).returncode, 0)
        with open(one, "rb") as first, open(other, "rb") as second:
            self.assertEqual(first.read(), second.read())
        for given, text in ((path("empty.list"), b"the list names no files"),
                            (path("no.list"), b"no.list")):
            told = run("merge", "@" + given, "-o", path("never.data"))
            self.assertEqual(told.returncode, 1)
            self.assertIn(text, told.stderr)
        told = run("merge", names[0], "@" + path("list"), "-o", path("never.data"))
        self.assertIn(b"given twice", told.stderr)
        self.assertFalse(os.path.exists(path("never.data")))

    def test_bodies_are_carried_along(self):
        folder = tempfile.mkdtemp(dir=FOLDER.name)
        names = [os.path.join(folder, name) for name in ("a.data", "b.data", "c.data")]
        for name in names:
            with open(PROFILE, "rb") as source, open(name, "wb") as target:
                target.write(source.read())
        bodies = [name.replace(".data", ".procrep") for name in names]
        out = os.path.join(folder, "out.data")
        for name in bodies[:2]:
            with open(name, "wb") as file:
                file.write(b"bodies of this build")
        self.assertEqual(run("merge", "--allow-repeats", *names, "-o", out).returncode, 0)
        with open(out.replace(".data", ".procrep"), "rb") as file:
            self.assertEqual(file.read(), b"bodies of this build")
        os.unlink(out.replace(".data", ".procrep"))
        with open(bodies[2], "wb") as file:
            file.write(b"bodies of another build")
        done = run("merge", "--allow-repeats", *names, "-o", out)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"the bodies (.procrep) of the profiles differ", done.stderr)
        self.assertFalse(os.path.exists(out.replace(".data", ".procrep")))

    def test_bad_usage(self):
        out = path("never.data")
        for arguments, status, text in [
                (["-o", out], 2, b"expected a FILE"), ([PROFILE], 2, b"expected --output"),
                ([PROFILE, PROFILE, "-o", out], 1, b"given twice (--allow-repeats"),
                ([path("nothing.data"), "-o", out], 1, b"nothing.data")]:
            result = run("merge", *arguments)
            self.assertEqual(result.returncode, status)
            self.assertIn(text, result.stderr)
            self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    subprocess.run([GENERATE, "--nodes=2000", "--seed=3", PROFILE], check=True,
                   stdout=subprocess.DEVNULL)
    unittest.main(argv=sys.argv[:1], verbosity=2)

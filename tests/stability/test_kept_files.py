#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that earlier versions wrote still say the same (docs/stability.md). They are the seeds of the fuzz targets, which
were written long ago and are never written again.

    test_kept_files.py FATHOM SEEDS
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from patience import PATIENCE

FATHOM, SEEDS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()


def run(*arguments, cwd):
    return subprocess.run([FATHOM, *arguments], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE)


class KeptFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def take(self, seed, name):
        """A copy, as finishing writes beside what it reads."""
        shutil.copyfile(SEEDS / seed, self.folder / name)

    def facts(self, name):
        told = run("report", "--json", "menu", name, cwd=self.folder)
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout)["facts"]

    def check(self, name, expected):
        found = self.facts(name)
        self.assertEqual({key: found.get(key) for key in expected}, expected)
        self.assertTrue(found["invariants_hold"])

    def test_profiles_of_mercury_version_8(self):
        self.take("profile_read/mercury-8.data", "old.data")
        self.check("old.data", {"flavour": "mercury", "format_version": 8, "callseqs": 435, "csd_count": 9, "ps_count": 12})

    def test_profiles_of_mercury_version_9(self):
        self.take("profile_read/recursive.data", "old.data")
        self.check("old.data", {"flavour": "mercury", "format_version": 9, "callseqs": 4589, "csd_count": 69, "quanta": 15})

    def test_profiles_of_c_programs(self):
        self.take("profile_read/c.data", "old.data")
        self.check("old.data", {"flavour": "c", "format_version": 1, "callseqs": 537, "csd_count": 15, "total_time_seconds": 0.07})

    def test_recordings(self):
        self.take("recording/small", "old.rec")
        self.assertEqual(run("finish", "old.rec", cwd=self.folder).returncode, 0)
        self.check("old.data", {"command": "./s", "folder": "/tmp/program", "process": 21344, "callseqs": 6, "csd_count": 4,
                                "started": "2026-11-22 21:04:05 UTC", "run_time_seconds": 0.018166628})

    def test_bodies(self):
        for version in (5, 6):
            self.take(f"procrep/version-{version}", "Deep.procrep")
            told = json.loads(run("procrep", "--json", cwd=self.folder).stdout)
            self.assertEqual((told["version"], told["modules"][0]["module"]), (version, "m"))
            self.assertEqual(told["modules"][0]["procedures"][0]["procedure"], "pred m.p/2-0")

    def test_event_logs(self):
        """One event is of a type that no version knows: its header declares it."""
        seed = (SEEDS / "eventlog_reader/two").read_bytes()
        (self.folder / "old.eventlog").write_bytes(seed[1:])  # the first byte is the fuzz target's own
        told = json.loads(run("log", "stat", "--json", "old.eventlog", cwd=self.folder).stdout)
        self.assertEqual((told["events"], told["min_ns"], told["max_ns"], told["gaps"]), (30, 5, 9, []))
        self.assertEqual(told["types"], {"HeapProfSampleCostCentre": 6, "InternString": 6, "RunThread": 6, "Unknown700": 6,
                                         "UserMessage": 6})

    def test_a_version_that_is_not_known_is_named(self):
        later = (SEEDS / "recording/small").read_bytes()
        (self.folder / "later.rec").write_bytes(later[:8] + (99).to_bytes(4, "little") + later[12:])
        told = run("finish", "later.rec", cwd=self.folder)
        self.assertEqual(told.returncode, 1)
        self.assertIn("later.rec: offset 8: version 99 ", told.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/configure.sh: configures once, and again when a package that fathom asks for has come or gone.

usage: test_configure.py CONFIGURE"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CONFIGURE = sys.argv.pop(1)
MESON = """#!/bin/sh
echo "$@" >> "$CALLS"
[ -z "$FAILS" ] || exit 1
for folder; do [ "$folder" = "$WHERE" ] && mkdir -p "$folder" && : > "$folder/build.ninja"; done
exit 0
"""
QUERY = """#!/bin/sh
shift 3
for package; do grep -qx "$package" "$INSTALLED" && echo "$package install ok installed"; done
exit 1
"""


class Configure(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in (("meson", MESON), ("dpkg-query", QUERY)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        tools = self.folder / "tools"
        tools.mkdir()
        shutil.copy(CONFIGURE, tools / "configure.sh")
        (tools / "packages.txt").write_text("# package group\nfirst build\nsecond test\n")
        self.calls = self.folder / "calls"

    def run_it(self, *installed, fails="", status=0):
        self.calls.write_text("")
        (self.folder / "installed").write_text("".join(name + "\n" for name in installed))
        build = str(self.folder / "b")
        told = subprocess.run([self.folder / "tools" / "configure.sh", build, "-Dx=y"], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "WHERE": build,
                                   "CALLS": str(self.calls), "INSTALLED": str(self.folder / "installed"),
                                   "FAILS": fails}, check=False)
        self.assertEqual(told.returncode, status, told)
        return [line.replace(build, "BUILD") for line in self.calls.read_text().splitlines()]

    def test_packages_that_come_and_go(self):
        self.assertEqual(self.run_it("first"), ["setup BUILD -Dx=y"])
        self.assertEqual(self.run_it("first"), [])
        self.assertEqual(self.run_it("first", "other"), [])
        self.assertEqual(self.run_it("first", "second"), ["setup --reconfigure BUILD -Dx=y"])
        self.assertEqual(self.run_it("first", "second"), [])
        self.assertEqual(self.run_it(), ["setup --reconfigure BUILD -Dx=y"])

    def test_what_failed_is_tried_again(self):
        self.assertEqual(self.run_it("first"), ["setup BUILD -Dx=y"])
        self.assertEqual(self.run_it("second", fails="yes", status=1), ["setup --reconfigure BUILD -Dx=y"])
        self.assertEqual(self.run_it("second"), ["setup --reconfigure BUILD -Dx=y"])


unittest.main(verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/install-packages.sh: looks for commands and libraries themselves, installs packages of those that are missing,
or names them where there is no apt.

usage: test_packages.py INSTALL-PACKAGES"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)
LIST = """# package group
compiler build command:our-compiler f-compiler a-compiler
glib-dev build library:glib-9 f-glib a-glib
headers build header:our.h
browser test
"""
TOOLS = {
    "our-compiler": "exit 0",
    "pkg-config": 'grep -qx "$2" "$HERE/libraries"',
    "cc": 'read -r line; grep -qxF "$line" "$HERE/headers"',
    "dpkg-query": 'shift 3; grep -qx "$1" "$HERE/packages" && echo "install ok installed"',
    "apt-get": 'echo "$@" >> "$HERE/calls"',
    "id": "echo 0",
}


class Packages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        for command in ("sh", "dirname", "sed", "grep", "printf", "cat"):
            os.symlink(shutil.which(command), self.folder / "bin" / command)
        for name, text in TOOLS.items():
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / "bin" / name).chmod(0o755)
        shutil.copy(SCRIPT, self.folder / "install-packages.sh")
        (self.folder / "packages.txt").write_text(LIST)
        self.have(libraries="glib-9", headers="#include <our.h>", packages="browser")

    def have(self, **lists):
        for name, text in lists.items():
            (self.folder / name).write_text(text + "\n")

    def run_it(self, *groups, status=0):
        (self.folder / "calls").write_text("")
        done = subprocess.run([self.folder / "bin/sh", self.folder / "install-packages.sh", *groups], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False,
                              env={"PATH": str(self.folder / "bin"), "HERE": str(self.folder)})
        self.assertEqual(done.returncode, status, done)
        return (self.folder / "calls").read_text().splitlines(), done.stderr

    def test_nothing_is_missing(self):
        self.have(packages="")
        self.assertEqual(self.run_it("build"), ([], ""))

    def test_what_is_missing_is_installed(self):
        self.have(libraries="", headers="", packages="")
        calls, said = self.run_it("build", "test")
        self.assertEqual(calls[0], "update -qq")
        self.assertEqual(calls[1], "install -y -qq --no-install-recommends glib-dev headers browser")
        self.assertIn("build: compilers and libraries", said)
        self.assertIn("test: what tests run against", said)

    def test_only_groups_with_something_missing_are_explained(self):
        self.have(packages="")
        calls, said = self.run_it("build", "test")
        self.assertEqual(calls[1:], ["install -y -qq --no-install-recommends browser"])
        self.assertNotIn("build:", said)

    def test_without_apt(self):
        (self.folder / "bin/apt-get").unlink()
        (self.folder / "bin/our-compiler").unlink()
        self.have(libraries="")
        calls, said = self.run_it("build", status=1)
        self.assertEqual(calls, [])
        self.assertIn("dnf install f-compiler f-glib\n", said)
        self.assertIn("pacman -S --needed a-compiler a-glib\n", said)
        self.assertIn("apt-get install compiler glib-dev\n", said)

    def test_without_root(self):
        (self.folder / "bin/id").write_text("#!/bin/sh\necho 1000\n")
        self.have(libraries="")
        calls, said = self.run_it("build", status=1)
        self.assertEqual(calls, [])
        self.assertIn("Run as root: apt-get install --no-install-recommends glib-dev\n", said)


unittest.main(verbosity=2)

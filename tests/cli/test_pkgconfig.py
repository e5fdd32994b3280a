#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs are compiled and run with what the installed pkg-config files tell.
test_pkgconfig.py BUILD MESON CC"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD, MESON, CC = sys.argv[1:4]
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-pkgconfig-")
CONTROLS = """#include <fathom/fathom.h>
int main(void) { fathom_stop(); fathom_start(); return fathom_mark("a") == -19 ? 0 : 1; }
"""
LOGS = """#include <fathom/eventlog.h>
int main(int argc, char **argv)
{
    (void)argc;
    return fm_eventlog_start(0) == 0 && fm_eventlog_open_file(argv[1]) == 0 && fm_eventlog_stop() == 0 ? 0 : 1;
}
"""


def installed():
    root = pathlib.Path(FOLDER.name, "root")
    if not root.exists():
        subprocess.run([MESON, "install", "-C", BUILD, "--no-rebuild", "--tags", "devel", "--destdir", str(root)],
                       check=True, stdout=subprocess.DEVNULL)
    return root


def flags(name, *wanted):
    root = installed()
    folder = next(root.rglob("pkgconfig"))
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    told = subprocess.run(["pkg-config", *wanted, name], capture_output=True, text=True, check=True, env=environment)
    return told.stdout.split()


def compiled(name, text, *wanted):
    source = pathlib.Path(FOLDER.name, f"{name}.c")
    source.write_text(text)
    program = str(source.with_suffix(""))
    subprocess.run([CC, "-Wall", "-Werror", str(source), "-o", program, *flags(name, *wanted)], check=True)
    return program


class PkgConfig(unittest.TestCase):
    def test_control_needs_no_library(self):
        self.assertEqual(subprocess.run([compiled("fathom", CONTROLS, "--cflags", "--libs")], check=False).returncode, 0)
        self.assertFalse([flag for flag in flags("fathom", "--libs") if flag.startswith("-l")])

    def test_event_log(self):
        program = compiled("fathom-eventlog", LOGS, "--cflags", "--libs", "--static")
        log = pathlib.Path(FOLDER.name, "program.eventlog")
        self.assertEqual(subprocess.run([program, str(log)], check=False).returncode, 0)
        self.assertEqual(log.read_bytes()[:4], b"hdrb")

    def test_version(self):
        for name in ("fathom", "fathom-eventlog"):
            self.assertRegex(flags(name, "--modversion")[0], r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

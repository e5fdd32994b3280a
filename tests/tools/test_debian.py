#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each file that `meson install` installs is in exactly one Debian package, and each line of their
lists is for some file: what dpkg-buildpackage would say at its end.

usage: test_debian.py SOURCE_ROOT BUILD_ROOT"""
import fnmatch
import json
import pathlib
import subprocess
import sys

from tap import Tap

source, build = map(pathlib.Path, sys.argv[1:])
MPI = "usr/libexec/fathom/fathom-merge-mpi"  # built only where MPI is


def configured():
    """The files that are installed, as below the prefix of a package; the options of the build."""
    asked = ["meson", "introspect", str(build), "--installed", "--buildoptions"]
    told = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    options = {option["name"]: option["value"] for option in told["buildoptions"]}
    prefix = options["prefix"]
    return sorted("usr/" + path[len(prefix):].lstrip("/") for path in told["installed"].values()), options


def packages():
    """Patterns of each package: the first word of the lines."""
    return {path.stem: [line.split()[0] for line in path.read_text().splitlines()]
            for path in sorted((source / "debian").glob("*.install"))}


def holds(pattern, path):
    """A folder stands for all below it."""
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, pattern + "/*")


tap = Tap()
(files, options), lists = configured(), packages()
absent = [MPI] + (["usr/share/man/man1"] if options["man"] == "disabled" else [])
tap.check(len(files) > 40, f"{len(files)} files are installed")
owners = {path: [name for name, patterns in lists.items() for pattern in patterns if holds(pattern, path)] for path in files}
tap.same({path: names for path, names in owners.items() if len(names) != 1}, {}, "each is in one package")
idle = [(name, pattern) for name, patterns in lists.items() for pattern in patterns
        if not any(holds(pattern, path) for path in files) and pattern not in absent]
tap.same(idle, [], "each line is for some file")
control = (source / "debian/control").read_text()
tap.same([name for name in lists if f"\nPackage: {name}\n" not in control], [], "each list has its package")
sys.exit(tap.done())

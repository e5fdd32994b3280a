#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the names that compiled programs link to with exports.txt, in both directions: a name that is gone breaks
programs (docs/stability.md), and one that is not in the list was never promised.

    test_exports.py LIST LIBFATHOM-EVENTLOG.SO EXPORTED.OPTIONS
"""
import pathlib
import re
import subprocess
import sys


# The linker exports these of libraries with sanitizers.
OF_LINKER = ("_edata", "_end", "__bss_start")


def promised(path):
    """The names of each section, which its last comment names."""
    sections, section = {}, None
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            section = line[2:]
        elif line:
            sections.setdefault(section, []).append(line)
    return sections


def of_eventlog(library):
    table = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    for words in map(str.split, table.splitlines()):
        name = words[7].partition("@")[0] if len(words) == 8 else ""
        if name and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND" and name not in OF_LINKER:
            yield name


def of_runtime(options):
    """The options that export the runtime's names, each by its name (runtime/exported.py)."""
    return re.findall(r"--export-dynamic-symbol=(\w+)$", pathlib.Path(options).read_text(encoding="utf-8"), re.MULTILINE)


def main(path, library, options):
    listed = promised(path)
    failures = 0
    for section, names in (("libfathom-eventlog", of_eventlog(library)), ("libfathom", of_runtime(options))):
        here, there = set(names), set(listed.get(section, []))
        for name in sorted(there - here):
            print(f"{section}: {name} is gone: programs that were linked with it fail")
        for name in sorted(here - there):
            print(f"{section}: {name} is new: add it to {path} if programs may link to it for good")
        print(f"{section}: {len(here)} names")
        failures += len(here ^ there) + (len(here) < 30)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

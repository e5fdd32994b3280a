#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the linker's options that export what the runtime offers to shared objects: each symbol of the archive that
is visible outside, by its name, and the event log's, which programs link only where they use it.

exported.py OPTIONS ARCHIVE"""
import pathlib
import subprocess
import sys

EVENTLOG = "fm_eventlog_*"


def main():
    options, archive = sys.argv[1:]
    table = subprocess.run(["readelf", "-sW", archive], capture_output=True, text=True, check=True).stdout
    names = set()
    for line in table.splitlines():
        words = line.split()
        if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[5] == "DEFAULT" and words[6] != "UND":
            names.add(words[7])
    if not any(name.startswith("fm_tls_") for name in names):
        sys.exit(f"{archive}: no fm_tls_ among its symbols; does readelf write another table?")
    lines = [f"--export-dynamic-symbol={name}" for name in sorted(names) + [EVENTLOG]]
    pathlib.Path(options).write_text("\n".join(lines) + "\n")


main()

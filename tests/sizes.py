#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file of code has more than 600 lines, no folder of code more than 25 files."""
import collections
import pathlib
import sys

import source_files

LINES_MAX = 600
FILES_MAX = 25
CODE = (".c", ".h", ".S", ".py", ".js", ".mjs", ".css", ".sh")
# What others wrote, what tools wrote, and texts.
LEFT_OUT = ("web/vendor/", "tests/cli/golden/", "docs/", "data/")


def main(root):
    root = pathlib.Path(root)
    names = [name for name in source_files.listed(root) if not name.startswith(LEFT_OUT)]
    failures = 0
    for folder, count in sorted(collections.Counter(str(pathlib.Path(name).parent) for name in names).items()):
        if count > FILES_MAX:
            failures += 1
            print(f"{folder}: {count} files, at most {FILES_MAX}: which of them are a part of their own?")
    for name in names:
        lines = len((root / name).read_bytes().splitlines()) if name.endswith(CODE) else 0
        if lines > LINES_MAX:
            failures += 1
            print(f"{name}: {lines} lines, at most {LINES_MAX}")
    print(f"{len(names)} files checked, {failures} failures")
    return 1 if failures or len(names) < 100 else 0


sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each folder of src/ includes only headers of the layers that it may use."""
import pathlib
import re
import sys

MAY_USE = {
    "base": [],
    "deep": ["base"],
    "procrep": ["base", "deep"],
    "analysis": ["base", "deep"],
    "views": ["base", "deep", "analysis"],
    "record": ["base", "deep", "runtime"],
    "eventlog": ["base", "runtime"],
    "trace": ["base", "eventlog"],
    "schedule": ["base", "deep", "analysis", "eventlog", "trace"],
    "query": ["base"],
    "display": ["base", "query"],
    "report": ["base", "deep", "analysis", "views", "eventlog", "trace", "query", "display"],
    "serve": ["base", "deep", "analysis", "views", "eventlog", "trace", "query", "display", "report",
              "schedule"],
    "feedback": ["base", "deep", "analysis"],
    "exchange": ["base", "deep"],
    "cli": ["*"],
}


def main(root):
    failures = 0
    checked = 0
    for path in sorted((pathlib.Path(root) / "src").rglob("*.[ch]")):
        layer = path.relative_to(pathlib.Path(root) / "src").parts[0]
        allowed = MAY_USE.get(layer)
        if allowed is None:
            print(f"{path}: folder is not in the table of layers")
            failures += 1
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([^"/]+)/', line)
            if not found:
                continue
            checked += 1
            used = found.group(1)
            if used in (layer, "fathom") or used in allowed or "*" in allowed:
                continue
            print(f"{path}:{number}: {layer}/ may not use {used}/")
            failures += 1
    print(f"{checked} includes checked, {failures} breaches")
    return 1 if failures or not checked else 0


sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each mutation of the lists still applies: its text occurs exactly once in its file, differs from its
replacement, and its tests exist. Without it the lists go stale unseen, as nobody runs run.py for each change.

    test_lists.py SOURCE_ROOT
"""
import collections
import pathlib
import re
import sys

import run

MUTATIONS_MIN = 100


def faults(root, builds, mutation):
    if mutation["file"] is None or not mutation["old"] or not mutation["tests"]:
        yield "needs lines `file:` and `test:`, and a text to replace"
        return
    old, new = run.texts(mutation)
    path = root / mutation["file"]
    count = path.read_text(encoding="utf-8").count(old) if path.is_file() else 0
    if count != 1:
        yield f"its text occurs {count} times in {mutation['file']}, expected once"
    if old == new:
        yield "replaces its text by the same"
    yield from (f"no meson.build has a test {name}" for name in mutation["tests"] if not is_test(builds, name))


def is_test(builds, name):
    """Names of tests are often put together ('record-finish-' + name): the quoted part is an end of the name.
    Tests that need optional packages are in meson.build wherever it runs, but not in every build."""
    ends = [name, *(name[at.end():] for at in re.finditer("[ -]", name))]
    return any(f"'{end}'" in builds for end in ends)


def main(root):
    root = pathlib.Path(root)
    lists = sorted((root / "tests" / "mutations").glob("*.txt"))
    builds = "".join(path.read_text(encoding="utf-8") for path in (root / "tests").rglob("meson.build"))
    count = failures = 0
    for path in lists:
        mutations = run.read_list(path)
        count += len(mutations)
        twice = [what for what, times in collections.Counter(m["what"] for m in mutations).items() if times > 1]
        found = [(what, "is there twice") for what in twice]
        found += [(mutation["what"], fault) for mutation in mutations for fault in faults(root, builds, mutation)]
        for what, fault in found:
            print(f"{path.relative_to(root)}: {what}: {fault}")
        failures += len(found)
    print(f"{count} mutations checked, {failures} failures")
    return 1 if failures or count < MUTATIONS_MIN else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

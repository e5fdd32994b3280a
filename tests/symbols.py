#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses functions and data of src/ that the program has for nobody: what one file alone uses is
static, and what tests alone use stands in symbols.txt, each with its reason; that list may only
shrink. Names are read from the objects (nm).
"""
import collections
import pathlib
import sys

import built_objects


def allowed(path):
    """{name: line}. A reason behind '#', then the names that it is of; blank lines part."""
    names = {}
    for block in path.read_text().split("\n\n"):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        listed = [name for line in lines if not line.startswith("#") for name in line.split()]
        if listed and not lines[0].startswith("#"):
            sys.exit(f"{path}: {listed[0]} has no reason")
        for name in listed:
            if name in names:
                sys.exit(f"{path}: {name} stands there twice")
            names[name] = lines[0]
    return names


def main(root, build):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    where, users, outside = {}, collections.defaultdict(set), set()
    objects = list(built_objects.compiled(build))
    names = built_objects.symbols([output for _, output, _ in objects])
    for source, output, top in objects:
        defined, needed = names[output]
        if top == "src":
            for name in needed - defined:
                users[name].add(source)
            if source.is_relative_to(root / "src"): # not what other programs generate
                where.update((name, source) for name in defined if name.startswith("fm_"))
        elif top != "runtime":
            outside |= needed
    known = allowed(root / "tests" / "symbols.txt")
    failures = 0
    for name, source in sorted(where.items()):
        if users[name] - {source}:
            if name in known:
                failures += 1
                print(f"{name}: the program uses it, so take it from tests/symbols.txt")
        elif name not in known:
            failures += 1
            who = "tests alone use it" if name in outside else "no other file uses it: make it static"
            print(f"{source.relative_to(root)}: {name}: {who}")
    for name in sorted(set(known) - set(where)):
        failures += 1
        print(f"{name}: is not there any more, so take it from tests/symbols.txt")
    print(f"{len(where)} names checked, {len(known)} for tests alone, {failures} failures")
    return 1 if failures or len(where) < 1000 else 0


sys.exit(main(sys.argv[1], sys.argv[2]))

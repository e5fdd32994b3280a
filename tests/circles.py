#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses circles of files: files that need each other's symbols, directly or through others.

What a file defines and needs is read from its object (nm), so a circle by a function pointer or by
types alone is none. The circles that remain stand in circles.txt, each with its reason; that list
may only shrink: a file that is no longer in a circle must leave it.
"""
import collections
import pathlib
import sys

import built_objects


def objects(build):
    """(source, object) of each compiled file of src/ and runtime/, by library."""
    libraries = collections.defaultdict(list)
    for source, output, top in built_objects.compiled(build):
        if top in ("src", "runtime"):
            # all of src/ is one program; the runtime's libraries define some names more than once
            group = "src" if top == "src" else str(output.parent)
            libraries[group].append((source, output))
    return libraries


def needs(files):
    """{source: {source that it needs: names}} of one library."""
    names = built_objects.symbols([output for _, output in files])
    table = {source: names[output] for source, output in files}
    where = {name: source for source, (defined, _) in table.items() for name in defined}
    graph = {}
    for source, (defined, needed) in table.items():
        used = collections.defaultdict(set)
        for name in needed - defined:
            if name in where:
                used[where[name]].add(name)
        graph[source] = used
    return graph


def circles(graph):
    """Strongly connected components of two files or more (Tarjan's, iterative)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            step = next(rest, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while not members or members[-1] != node:
                        members.append(stack.pop())
                        on_stack.discard(members[-1])
                    if len(members) > 1:
                        found.append(set(members))
            elif step not in index:
                index[step] = low[step] = len(index)
                stack.append(step)
                on_stack.add(step)
                work.append((step, iter(graph[step])))
            elif step in on_stack:
                low[node] = min(low[node], index[step])
    return found


def allowed(path):
    """The list: a reason behind '#', then the files of the circle, a line each; blank lines part."""
    groups = []
    for block in path.read_text().split("\n\n"):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        files = {line for line in lines if not line.startswith("#")}
        if not files:
            continue
        if not any(line.startswith("#") for line in lines):
            sys.exit(f"{path}: the circle of {sorted(files)[0]} has no reason")
        groups.append(files)
    return groups


def main(root, build):
    root, build = pathlib.Path(root).resolve(), pathlib.Path(build).resolve()
    known = allowed(root / "tests" / "circles.txt")
    failures, files, standing = 0, 0, set()
    for group in objects(build).values():
        graph = needs(group)
        files += len(graph)
        for circle in circles(graph):
            names = {str(path.relative_to(root)) for path in circle}
            standing |= names
            if any(names <= group for group in known):
                continue
            failures += 1
            print(f"a circle of {len(names)} files:")
            for path in sorted(circle):
                for other in sorted(set(graph[path]) & circle):
                    print(f"  {path.relative_to(root)} needs {other.relative_to(root)} for "
                          f"{', '.join(sorted(graph[path][other]))}")
    for name in sorted(set().union(*known) - standing):
        failures += 1
        print(f"{name}: in no circle any more, so take it from tests/circles.txt")
    print(f"{files} files checked, {failures} failures")
    return 1 if failures or files < 100 else 0


sys.exit(main(sys.argv[1], sys.argv[2]))

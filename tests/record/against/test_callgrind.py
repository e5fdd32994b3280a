#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Call counts of whole programs against an independent counter: valgrind's callgrind, on a plain
-O0 build of the same source."""
import collections
import pathlib
import re
import sys
import tempfile

import record_lib as lib


def read_callgrind(path):
    """Calls by (caller, callee), and the names of the functions that stand in the program."""
    names, edges, own = {}, collections.Counter(), set()
    current, callee, in_source = None, None, False
    files = {}

    def named(table, text):
        found = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if found is None:
            return text
        if found.group(2) is not None:
            table[found.group(1)] = found.group(2)
        return table[found.group(1)]

    for line in pathlib.Path(path).read_text().splitlines():
        key, _, value = line.partition("=")
        if key in ("fl", "fi", "fe", "cfi", "cfl"):
            file = named(files, value)
            if key == "fl":
                in_source = "finish_programs" in file
        elif key == "fn":
            current = clean(named(names, value))
            if in_source:
                own.add(current)
        elif key == "cfn":
            callee = clean(named(names, value))
        elif key == "calls":
            edges[current, callee] += int(value.split()[0])
    return edges, own


def clean(name):
    """callgrind numbers levels of recursion: f'2."""
    return re.sub(r"'\d+$", "", name)


def compare(tap, source, arguments, folder):
    # Forced inlining would hide calls from callgrind, which sees machine code.
    plain = lib.build(source, folder, "gcc", ["-O0", "-g", "-Wl,-z,now", "-Dalways_inline=noinline"],
                      wrapped=False, name="plain")
    lib.must(["valgrind", "--tool=callgrind", "--callgrind-out-file=cg.out", "--compress-pos=no",
              "--demangle=yes", "--separate-threads=no"] + plain, folder)
    edges, own = read_callgrind(pathlib.Path(folder) / "cg.out")
    ways = [("full", "frames", ["-O0"]), ("full", "frames", ["-O2"])]
    if "PLUGIN" not in arguments: # shared objects cannot have slots
        ways.append(("deep", "slots", ["-O0", "-Dalways_inline=noinline"]))
    for grade, hooks, flags in ways:
        command = lib.build(source, folder, "gcc", flags, grade=grade, hooks=hooks)
        profile = lib.record(command, folder).profile
        # Functions by the names that both use; from outside (libc, threads) only totals compare,
        # as callgrind sees libc's own functions in between.
        inner = {edge: n for edge, n in edges.items() if edge[0] in own and edge[1] in own}
        found = {edge: n for edge, n in profile.edges.items()
                 if edge[0] in own and edge[1] in own and edge in inner}
        tap.same(found, inner, f"{source} {hooks} {flags[0]}: calls between its functions")
        totals = collections.Counter()
        for (_, callee), n in edges.items():
            if callee in own:
                totals[callee] += n
        calls = profile.calls()
        tap.same({name: calls.get(name, 0) for name in totals}, dict(totals),
                 f"{source} {hooks} {flags[0]}: calls of each function")


def main():
    lib.need("valgrind")
    tap = lib.Tap()
    for source, arguments in lib.CASES.items():
        # callgrind takes a switch of stacks for calls; test_profiles.py checks that program.
        if source == "coroutines.c":
            continue
        with tempfile.TemporaryDirectory() as folder:
            compare(tap, source, arguments, folder)
    return tap.done()


sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Builds a program at the default grade, and without hooks but otherwise by the same flags, so that the
compiler makes the same functions of it. Used by the tests of that grade."""
import collections
import functools
import os
import pathlib
import re
import shlex
import shutil

import record_lib as lib

PROGRAMS = pathlib.Path(__file__).parent / "body_programs"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
# What brings the hooks into the code: everything else of the grade's flags stays.
HOOK_FLAGS = ("-B", "-finstrument-", "-fpatchable-function-entry", "-mfentry", "-mrecord-mcount",
              "-mnop-mcount", "-pg", "-fplugin")
CLONE = re.compile(r"\.cold|(\.(constprop|isra|part|cold|lto_priv))?\.\d+")


def source_path(source):
    return PROGRAMS / source if (PROGRAMS / source).exists() else lib.PROGRAMS / source


def driver(source, compiler):
    """The front of fathom, and the compiler, for the language."""
    if source.endswith(".cc"):
        return [lib.FATHOM, "c++", "--grade=deep"], {"gcc": "g++", "clang": "clang++"}[compiler]
    return [lib.FATHOM, "cc", "--grade=deep"], compiler


def without_hooks(command):
    words, kept = shlex.split(command), []
    while words:
        word = words.pop(0)
        if word == "-include" or (word == "-Xclang" and words[0].startswith(HOOK_FLAGS)):
            words.pop(0)
        elif not word.startswith(HOOK_FLAGS):
            kept.append(word)
    return kept


class Program:
    """prog: at the default grade. plain: the same without hooks. functions: the symbols of those that
    the compiler made, in both."""

    def __init__(self, source, folder, compiler, flags):
        self.folder = pathlib.Path(folder)
        front, real = driver(source, compiler)
        shared = [self.part("plugin.c", front, real, flags + ["-fPIC"])] \
            if "PLUGIN" in lib.CASES.get(source, []) else []
        self.functions = self.part(source, front, real, flags)
        for functions in shared:
            self.functions = self.functions | functions
        self.prog, self.plain = [self.folder / "prog"], [self.folder / "plain"]
        for name, linker in (("prog", front + [real]), ("plain", [real])):
            if shared:
                lib.must(linker + flags + ["-shared", f"plugin.c.{name}.o", "-o",
                                           f"plugin.{name}.so"], folder)
                getattr(self, name).append(self.folder / f"plugin.{name}.so")
            # Lazy binding would be a call to callgrind.
            lib.must(linker + flags + ["-Wl,-z,now", f"{pathlib.Path(source).name}.{name}.o",
                                       "-o", name, "-lpthread", "-ldl", "-lm"], folder)

    def part(self, source, front, real, flags):
        path, source = source_path(source), pathlib.Path(source).name
        lib.must(front + [real, *flags, "-c", path, "-o", f"{source}.prog.o"], self.folder)
        shown = lib.must(front + ["--show", real, *flags, "-c", path, "-o",
                                  f"{source}.plain.o"], self.folder).stdout
        # A nop at the entry, so that no loop goes back to a function's first instruction.
        lib.must(without_hooks(shown) + ["-fpatchable-function-entry=1"], self.folder)
        if "-flto" in flags: # the functions are made by the linker: any of the source's may be
            lib.must([real, *flags, "-fno-lto", "-fno-inline", "-c", path, "-o",
                      f"{source}.names.o"], self.folder)
            return symbols(self.folder / f"{source}.names.o")
        made = [symbols(self.folder / f"{source}.{name}.o") for name in ("prog", "plain")]
        if made[0] != made[1]:
            raise RuntimeError(f"{source}: hooks changed which functions there are: {made}")
        return made[0]

    def run(self, **settings):
        """What it prints."""
        environment = {**os.environ, "FATHOM_OUTPUT": f"{self.folder}/run.rec", **settings}
        return lib.must(self.prog, self.folder, env=environment).stdout

    def record(self, name="out", **options):
        return lib.record(self.prog, self.folder, name=name, **options)


def symbols(path):
    """Functions defined in an object, without the parts moved out of line."""
    found = set()
    for line in lib.must(["nm", path], path.parent).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWiu" and ".cold" not in words[2]:
            found.add(words[2])
    return found


def unsuffixed(symbol):
    """The function that a clone was made of, or a part."""
    return CLONE.sub("", symbol)


@functools.cache
def plain_name(symbol):
    """The name that profiles show: demangled, of the function that a clone was made of. Two
    constructors of one name are one."""
    name = unsuffixed(symbol)
    return lib.must(["c++filt", "-i", name], "/").stdout.strip() if name.startswith("_Z") else name


def profile_edges(profile, functions):
    """Calls by (caller, callee) of the profile's procedures that stand in functions, by their
    names. From outside: the caller is None."""
    known = {plain_name(symbol) for symbol in functions}
    edges = collections.Counter()
    for (caller, callee), calls in profile.edges.items():
        if callee in known and calls:
            edges[caller if caller in known else None, callee] += calls
    return edges


SEPARATE = 40 # callers in the name of a context; libraries have fewer functions between two of ours


# Contexts as lists of functions' numbers: names may be several functions'.
CALLGRIND = ["--tool=callgrind", "--demangle=no", f"--separate-callers={SEPARATE}", "--dump-instr=yes",
             "--compress-pos=no", "--compress-mangled=yes"]
NUMBERED = re.compile(r"\((\d+)\)(?: (.*))?$")


def entries_of(path, kept=None):
    """{(file, address in it): the name that profiles show} of a file's functions."""
    entries = {}
    for line in lib.must(["nm", path], "/").stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWiu" and ".cold" not in words[2] and \
                (kept is None or words[2] in kept):
            entries.setdefault((str(path), int(words[0], 16)), []).append(words[2])
    return {at: plain_name(min(symbols)) for at, symbols in entries.items()}


def callgrind_calls(path):
    """(caller's context, object and address that was called, calls) of each line that tells calls. A
    context is the number of the function, its caller's, that one's caller's..., and then, which functions
    these are: {number: set of (object, address)} where they were called at, and {number: symbol}."""
    contexts, objects, calls, called, symbols = {}, {}, [], {}, {}
    here, there, current, callee = "", None, (), ()

    def context(text):
        number, value = NUMBERED.match(text).groups()
        if number not in contexts:
            chain = re.findall(r"\((\d+)\)(?='|$)", value) if value.startswith("(") else []
            contexts[number] = tuple(chain) or (number,)
            if not chain:
                symbols[number] = value
        return contexts[number]

    def object_named(text):
        number, name = NUMBERED.match(text).groups()
        return objects.setdefault(number, name)

    for line in pathlib.Path(path).read_text().splitlines():
        key, _, value = line.partition("=")
        if key == "ob":
            here = object_named(value)
        elif key == "cob":
            there = object_named(value)
        elif key == "fn":
            current = context(value)
        elif key == "cfn":
            callee = context(value)
        elif key == "calls":
            count, target = value.split()[:2]
            place = (there or here, int(target, 16))
            called.setdefault(callee[0], set()).add(place)
            calls.append((current, place, int(count)))
            there = None
    return calls, called, symbols


def read_callgrind(path, entries):
    """Calls by (caller, callee), by the names of entries (entries_of). The caller is the nearest of
    these functions, others' between them left out; None where there is none.

    A jump into the middle of a function (to the landing pad of a C++ exception) is a call to it for
    callgrind, but not by its entry."""
    calls, called, symbols = callgrind_calls(path)
    names = {number: next((entries[at] for at in places if at in entries), None)
             for number, places in called.items()}
    # What nothing calls, as a signal's handler, has no address here. Of its name there may be others.
    for number in symbols.keys() - called.keys():
        name = plain_name(symbols[number])
        names[number] = name if name in entries.values() else None
    found = collections.Counter()
    for context, place, count in calls:
        if place in entries:
            own = [names[number] for number in context if names.get(number)]
            found[own[0] if own else None, entries[place]] += count
    return found


def callgrind(program):
    out = program.folder / "cg.out"
    lib.must(["valgrind", *CALLGRIND, f"--callgrind-out-file={out}"] + program.plain, program.folder)
    entries = {}
    for path in program.plain:
        entries.update(entries_of(path, program.functions))
    return read_callgrind(out, entries)


def callees(edges):
    """Calls of each function."""
    totals = collections.Counter()
    for (_, callee), calls in edges.items():
        totals[callee] += calls
    return totals


def contexts(profile):
    """Calls by path from a thread's root. Threads are numbered in the order in which they come,
    which may differ."""
    result = collections.Counter()
    for path, calls in profile.contexts.items():
        result[re.sub(r"(^|/)thread \d+", r"\1thread", path)] += calls
    return dict(result)


def main_contexts(profile):
    """The same of the main thread alone, paths beginning below it."""
    root = "/main thread/"
    return {path[len(root):]: calls for path, calls in contexts(profile).items()
            if path.startswith(root)}


def full_output(source, folder, compiler, flags):
    """What the program prints when built at --grade=full."""
    front, real = driver(source, compiler)
    lib.must([*front[:2], "--grade=full", real, *flags, source_path(source), "-o", "full", "-lpthread",
              "-ldl"], folder)
    return lib.must(["./full"], folder,
                    env={**os.environ, "FATHOM_OUTPUT": f"{folder}/full.rec"}).stdout

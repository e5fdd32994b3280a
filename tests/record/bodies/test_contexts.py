#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The default grade: every call in its whole context against a debugger's account of the same code
without hooks (body_replay.py), and against what the programs count themselves. Programs do and
print the same in each grade, so that every argument and result arrives.

Arguments: quick, full, or COMPILER LEVEL PROGRAM..."""
import collections
import os
import re
import sys
import tempfile

import body_lib as body
import body_replay
import record_lib as lib

os.environ["FATHOM_INLINED"] = "off" # the account knows the functions that exist
LEVELS = [("gcc", ["-O0"]), ("gcc", ["-O2"]), ("gcc", ["-O3"]), ("clang", ["-O0"]),
          ("clang", ["-O2"])]
# Other ways to make a program, for some of the programs.
WAYS = [("gcc", ["-O2", "-static"]), ("gcc", ["-O2", "-no-pie", "-fno-pie"]),
        ("gcc", ["-O2", "-flto"]), ("gcc", ["-O3", "-flto"]), ("gcc", ["-O2", "-masm=intel"]),
        ("gcc", ["-O2", "-fno-omit-frame-pointer", "-fcf-protection"]), ("gcc", ["-Og", "-fPIC"]),
        ("gcc", ["-O2", "-mno-red-zone", "-fstack-protector-all"]), ("clang", ["-O2", "-flto"])]
MADE_SO = ["sorting.c", "inlining.c", "unwinding.cc", "tail.c", "room.c", "jumps.c"]
QUICK = [("gcc", ["-O2", "-fno-asynchronous-unwind-tables"], "recursion.c"),
         ("gcc", ["-O2"], "jumps.c"), ("gcc", ["-O0"], "room.c"), ("gcc", ["-O2"], "arguments.c")]
PROGRAMS = ["recursion.c", "mutual.c", "pointers.c", "sorting.c", "longjmp.c", "inlining.c",
            "exceptions.cc", "jumps.c", "unwinding.cc", "tail.c", "room.c", "arguments.c",
            "nested.c", "callbacks.c", "handlers.c", "escaping.c",
            "switching.c", "chain.c", "chain.cc", "deep.c", "workers.c"]
# The debugger follows one thread, and takes long over a million steps.
ONLY_COUNTS = {"deep.c", "workers.c"}
NOT_BY = {("nested.c", "clang")}
# Ways to leave a function but by its exit.
LEAVING = ("longjmp", "throw", "pthread_exit", "makecontext")


def counted(output):
    """What the program counted itself."""
    counts = {}
    for line in output.splitlines():
        if line.startswith("count "):
            _, name, calls = line.split()
            counts[name] = counts.get(name, 0) + int(calls)
    return counts


def short_names(profile):
    """Calls by the name alone, as __func__ has it."""
    calls = collections.Counter()
    for name, n in profile.calls().items():
        calls[re.sub(r"\(anonymous namespace\)::", "", name).partition("(")[0]
              .rpartition("::")[2]] += n
    return calls


def of_source(contexts):
    """The account of the machine code has clones of one function apart; contexts are by function, so
    clones that call one another are one, as a recursion of the function is."""
    folded = collections.Counter()
    for path, calls in contexts.items():
        *above, callee = path.split("/")
        context = []
        for name in above:
            if name in context:
                del context[context.index(name):]
            context.append(name)
        folded["/".join([*context, callee])] += calls
    return dict(folded)


def in_context(source):
    return source not in ONLY_COUNTS


# A second run with these: the hooks' other ways through must keep every register too.
OTHER_WAYS = {"stopped": {"FATHOM_RECORDING": "off"}, "in a full file": {"FATHOM_LIMIT": "1048576"}}


def check(tap, source, compiler, flags):
    what = f"{source} {compiler} {' '.join(flags)}"
    with tempfile.TemporaryDirectory() as folder:
        program = body.Program(source, folder, compiler, flags)
        plain = lib.must(program.plain, folder).stdout
        recorded, again = program.record(), program.record("again")
        profile = recorded.profile
        others = {way: program.run(**settings) for way, settings in OTHER_WAYS.items()}
        full = body.full_output(source, folder, compiler, flags)
        expected = why = None
        if in_context(source):
            expected, why = body_replay.replay(program)
    tap.same(recorded.stdout, plain, f"{what}: does what it does without hooks")
    tap.same(full, plain, f"{what}: and so does --grade=full")
    for way, output in others.items():
        tap.same(output, plain, f"{what}: and so does a recording that is {way}")
    own, calls = counted(plain), short_names(profile)
    if own:
        tap.same({name: calls[name] for name in own}, own, f"{what}: calls as the program counted")
    if expected is not None:
        tap.same(dict(body.main_contexts(profile)), of_source(expected.contexts()),
                 f"{what}: every call in its context")
    elif why is not None:
        tap.skip(f"{what}: every call in its context", why)
    if not any(word in body.source_path(source).read_text() for word in LEAVING):
        tap.same(+profile.excps, collections.Counter(), f"{what}: no call is left without its exit")
    tap.same(body.contexts(again.profile), body.contexts(profile),
             f"{what}: a second run is the same")
    tap.same((int(profile.header["callseqs"]), sum(profile.contexts.values())),
             (sum(profile.calls().values()),) * 2, f"{what}: the total is the sum over contexts")


def cases(arguments):
    if arguments[0] == "quick":
        return QUICK
    if arguments[0] == "full":
        return [(compiler, flags, source) for source in PROGRAMS
                for compiler, flags in LEVELS + (WAYS if source in MADE_SO else [])
                if (source, compiler) not in NOT_BY]
    return [(arguments[0], arguments[1].split(), source) for source in arguments[2:]]


def main():
    tap = lib.Tap()
    for compiler, flags, source in cases(sys.argv[1:]):
        if compiler in body.COMPILERS:
            check(tap, source, compiler, flags)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--grade=coverage: how often each line ran, against gcov over all contexts, and against what is
known of the program in each context."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from record_lib import CASES, DUMP, FATHOM, PROGRAMS, Tap, build, must, need, record, run

# gcov takes it that calls return, so programs that longjmp, throw or exit from below are no
# witnesses: the line that calls pthread_exit has the count 0 there, and a line that is left by
# return and by exception counts once for each piece of cleaning up.
WITNESSES = ["branches.c", "recursion.c", "mutual.c", "pointers.c", "sorting.c", "inlining.c"]


def lines_of_gcov(source, folder):
    """Line -> count, as gcov has it."""
    compiler = "g++" if source.endswith(".cc") else "gcc"
    must([compiler, "-O0", "--coverage", "-fprofile-update=atomic", PROGRAMS / source, "-o",
          "gcov-prog", "-lpthread", "-ldl"], folder)
    run([folder / "gcov-prog"], folder)
    data = next(folder.glob("*.gcda"))
    text = must(["gcov", "--json-format", "--stdout", data], folder).stdout
    lines = {}
    for file in json.loads(text)["files"]:
        if pathlib.Path(file["file"]).name == source:
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = max(lines.get(number, 0), line["count"])
    return lines


def dump(folder):
    """(line -> count), (context -> line -> count); counts None where not known."""
    text = must([DUMP, folder / "out.data"], folder).stdout
    lines, contexts = {}, collections.defaultdict(dict)
    for row in text.splitlines():
        kind, *fields = row.split("\t")
        if kind not in ("line", "lineat"):
            continue
        count = None if fields[2] == "-" else int(fields[2])
        into = lines if kind == "line" else contexts[fields[0]]
        number = int(fields[1])
        # Two functions of one line (C++ instances): gcov's is the larger.
        if number not in into or (count or 0) > (into[number] or 0):
            into[number] = count
    return lines, contexts


def check_totals(tap, source, compiler, folder):
    command = build(source, folder, compiler, ["-O0"], grade="coverage")
    record(command, folder)
    ours, contexts = dump(folder)
    theirs = lines_of_gcov(source, folder)
    common = {line for line in theirs if ours.get(line) is not None}
    tap.same({line: ours[line] for line in common}, {line: theirs[line] for line in common},
             f"{source}, {compiler}: counts of lines equal gcov's")
    tap.check(len(common) >= 0.8 * len(theirs),
              f"{source}, {compiler}: the counts of {len(common)} of {len(theirs)} lines are known",
              sorted(set(theirs) - common))
    return contexts


def check_contexts(tap, compiler, contexts):
    """branches.c: first() calls work(7, 0) ten times, second() work(9, 1) five times."""
    text = (PROGRAMS / "branches.c").read_text().splitlines()
    number = {words: at for at, line in enumerate(text, 1) for words in [line.strip()]}
    expected = {
        "first": {"for (int i = 0; i < n; i++) {": 80, "if (mode == 0)": 70, "sum += i;": 70,
                  "else if (i % 3 == 0)": 0, "sum -= i;": 0, "if (i == 1000)": 70, "sum++;": 10,
                  "sum--;": 0, "sum = 0;": 0, "return sum;": 10},
        "second": {"for (int i = 0; i < n; i++) {": 50, "if (mode == 0)": 45, "sum += i;": 0,
                   "else if (i % 3 == 0)": 45, "sum -= i;": 15, "if (i == 1000)": 45, "sum++;": 0,
                   "sum--;": 5, "sum = 0;": 0, "return sum;": 5},
    }
    for caller, counts in expected.items():
        found = contexts[f"/main thread/main/{caller}/work"]
        tap.same({words: found.get(number[words]) for words in counts}, counts,
                 f"branches.c, {compiler}: lines of work() as called by {caller}()")


def page(query, folder):
    done = run([FATHOM, "report", "--json", query, "out.data"], folder)
    return json.loads(done.stdout) if done.returncode == 0 else None


def check_pages(tap, compiler, folder):
    """The pages tell what the file holds: work() in all contexts, and in each."""
    found = {}
    for pd in range(1, 20):
        made = page(f"proc_dynamic_coverage/{pd}", folder)
        if made is None or "work" not in made["title"]:
            continue
        runs = {line["text"].strip(): line["runs_count"] for line in made["sources"][0]["lines"]}
        found[runs["sum += i;"]] = runs["sum -= i;"], runs["return sum;"]
        ps = made["facts"]["ps"]
    tap.same(found, {70: (0, 10), 0: (15, 5)}, f"branches.c, {compiler}: pages of the two contexts")
    made = page(f"proc/{ps}", folder)
    runs = {line["text"].strip(): line["runs_count"] for line in made["sources"][0]["lines"]}
    tap.same((runs["sum += i;"], runs["sum -= i;"], runs["sum = 0;"], runs["case 0:"]),
             (70, 15, 0, None), f"branches.c, {compiler}: the function's page")
    dumped = run([FATHOM, "check", "out.data"], folder)
    tap.same(dumped.returncode, 0, f"branches.c, {compiler}: fathom check finds no fault")


FORK = """
#include <sys/wait.h>
#include <unistd.h>
static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        if (i % 2)
            sum++;
    return sum;
}
int main(void)
{
    int sum = work(10);
    pid_t child = fork();
    if (child == 0)
        return work(100) != 50;
    waitpid(child, 0, 0);
    return sum != 5;
}
"""


def check_fork(tap, compiler, folder):
    """A child counts from zero, in a profile of its own."""
    (folder / "fork.c").write_text(FORK)
    must([FATHOM, "cc", "--grade=coverage", compiler, "-O0", "fork.c", "-o", "prog"], folder)
    must([FATHOM, "record", "-q", "--join=none", "-o", "out", "--", "./prog"], folder)
    found = []
    for data in sorted(folder.glob("out*.data"), key=lambda path: len(path.name)):
        text = must([DUMP, data], folder).stdout
        lines = dict(row.split("\t")[2:] for row in text.splitlines()
                     if row.startswith("line\twork"))
        found.append((lines["7"], lines["8"], lines["9"]))
    tap.same(found, [("11", "10", "5"), ("101", "100", "50")],
             f"{compiler}: parent and child have counts of their own")


def calls_of(profile):
    """Threads are numbered as they come."""
    calls = collections.Counter()
    for name, count in profile.calls().items():
        calls[re.sub(r"^thread \d+", "thread", name)] += count
    return calls


def check_own_counts(tap, source, flags):
    """Programs that count their lines themselves, by whatever way control goes."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compiler = "g++" if source.endswith(".cc") else "gcc"
        headers = pathlib.Path(__file__).parents[2] / "include"
        must([FATHOM, "cc", "--grade=coverage", compiler, *flags, f"-I{headers}",
              PROGRAMS / source, "-o", "prog", "-lpthread"], folder)
        said = must([FATHOM, "record", "-q", "-o", "out", "--", "./prog"], folder).stdout
        expected = {int(line): int(count) for line, count in map(str.split, said.splitlines())}
        found, _ = dump(folder)
        tap.same({line: found.get(line) for line in expected}, expected,
                 f"{source} {' '.join(flags)}: the counts of lines are the program's own")


def check_parts(tap):
    """What is not known has no count: entries of inlined bodies, contexts without room."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        headers = pathlib.Path(__file__).parents[2] / "include"
        source = PROGRAMS / "blocks.c"
        must([FATHOM, "cc", "--grade=coverage", "gcc", "-O2", f"-I{headers}", source, "-o", "prog",
              "-lpthread"], folder)
        whole = must([FATHOM, "record", "-q", "-k", "-o", "out", "--", "./prog"], folder).stdout
        found, _ = dump(folder)
        begins = source.read_text().splitlines().index("static inline int twice(int n)") + 1
        tap.same((found[begins], found[begins + 3] > 0), (None, True),
                 "how often an inlined body was entered is not known; how often it ran is")
        must([FATHOM, "finish", "--when=machine", "-o", "out", "out.rec"], folder)
        found, _ = dump(folder)
        steps = source.read_text().splitlines().index("    static const void *const steps[] = "
                                                      "{&&more, &&less, &&again, &&done};")
        tap.same((found.get(begins + 3, 0), found[steps + 5]), (0, 3), "--when: lines of one function alone")
        for limit in 70000, 80000, 90000:
            part = run([FATHOM, "record", "-q", "-o", "part", "--", "./prog"], folder,
                       env={**os.environ, "FATHOM_LIMIT": str(limit)})
            tap.same((part.returncode, part.stdout), (0, whole),
                     f"a recording of at most {limit} bytes changes nothing of the program")


LOOPS = """
__attribute__((noinline)) void clear(int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = i % 3 - i % 3;
}
__attribute__((noinline)) void copy(int *restrict a, int *restrict b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i];
}
__attribute__((noinline)) int pick(int *a, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] & 1)
            s += 3;
        else
            s ^= a[i];
        if (s > 100)
            s -= 7;
    }
    return s;
}
int main(void)
{
    static int a[100], b[100];
    for (int i = 0; i < 100; i++)
        b[i] = i * 37 % 11;
    clear(a, 100);
    copy(a, b, 100);
    return pick(a, 100) == 1;
}
"""


def check_loops(tap):
    """Loops that gcc would make calls of memset and memcpy of, and copies of code in them."""
    for flags in ["-O2"], ["-O3", "-ftracer"]:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "loops.c").write_text(LOOPS)
            must([FATHOM, "cc", "--grade=coverage", "gcc", *flags, "loops.c", "-o", "prog"], folder)
            must([FATHOM, "record", "-q", "-o", "out", "--", "./prog"], folder)
            found, _ = dump(folder)
            odd = sum(i * 37 % 11 % 2 for i in range(100))
            tap.same([found.get(line) for line in (5, 10, 16, 17, 19, 20)],
                     [100, 100, 100, odd, 100 - odd, 100], f"{' '.join(flags)}: lines of loops")


LOOP = """
int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i;
    return sum;
}
"""
KILLED = """
#include <signal.h>
int work(int);
int main(void)
{
    if (work(1000) > 0)
        raise(SIGKILL);
    return 0;
}
"""


def check_builds(tap):
    """Ways of building, and a program that is killed: nothing of the counts is lost."""
    ways = {
        "in one command": [["gcc", "main.c", "work.c", "-o", "prog"]],
        "an archive": [["gcc", "-c", "work.c"], "ar rcs libwork.a work.o".split(),
                       ["gcc", "main.c", "-L.", "-lwork", "-o", "prog"]],
        "-S": [["gcc", "-S", "work.c"], ["gcc", "main.c", "work.s", "-o", "prog"]],
        "-pipe -fPIC": [["gcc", "-pipe", "-fPIC", "main.c", "work.c", "-o", "prog"]],
        "-masm=intel": [["gcc", "-masm=intel", "main.c", "work.c", "-o", "prog"]],
        "-flto": [["gcc", "-flto", "main.c", "work.c", "-o", "prog"]],
        "-static": [["gcc", "-static", "main.c", "work.c", "-o", "prog"]],
    }
    for way, commands in ways.items():
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "work.c").write_text(LOOP)
            (folder / "main.c").write_text(KILLED)
            for command in commands:
                wrapped = [FATHOM, "cc", "--grade=coverage"] if command[0] == "gcc" else []
                must(wrapped + command, folder)
            run([FATHOM, "record", "-q", "-o", "out", "--", "./prog"], folder)
            found, _ = dump(folder)
            tap.same([found.get(line) for line in (5, 6, 7)], [1001, 1000, 1],
                     f"{way}: all that a killed program had counted")
            left = sorted(path.name for path in folder.iterdir() if path.suffix == ".gcno")
            tap.same(left, [], f"{way}: no other files are left")


def check_limit(tap):
    """More blocks than there can be counters are one clear error, and no object."""
    front = pathlib.Path(os.environ["FATHOM_RUNTIME"]) / "assembler" / "as"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        head = "\t.text\n\t# fathom: blocks\n\t.type f, @function\nf:\n.LPFE1:\n\tnop\n"
        for blocks in 3, (1 << 17) + 1:
            # Each sets the flags: whether a later one wants those of an earlier one is soon known.
            text = head + "".join(f".L{i}:\n\ttestl %eax, %eax\n" for i in range(blocks)) + "\tret\n"
            (folder / "f.s").write_text(text)
            (folder / "f.o").unlink(missing_ok=True)
            done = run([front, "f.s", "-o", "f.o"], folder)
            tap.same((done.returncode == 0, (folder / "f.o").exists(),
                      "f has more than 131072 blocks" in done.stderr),
                     (blocks == 3, blocks == 3, blocks > 3), f"a function of {blocks} blocks")


def check_damage(tap):
    """Counters that would reach beyond the file are one error, with the place."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        must([FATHOM, "cc", "--grade=coverage", "gcc", "-O0", PROGRAMS / "branches.c", "-o",
              "prog"], folder)
        (folder / "raw").mkdir()
        run(["./prog"], folder, env={**os.environ, "FATHOM_OUTPUT": str(folder / "raw" / "x.rec")})
        path = next((folder / "raw").iterdir())
        intact = path.read_bytes()
        heads = [at for at in range(0, len(intact) - 24, 8)
                 if intact[at + 23] == 0x80 and 0 < int.from_bytes(intact[at:at + 8], "little") < 99
                 and intact[at + 22] == 0]
        tap.check(len(heads) >= 3, "counters of three functions are found", heads)
        for count in 1 << 17, (1 << 17) + 1, 1 << 61, (1 << 64) - 1:
            path.write_bytes(intact[:heads[0]] + count.to_bytes(8, "little") +
                             intact[heads[0] + 8:heads[0] + 4096])
            done = run([FATHOM, "finish", "-o", "out", path], folder)
            tap.check(done.returncode == 1 and len(done.stderr.splitlines()) == 1,
                      f"{count} blocks in a damaged file: one error",
                      (done.returncode, done.stderr))


def check_every_program(tap, compiler):
    """Coverage changes nothing of what else is counted. clang's counts inlined calls, too."""
    grade = "deep" if compiler == "gcc" else "full"
    wrong = {}
    for source in CASES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            flags = ["-O0"] if compiler == "gcc" else ["-O2"]
            found = calls_of(record(build(source, folder, compiler, flags, grade="coverage"),
                                    folder).profile)
            expected = calls_of(record(build(source, folder, compiler, flags, grade=grade),
                                       folder).profile)
            if found != expected:
                wrong[source] = {name: (found[name], expected[name])
                                 for name in set(found) | set(expected)
                                 if found[name] != expected[name]}
    tap.same(wrong, {}, f"{compiler}: calls are those of --grade={grade}, in all programs")


def main():
    tap = Tap()
    CASES["branches.c"] = []
    need("gcov")
    for compiler in "gcc", "clang":
        if subprocess.run(["which", compiler], capture_output=True).returncode != 0:
            tap.skip(f"programs of {compiler}", "it is not installed")
            continue
        for source in WITNESSES:
            with tempfile.TemporaryDirectory() as folder:
                contexts = check_totals(tap, source, compiler, pathlib.Path(folder))
                if source == "branches.c":
                    check_contexts(tap, compiler, contexts)
                    check_pages(tap, compiler, pathlib.Path(folder))
        with tempfile.TemporaryDirectory() as folder:
            check_fork(tap, compiler, pathlib.Path(folder))
        check_every_program(tap, compiler)
    for flags in (["-O0"], ["-Og"], ["-O2"], ["-O3"], ["-O0", "-fPIC"], ["-O2", "-fPIC"],
                  ["-O2", "-fstack-clash-protection"], ["-O2", "-fPIC", "-mtls-dialect=gnu2"],
                  ["-pg"], ["-fverbose-asm"], ["-O2", "-mindirect-branch=thunk-inline"]):
        check_own_counts(tap, "blocks.c", flags)
        check_own_counts(tap, "throwing.cc", flags)
    check_parts(tap)
    check_loops(tap)
    check_builds(tap)
    check_limit(tap)
    check_damage(tap)
    return tap.done()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom record and finish: several processes, shared libraries, exit statuses and signals, live
recordings, and programs that do not record."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import PATIENCE

FIB = {3: 5, 4: 9, 5: 15, 7: 41, 15: 1973}  # calls of fib(n)


def processes(tap, folder):
    command = lib.build("processes.c", folder, "gcc", ["-O1"])
    done = lib.must([lib.FATHOM, "record", "--join=none", "-o", "all", "--"] + command, folder)
    found = sorted(pathlib.Path(folder).glob("all*.data"))
    profiles = [lib.Profile(path) for path in found]
    fibs = sorted(profile.calls()["fib"] for profile in profiles)
    # main; two forked children; the fork that executes (no fib); the image it becomes.
    tap.same([n for n in fibs if n > 0], sorted([FIB[3], FIB[4], FIB[5], FIB[7]]),
             "each process has its own counts")
    tap.check((pathlib.Path(folder) / "all.data").exists(), "the first process has the plain name")
    others = [str(path) for path in found if path.name != "all.data"]
    tap.same((done.stderr.count("open the pages:"), len(others),
              [path for path in others if f"{path}: " not in done.stderr]), (1, 3, []),
             "of many processes the first is summed up, each other has a line")
    first = next(profile for profile, path in zip(profiles, found) if path.name == "all.data")
    headers = [profile.header for profile in profiles]
    commands = sorted(header["command"] for header in headers)
    tap.same(commands, [str(command[0])] * 3 + [f"{command[0]} again"], "each has its command line")
    tap.same(({header["folder"] for header in headers},
              {header["parent"] for header in headers if header is not first.header}),
             ({os.path.realpath(folder)}, {first.header["pid"]}), "its folder and its parent")
    tap.check(f": {command[0]} again (started by {first.header['pid']}): " in done.stderr and
              "1 child process made few calls" in done.stderr, "lists show them", done.stderr)
    tap.check(not list(pathlib.Path(folder).glob("*.rec")), "raw recordings are removed")
    tap.same(sum(profile.calls()["main"] for profile in profiles), 2,
             "the parent's open frames are not counted again in its children")
    lib.must([lib.FATHOM, "record", "--join=none", "--all", "--keep", "-o", "kept", "--"] + command, folder)
    kept = {path.stem for path in pathlib.Path(folder).glob("kept*.rec")}
    tap.same((kept, len(kept)), ({path.stem for path in pathlib.Path(folder).glob("kept*.data")}, 5),
             "--keep keeps them, --all finishes those that only became another program")
    done = lib.must([lib.FATHOM, "record", "--join=none", "-o", "work", "--"] + command + ["work"], folder)
    fibs = sorted(lib.Profile(path).calls()["fib"]
                  for path in pathlib.Path(folder).glob("work*.data"))
    tap.same((fibs, "few calls" in done.stderr), ([0, FIB[7], FIB[15]], False),
             "what a child did much of before it became another program has a profile")


def executing(tap, folder):
    """A tick must not end the program that another one becomes."""
    command = lib.build("executing.c", folder, "gcc", ["-O1"])
    done = lib.run(command, folder, env={**os.environ, "FATHOM_OUTPUT": "parent"}, timeout=PATIENCE)
    tap.same(done.returncode, 0, "every way of exec, hundreds of times under ticks")
    lib.must([lib.FATHOM, "finish", "-q", "parent.rec"], folder)
    profile = lib.Profile(pathlib.Path(folder) / "parent.data")
    tap.same((profile.calls()["work"], profile.quanta["work"] > 5), (1, True),
             "after an exec that failed recording goes on, with ticks")
    children = sorted(pathlib.Path(folder).glob("parent.*.rec"))
    told = lib.must([lib.FATHOM, "ctl", children[0], "status"], folder).stdout
    tap.check("became another program" in told and re.search(r"^seconds\t\d+\.\d+$", told, re.M),
              "one that became another program tells how long it was this one", told)


def statuses(tap, folder):
    command = lib.build("processes.c", folder, "gcc", ["-O1"])
    done = lib.record(command + ["status"], folder, status=7)
    tap.same(done.profile.calls()["fib"], 15, "the exit status passes through")
    done = lib.run([lib.FATHOM, "record", "--"] + command + ["abort"], folder)
    tap.same(done.returncode, -signal.SIGABRT, "the program's signal ends record too")
    tap.check("signal 6" in done.stderr, "and is named", done.stderr)
    for number in (signal.SIGTERM, signal.SIGINT):
        recorder = subprocess.Popen([lib.FATHOM, "record", "-o", "waited", "--"] + command +
                                    ["wait"], cwd=folder, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True)
        recorder.stdout.readline()
        recorder.send_signal(number)
        recorder.communicate()
        profile = lib.Profile(pathlib.Path(folder) / "waited.data")
        tap.same((recorder.returncode, profile.excps["main"]), (-number, 1),
                 f"{number.name} is passed on, and the profile is made")
    done = lib.run([lib.FATHOM, "record", "--", "./does-not-exist"], folder)
    tap.same(done.returncode, 127, "a program that is not there: 127")
    done = lib.run([lib.FATHOM, "record", "--", "/"], folder)
    tap.same(done.returncode, 126, "one that cannot be run: 126")
    done = lib.run([lib.FATHOM, "record"], folder)
    tap.same(done.returncode, 2, "no program: bad usage")


ENDING = '''
#include <stdlib.h>
#include <unistd.h>
static volatile int count;
static void work(void) { count++; }
int main(int words, char **word)
{
    for (int i = 0; i < 1000; i++)
        work();
    if (words == 1)
        exit(0);
    if (words == 2)
        _exit(0);
    return execl(word[0], word[0], (char *)NULL);
}
'''


def queue(tap, folder):
    """How long a thread had no processor is read at its end; who ends without any has not told."""
    (pathlib.Path(folder) / "ending.c").write_text(ENDING)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "ending.c", "-o", "ending"], folder)
    for what, words, known in (("exit", [], 1), ("_exit", ["1"], 0), ("exec", ["1", "2"], 0)):
        lib.record(["./ending", *words], folder, name="ending")
        dump = lib.must([lib.FATHOM, "dump", "ending.data"], folder).stdout
        told = [int(line.split()[-1]) for line in dump.splitlines() if line.split()[:1] == ["queue_known"]]
        tap.same(told[:1], [known], f"{what}: whether it is known how long there was no processor")


def not_recorded(tap, folder):
    (pathlib.Path(folder) / "static.c").write_text("int main(void) { return 0; }")
    lib.must(["gcc", "-static", "static.c", "-o", "static"], folder)
    done = lib.run([lib.FATHOM, "record", "--after", "1s", "--", "./static"], folder)
    tap.check(done.returncode == 1 and "./static is not recorded: it is fully static" in done.stderr,
              "a program that cannot be recorded is named", done.stderr)
    done = lib.run([lib.FATHOM, "record", "--", "/bin/sh", "-c", "exit 5"], folder)
    tap.same(done.returncode, 5, "but its own status wins")
    (pathlib.Path(folder) / "bad.rec").write_text("not a recording at all" * 20)
    done = lib.run([lib.FATHOM, "finish", "bad.rec"], folder)
    tap.check(done.returncode == 1 and "bad.rec: offset 0" in done.stderr,
              "what is no recording is refused", done.stderr)
    (pathlib.Path(folder) / "folder.rec").mkdir()
    os.mkfifo(pathlib.Path(folder) / "pipe.rec")
    for name, message in (("folder", "is a folder"), ("pipe", "is not an ordinary file")):
        done = lib.run([lib.FATHOM, "finish", f"{name}.rec"], folder, timeout=PATIENCE)
        tap.check(done.returncode == 1 and f"{name}.rec: {message}" in done.stderr,
                  f"a {name} is refused", done.stderr)


ONE = "int two(int); int one(int n) { return n + 1; } int main(void) { return one(1) + two(2) - 5; }"
TWO = "int two(int n) { return n + 1; }"
TINY = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static char stack[65536];
static int begun[2];
__attribute__((no_instrument_function)) static int beside(void *seconds)
{
    struct timespec length = {.tv_sec = *(int *)seconds};
    syscall(SYS_write, begun[1], "", 1);
    return (int)syscall(SYS_nanosleep, &length, NULL);
}
__attribute__((noinline)) unsigned tiny(unsigned n) { return n * 2654435761u; }
int main(int argc, char **argv)
{
    unsigned sum = 0;
    for (unsigned i = 0; argc == 1 && i < 300000000; i++)
        sum += tiny(i);
    char byte;
    if (argc > 1 && pipe(begun) != 0)
        return 1;
    if (argc > 1 && fork() == 0) {
        setsid();
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
            return 1;
        int seconds = atoi(argv[1]);
        if (argc > 2)
            clone(beside, stack + sizeof stack, CLONE_VM | CLONE_VFORK, &seconds);
        else if (write(begun[1], "", 1) != 1)
            return 1;
        sleep((unsigned)seconds);
        sum += tiny(1);
    } else if (argc > 1 && read(begun[0], &byte, 1) != 1) {
        return 1;
    }
    return sum == 1;
}
"""


# Ends after a twentieth of a second of CPU time: too few samples to tell what a call costs.
SHORT = r"""
#include <time.h>
static volatile unsigned sum;
__attribute__((noinline)) unsigned tiny(unsigned n) { return n * 2654435761u; }
int main(void)
{
    while (clock() < CLOCKS_PER_SEC / 20)
        for (unsigned i = 0; i < 50000; i++)
            for (sum = tiny(i) & 0xfffffff8; sum % 8 != 7; sum++)
                ;
    return 0;
}
"""


def said_rightly(tap, folder):
    """What is wrong with a build, what the hooks cost, and what is not finished yet."""
    folder = pathlib.Path(folder)
    for name, text in (("one", ONE), ("two", TWO), ("tiny", TINY), ("short", SHORT)):
        (folder / f"{name}.c").write_text(text)
    lib.must(["gcc", "-g", "-c", "one.c", "two.c"], folder)
    lib.must([lib.FATHOM, "cc", "gcc", "one.o", "two.o", "-o", "old"], folder)
    done = lib.run([lib.FATHOM, "record", "--", "./old"], folder)
    tap.check(done.returncode == 1 and "no function of it is instrumented" in done.stderr and
              "Rebuild from clean" in done.stderr, "objects of an earlier build", done.stderr)
    for grade in "deep", "full":
        lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "-g", "-c", "one.c"], folder)
        lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "one.o", "two.o", "-o", "part"],
                 folder)
        done = lib.record(["./part"], folder)
        notes = [line for line in done.stderr.splitlines() if "of its source files" in line]
        tap.check(len(notes) == 1 and "part: 1 of its source files" in notes[0] and
                  notes[0].endswith("/two.c"), f"{grade}: an object of an earlier build", done.stderr)
    lib.must([lib.FATHOM, "cc", "gcc", "-O2", "-g", "tiny.c", "-o", "tiny"], folder)
    done = lib.record(["./tiny"], folder)
    tap.check("s of the program, " in done.stderr and "of its source files" not in done.stderr,
              "the hooks' share is told", done.stderr)
    forecast = re.search(r"([\d.]+) s of the program, ([\d.]+) s of fathom's hooks"
                         r"(?:: (about|up to) ([\d.]+) (?:± [\d.]+ )?ns for each of ([\d.]+)([kMGT]?) calls( a second)?)?",
                         done.stderr)
    own, hooks, bound, each, rate, unit, a_second = forecast.groups()
    page = " ".join(lib.must([lib.FATHOM, "report", "menu", "out.data"], folder).stdout.split())
    told = ("at least " + own in done.stderr, "its times are at least what is shown" in page)
    clear = abs(float(hooks) - float(own)) > 0.01  # to the hundredth that is printed
    tap.check(told == (float(hooks) > float(own),) * 2 if clear else True,
              "where the hooks have most of the time, the program's is a lower bound", done.stderr + page[:900])
    if each is None:
        tap.check(float(hooks) < 0.8, "what a call cost is not told of few samples alone",
                  done.stderr)
    else:
        calls = done.profile.calls()["tiny"] + 1
        rate = float(rate) * 1000 ** " kMGT".index(unit or " ")
        told_calls = rate * float(own) if a_second else rate
        tap.check(abs(float(each) - float(hooks) * 1e9 / calls) <= 0.1 * float(each) + 0.2 and
                  abs(told_calls - calls) <= (0.006 / float(own) + 0.01) * calls,
                  "what a call cost and how many there are are told of its own figures", done.stderr)
        tap.same((bound, a_second is None), ("up to", True) if float(hooks) > float(own) + 0.01 else
                 ("about", False) if float(own) > float(hooks) + 0.01 else (bound, bound == "up to"),
                 "it is an upper bound where the hooks have most of the time")
    lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O2", "-g", "short.c", "-o", "short"], folder)
    said = [lib.record(["./short"], folder).stderr for _ in range(5)]
    tap.check(not any("for each of" in text for text in said),
              "what a call cost is not told of a run of a twentieth of a second", said)
    if "tiny made" not in done.stderr:
        shares = done.stderr.split(" s of the program, ")
        own, hooks = shares[0].split()[-1], shares[1].split()[0]
        tap.check(float(hooks) <= float(own) + 0.02, "and who made the calls, if it is most",
                  done.stderr)
    lib.run([lib.FATHOM, "record", "-k", "-q", "-o", "kept", "--", "./part"], folder)
    for given in "given", "given.data", "given.rec":
        lib.must([lib.FATHOM, "finish", "-k", "-q", "-o", given, "kept.rec"], folder)
        tap.check((folder / "given.data").exists() and not (folder / "given").exists(),
                  f"-o {given} is given.data, as with record")
        (folder / "given.data").unlink()


DAEMON_SECONDS = str(int(5 * PATIENCE))  # it is killed before


def still_running(done):
    """What was told of processes that still run, and their numbers."""
    notes = [line for line in done.stderr.splitlines() if "still runs" in line]
    return notes, [int(re.search(r"process (\d+)", line)[1]) for line in notes]


def kill(*numbers):
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def daemons(tap, folder):
    """Processes that go on when `record` ends."""
    started = []
    try:
        daemons_of(tap, pathlib.Path(folder), started)
    finally:
        kill(*started)


def daemons_of(tap, folder, started):
    (folder / "tiny.c").write_text(TINY)
    (folder / "part.c").write_text(ONE)
    (folder / "two.c").write_text(TWO)
    lib.must([lib.FATHOM, "cc", "gcc", "-O2", "-g", "tiny.c", "-o", "tiny"], folder)
    lib.must([lib.FATHOM, "cc", "gcc", "part.c", "two.c", "-o", "part"], folder)
    done = lib.run([lib.FATHOM, "record", "-o", "left", "--", "./tiny", DAEMON_SECONDS], folder)
    notes, first = still_running(done)
    started += first
    tap.check(len(notes) == 1, "a daemon that goes on is told, once", done.stderr)
    time.sleep(0.02)  # the system counts processes' starts in hundredths of a second
    done = lib.run([lib.FATHOM, "record", "-o", "left", "--", "./tiny", DAEMON_SECONDS], folder)
    notes, second = still_running(done)
    started += second
    tap.check(len(notes) == 1 and first != second,
              "one of an earlier run of that name is not told as of this one", done.stderr)
    done = lib.run([lib.FATHOM, "record", "-o", "helped", "--", "./tiny", DAEMON_SECONDS, "helped"], folder)
    notes, numbers = still_running(done)
    started += numbers
    tap.check(len(notes) == 1, "a helper in the daemon's memory is no process of its own", done.stderr)
    for number in numbers:
        started += map(int, pathlib.Path(f"/proc/{number}/task/{number}/children").read_text().split())
    # A child whose recording has a name, but no header yet: it has just been forked.
    done = lib.run([lib.FATHOM, "record", "-o", "begun", "--", "sh", "-c",
                    f"sleep {DAEMON_SECONDS} >/dev/null 2>&1 & : >begun.$!.0.rec; exec ./part"], folder, env={**os.environ, "FATHOM_PRELOAD": "off"})
    notes, numbers = still_running(done)
    started += numbers
    tap.check(len(notes) == 1 and "has recorded nothing yet" in notes[0],
              "a child that has just begun is told", done.stderr)
    tap.check(done.returncode == 0 and "offset 0" not in done.stderr and
              len(list(folder.glob("begun.*.0.rec"))) == 1, "and its recording left alone", done.stderr)


def cut_short(tap, folder):
    command = lib.build("processes.c", folder, "gcc", ["-O1"])
    lib.run([lib.FATHOM, "record", "-k", "-o", "cut", "--"] + command + ["status"], folder)
    path = pathlib.Path(folder) / "cut.rec"
    path.write_bytes(path.read_bytes()[:5000])
    done = lib.run([lib.FATHOM, "finish", "cut.rec"], folder)
    tap.check(done.returncode == 1 and "beyond the 5000 bytes of the file" in done.stderr,
              "a recording that was cut short says so", done.stderr)


def live(tap, folder):
    command = lib.build("processes.c", folder, "gcc", ["-O1"])
    recorder = subprocess.Popen([lib.FATHOM, "record", "-o", "alive", "--"] + command + ["wait"],
                                cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True)
    recorder.stdout.readline()
    done = lib.must([lib.FATHOM, "finish", "-o", "now.data", "alive.rec"], folder)
    tap.check("still runs" in done.stderr, "a live recording gives the profile so far",
              done.stderr)
    tap.same(lib.Profile(pathlib.Path(folder) / "now.data").calls()["main"], 1, "with its counts")
    tap.check((pathlib.Path(folder) / "alive.rec").exists(), "and goes on")
    done = lib.run([lib.FATHOM, "record", "-o", "alive", "--"] + command, folder)
    tap.check(done.returncode == 2 and "alive.rec is being written by process" in done.stderr,
              "another record does not take its file away", done.stderr)
    recorder.terminate()
    recorder.communicate()
    tap.same(lib.Profile(pathlib.Path(folder) / "alive.data").calls()["main"], 1,
             "so it has its profile in the end")


def kept(tap, folder):
    """What other runs left to be finished by hand is theirs."""
    command = lib.build("processes.c", folder, "gcc", ["-O1"])
    done = lib.run(command + ["abort"], folder)
    (left,) = pathlib.Path(folder).glob("Deep.*.rec")
    lib.run([lib.FATHOM, "record", "--"] + command + ["status"], folder)
    tap.check(left.exists() and not left.with_suffix(".data").exists(),
              "the recording of a program run by hand is left alone")
    lib.must([lib.FATHOM, "finish", left.name], folder)
    tap.same((done.returncode, lib.Profile(left.with_suffix(".data")).calls()["main"]),
             (-signal.SIGABRT, 1), "and can be finished later")


LOST = "not recorded (the recording was full)"


def full(tap, folder):
    """What a recording has no room for is nobody's, and no call is missing."""
    for flags in ["-O0"], ["-O2"]:
        command = lib.build("wide.c", folder, "gcc", flags + ["-fno-builtin"])
        whole = lib.record(command, folder).profile
        done = lib.record(command, folder, env={**os.environ, "FATHOM_LIMIT": "100000"})
        found = done.profile
        what = " ".join(flags)
        tap.check("the recording was full" in done.stderr, f"full, {what}: it is told", done.stderr)
        tap.same(sum(found.calls().values()), sum(whole.calls().values()),
                 f"full, {what}: no call is missing")
        tap.same((found.allocs[LOST], found.calls()["late"], found.allocs["main"]), (100, 0, 0),
                 f"full, {what}: what is lost is not the caller's")
        lib.must([lib.FATHOM, "check", "out.data"], folder)
    command = lib.build("wide.c", folder, "gcc", ["-O0"], grade="coverage")
    lib.record(command, folder, env={**os.environ, "FATHOM_LIMIT": "100000"})
    shown = lib.must([lib.DUMP, "out.data"], folder).stdout
    lines = [row.split("\t") for row in shown.splitlines() if row.startswith("line\t")]
    zero = [int(fields[1]) for fields in lines if fields[2] == "0"]
    some = [fields for fields in lines if fields[2] not in ("0", "-")]
    tap.check(not zero and some, "full: no line is said not to have run", (zero, len(some)))


def libraries(tap, folder):
    folder = pathlib.Path(folder)
    (folder / "one.c").write_text("static int twice(int n) { return 2 * n; }\n"
                                  "int one(int n) { return twice(n) + twice(n + 1); }\n")
    (folder / "use.c").write_text("int one(int);\n"
                                  "int main(void) { int s = 0;\n"
                                  "for (int i = 0; i < 10; i++)\n"
                                  "s += one(i);\n"
                                  "return s == 0; }\n")
    cc = [lib.FATHOM, "cc", "gcc"]
    lib.must(cc + ["-O0", "-shared", "-fPIC", "one.c", "-o", "libone.so"], folder)
    lib.must(cc + ["-O2", "use.c", "-L.", "-lone", "-Wl,-rpath," + str(folder), "-o", "use"],
             folder)
    profile = lib.record([folder / "use"], folder).profile
    tap.same((profile.edges["main", "one"], profile.edges["one", "twice"]), (10, 20),
             "calls into a shared library and inside it")
    site = [(kind, callee) for proc, line, kind, callee, _ in profile.sites
            if proc == "main" and line == 4]
    tap.same(site, [(0, "one")], "the call's site knows its callee in the other file")


STEERED = """#include <fathom/fathom.h>
#include <map>
#include <string>
#include <vector>
template <class Key, class Value> struct table {
    bool operator<(const std::map<Key, std::vector<Value>> &) const { return true; }
    void operator()(const std::map<Key, std::vector<Value>> &, const Value &) {}
};
int main()
{
    table<std::string, std::vector<std::string>> t;
    fathom_mark("load");
    char *volatile memory = new char[3000000];
    fathom_snapshot("half");
    fathom_mark("use");
    bool less = t < std::map<std::string, std::vector<std::vector<std::string>>>();
    t({}, {});
    fathom_stop();
    t({}, {});
    fathom_start();
    delete[] memory;
    return less ? 0 : 1;
}
"""


def steered(tap, folder):
    folder = pathlib.Path(folder)
    (folder / "s.cc").write_text(STEERED)
    lib.must([lib.FATHOM, "c++", "--exclude=/usr/include/", "g++", "-O1", "s.cc", "-o", "s"], folder)
    done = lib.record(["./s"], folder, name="s")
    lines = done.stderr.splitlines()
    tap.check(any(line.endswith("  table::operator<") for line in lines) and
              any(line.endswith("  table::operator()") for line in lines),
              "long names are shortened in the summary", done.stderr)
    tap.check(any(line.startswith("phase load: ") for line in lines) and
              any(line.startswith("phase use: ") for line in lines) and
              " of heap at most" in done.stderr,
              "it tells the phases and the most memory", done.stderr)
    found = json.loads(lib.must([lib.FATHOM, "report", "--json", "top_procs/1-50/callseqs/self/oa", "s.data"],
                                folder).stdout)
    cells = [row["cells"] for row in found["tables"][0]["rows"]]
    less = [cell for cell in cells if cell["proc"] == "table::operator<"]
    tap.check(len(less) == 1, "pages show short names", cells)
    tap.check(len(less) == 1 and "std::allocator<char>" in less[0].get("proc_full", ""),
              "and the whole name beside", less)
    menu = json.loads(lib.must([lib.FATHOM, "report", "--json", "menu", "s.data"], folder).stdout)
    phases = [table for table in menu["tables"] if table["name"] == "phases"][0]["rows"]
    tap.same([row["cells"]["phase"] for row in phases], ["before the first", "load", "use"],
             "the menu has the phases")
    calls = {name: n for name, n in done.profile.calls().items() if "operator()" in name}
    tap.same(list(calls.values()), [1], "what ran while it was stopped is not counted")
    lib.must([lib.FATHOM, "finish", "s.snap1.rec"], folder)
    early = lib.Profile(folder / "s.snap1.data")
    tap.same((early.calls()["main"], [n for n in early.calls() if "operator()" in n]), (1, []),
             "the snapshot has what was then")


HOST = """#include <dlfcn.h>
#include <pthread.h>
static pthread_barrier_t barrier;
static int (*run)(int);
static void *before(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    run(100);
    return 0;
}
static void *load(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    if (library != 0)
        run = (int (*)(int))dlsym(library, "run");
    return library;
}
int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, 0, 3);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, before, 0);
    pthread_barrier_wait(&barrier);
    void *library = load("./first.so");
    if (library == 0)
        return 2;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < 6; i++) {
        run(1000);
        dlclose(library);
        library = load(i % 2 ? "./first.so" : "./second.so");
    }
    return 0;
}
"""
LOADED = """static volatile int count;
static void NAME(void) { count++; }
int run(int n) { for (int i = 0; i < n; i++) NAME(); return count; }
"""


def plain_hosts(tap, folder):
    """Only a plug-in is instrumented; the program has threads already, and unloads it: two that get
    the same addresses in turn must not be taken for each other."""
    folder = pathlib.Path(folder)
    (folder / "host.c").write_text(HOST)
    lib.must(["gcc", "host.c", "-o", "host", "-lpthread", "-ldl"], folder)
    forms = [("gcc", ["-O1"], []), ("gcc", ["-O1"], ["--grade=full"]),
             ("gcc", ["-O0"], ["--grade=coverage"])]
    forms += [("clang", ["-O1"], []), ("clang", ["-O0"], ["--grade=coverage"])] \
        if shutil.which("clang") else []
    for compiler, flags, grade in forms:
        for which in "first", "second":
            (folder / f"{which}.c").write_text(LOADED.replace("NAME", which).replace(
                "static void", "__attribute__((noinline)) static void"))
            lib.must([lib.FATHOM, "cc", *grade, compiler, *flags, "-shared", "-fPIC", f"{which}.c",
                      "-o", f"{which}.so"], folder)
        profile = lib.record(["./host"], folder).profile
        calls = profile.calls()
        tap.same((calls["first"], calls["second"], calls["run"]), (3200, 3000, 8),
                 f"plug-ins of a plain program, {compiler} {' '.join(grade)}")


CALLED_BACK = """#include <dlfcn.h>
__attribute__((noinline)) int leaf(int n) { return n + 1; }
__attribute__((noinline)) int helper(int n) { return leaf(n) * 2; }
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        int (*work)(int (*)(int)) = (int (*)(int (*)(int)))dlsym(library, "work");
        sum += work(helper);
        dlclose(library);
    }
    return sum == 0;
}
"""
CALLS_BACK = """__attribute__((noinline)) int NAME(int (*call)(int))
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += call(i);
    return sum;
}
int work(int (*call)(int)) { return NAME(call) + 1; }
"""


def contexts_unloaded(tap, folder):
    """What a plug-in called in the program stays in its context when another one of the same layout
    comes to the same addresses."""
    folder = pathlib.Path(folder)
    (folder / "host.c").write_text(CALLED_BACK)
    lib.must([lib.FATHOM, "cc", "gcc", "-O0", "host.c", "-o", "host", "-ldl"], folder)
    names = ["one", "two"]
    for name in names:
        (folder / f"{name}.c").write_text(CALLS_BACK.replace("NAME", f"inner_{name}"))
        lib.must([lib.FATHOM, "cc", "gcc", "-O0", "-shared", "-fPIC", f"{name}.c", "-o",
                  f"{name}.so"], folder)
    profile = lib.record(["./host"] + [f"./{name}.so" for name in names * 2], folder).profile
    found = {path: calls for path, calls in profile.contexts.items() if path.endswith("leaf")}
    tap.same(sorted(found.values()), [10, 10], f"contexts of unloaded code: {sorted(found)}")
    tap.check(all(sum(f"inner_{name}" in path for path in found) == 1 for name in names),
              "each plug-in has its own", found)


def main():
    tap = lib.Tap()
    lib.CASES["processes.c"] = lib.CASES["executing.c"] = lib.CASES["wide.c"] = []
    for test in (processes, executing, statuses, queue, not_recorded, said_rightly, daemons, cut_short, live, kept,
                 full, libraries, plain_hosts, contexts_unloaded, steered):
        with tempfile.TemporaryDirectory() as folder:
            test(tap, folder)
    return tap.done()


sys.exit(main())

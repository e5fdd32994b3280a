#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ticks of other events: page faults by the function that caused them, named on pages and in exports, never
taken for time; context switches where the waiting was; what the kernel refuses is told before the start."""
import os
import pathlib
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

SOURCE = r"""
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#define PART __attribute__((noinline))
static volatile char sink;
PART static void touch(char *memory, int pages)
{
    for (int i = 0; i < pages; i++)
        memory[(long)i * 4096] = 1;
    sink++;
}
PART static void toucher(char *memory)
{
    for (int i = 0; i < 2000; i++)
        memory[(long)i * 4096] = 1;
    sink++;
}
PART static void napper(void)
{
    for (int i = 0; i < 40; i++) {
        struct timespec brief = {0, 2000000};
        nanosleep(&brief, NULL);
    }
    sink++;
}
int main(void)
{
    char *memory = mmap(NULL, 2500 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    madvise(memory, 2500 * 4096, MADV_NOHUGEPAGE);
    toucher(memory);
    touch(memory + 2000L * 4096, 500);
    napper();
    puts("done");
    return 0;
}
"""

FORBID = r"""
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    execvp(argv[1], argv + 1);
    return 78;
}
"""


def without_run(text):
    """All but the sentence of the run, which says what threads used of processors, and waited, by clocks."""
    return "\n".join(line for line in text.splitlines() if " s wall: " not in line)


def refused(tap, done, event):
    """True where this machine or user has no such counter: then it is told, and nothing ran."""
    if done.returncode == 0:
        return False
    tap.check("--tick:" in done.stderr and ("perf_event_paranoid" in done.stderr or "does not count" in done.stderr),
              f"{event}: refused with the reason", done.stderr)
    tap.check("done" not in done.stdout, f"{event}: before the program starts", done.stdout)
    return True


def record(folder, event, name):
    return lib.run([lib.FATHOM, "record", "-k", f"--tick={event}", "-o", name, "./prog"], folder, timeout=PATIENCE)


def report(folder, *arguments):
    return lib.must([lib.FATHOM, "report", *arguments], folder).stdout


def check_faults(tap, folder, event):
    done = record(folder, event, "faults")
    if refused(tap, done, event):
        return
    words = event.replace("-", " ")
    profile = lib.Profile(folder / "faults.data")
    found = {function: profile.quanta[function] for function in ("toucher", "touch")}
    tap.check(2000 <= found["toucher"] <= 2040 and 500 <= found["touch"] <= 540, f"{event}: those of each function",
              found)
    tap.check(f" {words} in" in done.stderr and f"{words} by function" in done.stderr and
              " s CPU" not in without_run(done.stderr) and " s  " not in done.stderr,
              f"{event}: the summary does, and calls nothing time", done.stderr)
    page = report(folder, "menu", "faults.data")
    tap.check(f"{words} in" in page and f"Where the {words} go" in page and
              "CPU" not in without_run(page.split("All functions")[0]) and f"{words} are each looked at" in page, f"{event}: the first page names them", page)
    tree = report(folder, "tree/time/down/3/all", "faults.data")
    tap.check(f"by {words}" in tree and "toucher" in tree, f"{event}: the tree names them", tree)
    of_one = report(folder, "proc/toucher", "faults.data")
    tap.check(f"Self {found['toucher']:,} {words}" in of_one, f"{event}: so does a function's page", of_one)
    folded = lib.must([lib.FATHOM, "export", "--to=folded", "faults.data", "-o", "-"], folder).stdout
    line = [line for line in folded.splitlines() if "toucher" in line]
    tap.check(line and int(line[0].split()[-1]) == found["toucher"], f"{event}: exported", folded)
    dump = lib.must([lib.FATHOM, "dump", "faults.data"], folder).stdout
    tap.check(f"ticks are {words}:\n\tperiod = 1\n" in dump, f"{event}: dumped", dump[-600:])
    top = lib.must([lib.FATHOM, "top", "--batch", "faults.rec"], folder).stdout
    row = [line.split("\t") for line in top.splitlines() if line.endswith("\ttoucher")]
    tap.check(f"self_{words.replace(' ', '_')}\t" in top and row and int(row[0][0]) == found["toucher"],
              f"{event}: top counts them", top)
    lib.must([lib.FATHOM, "check", "faults.data"], folder)


def check_units(tap, folder):
    """Unlike units are neither added nor compared."""
    lib.must([lib.FATHOM, "record", "-q", "-o", "time", "./prog"], folder)
    if not (folder / "faults.data").exists():
        tap.skip("no unlike units", "page faults cannot be counted here")
        return
    both = lib.run([lib.FATHOM, "merge", "time.data", "faults.data", "-o", "both.data"], folder)
    tap.check(both.returncode != 0 and "its ticks are minor faults, the others' are time" in both.stderr,
              "events and time have no sum", both.stderr)
    both = lib.run([lib.FATHOM, "diff", "time.data", "faults.data"], folder)
    tap.check(both.returncode != 0 and both.stderr.count("\n") == 1 and "ticks are" in both.stderr,
              "nor a difference", both.stdout + both.stderr)
    done = record(folder, "minor-faults:100", "hundred")
    if refused(tap, done, "minor-faults:100"):
        return
    profile = lib.Profile(folder / "hundred.data")
    tap.check(1800 <= profile.quanta["toucher"] <= 2300, "of each hundredth: as many", profile.quanta["toucher"])
    lib.must([lib.FATHOM, "merge", "hundred.data", "faults.data", "-o", "sum.data"], folder)
    total = lib.Profile(folder / "sum.data")
    one = lib.Profile(folder / "faults.data")
    tap.check(total.quanta["toucher"] == profile.quanta["toucher"] + one.quanta["toucher"], "equal units are added",
              total.quanta)
    dump = lib.must([lib.FATHOM, "dump", "sum.data"], folder).stdout
    tap.check("ticks are minor faults:\n\tperiod = 100\n" in dump, "the sum has the coarser period", dump[-600:])


def check_rest(tap, folder):
    """What comes behind the last tick is counted at the end."""
    done = record(folder, "minor-faults:1000000", "rest")
    if refused(tap, done, "minor-faults:1000000"):
        return
    total = sum(lib.Profile(folder / "rest.data").quanta.values())
    tap.check(2500 <= total < 1000000, "fewer than one tick stands for", total)


def check_refused(tap, folder):
    """A user who may not count: the setting is named. Only root can become such a one."""
    level = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    if os.geteuid() != 0 or not level.exists() or int(level.read_text()) < 2:
        tap.skip("a refused event", "needs root, and kernel.perf_event_paranoid of 2 or more")
        return
    try:
        done = subprocess.run([lib.FATHOM, "record", "--tick=context-switches", "/bin/echo", "done"], cwd="/",
                              capture_output=True, text=True, timeout=PATIENCE, user=65534, group=65534, extra_groups=[])
    except OSError as problem: # the folder of the build is closed to others
        tap.skip("a refused event", str(problem))
        return
    tap.check(done.returncode != 0 and "sysctl kernel.perf_event_paranoid=1" in done.stderr and
              done.stdout == "" and done.stderr.count("\n") == 1, "a refused event: the setting to change",
              done.stdout + done.stderr)


def check_forbidden(tap, folder):
    """As containers do it: no setting would help, so none is named."""
    level = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    (folder / "forbid.c").write_text(FORBID)
    lib.must(["cc", "forbid.c", "-o", "forbid"], folder)
    done = lib.run(["./forbid", lib.FATHOM, "record", "--tick=page-faults", "/bin/echo", "done"], folder)
    if done.returncode == 77 or not level.exists() or int(level.read_text()) > 2:
        tap.skip("a forbidden event", "needs seccomp, and kernel.perf_event_paranoid of at most 2")
        return
    tap.check(done.returncode != 0 and "container" in done.stderr and "sysctl" not in done.stderr and
              done.stdout == "" and done.stderr.count("\n") == 1, "a forbidden event: no setting is to blame",
              done.stdout + done.stderr)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(SOURCE)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O1", "prog.c", "-o", "prog"], folder)
        for event in ("page-faults", "minor-faults"):
            check_faults(tap, folder, event)
        check_units(tap, folder)
        done = record(folder, "context-switches", "switches")
        if not refused(tap, done, "context-switches"):
            profile = lib.Profile(folder / "switches.data")
            tap.check(profile.quanta["napper"] >= 40, "context switches: each sleep", profile.quanta)
            tap.check(done.stdout == "done\n", "and the program runs as it does", done.stdout)
            page = report(folder, "menu", "switches.data")
            tap.check("context switches are counted at waits and clock ticks" in page, "how is told", page)
        for event in ("major-faults", "migrations", "cycles", "instructions", "cache-misses", "branch-misses"):
            done = record(folder, event, "rare")
            if not refused(tap, done, event):
                tap.check(done.stdout == "done\n" and "CPU time" not in done.stderr, f"{event}: recorded", done.stderr)
        done = record(folder, "cpu-clock:2000000", "clock")
        if not refused(tap, done, "cpu-clock"):
            tap.check(" s CPU" in done.stderr, "cpu-clock is time", done.stderr)
        check_rest(tap, folder)
        check_refused(tap, folder)
        check_forbidden(tap, folder)
        for wrong in ("page-fault", "page-faults:0", "page-faults:x", "page-faults:5000000000", "context-switches:2"):
            done = record(folder, wrong, "wrong")
            tap.check(done.returncode == 2 and "--tick" in done.stderr and done.stdout == "", f"{wrong} is refused",
                      done.stderr)
    return tap.done()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ticks come at random times: the first within its period, and those of perf's clock half a period to one
and a half after the last. A fixed phase repeats the same error in every run of a program."""
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

SOURCE = r"""
#include <stdlib.h>
#include <time.h>
static volatile long sink;
__attribute__((noinline)) static void busy(long ms)
{
    struct timespec now;
    do {
        for (int i = 0; i < 10000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}
int main(int argc, char **argv)
{
    busy(argc > 1 ? atol(argv[1]) : 1);
    return 0;
}
"""
SHORT_RUNS = 24


def facts(folder, name):
    text = lib.must([lib.FATHOM, "dump", "--only=facts", name + ".data"], folder).stdout
    found = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition(" = ")
        if equals:
            found[key] = value
    return found


def record(folder, period, name, ms):
    return lib.run([lib.FATHOM, "record", "-q", f"--tick=cpu-clock:{period}", "-o", name, "./prog", str(ms)], folder,
                   timeout=PATIENCE)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.c").write_text(SOURCE)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O1", "-g", "prog.c", "-o", "prog"], folder)
        done = record(folder, 2000000, "long", 1000)
        if done.returncode != 0:
            tap.check("--tick:" in done.stderr, "perf's clock is refused with the reason", done.stderr)
            return tap.done()
        long = facts(folder, "long")
        count, squares = int(long["sample_count"]), int(long["sample_squares"])
        quanta = int(lib.Profile(folder / "long.data").quanta["busy"])
        # Periods uniform within half of theirs: the mean of their squares is 1 + 1/12 times the square of their mean.
        spread = squares * count / quanta ** 2
        tap.check(count >= 200, "a second has hundreds of ticks of 2 ms", long)
        tap.check(1.04 < spread, "periods differ from tick to tick", (spread, long))
        # Periods of 0.5 ms charge less than a millisecond each.
        lib.must([lib.FATHOM, "record", "-q", "--tick=cpu-clock:500000", "-o", "fast", "./prog", "300"], folder)
        fast = facts(folder, "fast")
        quanta = int(lib.Profile(folder / "fast.data").quanta["busy"])
        tap.check(int(fast["sample_count"]) > 350, "2,000 ticks a second are so many samples in 300 ms", fast)
        header = lib.must([lib.FATHOM, "dump", "fast.data"], folder).stdout
        ticks = int(header.split("ticks_per_sec = ")[1].split()[0])
        tap.check(ticks == 10000 and 0.2 < quanta / ticks < 10, "in quanta of a tenth of a millisecond", (ticks, quanta))
        # A program of 30 ms is over before a first tick at 60 ms. At a random time of these it comes in every second run.
        met = 0
        for run in range(SHORT_RUNS):
            record(folder, 60000000, f"short{run}", 30)
            met += facts(folder, f"short{run}").get("sample_count", "not recorded") != "not recorded"
        tap.check(0 < met, f"of {SHORT_RUNS} runs shorter than the period some have a tick", met)
    return tap.done()


sys.exit(main())

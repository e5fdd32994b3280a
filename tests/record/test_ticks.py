#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time: what is charged, to the program and to the hooks, is what was used; and a function too
short for the sampler to see between its hooks is charged all the same."""
import os
import pathlib
import resource
import sys
import tempfile

import record_lib as lib
from runtime_rec import Rec

SECONDS = 2.0
QUANTUM = 0.001
WORK = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
#ifdef AT_END /* of a page: what is looked at around a tick reaches into the next one */
__asm__(".text; .p2align 12; .skip 3840");
#endif
/* With the call it has hooks at both ends. */
__attribute__((noinline)) unsigned tiny(unsigned n)
{
    if (n == 4000000000u)
        abort();
    return n * 2654435761u;
}
__attribute__((noinline)) unsigned loop(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += tiny(i);
    return sum;
}
__attribute__((noinline)) unsigned long busy(unsigned n)
{
    unsigned long sum = 0;
    for (unsigned i = 0; i < n * 8; i++)
        sum += i * sum ^ i >> 3;
    return sum;
}
__attribute__((noinline)) unsigned memory(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n / 10; i++) {
        char *text = malloc(20 + i % 50);
        memset(text, (int)i, 20);
        sum += (unsigned)text[3];
        free(text);
    }
    return sum;
}
/* Some ticks long: they charge what was used before. */
__attribute__((noinline)) unsigned long last(void)
{
    unsigned long sum = 0;
    for (double end = cpu() + 0.05; cpu() < end;)
        sum += busy(1000);
    return sum;
}
int main(int argc, char **argv)
{
    unsigned long sum = 0;
    double begun = cpu();
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += loop(100000) + busy(100000) + memory(100000);
    printf("%f", cpu() - begun);
    return argc > 2 && sum + last() == 0;
}
"""


def timed(folder, rounds, ticks):
    """CPU seconds of the work, by the program's own clock, and of the whole process, by the kernel's count;
    and the recording."""
    path = folder / f"{ticks}.rec"
    path.unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = lib.must(["./prog", rounds, "last"], folder,
                    env={**os.environ, "FATHOM_OUTPUT": str(path), "FATHOM_TICKS": ticks})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(done.stdout), after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, Rec(path)


def at_end_of_page(tap, folder, rounds):
    lib.must([lib.FATHOM, "cc", "gcc", "-O2", "-fno-toplevel-reorder", "-DAT_END", "work.c", "-o", "prog"], folder)
    places = [int(line.split()[0], 16) % 4096 for line in lib.must(["nm", "prog"], folder).stdout.splitlines()
              if line.endswith(" T tiny")]
    tap.check(places and places[0] >= 3840, "a function with hooks at the end of a page", places)
    _, _, recording = timed(folder, rounds, "timer")
    hooks = sum(thread["instrumentation"] for thread in recording.threads)
    quanta = hooks + sum(thread["user"] for thread in recording.threads)
    tap.check(0.05 * quanta < hooks < 0.6 * quanta, "its hooks' time is kept apart", f"{hooks} of {quanta}")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "work.c").write_text(WORK)
        lib.must([lib.FATHOM, "cc", "gcc", "-O2", "work.c", "-o", "prog"], folder)
        cpu, _, _ = timed(folder, 20, "perf")
        rounds = max(1, round(20 * SECONDS / cpu))
        for ticks, source in ("perf", 2), ("timer", 1):
            inside, outside, recording = timed(folder, rounds, ticks)
            if recording.tick_source != source:
                tap.skip(f"ticks of {ticks}", "the machine does not allow them")
                continue
            quanta = sum(thread["user"] + thread["instrumentation"]
                         for thread in recording.threads)
            charged = quanta * recording.quantum_ns / 1e9
            tap.check(inside - QUANTUM <= charged <= outside,
                      f"{ticks}: {charged:.3f} s charged, {inside:.3f} s used in main(), {outside:.3f} s in all")
            # loop() and tiny() spend most of their time in hooks, which are written out there.
            hooks = sum(thread["instrumentation"] for thread in recording.threads)
            tap.check(0.05 * quanta < hooks < 0.6 * quanta,
                      f"{ticks}: the hooks' time is kept apart", f"{hooks} of {quanta}")
            sums = {what: sum(thread[what] for thread in recording.threads)
                    for what in ("user", "charges", "squares", "ticks")}
            tap.check(0 < sums["charges"] <= sums["ticks"] and
                      sums["user"] ** 2 <= sums["squares"] * sums["charges"] and
                      sums["squares"] >= sums["user"],
                      f"{ticks}: samples and what they charged", sums)
            lib.must([lib.FATHOM, "finish", "-q", f"{ticks}.rec"], folder)
            page = lib.must([lib.FATHOM, "report", f"{ticks}.data"], folder).stdout
            tap.check(f"({sums['charges']:,} samples)" in page,
                      f"{ticks}: the page tells how many samples there were", page[:500])
            found = lib.Profile(folder / f"{ticks}.data").quanta
            # By perf's samples of the same program, tiny() has more than loop() itself. Few ticks fall
            # in either: at 250 Hz perhaps none in tiny().
            tap.check(found["tiny"] > 0.05 * found["loop"] or source == 1 and found["loop"] > 0,
                      f"{ticks}: the short function has its time", dict(found))
        at_end_of_page(tap, folder, rounds)
    return tap.done()


sys.exit(main())

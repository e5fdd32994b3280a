#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time: what is charged, to the program and to the hooks, is what was used; and a function too
short for the sampler to see between its hooks is charged all the same."""
import os
import pathlib
import resource
import sys
import tempfile

import finish_lib as lib
from runtime_rec import Rec

SECONDS = 5.0
WORK = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
int main(int argc, char **argv)
{
    unsigned long sum = 0;
    for (int i = 0; i < atoi(argv[1]); i++)
        sum += loop(100000) + busy(100000) + memory(100000);
    printf("%lu\\n", sum);
    return argc > 2;
}
"""


def timed(folder, rounds, ticks):
    """CPU seconds that the kernel counted, and the recording."""
    path = folder / f"{ticks}.rec"
    path.unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    lib.must(["./prog", rounds], folder,
             env={**os.environ, "FATHOM_OUTPUT": str(path), "FATHOM_TICKS": ticks})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime), Rec(path)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "work.c").write_text(WORK)
        lib.must([lib.FATHOM, "cc", "gcc", "-O2", "work.c", "-o", "prog"], folder)
        cpu, _ = timed(folder, 50, "perf")
        rounds = max(1, round(50 * SECONDS / cpu))
        for ticks, source in ("perf", 2), ("timer", 1):
            cpu, recording = timed(folder, rounds, ticks)
            if recording.tick_source != source:
                tap.skip(f"ticks of {ticks}", "the machine does not allow them")
                continue
            quanta = sum(thread["user"] + thread["instrumentation"]
                         for thread in recording.threads)
            charged = quanta * recording.quantum_ns / 1e9
            tap.check(abs(charged - cpu) <= 0.02 * cpu,
                      f"{ticks}: {charged:.2f} s charged, {cpu:.2f} s used: within 2 %")
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
            # By perf's samples of the same program, tiny() has more than loop() itself.
            tap.check(found["tiny"] > 0.2 * found["loop"],
                      f"{ticks}: the short function has its time", dict(found))
    return tap.done()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that call nothing are counted at their entry and have no frame of their own. Signals
that interrupt them find them all the same: handlers, on the same stack and on another one, stand
below them, and handlers that never come back leave them by an exceptional exit."""
import pathlib
import sys
import tempfile

import record_lib as lib

SOURCE = r"""
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#define OWN __attribute__((noinline, noclone))
static volatile int handled, struck, wanted, spinning;
static volatile unsigned sink;
static int mode;
static sigjmp_buf back;
OWN unsigned small(unsigned x) { return x * 3 + sink; }
OWN unsigned spin(unsigned x)
{
    spinning = 1;
    while (struck < wanted) x = x * 5 + sink;
    spinning = 0;
    return x;
}
OWN void counted(void) { sink += small(1); }
OWN static void handler(int number)
{
    (void)number;
    counted();
    handled++;
    if (!spinning) /* elsewhere, however seldom: back may be of a round that is over */
        return;
    struck++;
    if (mode == 2 && struck % 2 == 0) {
        spinning = 0;
        siglongjmp(back, 1);
    }
    for (int i = 0; mode == 3 && i < 5; i++)
        sink += spin(7); /* struck often enough by now */
}
OWN static void clock_on(int on)
{
    struct itimerval every = {{0, on ? 2000 : 0}, {0, on ? 2000 : 0}};
    setitimer(ITIMER_REAL, &every, NULL);
}
OWN static void round_of(int i)
{
    wanted = struck + 1;
    if (sigsetjmp(back, 1) == 0)
        sink += spin((unsigned)i);
    sink += small(2);
}
int main(int argc, char **argv)
{
    mode = argc > 1 ? atoi(argv[1]) : 0;
    static char stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    if (mode == 1) {
        sigaltstack(&other, NULL);
        action.sa_flags |= SA_ONSTACK;
    }
    sigaction(SIGALRM, &action, NULL);
    clock_on(1);
    for (int i = 0; i < 30; i++)
        round_of(i);
    clock_on(0);
    for (int i = 0; i < 1000; i++)
        sink += small(3);
    printf("%d %d\n", handled, struck);
    return 0;
}
"""
# Code without a frame pointer has any number where it would be: so libc's, and what is left out.
NUMBERS = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
static volatile int handled;
__attribute__((noinline)) static void handler(int number) { (void)number; handled++; }
__attribute__((noinline, no_instrument_function)) static void spin(long number, int until)
{
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushq %%rbp\n\tmovq %0, %%rbp\n"
                     "1:\tcmpl %1, %2\n\tjl 1b\n\tpopq %%rbp\n\tleaq 128(%%rsp), %%rsp"
                     : : "r"(number), "r"(until), "m"(handled) : "memory");
}
int main(void)
{
    static const long numbers[] = {-8, -16, -24, 0, 8, 1, -1, 0x7ffffffffffffff8};
    struct itimerval every = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &every, NULL);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        spin(numbers[i], handled + 20);
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    printf("%d\n", handled);
    return 0;
}
"""
# Long bodies of the same kind, where ticks fall: the frame pointer is the caller's.
TICKED = r"""
#include <stdio.h>
__attribute__((noinline, noclone)) static unsigned spin(unsigned n)
{
    unsigned x = n;
    while (n--) x = x * 1664525u + n;
    return x;
}
__attribute__((noinline, noclone)) static unsigned twice(unsigned n) { return spin(n) ^ spin(n + 1); }
int main(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 100; i++) sum += twice(3000000 + i);
    printf("%u\n", sum);
    return 0;
}
"""
# Stopped between two calls by the same call site, in the same open frame; and a function whose one call
# does not come back.
STOPPED = r"""
#include <setjmp.h>
#include <stdio.h>
#include <fathom/fathom.h>
#define OWN __attribute__((noinline, noclone))
static volatile unsigned sink;
static jmp_buf back;
OWN unsigned small(unsigned x) { return x * 3 + sink; }
OWN void away(void) { sink++; longjmp(back, 1); }
OWN void steered(void)
{
    for (volatile unsigned i = 0; i < 100; i++) {
        if (i == 40) fathom_stop();
        if (i == 70) fathom_start();
        sink += small(i);
    }
}
int main(void)
{
    steered();
    for (volatile int i = 0; i < 20; i++)
        if (setjmp(back) == 0) away();
    printf("%u\n", sink);
    return 0;
}
"""
NAMES = ["handlers on the same stack", "handlers on a stack of their own", "handlers that jump away",
         "handlers that call the function that they interrupt"]


def check(tap, program, folder, mode):
    done = lib.record([program, str(mode)], folder)
    profile, (handled, struck) = done.profile, map(int, done.stdout.split())
    what = NAMES[mode]
    calls = profile.calls()
    tap.same({name: calls[name] for name in ("round_of", "spin", "handler", "counted", "small")},
             {"round_of": 30, "spin": 30 + (5 * struck if mode == 3 else 0), "handler": handled, "counted": handled,
              "small": handled + 1030}, f"{what}: calls are exact")
    # The clock may also tick between two rounds, or where spin begins and ends.
    below = sum(n for path, n in profile.contexts.items() if path.endswith("/spin/handler"))
    inside = sum(n for path, n in profile.contexts.items()
                 if path.endswith("/spin/handler/counted/small"))
    tap.check(30 <= struck <= below <= handled and inside == below,
              f"{what}: they stand below the function that they interrupt",
              f"{below} and {inside} of {struck} to {handled}: {dict(profile.contexts)}")
    jumped = profile.excps["handler"]
    tap.check(profile.excps["spin"] == jumped and (mode == 2) == (jumped > 0),
              f"{what}: exceptional exits", dict(profile.excps))
    tap.same({name: profile.exits[name] + profile.excps[name] for name in calls},
             {name: calls[name] for name in calls}, f"{what}: each call is left")


def ticked(tap, folder, flags):
    (pathlib.Path(folder) / "ticked.c").write_text(TICKED)
    lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", *flags, "ticked.c", "-o", "ticked"], folder)
    profile = lib.record(["./ticked"], folder).profile
    quanta = {name: profile.quanta[name] for name in ("spin", "twice", "main")}
    if sum(quanta.values()) < 50:
        tap.skip("ticks in functions that call nothing", "no ticks here")
        return
    tap.check(quanta["spin"] > 9 * (quanta["twice"] + quanta["main"]),
              f"{' '.join(flags)}: ticks in a function that calls nothing are its own", quanta)
    tap.same(profile.calls()["spin"], 200, f"{' '.join(flags)}: and end no call")


def stopped(tap, folder, flags):
    (pathlib.Path(folder) / "stopped.c").write_text(STOPPED)
    lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", *flags, "stopped.c", "-o", "stopped"], folder)
    profile = lib.record(["./stopped"], folder).profile
    what = " ".join(flags)
    tap.same({name: profile.calls()[name] for name in ("steered", "small", "away")},
             {"steered": 1, "small": 70, "away": 20}, f"{what}: what is called while stopped does not count")
    tap.same((profile.exits["away"], profile.excps["away"]), (0, 20),
             f"{what}: a function that calls what does not come back is left by it")


def main():
    tap = lib.Tap()
    for flags in (["-O1"], ["-O2"], ["-O2", "-fPIC"]):
        with tempfile.TemporaryDirectory() as folder:
            stopped(tap, folder, flags)
    for flags in (["-O1"], ["-O2"]):
        with tempfile.TemporaryDirectory() as folder:
            ticked(tap, folder, flags)
    for flags in (["-O2"], ["-O2", "-fPIC"]):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "leaves.c"
            source.write_text(SOURCE)
            lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", *flags, source, "-o", "leaves"],
                     folder)
            for mode in range(4):
                check(tap, pathlib.Path(folder) / "leaves", folder, mode)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "numbers.c").write_text(NUMBERS)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O2", "-fno-pie", "-no-pie", "numbers.c",
                  "-o", "numbers"], folder)
        plain = lib.run(["./numbers"], folder)
        tap.same(plain.returncode, 0, "any number may stand where a frame's address would be")
        done = lib.record(["./numbers"], folder)
        tap.same(done.profile.calls()["handler"], int(done.stdout), "and handlers count")
    return tap.done()


sys.exit(main())

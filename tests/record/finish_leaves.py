#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that call nothing are counted at their entry and have no frame of their own. Signals
that interrupt them find them all the same: handlers, on the same stack and on another one, stand
below them, and handlers that never come back leave them by an exceptional exit."""
import pathlib
import sys
import tempfile

import finish_lib as lib

SOURCE = r"""
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#define OWN __attribute__((noinline, noclone))
static volatile int handled, wanted;
static volatile unsigned sink;
static int mode;
static sigjmp_buf back;
OWN unsigned small(unsigned x) { return x * 3 + sink; }
OWN unsigned spin(unsigned x) { while (handled < wanted) x = x * 5 + sink; return x; }
OWN void counted(void) { sink += small(1); }
OWN static void handler(int number)
{
    (void)number;
    counted();
    handled++;
    if (mode == 2 && handled % 2 == 0)
        siglongjmp(back, 1);
}
OWN static void clock_on(int on)
{
    struct itimerval every = {{0, on ? 2000 : 0}, {0, on ? 2000 : 0}};
    setitimer(ITIMER_REAL, &every, NULL);
}
OWN static void round_of(int i)
{
    wanted = handled + 1;
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
    printf("%d\n", handled);
    return 0;
}
"""
NAMES = ["handlers on the same stack", "handlers on a stack of their own", "handlers that jump away"]


def check(tap, program, folder, mode):
    done = lib.record([program, str(mode)], folder)
    profile, handled = done.profile, int(done.stdout.split()[0])
    what = NAMES[mode]
    calls = profile.calls()
    tap.same({name: calls[name] for name in ("round_of", "spin", "handler", "counted", "small")},
             {"round_of": 30, "spin": 30, "handler": handled, "counted": handled,
              "small": handled + 1030}, f"{what}: calls are exact")
    # The clock may also tick between two rounds; that which ends the spinning found it there.
    below = sum(n for path, n in profile.contexts.items() if path.endswith("/spin/handler"))
    inside = sum(n for path, n in profile.contexts.items()
                 if path.endswith("/spin/handler/counted/small"))
    tap.check(25 <= below <= handled and inside == below,
              f"{what}: they stand below the function that they interrupt",
              f"{below} and {inside} of {handled}: {dict(profile.contexts)}")
    jumped = profile.excps["handler"]
    tap.check(profile.excps["spin"] <= jumped and jumped - profile.excps["spin"] <= handled - below
              and (mode == 2) == (jumped > 0),
              f"{what}: exceptional exits", dict(profile.excps))
    tap.same({name: profile.exits[name] + profile.excps[name] for name in calls},
             {name: calls[name] for name in calls}, f"{what}: each call is left")


def main():
    tap = lib.Tap()
    for flags in (["-O2"], ["-O2", "-fPIC"]):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "leaves.c"
            source.write_text(SOURCE)
            lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", *flags, source, "-o", "leaves"],
                     folder)
            for mode in range(3):
                check(tap, pathlib.Path(folder) / "leaves", folder, mode)
    return tap.done()


sys.exit(main())

/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose function `scan` has 18 % of the time, times SCAN per cent: what comparing finds
 * of it. The argument: rounds of about 5 ms. */
#include <stdlib.h>

#ifndef SCAN
#define SCAN 100L
#endif
#define UNIT 100000L /* turns of a loop in a hundredth of a round */
#define OWN __attribute__((noinline, noclone)) static

static volatile long sink;

/* Shares in hundredths, as of a program with few large and many small functions. */
#define FUNCTION(name, share, percent)                            \
    OWN void name(void)                                           \
    {                                                             \
        for (long i = 0; i < (share)*UNIT / 100 * (percent); i++) \
            sink += i;                                            \
    }
FUNCTION(scan, 18, SCAN)
FUNCTION(parse, 24, 100L)
FUNCTION(hash, 16, 100L)
FUNCTION(emit, 12, 100L)
FUNCTION(copy, 9, 100L)
FUNCTION(sort, 7, 100L)
FUNCTION(find, 5, 100L)
FUNCTION(fold, 4, 100L)
FUNCTION(pack, 3, 100L)
FUNCTION(flush, 2, 100L)

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1;
    for (long i = 0; i < rounds; i++) {
        scan();
        parse();
        hash();
        emit();
        copy();
        sort();
        find();
        fold();
        pack();
        flush();
    }
    return 0;
}

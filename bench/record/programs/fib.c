/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing but recursion: the dearest program for a call recorder. */
#include <stdio.h>
#include <stdlib.h>

unsigned long fib(unsigned n);
unsigned long fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
    printf("%lu\n", fib(argc > 1 ? (unsigned)atoi(argv[1]) : 37));
    return 0;
}

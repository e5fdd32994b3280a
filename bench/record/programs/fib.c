/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion only, the most expensive case for a call recorder. gcc makes a loop of one of the two
 * calls; with INLINED it also copies the function into itself, many levels deep. Then plain code
 * makes almost no calls, while a recorder of source-level calls still counts them all. */
#include <stdio.h>
#include <stdlib.h>

#ifdef INLINED
unsigned long fib(unsigned n);
#else
__attribute__((noinline)) unsigned long fib(unsigned n);
#endif
unsigned long fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
    printf("%lu\n", fib(argc > 1 ? (unsigned)atoi(argv[1]) : 37));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Nine tiny functions that call one another, two of them through a table of pointers. */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
static NOINLINE unsigned h(unsigned x)
{
    return x * 2654435761u;
}
static NOINLINE unsigned g2(unsigned x)
{
    return h(x) ^ 3;
}
static NOINLINE unsigned g1(unsigned x)
{
    return h(x) + 1;
}
static unsigned (*const table[])(unsigned) = {g1, g2};
static NOINLINE unsigned f5(unsigned x)
{
    return table[x & 1](x) + 5;
}
static NOINLINE unsigned f4(unsigned x)
{
    return f5(x + 1) ^ f5(x);
}
static NOINLINE unsigned f3(unsigned x)
{
    return f4(x) + 3;
}
static NOINLINE unsigned f2(unsigned x)
{
    return f3(x) + f5(x);
}
static NOINLINE unsigned f1(unsigned x)
{
    return f2(x) + g1(x);
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 6000000, sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += f1(i);
    printf("%u\n", sum);
    return 0;
}

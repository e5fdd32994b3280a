/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations below a stack of a given depth: allocate DEPTH PAIRS WORK. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept[64];
static uint64_t seed = 1, sum;

static uint32_t random_next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

__attribute__((noinline)) static void *leaf(size_t bytes)
{
    unsigned char *block = malloc(bytes);
    block[0] = (unsigned char)bytes;
    return block;
}
#define CHAIN(name, next)                                     \
    __attribute__((noinline)) static void *name(size_t bytes) \
    {                                                         \
        void *block = next(bytes);                            \
        sum += *(unsigned char *)block;                       \
        return block;                                         \
    }
CHAIN(a1, leaf)
CHAIN(a2, a1)
CHAIN(a3, a2)
CHAIN(b1, leaf)
CHAIN(b2, b1)
CHAIN(c1, a1)

static void work(unsigned rounds, unsigned own)
{
    static void *(*const chains[])(size_t) = {a1, a2, a3, b1, b2, c1};
    for (unsigned i = 0; i < rounds; i++) {
        for (unsigned j = 0; j < own; j++)
            sum += random_next() & 1;
        uint32_t at = random_next() % 64;
        free(kept[at]);
        kept[at] = chains[random_next() % 6](16 + random_next() % 240);
    }
}

__attribute__((noinline)) static void deeper(unsigned depth, unsigned rounds, unsigned own)
{
    if (depth > 0)
        deeper(depth - 1, rounds, own);
    else
        work(rounds, own);
    sum++;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    deeper((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
    printf("%u\n", (unsigned)sum);
    return 0;
}

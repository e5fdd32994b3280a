/* SPDX-License-Identifier: Apache-2.0 */
/* Goes many ways through few functions, so that its recording grows until there is no room, and
 * waits, allocates and works in all of them. Prints what it found, and ends with status 7. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OWN __attribute__((noinline))

static unsigned long state = 1, sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *kept[64];

static unsigned next(void)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(state >> 33);
}

OWN static void leaf(void)
{
    char *block = malloc(next() % 300);
    unsigned at = next() % 64;
    free(kept[at]);
    kept[at] = block;
    sum += at;
    if (next() % 256 == 0)
        usleep(10);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

/* Four functions of a level, each of which goes on with any of the level below. */
#define WAY(name, below)       \
    OWN static void name(void) \
    {                          \
        (below)[next() % 4](); \
        sum++;                 \
    }
#define LEVEL(n, below)   \
    WAY(one_##n, below)   \
    WAY(two_##n, below)   \
    WAY(three_##n, below) \
    WAY(four_##n, below)  \
    static void (*const level_##n[])(void) = {one_##n, two_##n, three_##n, four_##n};

static void (*const leaves[])(void) = {leaf, leaf, leaf, leaf};
LEVEL(1, leaves)
LEVEL(2, level_1)
LEVEL(3, level_2)
LEVEL(4, level_3)
LEVEL(5, level_4)
LEVEL(6, level_5)
LEVEL(7, level_6)

OWN static void early(void)
{
    for (int i = 0; i < 1000; i++)
        leaf();
}

static void *other(void *argument)
{
    early();
    return argument;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t thread;
    early();
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < rounds; i++)
        level_7[next() % 4]();
    printf("%lu\n", sum);
    return fflush(stdout) == 0 ? 7 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Grows until its standard input ends, as slowly as reading it goes: some MB a second. Threads
 * start and end, each with contexts of its own; children are forked, which do the same for a
 * moment. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH 4
#define THREADS 4
#define PAUSE_US 50

static volatile int ended;

static unsigned next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 40);
}

static void go(int depth, uint64_t *seed);

#define STEP(name)                                                        \
    __attribute__((noinline)) static void name(int depth, uint64_t *seed) \
    {                                                                     \
        if (next(seed) % 8 == 0)                                          \
            free(malloc(next(seed) % 100 + 1));                           \
        go(depth - 1, seed);                                              \
        __asm__ volatile("");                                             \
    }
STEP(f0)
STEP(f1)
STEP(f2)
STEP(f3)
STEP(f4)
STEP(f5)
STEP(f6)
STEP(f7)
STEP(f8)

__attribute__((noinline)) static void go(int depth, uint64_t *seed)
{
    static void (*const all[])(int, uint64_t *) = {f0, f1, f2, f3, f4, f5, f6, f7, f8};
    if (depth > 0)
        all[next(seed) % 9](depth, seed);
}

static void *body(void *number)
{
    uint64_t seed = (uintptr_t)number;
    int rounds = 20 + (int)(next(&seed) % 200);
    for (int i = 0; i < rounds && !ended; i++) {
        go(1 + (int)(next(&seed) % DEPTH), &seed);
        usleep(PAUSE_US);
    }
    return NULL;
}

static void fork_one(uint64_t number)
{
    pid_t child = fork();
    if (child == 0) {
        body((void *)(uintptr_t)number);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

int main(void)
{
    for (uint64_t round = 1; !ended; round++) {
        pthread_t all[THREADS];
        for (uint64_t i = 0; i < THREADS; i++)
            if (pthread_create(&all[i], NULL, body, (void *)(uintptr_t)(round * THREADS + i)) != 0)
                return 1;
        struct pollfd input = {.fd = 0, .events = POLLIN};
        if (round % 16 == 0)
            fork_one(round);
        for (int i = 0; i < THREADS; i++)
            pthread_join(all[i], NULL);
        ended = poll(&input, 1, 0) > 0;
    }
    return 0;
}

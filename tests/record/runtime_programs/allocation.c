/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the whole malloc family and says what each function got and gave back: name, blocks got,
 * bytes asked for, bytes usable, blocks given back, their bytes as asked for and usable. Of the most at
 * one moment: bytes as asked for, usable. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fathom/fathom.h"

#define OWN __attribute__((noinline))

struct sum {
    const char *name;
    size_t blocks, bytes, usable, freed_blocks, freed, freed_usable;
};
static size_t live, peak, live_usable, peak_usable; /* of the main thread */
static volatile unsigned sink;

/* What was asked for, by block; none of those that are not seen. One thread at a time. */
static struct {
    void *block;
    size_t bytes;
} asked[1 << 16];

static OWN size_t *asked_for(void *block)
{
    size_t at = (uintptr_t)block / 16 % (sizeof asked / sizeof asked[0]);
    while (asked[at].block != block && asked[at].block != NULL)
        at = (at + 1) % (sizeof asked / sizeof asked[0]);
    asked[at].block = block;
    return &asked[at].bytes;
}

static OWN void got(struct sum *sum, void *block, size_t bytes)
{
    sum->blocks++;
    sum->bytes += bytes;
    sum->usable += malloc_usable_size(block);
    *asked_for(block) = bytes;
    live += bytes;
    live_usable += malloc_usable_size(block);
    peak = live > peak ? live : peak;
    peak_usable = live_usable > peak_usable ? live_usable : peak_usable;
    memset(block, 1, bytes);
}

static OWN void gives(struct sum *sum, void *block)
{
    sum->freed_blocks++;
    size_t *bytes = asked_for(block);
    sum->freed += *bytes;
    live -= *bytes;
    *bytes = 0;
    sum->freed_usable += malloc_usable_size(block);
    live_usable -= malloc_usable_size(block);
}

static OWN void tell(const struct sum *sum)
{
    printf("%s %zu %zu %zu %zu %zu %zu\n", sum->name, sum->blocks, sum->bytes, sum->usable,
           sum->freed_blocks, sum->freed, sum->freed_usable);
}

#define MANY 3000u
static void *many[MANY];

static OWN void small(void)
{
    struct sum sum = {"small"};
    for (unsigned i = 0; i < MANY; i++)
        got(&sum, many[i] = malloc(i % 700), i % 700);
    tell(&sum);
}

static OWN void drops(void)
{
    struct sum sum = {"drops"};
    for (unsigned i = 0; i < MANY; i++) {
        void *block = many[i * 7 % MANY];
        gives(&sum, block);
        free(block);
    }
    tell(&sum);
}

/* Larger than what lies among the small ones: mappings of their own. */
static OWN void large(void)
{
    struct sum sum = {"large"};
    void *block = malloc(1 << 20);
    got(&sum, block, 1 << 20);
    const size_t sizes[] = {3 << 20, 5000, 400000, 30};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        gives(&sum, block);
        got(&sum, block = realloc(block, sizes[i]), sizes[i]);
    }
    gives(&sum, block);
    block = realloc(block, 0);
    sink += block != NULL;
    void *blocks[5];
    for (unsigned i = 0; i < 5; i++)
        got(&sum, blocks[i] = malloc(300000 + i), 300000 + i);
    for (unsigned i = 0; i < 5; i++) {
        gives(&sum, blocks[i]);
        free(blocks[i]);
    }
    tell(&sum);
}

static OWN void odd(void)
{
    struct sum sum = {"odd"};
    void *blocks[10];
    volatile size_t too_many = SIZE_MAX / 2 + 1;
    got(&sum, blocks[0] = calloc(7, 11), 77);
    got(&sum, blocks[1] = calloc(0, 5), 0);
    got(&sum, blocks[2] = memalign(256, 1000), 1000);
    got(&sum, blocks[3] = aligned_alloc(64, 640), 640);
    sink += (unsigned)posix_memalign(&blocks[4], 4096, 10);
    got(&sum, blocks[4], 10);
    got(&sum, blocks[5] = valloc(1), 1);
    got(&sum, blocks[6] = pvalloc(1), 1);
    got(&sum, blocks[7] = reallocarray(NULL, 9, 9), 81);
    gives(&sum, blocks[7]);
    got(&sum, blocks[7] = reallocarray(blocks[7], 20, 30), 600);
    got(&sum, blocks[8] = realloc(NULL, 17), 17);
    got(&sum, blocks[9] = malloc(0), 0);
    void *none = NULL;
    if (malloc(too_many) != NULL || calloc(too_many, 2) != NULL ||
        reallocarray(blocks[7], too_many, 3) != NULL || realloc(blocks[7], too_many) != NULL ||
        posix_memalign(&none, 3, 10) != EINVAL || none != NULL)
        abort();
    free(NULL);
    for (unsigned i = 0; i < 10; i++) {
        gives(&sum, blocks[i]);
        free(blocks[i]);
    }
    tell(&sum);
}

/* Recording is stopped while this runs. */
static OWN void *unseen(void)
{
    free(malloc(123));
    return malloc(50);
}

static OWN void loud(void *block)
{
    struct sum sum = {"loud"};
    gives(&sum, block);
    free(block);
    for (unsigned i = 0; i < 20000; i++) {
        got(&sum, block = malloc(i % 90), i % 90);
        gives(&sum, block);
        free(block);
    }
    tell(&sum);
}

static pthread_barrier_t turn;

static OWN void *works(void *unused)
{
    struct sum sum = {"works"};
    void *block = malloc(10);
    got(&sum, block, 10);
    got(&sum, block = malloc(20), 20);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn); /* the other stops the recording */
    block = unseen();
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn); /* and starts it */
    loud(block);
    tell(&sum);
    return unused;
}

static OWN void in_child(void)
{
    struct sum sum = {"in_child"};
    for (unsigned i = 0; i < 1000; i++) {
        void *block = malloc(i);
        got(&sum, block, i);
        if (i % 3 == 0) {
            gives(&sum, block);
            free(block);
        }
    }
    tell(&sum);
}

int main(void)
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    small();
    large();
    odd();
    drops();
    printf("peak %zu %zu\n", peak, peak_usable);
    pthread_t thread;
    pthread_barrier_init(&turn, NULL, 2);
    if (pthread_create(&thread, NULL, works, NULL) != 0)
        return 1;
    pthread_barrier_wait(&turn);
    fathom_stop();
    free(unseen());
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
    fathom_start();
    pthread_barrier_wait(&turn);
    pthread_join(thread, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        in_child();
        fflush(stdout);
        exit(0);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

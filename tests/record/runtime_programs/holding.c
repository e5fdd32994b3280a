/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and gives back at random, and keeps a table of its own by caller and callee: what is held at
 * the end, and was when most was held. holding SEED THREADS STEPS MODE; mode: end, fork, run (until
 * killed). Lines: "held CALLER CALLEE bytes blocks", "peak CALLER CALLEE bytes", "most BYTES". */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN __attribute__((noinline))
#define SITES 8u
#define SLOTS 4096u

static struct slot {
    pthread_mutex_t lock;
    char *block;
    size_t bytes;
    unsigned place; /* caller * SITES + callee */
} slots[SLOTS];
static size_t held[2 * SITES], blocks[2 * SITES], at_peak[2 * SITES]; /* by place */
static size_t live, most;
static unsigned thread_count;
static volatile unsigned sink;

static OWN unsigned next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*seed >> 33);
}

static OWN void added(unsigned place, size_t bytes)
{
    __atomic_add_fetch(&held[place], bytes, __ATOMIC_RELAXED);
    __atomic_add_fetch(&blocks[place], 1, __ATOMIC_RELAXED);
    size_t now = __atomic_add_fetch(&live, bytes, __ATOMIC_RELAXED);
    size_t before = __atomic_load_n(&most, __ATOMIC_RELAXED);
    while (now > before && !__atomic_compare_exchange_n(&most, &before, now, 1, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        ;
    if (thread_count == 1 && now > before)
        memcpy(at_peak, held, sizeof held);
}

static OWN void taken(unsigned place, size_t bytes)
{
    __atomic_sub_fetch(&held[place], bytes, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&blocks[place], 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&live, bytes, __ATOMIC_RELAXED);
}

/* One function a site, so that each has contexts of its own. */
#define SITE(number, allocate)                     \
    static OWN char *site_##number(size_t bytes)   \
    {                                              \
        char *block = (allocate);                  \
        if (block == NULL)                         \
            abort();                               \
        block[0] = 1;                              \
        return block;                              \
    }
SITE(0, malloc(bytes))
SITE(1, calloc(1, bytes))
SITE(2, malloc(bytes))
SITE(3, memalign(64, bytes))
SITE(4, malloc(bytes))
SITE(5, aligned_alloc(32, bytes))
SITE(6, realloc(NULL, bytes))
SITE(7, valloc(bytes))
static char *(*const sites[SITES])(size_t) = {site_0, site_1, site_2, site_3,
                                              site_4, site_5, site_6, site_7};

static OWN char *even(unsigned site, size_t bytes)
{
    char *block = sites[site](bytes);
    sink++;
    return block;
}

static OWN char *odd(unsigned site, size_t bytes)
{
    char *block = sites[site](bytes);
    sink--;
    return block;
}

static OWN void drop(struct slot *slot)
{
    taken(slot->place, slot->bytes);
    free(slot->block);
    slot->block = NULL;
}

/* The block is of this function from now on; its caller is work. */
static OWN void resize(struct slot *slot, size_t bytes)
{
    taken(slot->place, slot->bytes);
    slot->block = realloc(slot->block, bytes);
    if (slot->block == NULL)
        abort();
    slot->bytes = bytes;
    slot->place = 2 * SITES;
}

static size_t resized, resized_blocks;

static OWN void give_back(struct slot *slot)
{
    if (slot->place == 2 * SITES) { /* resized */
        __atomic_sub_fetch(&resized, slot->bytes, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&resized_blocks, 1, __ATOMIC_RELAXED);
        __atomic_sub_fetch(&live, slot->bytes, __ATOMIC_RELAXED);
        free(slot->block);
        slot->block = NULL;
    } else {
        drop(slot);
    }
}

static OWN void step(uint64_t *seed)
{
    struct slot *slot = &slots[next(seed) % SLOTS];
    unsigned what = next(seed), size = next(seed) % 100;
    size_t bytes = 1 + next(seed) % (size < 90 ? 300u : size < 99 ? 5000u : 300000u);
    pthread_mutex_lock(&slot->lock);
    if (slot->block == NULL) {
        unsigned site = what % SITES, caller = what / SITES % 2;
        slot->block = caller == 0 ? even(site, bytes) : odd(site, bytes);
        slot->bytes = bytes;
        slot->place = caller * SITES + site;
        added(slot->place, bytes);
    } else if (what % 8 == 0 && slot->place != 2 * SITES && thread_count > 1) {
        resize(slot, bytes);
        __atomic_add_fetch(&resized, bytes, __ATOMIC_RELAXED);
        __atomic_add_fetch(&resized_blocks, 1, __ATOMIC_RELAXED);
        size_t now = __atomic_add_fetch(&live, bytes, __ATOMIC_RELAXED), before = most;
        while (now > before && !__atomic_compare_exchange_n(&most, &before, now, 1,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
    } else if (what % 3 != 0) {
        give_back(slot);
    }
    pthread_mutex_unlock(&slot->lock);
}

static uint64_t seeds[64];
static unsigned long steps;

static OWN void *work(void *seed)
{
    for (unsigned long i = 0; i < steps; i++)
        step(seed);
    return NULL;
}

static OWN void tell(void)
{
    static char buffer[1 << 16];
    int used = snprintf(buffer, sizeof buffer, "most %zu\nheld step resize %zu %zu\n", most, resized,
                        resized_blocks);
    for (unsigned i = 0; i < 2 * SITES; i++)
        used += snprintf(buffer + used, sizeof buffer - (size_t)used,
                         "held %s site_%u %zu %zu\npeak %s site_%u %zu\n", i < SITES ? "even" : "odd",
                         i % SITES, held[i], blocks[i], i < SITES ? "even" : "odd", i % SITES,
                         at_peak[i]);
    if (write(1, buffer, (size_t)used) != used)
        abort();
}

/* What the parent allocated is not of this process. */
static OWN void forget(void)
{
    memset(held, 0, sizeof held);
    memset(blocks, 0, sizeof blocks);
    memset(at_peak, 0, sizeof at_peak);
    live = most = resized = resized_blocks = 0;
    for (unsigned i = 0; i < SLOTS; i += 2) /* half of it is given back */
        if (slots[i].block != NULL) {
            free(slots[i].block);
            slots[i].block = NULL;
        }
    for (unsigned i = 1; i < SLOTS; i += 2)
        slots[i].block = NULL;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    thread_count = (unsigned)atoi(argv[2]);
    steps = strtoul(argv[3], NULL, 10);
    pthread_t threads[64];
    for (unsigned i = 0; i < SLOTS; i++)
        pthread_mutex_init(&slots[i].lock, NULL);
    for (unsigned i = 0; i < thread_count && i < 64; i++)
        seeds[i] = (uint64_t)atoi(argv[1]) + 77 * i;
    if (strcmp(argv[4], "run") == 0)
        steps = UINT64_MAX;
    for (unsigned i = 1; i < thread_count && i < 64; i++)
        if (pthread_create(&threads[i], NULL, work, &seeds[i]) != 0)
            return 1;
    work(&seeds[0]);
    for (unsigned i = 1; i < thread_count && i < 64; i++)
        pthread_join(threads[i], NULL);
    tell();
    if (strcmp(argv[4], "fork") != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        thread_count = 1;
        forget();
        work(&seeds[0]);
        tell();
        _exit(0);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

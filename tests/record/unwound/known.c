/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates and waits a known number of times by known paths; prints nothing. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef FAR /* the linker puts it behind a gap */
#define NOINLINE __attribute__((noinline, section(".far")))
#else
#define NOINLINE __attribute__((noinline))
#endif
#define AFTER __asm__ volatile("" ::: "memory")

#ifdef ADDRESS /* in code for a fixed address, it is that of the program's own entry in its PLT */
static void (*volatile release)(void *);
#define free (release = free, release)
#endif

NOINLINE static void one(int n, size_t bytes)
{
    for (int i = 0; i < n; i++)
        free(malloc(bytes));
    AFTER;
}
NOINLINE static void by_one(int n)
{
    one(n, 24);
    AFTER;
}
NOINLINE static void by_other(int n)
{
    one(n, 100);
    AFTER;
}

NOINLINE static void zeroed(int n)
{
    for (int i = 0; i < n; i++)
        free(calloc(10, 7));
    AFTER;
}

NOINLINE static void grown(int n) /* 16, 32, ... 16 n bytes */
{
    char *block = malloc(16);
    for (int i = 2; i <= n; i++)
        block = realloc(block, 16 * (size_t)i);
    free(block);
    AFTER;
}

NOINLINE static void aligned(int n)
{
    for (int i = 0; i < n; i++) {
        void *block = NULL;
        if (posix_memalign(&block, 64, 200) == 0)
            free(block);
        free(aligned_alloc(32, 320));
    }
    AFTER;
}

NOINLINE static void recursive(int depth, int n)
{
    if (depth > 0)
        recursive(depth - 1, n);
    else
        one(n, 8);
    AFTER;
}

static void *kept[10];
NOINLINE static void leaky(int n)
{
    for (int i = 0; i < n; i++)
        kept[i] = malloc(1000);
    AFTER;
}

static void *handed[1000];
NOINLINE static void hand_over(int n)
{
    for (int i = 0; i < n; i++)
        handed[i] = malloc(48);
    AFTER;
}
static void *take(void *argument) /* frees what another thread allocated */
{
    for (int i = 0; i < 1000; i++)
        free(handed[i]);
    one(500, 60);
    return argument;
}

NOINLINE static void at_once(int n) /* the peak */
{
    char **blocks = malloc((size_t)n * sizeof *blocks);
    for (int i = 0; i < n; i++)
        blocks[i] = malloc(10000);
    for (int i = 0; i < n; i++)
        free(blocks[i]);
    free(blocks);
    AFTER;
}

NOINLINE static void pause_short(int n)
{
    for (int i = 0; i < n; i++)
        usleep(20000);
    AFTER;
}
NOINLINE static void pause_long(int n)
{
    for (int i = 0; i < n; i++)
        usleep(30000);
    AFTER;
}
NOINLINE static void reads(void) /* one wait, for the writer */
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        exit(1);
    if (fork() == 0) {
        usleep(50000);
        _exit(write(ends[1], "x", 1) != 1);
    }
    if (read(ends[0], &byte, 1) != 1)
        exit(1);
    close(ends[0]);
    close(ends[1]);
    AFTER;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int held;
static void *holder(void *argument)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
    usleep(60000);
    pthread_mutex_unlock(&lock);
    return argument;
}
NOINLINE static void contended(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, holder, NULL);
    while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST))
        ;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    AFTER;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "waits") == 0) {
        pause_short(20);
        pause_long(10);
        reads();
        contended();
        return 4;
    }
    by_one(100000);
    by_other(50000);
    zeroed(30000);
    grown(1000);
    aligned(2000);
    recursive(20, 7000);
    recursive(5000, 3);
    leaky(10);
    at_once(100); /* with one thread the peak is exact */
    hand_over(1000);
    pthread_t thread;
    pthread_create(&thread, NULL, take, NULL);
    pthread_join(thread, NULL);
    return 4;
}

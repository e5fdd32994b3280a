/* SPDX-License-Identifier: Apache-2.0 */
/* The two faults that CPU time does not show, by steps: "l MS" holds a lock for so many
 * milliseconds while another thread waits for it, "m N" remembers N blocks of 4096 bytes, "d N"
 * drops N of them, "t" lets three threads remember one each, "f" goes on in a child. Says when
 * it has done so. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCKS_MAX 10000

pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static void *blocks[BLOCKS_MAX];
static int block_count;
static volatile int waits;

static void pass(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

__attribute__((noinline)) static void transfer(void)
{
    waits = 1;
    pthread_mutex_lock(&account_lock);
    pthread_mutex_unlock(&account_lock);
}

static void *worker(void *none)
{
    transfer();
    return none;
}

__attribute__((noinline)) static int contend(long ms)
{
    pthread_t thread;
    waits = 0;
    pthread_mutex_lock(&account_lock);
    if (pthread_create(&thread, NULL, worker, NULL) != 0)
        return 1;
    while (!waits)
        pass(1);
    pass(ms);
    pthread_mutex_unlock(&account_lock);
    return pthread_join(thread, NULL);
}

__attribute__((noinline)) static void *cons(size_t size)
{
    char *block = malloc(size);
    if (block != NULL)
        memset(block, 1, size);
    return block;
}

__attribute__((noinline)) static void remember(int n)
{
    while (n-- > 0 && block_count < BLOCKS_MAX)
        blocks[block_count++] = cons(4096);
}

__attribute__((noinline)) static void drop(int n)
{
    while (n-- > 0 && block_count > 0)
        free(blocks[--block_count]);
}

static void *keep(void *none)
{
    if (block_count < BLOCKS_MAX)
        blocks[block_count++] = cons(5000);
    return none;
}

/* One after the other. */
static int threads(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        if (pthread_create(&thread, NULL, keep, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    return 0;
}

static int step(const char *order)
{
    int n = atoi(order + 1);
    switch (order[0]) {
    case 'l':
        return contend(n);
    case 'm':
        remember(n);
        return 0;
    case 'd':
        drop(n);
        return 0;
    case 't':
        return threads();
    case 'f':
        if (fork() > 0)
            wait(NULL);
        return 0;
    default:
        return 1;
    }
}

int main(void)
{
    char order[64];
    ssize_t got;
    while ((got = read(0, order, sizeof order - 1)) > 0) {
        order[got] = '\0';
        if (step(order) != 0 || write(1, "k", 1) != 1)
            return 1;
    }
    return 0;
}

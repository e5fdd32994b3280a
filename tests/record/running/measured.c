/* SPDX-License-Identifier: Apache-2.0 */
/* Works for ever in steps that call, hold and give back memory, wait, and are timed one by one;
 * counts the steps in a file that it shares with whoever looks. Arguments: the file, threads. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PART __attribute__((noinline))

static _Atomic uint64_t *steps; /* one a thread */
static void *volatile kept;

PART static int leaf(int n)
{
    __asm__ volatile("");
    return n & 1;
}

PART static void hold(void)
{
    kept = malloc(48);
}

PART static void give_back(void)
{
    void *volatile block = malloc(80);
    free(block);
}

PART static void nap(void)
{
    struct timespec moment = {.tv_nsec = 1000};
    nanosleep(&moment, NULL);
    __asm__ volatile("");
}

PART static void step(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += leaf(n + i);
    hold();
    give_back();
    nap();
}

static void *work(void *argument)
{
    long index = (long)argument;
    for (int n = 0;; n++) {
        step(n);
        steps[index]++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        return 2;
    steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (long i = 1; i < atol(argv[2]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)i) != 0)
            return 2;
    }
    work((void *)0);
    return 0;
}

/* A thread that waits for a lock of the runtime is asleep until it is given back; also one of real
 * time, on whose processor the holder has work to do. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "../asleep.h"
#include "internal.h"

static fm_lock lock;
static volatile int tid, done;

static void *waiter(void *unused)
{
    tid = gettid();
    fm_lock_take(&lock);
    done = 1;
    fm_lock_give(&lock);
    return unused;
}

enum { ROUNDS = 20, HELD_MS = 20, SKIPPED = 77 };
static volatile int held, wanted;
static uint64_t waited_ns; /* CPU time */

/* It comes when the lock is held, before the holder's work is done. */
static void *urgent(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (!held)
            usleep(100);
        uint64_t before = fm_now_ns(CLOCK_THREAD_CPUTIME_ID);
        wanted = i + 1;
        fm_lock_take(&lock);
        waited_ns += fm_now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
        done = i + 1;
        held = 0;
        fm_lock_give(&lock);
    }
    return unused;
}

static void work(int ms)
{
    uint64_t until = fm_now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ms * 1000000;
    while (fm_now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        ;
}

/* 0: each round the lock was waited for, at next to no CPU time. */
static int realtime(void)
{
    cpu_set_t allowed, one;
    pthread_attr_t attributes;
    pthread_t thread;
    struct sched_param priority = {.sched_priority = 10};
    sched_getaffinity(0, sizeof allowed, &allowed);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &priority);
    if (pthread_create(&thread, &attributes, urgent, NULL) != 0)
        return SKIPPED;
    for (int i = 0; i < ROUNDS; i++) {
        fm_lock_take(&lock);
        held = 1;
        while (wanted <= i)
            work(1);
        work(HELD_MS);
        if (done != i)
            return 5;
        fm_lock_give(&lock);
        while (done <= i)
            usleep(100);
    }
    pthread_join(thread, NULL);
    printf("%llu", (unsigned long long)waited_ns);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "realtime") == 0)
        return realtime();
    pthread_t thread;
    fm_lock_take(&lock);
    if (pthread_create(&thread, NULL, waiter, NULL) != 0)
        return 1;
    unsigned asleep = 0;
    for (unsigned tries = 0; tries < 12000 && asleep < 20; tries++) {
        usleep(10000);
        asleep = tid != 0 && asleep_on(tid, &lock, sizeof lock) ? asleep + 1 : 0;
    }
    if (done)
        return 2;
    fm_lock_give(&lock);
    pthread_join(thread, NULL);
    return !done ? 3 : asleep < 20 ? 4 : 0;
}

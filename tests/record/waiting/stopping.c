/* SPDX-License-Identifier: Apache-2.0 */
/* main waits in joins() for a thread that does what it is told on standard input: "d" dozes, "s"
 * stops the recording and "g" goes on with it, "k" ends the program by SIGKILL, "q" ends the
 * thread. After each, and when main sleeps, it says when it began and ended: nanoseconds of
 * CLOCK_MONOTONIC. */
#include <fathom/fathom.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../asleep.h"

#define OWN __attribute__((noinline))
static int about_to_join;

static OWN long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static OWN void doze(void)
{
    struct timespec time = {0, 100000000};
    while (nanosleep(&time, &time) != 0)
        ;
}

static void *told(void *unused)
{
    long long before = now();
    while (!__atomic_load_n(&about_to_join, __ATOMIC_SEQ_CST))
        asleep_pause();
    until_asleep_in(getpid(), SYS_futex);
    for (char order = 'd'; order != 'q';) {
        printf("%lld %lld\n", before, now());
        fflush(stdout);
        if (read(0, &order, 1) != 1)
            exit(1);
        before = now();
        if (order == 'd')
            doze();
        else if (order == 's')
            fathom_stop();
        else if (order == 'g')
            fathom_start();
        else if (order == 'k')
            kill(getpid(), SIGKILL);
    }
    return unused;
}

static OWN void joins(pthread_t thread)
{
    __atomic_store_n(&about_to_join, 1, __ATOMIC_SEQ_CST);
    if (pthread_join(thread, NULL) != 0)
        exit(1);
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, told, NULL) != 0)
        return 1;
    joins(thread);
    return 0;
}

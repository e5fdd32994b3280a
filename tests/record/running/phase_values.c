/* SPDX-License-Identifier: Apache-2.0 */
/* Does what it is told on standard input, and says when it has: "l N" has a thread wait N times for
 * a lock that hold() has, "s N" uses N ms of CPU time in spin(), "o N" in other(), "r N" in rest(),
 * "z N" naps N times, "c N" goes N times through one arm of choose(), "d N" through the other. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../asleep.h"

#define OWN __attribute__((noinline))

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static int about;

OWN void want(void)
{
    __atomic_store_n(&about, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&gate); /* all that it can sleep in from here on */
    pthread_mutex_unlock(&gate);
}

static void *body(void *unused)
{
    want();
    return unused;
}

OWN void hold(void)
{
    pthread_t thread;
    pthread_mutex_lock(&gate);
    about = 0;
    if (pthread_create(&thread, NULL, body, NULL) != 0)
        abort();
    until_asleep_on(&about, &gate, sizeof gate);
    pthread_mutex_unlock(&gate);
    pthread_join(thread, NULL);
}

/* Its time is that of the function where it stands. */
#define USE(ms)                                                                            \
    do {                                                                                   \
        struct timespec now, begun;                                                        \
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);                                    \
        do {                                                                               \
            for (volatile int i = 0; i < 50000; i++)                                       \
                ;                                                                          \
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);                                  \
        } while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < \
                 (ms)*1000000L);                                                           \
    } while (0)

OWN void spin(int n)
{
    USE(n);
}

OWN void other(int n)
{
    USE(n);
}

OWN void rest(int n)
{
    USE(n);
}

OWN void nap(void)
{
    usleep(1000);
}

OWN int choose(int n)
{
    int sum = 0;
    if (n % 2 == 0) {
        sum += n;
    } else {
        sum -= n;
    }
    return sum;
}

int main(void)
{
    char order[64];
    ssize_t got;
    while ((got = read(0, order, sizeof order - 1)) > 0) {
        order[got] = '\0';
        int n = atoi(order + 1);
        if (order[0] == 's')
            spin(n);
        else if (order[0] == 'o')
            other(n);
        else if (order[0] == 'r')
            rest(n);
        else
            for (int i = 0; i < n; i++)
                if (order[0] == 'l')
                    hold();
                else if (order[0] == 'z')
                    nap();
                else
                    choose(order[0] == 'd');
        if (write(1, "k", 1) != 1)
            return 1;
    }
    return 0;
}

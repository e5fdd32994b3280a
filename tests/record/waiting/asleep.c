/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps by inline system calls, which nobody sees, three times as long in one function as in
 * another, beside a sleep that is seen and work. Prints how long each function was at it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline))
#define MS 1000000L

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define SLEEP_BY_HAND(ms)                                       \
    do {                                                        \
        struct timespec time = {(ms) / 1000, (ms) % 1000 * MS}; \
        long result = SYS_nanosleep;                            \
        __asm__ volatile("syscall"                              \
                         : "+a"(result)                         \
                         : "D"(&time), "S"(&time)               \
                         : "rcx", "r11", "memory");             \
    } while (0)

static double longer_ns, shorter_ns, seen_ns, worker_ns;

OWN static void longer(void)
{
    double begun = now();
    SLEEP_BY_HAND(90);
    longer_ns += now() - begun;
}

OWN static void shorter(void)
{
    double begun = now();
    SLEEP_BY_HAND(30);
    shorter_ns += now() - begun;
}

OWN static void seen(void)
{
    double begun = now();
    usleep(40000);
    seen_ns += now() - begun;
}

OWN static void work(void)
{
    for (double end = now() + 20e6; now() < end;)
        ;
}

OWN static void worker_sleeps(void)
{
    double begun = now();
    SLEEP_BY_HAND(500);
    worker_ns += now() - begun;
}

static void *worker(void *argument)
{
    worker_sleeps();
    return argument;
}

/* Many short waits that are seen, one after the other: a look may come between any two steps. */
OWN static void short_waits(void)
{
    struct timespec moment = {0, 1000};
    for (double end = now() + 5e8; now() < end;)
        nanosleep(&moment, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "killed") == 0) {
        for (int round = 0; round < 25; round++) /* whoever looks may come late */
            longer();
        raise(SIGKILL);
    }
    if (argc > 1) {
        short_waits();
        return 0;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    for (int round = 0; round < 16; round++) {
        longer();
        shorter();
        seen();
        work();
    }
    pthread_join(thread, NULL);
    printf("%.0f %.0f %.0f %.0f\n", longer_ns, shorter_ns, seen_ns, worker_ns);
    return 0;
}

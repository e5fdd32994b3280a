/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps by inline system calls, which nobody sees, three times as long in one function as in
 * another, beside a sleep that is seen and work. Prints how long each function was at it, and how
 * often the recording says that somebody looked meanwhile (docs/format-recording.md). */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

#define SLEEPS_AT 320 /* in the header */

static int recording = -1;

static uint64_t looks(void)
{
    uint32_t sleeps = 0;
    uint64_t count = 0;
    if (pread(recording, &sleeps, sizeof sleeps, SLEEPS_AT) != sizeof sleeps ||
        pread(recording, &count, sizeof count, sleeps * 8L) != sizeof count)
        abort();
    return count;
}

struct asleep {
    double ns;
    uint64_t looks;
};

static struct asleep in_longer, in_shorter, in_worker;

#define MEASURE(in, sleep)              \
    do {                                \
        double begun_ = now();          \
        uint64_t looks_ = looks();      \
        sleep;                          \
        (in).looks += looks() - looks_; \
        (in).ns += now() - begun_;      \
    } while (0)

OWN static void longer(void)
{
    MEASURE(in_longer, SLEEP_BY_HAND(90));
}

OWN static void shorter(void)
{
    MEASURE(in_shorter, SLEEP_BY_HAND(30));
}

OWN static void seen(void)
{
    usleep(40000);
}

OWN static void work(void)
{
    for (double end = now() + 20e6; now() < end;)
        ;
}

OWN static void worker_sleeps(void)
{
    MEASURE(in_worker, SLEEP_BY_HAND(500));
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

static void print(const struct asleep *in)
{
    printf("%.0f %llu\n", in->ns, (unsigned long long)in->looks);
}

/* Argument: "short"; "killed": sleeps until then. */
int main(int argc, char **argv)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.rec", getenv("FATHOM_OUTPUT"));
    recording = open(path, O_RDONLY | O_CLOEXEC);
    if (argc > 1 && strcmp(argv[1], "killed") == 0) {
        for (int round = 0; round < 10000; round++)
            longer();
        return 1;
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
    print(&in_longer);
    print(&in_shorter);
    print(&in_worker);
    printf("%llu\n", (unsigned long long)looks());
    return 0;
}

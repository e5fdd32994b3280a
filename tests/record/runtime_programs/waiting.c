/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of known number, each in a function of its own. Prints how long they lasted at least and at
 * most, as it measured itself: name, nanoseconds inside of the waits, nanoseconds around them. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../asleep.h"

#define OWN __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_here;
static int waiter;

static struct bounds {
    double inside, outside;
} held_long, held_briefly, napped, nap_of_handler, interrupted_call, read_of_child;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Holds the lock while the other thread sleeps in it. */
#define HOLD(us, bounds)                                \
    do {                                                \
        pthread_mutex_lock(&lock);                      \
        pthread_barrier_wait(&both_here);               \
        until_asleep_on(&waiter, &lock, sizeof lock);   \
        double begin = now();                           \
        usleep(us);                                     \
        (bounds).inside += now() - begin;               \
        pthread_mutex_unlock(&lock);                    \
        pthread_barrier_wait(&both_here);               \
    } while (0)

static OWN void hold_long(void)
{
    HOLD(18000, held_long);
}

static OWN void hold_briefly(void)
{
    HOLD(2000, held_briefly);
}

static OWN void want(struct bounds *bounds)
{
    double begin = now();
    pthread_mutex_lock(&lock);
    bounds->outside += now() - begin;
    pthread_mutex_unlock(&lock);
}

static void *other(void *argument)
{
    __atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    for (int i = 0; i < 20; i++) {
        pthread_barrier_wait(&both_here);
        want(i % 2 == 0 ? &held_long : &held_briefly);
        pthread_barrier_wait(&both_here);
    }
    return argument;
}

static OWN void uncontended(void)
{
    pthread_mutex_t mine = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mine);
        pthread_mutex_unlock(&mine);
    }
}

#define SLEEP(ns, bounds)                          \
    do {                                           \
        struct timespec brief = {.tv_nsec = (ns)}; \
        double begin = now();                      \
        nanosleep(&brief, NULL);                   \
        (bounds).outside += now() - begin;         \
        (bounds).inside += (ns);                   \
    } while (0)

static OWN void nap(void)
{
    for (int i = 0; i < 5; i++)
        SLEEP(3000000, napped);
}

static OWN void child(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        until_asleep_in(parent, SYS_read);
        double begin = now();
        nap();
        double inside = now() - begin;
        _exit(write(ends[1], &inside, sizeof inside) == sizeof inside ? 0 : 1);
    }
    double begin = now();
    if (read(ends[0], &read_of_child.inside, sizeof(double)) != sizeof(double))
        exit(1);
    read_of_child.outside = now() - begin;
    if (waitpid(pid, NULL, 0) != pid)
        exit(1);
}

static OWN void in_handler(void)
{
    SLEEP(20000000, nap_of_handler);
}

static void handler(int signal)
{
    (void)signal;
    double begin = now();
    in_handler();
    interrupted_call.outside -= now() - begin;
}

/* A wait with a wait of a handler in it: the one does not have the other's time. */
static OWN void interrupted(void)
{
    struct sigaction action = {.sa_handler = handler};
    struct timespec timeout = {.tv_nsec = 5000000};
    sigset_t one, none;
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGUSR1);
    double begin = now();
    if (ppoll(NULL, 0, &timeout, &none) != -1 || errno != EINTR)
        exit(1);
    interrupted_call.outside += now() - begin;
}

static OWN void forever(void)
{
    static sem_t never;
    sem_init(&never, 0, 0);
    sem_wait(&never);
}

static void print(const char *name, struct bounds bounds)
{
    printf("%s %.0f %.0f\n", name, bounds.inside, bounds.outside);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    if (argc > 1) {
        printf("%.0f\n", now());
        fflush(stdout);
        forever();
    }
    pthread_barrier_init(&both_here, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    for (int i = 0; i < 10; i++) {
        hold_long();
        hold_briefly();
    }
    pthread_join(thread, NULL);
    uncontended();
    nap();
    child();
    interrupted();
    print("hold_long", held_long);
    print("hold_briefly", held_briefly);
    print("nap", napped);
    print("child", read_of_child);
    print("in_handler", nap_of_handler);
    print("interrupted", interrupted_call);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of known number and length, each in a function of its own; prints what it measured itself.
 */
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

#define OWN __attribute__((noinline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_here;
static long contended, free_locks;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Holds the lock until the other thread must have found it held. */
static OWN void hold_long(void)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&both_here);
    usleep(18000);
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&both_here);
}

static OWN void hold_briefly(void)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&both_here);
    usleep(2000);
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&both_here);
}

static double waited;

static OWN void want(void)
{
    if (pthread_mutex_trylock(&lock) == 0) {
        free_locks++;
        pthread_mutex_unlock(&lock);
        return;
    }
    contended++;
    double begin = now();
    pthread_mutex_lock(&lock);
    waited += now() - begin;
    pthread_mutex_unlock(&lock);
}

static void *other(void *argument)
{
    for (int i = 0; i < 20; i++) {
        pthread_barrier_wait(&both_here);
        want();
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

static OWN void nap(void)
{
    struct timespec brief = {.tv_nsec = 3000000};
    for (int i = 0; i < 5; i++)
        nanosleep(&brief, NULL);
}

static OWN void child(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        nap();
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    char byte;
    if (read(ends[0], &byte, 1) != 1 || waitpid(pid, NULL, 0) != pid)
        exit(1);
}

static OWN void in_handler(void)
{
    struct timespec brief = {.tv_nsec = 20000000};
    nanosleep(&brief, NULL);
}

static void handler(int signal)
{
    (void)signal;
    in_handler();
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
    if (ppoll(NULL, 0, &timeout, &none) != -1 || errno != EINTR)
        exit(1);
}

static OWN void forever(void)
{
    static sem_t never;
    sem_init(&never, 0, 0);
    fflush(stdout);
    sem_wait(&never);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    if (argc > 1) {
        puts("waiting");
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
    printf("%ld %ld %.0f\n", contended, free_locks, waited);
    return 0;
}

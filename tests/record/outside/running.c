/* SPDX-License-Identifier: Apache-2.0 */
/* A program that runs until a line of standard input: threads that work, sleep, wait for events,
 * and come and go. Then it says what it saw of its recording: nothing, it is hoped. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long work, naps, interrupted, threads, signals;
static volatile int over;

static void on_signal(int number)
{
    (void)number;
    signals++;
}

__attribute__((noinline)) static void inner(void)
{
    for (int i = 0; i < 100000; i++)
        work++;
}

__attribute__((noinline)) static void outer(int count)
{
    while (count-- > 0)
        inner();
    work++;
}

__attribute__((noinline)) static void nap(void)
{
    const struct timespec moment = {0, 20000000};
    interrupted += nanosleep(&moment, NULL) != 0;
    naps++;
}

/* The only thread that takes the signals. */
static void *worker(void *none)
{
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGRTMIN);
    pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
    while (!over)
        outer(10);
    return none;
}

static void *sleeper(void *none)
{
    while (!over)
        nap();
    return none;
}

/* Calls that a stop of the thread may end with EINTR. */
static void *waiter(void *none)
{
    struct epoll_event event;
    int file = epoll_create1(0);
    while (!over) {
        inner();
        interrupted += epoll_wait(file, &event, 1, 1) < 0;
    }
    close(file);
    return none;
}

static void *comer(void *none)
{
    inner();
    return none;
}

static void *maker(void *none)
{
    pthread_t thread;
    while (!over) {
        if (pthread_create(&thread, NULL, comer, NULL) == 0)
            pthread_join(thread, NULL);
        threads++;
        usleep(1000);
    }
    return none;
}

int main(void)
{
    void *(*const all[])(void *) = {worker, sleeper, waiter, maker};
    pthread_t ids[4];
    char line[8];
    struct sigaction action;
    sigset_t taken;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGRTMIN, &action, NULL);
    sigemptyset(&taken);
    sigaddset(&taken, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &taken, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, all[i], NULL);
    puts("ready");
    fflush(stdout);
    int end = fgets(line, sizeof line, stdin) == NULL;
    over = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
    printf("end %d signals %lu interrupted %lu\n", end, signals, interrupted);
    return work > 0 && naps > 0 && threads > 0 ? 7 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may do with its recording; argv[1] chooses. */
#define _GNU_SOURCE
#include "fathom/fathom.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

static void leaf(void)
{
    sink++;
}

static void inner(int times)
{
    for (int i = 0; i < times; i++)
        leaf();
}

static void heap(void)
{
    char *block[10];
    for (int i = 0; i < 10; i++)
        block[i] = malloc(100);
    for (int i = 0; i < 4; i++)
        free(block[i]);
    block[4] = realloc(block[4], 5000);
    sink += (unsigned)(size_t)calloc(3, 50) + (unsigned)(size_t)block[4];
}

static double cpu(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(double seconds)
{
    double end = cpu() + seconds;
    while (cpu() < end)
        for (int i = 0; i < 100000; i++)
            sink += (unsigned)i;
}

static void many(int depth, unsigned bits)
{
    if (depth == 0)
        return;
    if (bits & 1)
        many(depth - 1, bits >> 1);
    else
        inner(1);
}

/* Calls that a signal would end early; this program has none. How many were ended so. */
static unsigned interrupted_calls(void)
{
    unsigned interrupted = 0;
    const struct timespec little = {.tv_nsec = 20000};
    for (double end = cpu() + 1.0; cpu() < end;) {
        for (int i = 0; i < 20; i++)
            interrupted += ppoll(NULL, 0, &little, NULL) != 0 && errno == EINTR;
        for (int i = 0; i < 10000; i++)
            sink += (unsigned)i;
    }
    return interrupted;
}

/* Prints the CPU seconds that were used since. Uses more then, many ticks long: they charge what
 * was used before. On a busy machine a thread may run 60 ms without a tick. */
static void tell_used(double begun)
{
    printf("%f", cpu() - begun);
    burn(0.1);
}

static void *short_thread(void *unused)
{
    inner(1);
    return unused;
}

/* Closes what it has not opened, as daemons do, and opens files of its own in all places. */
static int daemon_opens(int count)
{
    static int own[300][2];
    for (int fd = 0; fd < 300; fd++)
        close(fd);
    for (int i = 0; i < count; i++)
        if (pipe2(own[i], O_NONBLOCK) != 0)
            return -1;
    inner(7);
    pthread_t thread;
    if (pthread_create(&thread, NULL, short_thread, NULL) != 0)
        return -1;
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        inner(5);
        for (int i = 0; i < count; i++)
            if (write(own[i][1], "c", 1) != 1 || fcntl(own[i][0], F_GETFD) < 0)
                _exit(1);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        char byte;
        if (read(own[i][0], &byte, 1) != 1 || byte != 'c')
            return -1;
    }
    return 0;
}

static void forks(void)
{
    inner(3);
    pid_t child = fork();
    if (child == 0) {
        inner(5);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    inner(2);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "control") == 0) {
        inner(10);
        fathom_stop();
        inner(100);
        fathom_start();
        inner(20);
        if (fathom_mark("half") != 0 || fathom_snapshot("here") != 1)
            return 1;
        inner(30);
    } else if (strcmp(what, "heap") == 0) {
        heap();
    } else if (strcmp(what, "ticks") == 0) {
        double begun = cpu();
        burn(1.0);
        tell_used(begun);
    } else if (strcmp(what, "calls") == 0) {
        double begun = cpu();
        unsigned interrupted = interrupted_calls();
        tell_used(begun);
        return interrupted == 0 ? 0 : 1;
    } else if (strcmp(what, "daemon") == 0) {
        return daemon_opens(120) == 0 ? 0 : 1;
    } else if (strcmp(what, "fork") == 0) {
        forks();
    } else if (strcmp(what, "exec") == 0) {
        inner(4);
        execl(argv[0], argv[0], "again", (char *)NULL);
    } else if (strcmp(what, "again") == 0) {
        inner(6);
    } else if (strcmp(what, "many") == 0) {
        for (unsigned i = 0; i < 4; i++)
            many(4, i);
    } else if (strcmp(what, "exit") == 0) {
        inner(1);
        exit(0);
    }
    return 0;
}

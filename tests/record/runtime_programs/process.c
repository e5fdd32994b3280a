/* SPDX-License-Identifier: Apache-2.0 */
/* What a process may do with its recording; argv[1] chooses. */
#include "fathom/fathom.h"
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
        burn(1.0);
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

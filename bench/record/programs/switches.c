/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes on one CPU that wake each other through pipes: mostly context switches. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int to[2], from[2];

static void give(int pipe)
{
    if (write(pipe, "x", 1) != 1)
        exit(1);
}

static void take(int pipe)
{
    char byte;
    if (read(pipe, &byte, 1) != 1)
        exit(1);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100000;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof one, &one);
    if (pipe(to) != 0 || pipe(from) != 0)
        return 1;
    pid_t child = fork();
    for (int i = 0; i < rounds; i++) {
        if (child != 0)
            give(to[1]);
        take(child != 0 ? from[0] : to[0]);
        if (child == 0)
            give(from[1]);
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    printf("%d\n", rounds);
    return 0;
}

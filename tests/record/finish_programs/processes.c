/* SPDX-License-Identifier: Apache-2.0 */
/* Forks children that work, and one that becomes another image of this program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int in_child(int n)
{
    return fib(n);
}

static void wait_for(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
}

static void fork_one(int n)
{
    pid_t pid = fork();
    if (pid == 0)
        exit(in_child(n) == 0);
    wait_for(pid);
}

static void become_another(char *self, int n)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (n > 0)
            in_child(n);
        execl(self, self, "again", (char *)NULL);
        _exit(1);
    }
    wait_for(pid);
}

static int again(void)
{
    return fib(7);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "again") == 0)
        return again() == 0;
    if (argc > 1 && strcmp(argv[1], "status") == 0)
        return fib(5) + 2;
    if (argc > 1 && strcmp(argv[1], "abort") == 0)
        abort();
    if (argc > 1 && strcmp(argv[1], "wait") == 0) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    if (argc > 1 && strcmp(argv[1], "work") == 0) {
        become_another(argv[0], 15);
        return 0;
    }
    fib(3);
    fork_one(4);
    fork_one(5);
    become_another(argv[0], 0);
    return 0;
}

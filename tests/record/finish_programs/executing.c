/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to become another program, after work that ticks interrupt; and ways that fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile long count;
static void work(int n)
{
    for (int i = 0; i < n; i++)
        count++;
}
static char *const arguments[] = {"sh", "-c", "exit $X$1", "sh", "2", NULL};
static char *const environment[] = {"X=1", NULL};
static void become(int way)
{
    setenv("X", "1", 1);
    if (way == 0)
        execl("/bin/sh", "sh", "-c", "exit $X$1", "sh", "2", (char *)NULL);
    else if (way == 1)
        execlp("sh", "sh", "-c", "exit $X$1", "sh", "2", (char *)NULL);
    else if (way == 2)
        execle("/bin/sh", "sh", "-c", "exit $X$1", "sh", "2", (char *)NULL, environment);
    else if (way == 3)
        execv("/bin/sh", arguments);
    else if (way == 4)
        execvp("sh", arguments);
    else if (way == 5)
        execve("/bin/sh", arguments, environment);
    else if (way == 6)
        execvpe("sh", arguments, environment);
    else
        fexecve(open("/bin/sh", O_RDONLY), arguments, environment);
}
int main(void)
{
    for (int i = 0; i < 320; i++) {
        int status;
        if (fork() == 0) {
            work(i < 16 ? 100 : 300000);
            become(i % 8);
            _exit(1);
        }
        if (wait(&status) < 0 || status != 12 << 8)
            return 2;
        if (vfork() == 0) {
            execv("/bin/sh", arguments);
            _exit(1);
        }
        if (i == 0)
            setenv("X", "1", 1);
        if (wait(&status) < 0 || (i > 0 && status != 12 << 8))
            return 3;
    }
    if (execl("/no/such/program", "x", (char *)NULL) != -1 || errno != ENOENT)
        return 4;
    work(500000000); /* ticks go on: at least a hundred quanta, of which a few may be lost */
    return 0;
}

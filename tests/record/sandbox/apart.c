/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that lose what a recording needs, each case by its name: their children cannot create
 * a file. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 5
#define NOBODY 65534

static volatile long sink;

__attribute__((noinline)) static void job(void)
{
    sink++;
}

__attribute__((noinline)) static void work(void)
{
    for (int i = 0; i < 1000; i++)
        job();
}

/* Each child has one of its own, in which it works, too, and frees what the parent has. */
static void children(void)
{
    char *kept[CHILDREN];
    for (int i = 0; i < CHILDREN; i++)
        kept[i] = malloc(1000);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            work();
            for (int k = 0; k < CHILDREN; k++)
                free(kept[k]);
            pid_t grandchild = i == 0 ? fork() : -1;
            if (grandchild == 0)
                work();
            if (grandchild > 0)
                waitpid(grandchild, NULL, 0);
            _exit(0);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        printf("child %d\n", status);
    }
    work();
    for (int i = 0; i < CHILDREN; i++)
        sink += kept[i][0];
}

/* There is no descriptor left for another file. */
static int without_descriptors(void)
{
    struct rlimit none = {3, 3};
    return setrlimit(RLIMIT_NOFILE, &none);
}

static int without_root(void)
{
    return mkdir("empty", 0755) != 0 || chroot("empty") != 0 || chdir("/") != 0 ||
           setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int failed = strcmp(what, "descriptors") == 0 ? without_descriptors()
                 : strcmp(what, "root") == 0      ? without_root()
                                                  : 0;
    if (failed != 0)
        return 2;
    if (what[0] == '\0')
        work();
    else
        children();
    return 0;
}

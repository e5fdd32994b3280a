/* SPDX-License-Identifier: Apache-2.0 */
/* A pre-forking server in small: workers take jobs from one pipe and answer by another. By its
 * arguments it also becomes a daemon, loses workers, and starts programs by every way there is. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int step(int n)
{
    return n * 3 + 1;
}

static int serve(int job)
{
    char *memory = malloc(100 + (size_t)job % 7);
    int sum = 0;
    for (int i = 0; memory != NULL && i < job; i++)
        sum += step(i);
    free(memory);
    return sum;
}

static void work(int jobs, int answers)
{
    int job;
    while (read(jobs, &job, sizeof job) == (ssize_t)sizeof job) {
        int sum = serve(job);
        if (write(answers, &sum, sizeof sum) != (ssize_t)sizeof sum)
            _exit(2);
    }
}

static pid_t spawn_worker(int jobs, int answers, int other_end)
{
    pid_t pid = fork();
    if (pid == 0) {
        close(other_end);
        work(jobs, answers);
        exit(0);
    }
    return pid;
}

static int server(int workers, int count)
{
    int jobs[2], answers[2], sum = 0;
    if (pipe(jobs) != 0 || pipe(answers) != 0)
        return 2;
    for (int i = 0; i < workers; i++)
        spawn_worker(jobs[0], answers[1], jobs[1]);
    for (int i = 1; i <= count; i++) {
        int answer;
        if (write(jobs[1], &i, sizeof i) != (ssize_t)sizeof i ||
            read(answers[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
            return 2;
        sum += answer;
    }
    close(jobs[1]);
    while (wait(NULL) > 0)
        ;
    return sum == 0;
}

/* Children one after the other: jobs 1 to count. */
static int forker(int count)
{
    for (int i = 1; i <= count; i++) {
        if (fork() == 0)
            exit(serve(i) < 0);
        wait(NULL);
    }
    return 0;
}

/* Its own children are killed at work, and one ends by _exit. */
static int losing(void)
{
    int ready[2];
    if (pipe(ready) != 0)
        return 2;
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            serve(10);
            if (write(ready[1], "r", 1) != 1 || i == 2)
                _exit(0);
            pause();
        }
        char byte;
        if (read(ready[0], &byte, 1) != 1)
            return 2;
        if (i < 2)
            kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    return 0;
}

/* The parent ends first, when the daemon has begun, which works until the file named is there, or
 * the program is not: its folder is removed with the test. */
static int daemonized(const char *self, const char *until)
{
    int ready[2];
    char byte = 'r';
    if (pipe(ready) != 0)
        return 2;
    if (fork() != 0)
        return read(ready[0], &byte, 1) != 1;
    setsid();
    if (fork() != 0)
        _exit(0);
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
        return 2;
    serve(5);
    if (write(ready[1], &byte, 1) != 1)
        return 2;
    while (access(until, F_OK) != 0 && access(self, F_OK) == 0)
        usleep(10000);
    serve(7);
    return 0;
}

static int starting(char *self)
{
    char *again[] = {self, (char *)"serve", (char *)"11", NULL};
    pid_t pid;
    if (posix_spawn(&pid, self, NULL, NULL, again, environ) == 0)
        waitpid(pid, NULL, 0);
    pid = vfork();
    if (pid == 0) {
        execv(self, again);
        _exit(2);
    }
    waitpid(pid, NULL, 0);
    return system("true");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int first = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(what, "server") == 0)
        return server(first, atoi(argv[3]));
    if (strcmp(what, "forker") == 0)
        return forker(first);
    if (strcmp(what, "losing") == 0)
        return losing();
    if (strcmp(what, "daemon") == 0)
        return daemonized(argv[0], argv[2]);
    if (strcmp(what, "starting") == 0)
        return starting(argv[0]);
    return serve(first) < 0;
}

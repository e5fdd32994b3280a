/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded, and logs at the same time; with the argument "fork" a child does so too. */
#include <fathom/eventlog.h>
#include <fathom/fathom.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static long square(long n)
{
    FM_COUNTER("square", n * n);
    return n * n;
}

static long work(long turns)
{
    FM_SPAN("work");
    long sum = 0;
    for (long i = 0; i < turns; i++)
        sum += square(i);
    return sum;
}

int main(int argc, char **argv)
{
    char name[4096];
    if (fm_eventlog_start(NULL) != 0 || fm_eventlog_open_file(NULL) != 0)
        return 1;
    if (fathom_output(name, sizeof(name)) == 0)
        printf("%s\n", name);
    fflush(stdout);
    long sum = work(5000);
    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            sum = work(300);
            return fm_eventlog_stop() == 0 && sum > 0 ? 0 : 1;
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            return 1;
    }
    return fm_eventlog_stop() == 0 && sum > 0 ? 0 : 1;
}

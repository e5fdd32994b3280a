/* SPDX-License-Identifier: Apache-2.0 */
/* A child in a pid namespace of its own sleeps by inline system calls, which nobody sees, until
 * somebody outside has found it asleep. Its recording is out.1.<n>.rec. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLEEPS_AT 320 /* in the header: docs/format-recording.md */
#define LOOKS 30
#define NAPS_MAX 6000

/* Whether somebody has looked often enough, and found it asleep. */
static bool is_seen(void)
{
    static int recording = -1;
    uint32_t at = 0;
    struct { /* fm_rec_sleeps */
        uint64_t looks;
        uint32_t count;
    } sleeps;
    glob_t found;
    if (recording < 0 && glob("out.1.*.rec", 0, NULL, &found) == 0)
        recording = open(found.gl_pathv[0], O_RDONLY);
    return pread(recording, &at, sizeof at, SLEEPS_AT) == sizeof at && at != 0 &&
           pread(recording, &sleeps, sizeof sleeps, at * 8L) == sizeof sleeps &&
           sleeps.looks >= LOOKS && sleeps.count > 0;
}

__attribute__((noinline)) void nap(void)
{
    struct timespec time = {0, 10000000};
    long result = SYS_nanosleep;
    __asm__ volatile("syscall" : "+a"(result) : "D"(&time), "S"(NULL) : "rcx", "r11", "memory");
}

int main(void)
{
    int status;
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return 77;
    pid_t child = fork();
    if (child != 0)
        return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    for (int i = 0; i < NAPS_MAX && !is_seen(); i++)
        nap();
    return is_seen() ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* denied ERRNO CALL[,CALL...] PROGRAM...: runs the program where these system calls fail with that
 * error, as container runtimes do. Status 77: there is no seccomp here. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} known[] = {{"fallocate", SYS_fallocate},
             {"timer_create", SYS_timer_create},
             {"perf_event_open", SYS_perf_event_open}};

static void add(struct sock_filter *filter, unsigned short *count, unsigned number, unsigned error)
{
    filter[(*count)++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    filter[(*count)++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & 0xffff));
}

int main(int argc, char **argv)
{
    struct sock_filter filter[64] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    struct sock_fprog program = {.len = 1, .filter = filter};
    if (argc < 4)
        return 2;
    for (char *name = strtok(argv[2], ","); name != NULL; name = strtok(NULL, ","))
        for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
            if (strcmp(name, known[i].name) == 0)
                add(filter, &program.len, known[i].number, (unsigned)atoi(argv[1]));
    filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    execv(argv[3], argv + 3);
    perror(argv[3]);
    return 1;
}

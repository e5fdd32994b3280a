/* SPDX-License-Identifier: Apache-2.0 */
/* A running process that is recorded from outside, by what /proc says of it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/compiler.h"

static inline uint64_t fm_outside_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct fm_target {
    pid_t pid;
    int pidfd;         /* readable when it has ended */
    char *program;     /* the name of its file */
    char *command;     /* as a shell would take it */
    char *folder;      /* its working folder; NULL = not known */
    char *root;        /* path of its root folder; NULL = ours */
    char *rooted_at;   /* its path among our folders; NULL = it is not below ours */
    uint64_t start_ns; /* since 1970 */
    int32_t inner_pid; /* its number in its own container */
    pid_t parent, tracer;
    bool is_readable; /* its memory may be read (ptrace's permission) */
};

/* Errors: FM_ERROR_UNAVAILABLE (no such process; another user's; of 32 bits; has ended),
 * FM_ERROR_USAGE (a thread; fathom itself). */
FM_MUST_USE bool fm_target_open(pid_t pid, struct fm_target *ret, GError **error);
void fm_target_close(struct fm_target *target);
/* Numbers of its threads (pid_t) now; empty when it has ended. */
GArray *fm_target_threads(const struct fm_target *target);
/* Copies memory of the process, up to the first page that cannot be read; returns the number of
 * bytes. */
size_t fm_target_copy(const struct fm_target *target, uint64_t address, void *to, size_t size);
/* Ticks (sysconf(_SC_CLK_TCK)) of CPU time in the kernel. */
uint64_t fm_target_kernel_ticks(const struct fm_target *target);

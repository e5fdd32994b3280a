/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls that the runtime may still make: the program's own seccomp filters must allow
 * them silently, so that recording neither ends the program nor leaves an error or a log entry. A
 * filter counts for all threads, even if one thread installed it for itself. All functions are
 * async-signal-safe. */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

#define FM_SANDBOX_FILTERS_MAX 64u

struct fm_sandbox_filter {
    const struct sock_filter *code;
    unsigned count;
};

struct fm_sandbox {
    int on;      /* one of the following is set; otherwise every call is allowed */
    bool strict; /* SECCOMP_MODE_STRICT; the processor's counter is out of reach then, too */
    int spins;   /* no thread sleeps for a lock, since it could not be woken */
    /* Clocks that libc reads without the kernel: at all, and finer than its tick. */
    bool has_clock, has_fine_clock;
    unsigned filter_count;
    struct fm_sandbox_filter filters[FM_SANDBOX_FILTERS_MAX]; /* never changed once counted */
};
extern struct fm_sandbox fm_sandbox __attribute__((visibility("hidden")));

/* Whether the filters allow a call with these arguments. */
bool fm_sandbox_allows(long number, const uint64_t arguments[6]);
/* Whether the present filters and one more would allow it. NULL: strict mode. */
bool fm_sandbox_would_allow(const struct fm_sandbox_filter *more, long number,
                            const uint64_t arguments[6]);

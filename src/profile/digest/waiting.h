/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the threads of a C program: by kind, and lock by lock. */
#pragma once

#include "profile/file/profile.h"

/* Times are nanoseconds. */
struct fm_wait_sum {
    const char *kind;  /* the profile's word: "mutex" */
    const char *words; /* for people: "a mutex" */
    uint64_t calls, waits, ns, longest_ns;
    double cpu_ns; /* part of ns, by samples: the calls computed, or copied */
    uint64_t open; /* waits not over at the end */
};

/* Waits at one lock. */
struct fm_lock_sum {
    uint32_t lock; /* from 1; 0 = locks that could not be distinguished */
    const char *kind;
    uint64_t waits, ns, longest_ns;
    uint32_t first, count; /* into blames */
};

struct fm_wait_digest {
    bool recorded; /* waiting is in this profile */
    uint64_t waits, ns;
    uint32_t sum_count, lock_count, blame_count;
    struct fm_wait_sum *sums;  /* most time first */
    struct fm_lock_sum *locks; /* most time first */
    struct fm_blame *blames;   /* waits and holders of each lock, most time first */
};

/* fm_wait_digest_free(). The profile must outlive it. */
struct fm_wait_digest *fm_wait_digest_new(const struct fm_profile *profile);
void fm_wait_digest_free(struct fm_wait_digest *digest); /* NULL is allowed */

typedef struct fm_wait_digest FmWaitDigest;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmWaitDigest, fm_wait_digest_free)

/* "2.10 s waiting (mutex 2.00 s, read 0.10 s)"; g_free. NULL: not recorded. */
char *fm_wait_sentence(const struct fm_wait_digest *digest);
/* The name of a lock: "cache_lock", "lock at 0x7f..."; g_free. */
char *fm_lock_text(const struct fm_profile *profile, uint32_t lock);

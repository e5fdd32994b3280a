/* SPDX-License-Identifier: Apache-2.0 */
/* Words for live memory: memory of a program that still runs may yet be freed. */
#pragma once

#include "profile/digest/hottest.h"

struct fm_held_words {
    const char *held;    /* after an amount: "never given back" */
    const char *lead;    /* in a sentence about blocks: "were never given back" */
    const char *heading; /* "Never given back" */
    const char *link;    /* link text to details: "What it never gave back" */
    const char *none;    /* a sentence, where nothing is */
    const char *all;     /* after an amount of all allocations */
    const char *further; /* a further sentence about it */
};

/* Blocks live at the end that count as never freed. A function and its caller need at least 10, and
 * 1,000 or 64 KiB in sum. Fewer are made once: a stream's buffer, a table. All 0: nothing is held,
 * or that is not recorded. */
struct fm_held_digest {
    uint64_t bytes, blocks;
    uint64_t once_bytes, once_blocks; /* the rest */
    uint32_t ps;                      /* has most of the bytes; 0 = none */
    uint64_t ps_bytes, ps_blocks, ps_allocs;
    bool *has; /* by ps: it has some of those */
};

/* hot: tells wrappers of the allocator, whose blocks are those of their callers; NULL: none is. */
struct fm_held_digest *fm_held_digest_new(const struct fm_profile *profile, struct fm_hot *hot);
void fm_held_digest_free(struct fm_held_digest *digest); /* NULL is allowed */
typedef struct fm_held_digest FmHeldDigest;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmHeldDigest, fm_held_digest_free)

/* The words for the profile's part of the run. */
const struct fm_held_words *fm_held_words(const struct fm_profile *profile);

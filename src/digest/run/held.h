/* SPDX-License-Identifier: Apache-2.0 */
/* Words for live memory: memory of a program that still runs may yet be freed. */
#pragma once

#include "deep/profile.h"

struct fm_held_words {
    const char *held;    /* after an amount: "never given back" */
    const char *lead;    /* in a sentence about blocks: "were never given back" */
    const char *heading; /* "Never given back" */
    const char *link;    /* link text to details: "What it never gave back" */
    const char *none;    /* a sentence, where nothing is */
    const char *all;     /* after an amount of all allocations */
    const char *further; /* a further sentence about it */
};

/* The words for the profile's part of the run. */
const struct fm_held_words *fm_held_words(const struct fm_profile *profile);

/* SPDX-License-Identifier: Apache-2.0 */
/* How to say what is held: what a program that goes on holds may yet be given back. */
#pragma once

#include "deep/profile.h"

struct fm_held_words {
    const char *held;    /* behind an amount: "never given back" */
    const char *lead;    /* in a sentence about blocks: "were never given back" */
    const char *heading; /* "Never given back" */
    const char *link;    /* to what tells more: "What it never gave back" */
    const char *none;    /* a sentence, where nothing is */
    const char *all;     /* after an amount of all allocations */
    const char *further; /* a further sentence about it */
};

/* In the words of the profile's part of the run. */
const struct fm_held_words *fm_held_words(const struct fm_profile *profile);

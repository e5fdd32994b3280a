/* SPDX-License-Identifier: Apache-2.0 */
/* Every page of a profile made once in every format, and what is wrong with them. */
#pragma once

#include "base/progress.h"
#include "open/profile.h"

#define FM_PAGE_CHECK_FORMATS 4

struct fm_page_check {
    const struct fm_open_profile *recording;
    struct fm_progress *progress;
    uint32_t sample; /* pages of each kind that is made for each node; 0 = all */
    /* Called for each problem; page: its address. */
    void (*problem)(void *user, const char *page, const char *what);
    void *user;
    /* The result. */
    uint64_t pages, unavailable, problems;
    GHashTable *lacking; /* the caller's; what pages lack, g_free -> how many of them */
};

void fm_page_check(struct fm_page_check *check);

/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a sampled measure: the whole, then functions, each with the limits of its change. */
#pragma once

#include "runs/compare/timing.h"
#include "display/display.h"

struct fm_times_options {
    unsigned rows_max;
    bool numbers; /* for programs: each number in its own column */
};

/* Adds facts to the display, paragraphs and tables to the list. */
void fm_times_add(struct fm_display *display, struct fm_list *to, const struct fm_timing *timing,
                  const struct fm_times_options *options);

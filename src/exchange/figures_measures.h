/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of our own exports, as the line in them says (exchange/figures.h). */
#pragma once

#include "exchange/figures.h"
#include "exchange/import/stacks.h"

struct fm_import_figures {
    struct fm_figures told;
    unsigned measures[FM_MEASURES_MAX]; /* measures for told.columns; 0 = there was no room */
};

/* Meaning of a column: values are divided by divide. calls: call counts, not a measure. */
struct fm_import_figure {
    bool skip, calls;
    unsigned measure;
    uint64_t divide;
};

/* told is there, the measures not yet: makes them, and what the header says. */
void fm_import_figures_begin(struct fm_import_figures *figures, struct fm_stacks *stacks);
/* Columns that are not described are skipped. */
struct fm_import_figure fm_import_figures_of(const struct fm_import_figures *figures,
                                             const char *column);

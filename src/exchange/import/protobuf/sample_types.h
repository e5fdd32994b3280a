/* SPDX-License-Identifier: Apache-2.0 */
/* Which measures the sample types of pprof's and OpenTelemetry's profiles are: each has a name and
 * a unit, such as "cpu" in "nanoseconds". */
#pragma once

#include "exchange/figures_measures.h"

struct fm_import_type {
    const char *name, *unit;
};

enum fm_import_role { FM_IMPORT_MEASURE, FM_IMPORT_COUNTS_CALLS, FM_IMPORT_SKIPPED };

struct fm_import_column {
    enum fm_import_role role;
    unsigned measure;
    uint64_t factor; /* to the measure's unit: first */
    uint64_t divide; /* then */
    uint64_t sum;
};

struct fm_import_columns {
    struct fm_stacks *stacks;
    const struct fm_import_type *types; /* [count], borrowed */
    size_t count;
    const char *wanted;               /* the type that the file names as the first; "" = none */
    struct fm_import_column *columns; /* [count], of the caller */
    size_t main;                      /* the type of quanta; count = none */
    uint32_t known, left_out;         /* left_out: types that there is no room for */
    uint32_t call; /* that values are added to (fm_stacks_call); 0: the innermost frame */
};

/* Sets columns, main, known and left_out. figures: of fathom's own exports, or NULL. */
void fm_import_columns_choose(struct fm_import_columns *columns,
                              const struct fm_import_figures *figures);
/* Adds a value to the innermost frame. False: the sum is more than 63 bits. */
FM_MUST_USE bool fm_import_columns_add(struct fm_import_columns *columns, size_t i, uint64_t value);
/* What is not known, and a note on what was left out. Not for fathom's own exports. */
void fm_import_columns_finish(const struct fm_import_columns *columns);
/* The period of a sampled time, in its unit: how many samples the quanta are. */
void fm_import_columns_period(const struct fm_import_columns *columns, uint64_t period,
                              const char *unit);

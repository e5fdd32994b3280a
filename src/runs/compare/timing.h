/* SPDX-License-Identifier: Apache-2.0 */
/* Sampled amounts of two sides, by all their runs: which rows changed by more than chance and the
 * runs explain. The method is runs/sampled/model.h; here ticks of functions and contexts are
 * collected.
 */
#pragma once

#include "runs/compare/compare.h"
#include "runs/sampled/model.h"

/* CPU seconds of a run by the kernel's clock, including the recording's own work. False: the
 * profile does not have it, and *ret is the sampled amount, in the displayed unit. */
bool fm_timing_seconds(const struct fm_profile *run, double *ret);

/* Means over the runs of a side; false: not all of them know it. */
bool fm_timing_mean_seconds(const struct fm_compare *compare, enum fm_side side, double *ret);

/* Finds runs whose time is far from the others' of their side, because they were disturbed. Needs
 * at least 4 runs, of which 3 must remain. left_out: [count]; returns the number. */
unsigned fm_timing_disturbed(const struct fm_profile *const *runs, unsigned count, bool *left_out);

/* One measure of a comparison. */
struct fm_timing {
    const struct fm_compare *c; /* borrowed */
    enum fm_measure_id measure;
    unsigned runs;           /* both sides' runs, those of before first */
    bool clock;              /* the total is known by the clock */
    double tick[FM_SIDES];   /* an effective tick, in the unit that is shown */
    double scale;            /* quanta of a mean run times this are in that unit */
    struct fm_sampled model; /* before any row was pooled */
    uint32_t *home; /* [pd + 1] the context to which its own code belongs: its caller's, if one
                       build inlines what the other calls */
};
/* False: the measure is not sampled: nothing to clear. */
bool fm_timing_init(struct fm_timing *ret, const struct fm_compare *compare,
                    enum fm_measure_id measure);
void fm_timing_done(struct fm_timing *timing);

/* Ticks of all contexts in one run. [pd + 1] each */
struct fm_timing_ticks {
    const double *own;
    const double *tree; /* with all below in the spanning tree */
    /* As those of struct fm_compare_totals. */
    const double *total, *adds, *part;
};
typedef void (*fm_timing_collect_fn)(void *user, unsigned run, const struct fm_timing_ticks *ticks);
void fm_timing_each_run(const struct fm_timing *timing, fm_timing_collect_fn collect, void *user);

/* --- tables --- */

struct fm_timing_row {
    uint32_t id; /* as given; in tables of functions the ps of the common graph */
    struct fm_sampled_row ticks;
    struct fm_sampled_test test;
    double expected; /* the ratio that was tested against: 1, or that of calls */
    double weight, level;
    bool told, perhaps;
};

struct fm_timing_table {
    struct fm_sampled model; /* including the variation that the rows show */
    GArray *rows;            /* struct fm_timing_row with at least 10 ticks, in order of adding */
    double weight;           /* sum over all rows */
    unsigned told_count, perhaps_count;
    uint32_t few_count;        /* rows with fewer */
    struct fm_sampled_row few; /* their sum */
};
/* ticks: [row][run], row by row. ids, expected (may be NULL: 1), excluded (may be NULL: none): one
 * for each row; excluded rows are pooled but not tested. */
void fm_timing_table_init(struct fm_timing_table *ret, const struct fm_timing *timing,
                          const double *ticks, size_t count, const uint32_t *ids,
                          const double *expected, const bool *excluded);
void fm_timing_table_done(struct fm_timing_table *table);

/* Own time of each function. */
void fm_timing_functions(const struct fm_timing *timing, struct fm_timing_table *ret);
/* Total time of functions that do not lead to one with a significant own change; not of those whose
 * total inside a recursion was not recorded. own: the table of own times. */
void fm_timing_callers(const struct fm_timing *timing, const struct fm_timing_table *own,
                       struct fm_timing_table *ret);
/* told[pd]: whether what is below each context in the spanning tree changed significantly; g_free.
 * ret_parts: the same of the contexts' parts in their recursions. */
bool *fm_timing_contexts(const struct fm_timing *timing, bool **ret_parts);

/* The whole program by its clock: judged only if both sides together have enough ticks. */
void fm_timing_whole(const struct fm_timing *timing, struct fm_sampled_whole *ret);
/* Whether the whole, or a function, differs by more than chance; of a pair of runs, the whole by
 * more than machines do. */
bool fm_timing_differs(const struct fm_compare *compare, enum fm_measure_id measure);
/* Whether the rows of a pair of runs vary more than those of one build usually do, though no row is
 * significant. */
bool fm_timing_is_restless(const struct fm_timing_table *table);

/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/runs.h"

#include <math.h>

#include "runs/compare/runs.h"
#include "runs/compare/timing.h"
#include "display/ranked.h"

static bool totals_of(const struct fm_compare *c, enum fm_side side, enum fm_measure_id measure,
                      double *ret)
{
    const char *title = fm_compare_measure_title(c, measure);
    bool clock = measure == FM_QUANTA;
    for (unsigned i = 0; i < c->run_count[side]; i++) {
        if (!fm_runs_total(c->runs[side][i], title, &ret[i]))
            return false;
    }
    for (unsigned i = 0; i < c->run_count[side] && clock; i++) {
        double seconds;
        clock = fm_timing_seconds(c->runs[side][i], &seconds);
    }
    for (unsigned i = 0; i < c->run_count[side]; i++) {
        double ticks = (double)c->runs[side][i]->ticks_per_second;
        if (clock)
            fm_timing_seconds(c->runs[side][i], &ret[i]);
        else if (measure == FM_QUANTA && ticks > 0)
            ret[i] /= ticks;
        else
            ret[i] *= measure == FM_QUANTA ? 1 : fm_compare_scale(c, measure);
    }
    return true;
}

/* For sampled measures, and for single runs on a side: uses the method of all tables of time. */
static bool judge_sampled(const struct fm_compare *c, enum fm_measure_id measure,
                          struct fm_runs_difference *d)
{
    struct fm_timing timing;
    struct fm_sampled_whole whole;
    if (measure != FM_QUANTA || !fm_timing_init(&timing, c, measure))
        return false;
    fm_timing_whole(&timing, &whole);
    d->interval = true;
    d->told = whole.told;
    d->exact = false;
    d->low = d->before.mean * (whole.low - 1);
    d->high = d->before.mean * (whole.high - 1);
    fm_timing_done(&timing);
    return true;
}

static void cell(struct fm_table *table, const struct fm_compare *c, enum fm_measure_id measure,
                 double value)
{
    if (measure == FM_QUANTA && c->side[FM_BEFORE]->ticks_per_second > 0)
        fm_cell_time(table, value);
    else
        fm_cell_int(table, llround(value));
}

static void add_row(struct fm_table *table, const struct fm_compare *c, enum fm_measure_id measure)
{
    const char *title = fm_compare_measure_title(c, measure);
    g_autofree double *before = g_new0(double, c->run_count[FM_BEFORE]);
    g_autofree double *after = g_new0(double, c->run_count[FM_AFTER]);
    struct fm_runs_difference d;
    if (!totals_of(c, FM_BEFORE, measure, before) || !totals_of(c, FM_AFTER, measure, after))
        return;
    fm_runs_compare(before, c->run_count[FM_BEFORE], after, c->run_count[FM_AFTER], &d);
    judge_sampled(c, measure, &d);
    const double amounts[] = {d.before.median, d.before.least, d.before.most,
                              d.after.median,  d.after.least,  d.after.most};
    fm_table_row(table, "run_total", false);
    fm_cell_string(table, title, FM_STYLE_PLAIN);
    for (unsigned i = 0; i < G_N_ELEMENTS(amounts); i++)
        cell(table, c, measure, amounts[i]);
    if (d.before.median > 0)
        fm_cell_percent(table, d.after.median / d.before.median - 1);
    else
        fm_cell_empty(table);
    for (int end = 0; end < 2; end++) {
        if (d.interval && !d.exact)
            cell(table, c, measure, end == 0 ? d.low : d.high);
        else
            fm_cell_empty(table);
    }
    fm_cell_string(table,
                   d.exact      ? "exact"
                   : d.told     ? "significant"
                   : d.interval ? "within chance"
                                : "one run of a side: not known",
                   FM_STYLE_PLAIN);
}

void fm_runs_add(struct fm_list *body, const struct fm_compare *c)
{
    static const struct fm_column_head columns[] = {
        {"All runs", "measure", FM_COLUMN_FIELD_NAME},
        {"Before, median", "before_median", FM_COLUMN_NUMBER},
        {"Minimum", "before_least", FM_COLUMN_NUMBER},
        {"Maximum", "before_most", FM_COLUMN_NUMBER},
        {"After, median", "after_median", FM_COLUMN_NUMBER},
        {"Minimum", "after_least", FM_COLUMN_NUMBER},
        {"Maximum", "after_most", FM_COLUMN_NUMBER},
        {"Change", "change_percent", FM_COLUMN_NUMBER},
        {"Difference from", "low", FM_COLUMN_NUMBER},
        {"to", "high", FM_COLUMN_NUMBER},
        {"Certain", "certain", FM_COLUMN_FIELD_NAME},
    };
    g_autofree char *text = g_strdup_printf(
        "%u runs before, %u after. Differences are of the means, with 99 %% confidence: by how "
        "much runs of one side differ. Time is compared by all runs; counts below are those of "
        "the two runs in the middle.",
        c->run_count[FM_BEFORE], c->run_count[FM_AFTER]);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "runs");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    if (fm_compare_has(c, FM_COMPARE_CALLS))
        add_row(table, c, FM_COMPARE_CALLS);
    for (unsigned m = FM_QUANTA; m < c->side[FM_BEFORE]->measure_count; m++) {
        if (m != FM_CALLSEQS && fm_compare_has(c, (enum fm_measure_id)m))
            add_row(table, c, (enum fm_measure_id)m);
    }
    fm_add_text(body, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/runs.h"

#include <math.h>

#include "compare/runs.h"
#include "display/ranked.h"

static bool totals_of(const struct fm_runs *runs, enum fm_side side, const char *measure,
                      double *ret)
{
    for (unsigned i = 0; i < runs->count[side]; i++) {
        if (!fm_runs_total(runs->profiles[side][i], measure, &ret[i]))
            return false;
    }
    return true;
}

static void cell(struct fm_table *table, const struct fm_compare *c, enum fm_measure_id measure,
                 double value)
{
    value *= fm_compare_scale(c, measure);
    if (measure == FM_QUANTA && c->side[FM_BEFORE]->ticks_per_second > 0)
        fm_cell_time(table, value);
    else
        fm_cell_int(table, llround(value));
}

static void add_row(struct fm_table *table, const struct fm_compare *c, const struct fm_runs *runs,
                    enum fm_measure_id measure)
{
    const char *title = fm_compare_measure_title(c, measure);
    double sample =
        fmax(fm_compare_sample(c, measure, FM_BEFORE), fm_compare_sample(c, measure, FM_AFTER));
    g_autofree double *before = g_new0(double, runs->count[FM_BEFORE]);
    g_autofree double *after = g_new0(double, runs->count[FM_AFTER]);
    struct fm_runs_difference d;
    if (!totals_of(runs, FM_BEFORE, title, before) || !totals_of(runs, FM_AFTER, title, after))
        return;
    fm_runs_compare(before, runs->count[FM_BEFORE], after, runs->count[FM_AFTER], sample, &d);
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
                   : d.told     ? "told"
                   : d.interval ? "no change can be told"
                                : "one run of a side: not known",
                   FM_STYLE_PLAIN);
}

void fm_runs_add(struct fm_list *body, const struct fm_compare *c, const struct fm_runs *runs)
{
    static const struct fm_column_head columns[] = {
        {"All runs", "measure", FM_COLUMN_FIELD_NAME},
        {"Before, median", "before_median", FM_COLUMN_NUMBER},
        {"least", "before_least", FM_COLUMN_NUMBER},
        {"most", "before_most", FM_COLUMN_NUMBER},
        {"After, median", "after_median", FM_COLUMN_NUMBER},
        {"least", "after_least", FM_COLUMN_NUMBER},
        {"most", "after_most", FM_COLUMN_NUMBER},
        {"Change", "change_percent", FM_COLUMN_NUMBER},
        {"Difference from", "low", FM_COLUMN_NUMBER},
        {"to", "high", FM_COLUMN_NUMBER},
        {"Certain", "certain", FM_COLUMN_FIELD_NAME},
    };
    g_return_if_fail(runs->count[FM_BEFORE] > 0 && runs->count[FM_AFTER] > 0);
    g_autofree char *text =
        g_strdup_printf("%u runs before, %u after. Differences are of the means, with 99 %% "
                        "confidence: by how much runs "
                        "of one side differ. What follows compares the two runs in the middle.",
                        runs->count[FM_BEFORE], runs->count[FM_AFTER]);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "runs");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    if (fm_compare_has(c, FM_COMPARE_CALLS))
        add_row(table, c, runs, FM_COMPARE_CALLS);
    for (unsigned m = FM_QUANTA; m < c->side[FM_BEFORE]->measure_count; m++) {
        if (m != FM_CALLSEQS && fm_compare_has(c, (enum fm_measure_id)m))
            add_row(table, c, runs, (enum fm_measure_id)m);
    }
    fm_add_text(body, text);
}

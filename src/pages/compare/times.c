/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/times.h"

#include <math.h>
#include <stdlib.h>

#include "display/ranked.h"

#define UNTOLD_SHOWN 5u /* number of undecided rows shown, largest first */
#define WANTED 1.1      /* ratio of a change that readers care about: 10 % */
#define RATE_MAX 10000.0
#define BY_FACTORS 2.0 /* from here on per cent say less than "times" */
#define SAME_FACTOR 0.01

struct view {
    const struct fm_timing *t;
    const struct fm_times_options *options;
    struct fm_timing_table own, callers;
    struct fm_sampled_whole whole;
    int64_t *calls_of[FM_SIDES]; /* [ps + 1]; -1: not counted */
    struct fm_table *table;
};

/* --- numbers --- */

/* The last digit shown is the first one of half the interval's width, or one more after a 1 or
 * 2. */
static int decimals_of(double low, double high)
{
    double width = (high - low) / 2;
    if (!(width > 0) || !isfinite(width))
        return 1;
    int place = (int)floor(log10(width));
    double first = width / pow(10, place);
    place -= first < 3;
    return place >= 0 ? 0 : MIN(-place, 3);
}

static char *percent(double ratio, int decimals)
{
    double value = 100 * (ratio - 1);
    g_autofree char *digits = g_strdup_printf("%.*f", decimals, fabs(value));
    return g_strdup_printf("%s%s", value < 0 ? "\u2212" : "+", digits);
}

/* "+20 % (+7 to +34 %)", "2.4 times (1.9 to 3.1)": no more digits than the limits have. high
 * INFINITY: there was none before. g_free. */
static char *change_of(double ratio, double low, double high)
{
    if (!isfinite(ratio)) {
        int decimals = low < 10 ? 1 : 0;
        return low > 1 ? g_strdup_printf("at least %.*f times", decimals, low)
                       : g_strdup("no sample before");
    }
    if (ratio <= 0)
        return high < 1 ? g_strdup_printf("at most %.2f of it", high) : g_strdup("no sample now");
    if (ratio > BY_FACTORS || ratio < 1 / BY_FACTORS) {
        int decimals = ratio < 1 ? 2 : decimals_of(low, high);
        g_autofree char *upto =
            isfinite(high) ? g_strdup_printf(" to %.*f", decimals, high) : g_strdup(" or more");
        return g_strdup_printf("%.*f %s (%.*f%s)", decimals, ratio, ratio < 1 ? "of it" : "times",
                               decimals, low, upto);
    }
    int decimals = decimals_of(100 * low, 100 * high);
    g_autofree char *middle = percent(ratio, decimals), *from = percent(low, decimals);
    g_autofree char *upto = isfinite(high) ? percent(high, decimals) : g_strdup("any");
    return g_strdup_printf("%s %% (%s to %s %%)", middle, from, upto);
}

static bool is_timed(const struct view *v)
{
    return v->t->measure == FM_QUANTA && v->t->c->side[FM_BEFORE]->ticks_per_second > 0;
}

static char *amount(const struct view *v, double value)
{
    if (is_timed(v))
        return fm_format_time(value);
    g_autofree char *number = fm_format_int(llround(value));
    return g_strdup_printf("%s %s", number, fm_compare_measure_words(v->t->c, v->t->measure));
}

static void cell_amount(struct view *v, double value, double ticks)
{
    if (ticks <= 0 && v->options->numbers)
        fm_cell_empty(v->table);
    else if (ticks <= 0)
        fm_cell_string(v->table, "no sample", FM_STYLE_PLAIN);
    else if (is_timed(v))
        fm_cell_time(v->table, value);
    else
        fm_cell_int(v->table, llround(value));
}

/* A difference may be 0. */
static void cell_difference(struct view *v, double value)
{
    if (is_timed(v))
        fm_cell_time(v->table, value);
    else
        fm_cell_int(v->table, llround(value));
}

static void cell_ratio(struct view *v, double value)
{
    if (isfinite(value))
        fm_cell_float(v->table, value);
    else
        fm_cell_empty(v->table);
}

/* --- about the page --- */

static void add_method(const struct view *v, struct fm_list *to)
{
    const struct fm_sampled *m = &v->t->model;
    double assumed = 100 * (m->options.variation > 0 ? m->options.variation : FM_SAMPLED_VARIATION);
    g_autofree char *text =
        m->freedom == 0
            ? g_strdup_printf(
                  "One run of each side: significant is what chance and %.3g %% of variation do "
                  "not "
                  "explain (99 %%). Whether the builds differ, only several runs of each show "
                  "(--base FILES --new FILES).",
                  assumed)
            : g_strdup_printf("%u runs before, %u after: significant is what neither chance nor "
                              "the variation of runs explains (99 %%). Functions vary by %.1f %% "
                              "from run to run.",
                              m->side[FM_BEFORE].runs, m->side[FM_AFTER].runs,
                              100 * sqrt(v->own.model.pooled));
    fm_add_text(to, text);
}

/* Whether the weighted median of functions changed by the factor of the whole, as far as samples
 * can say. */
static bool is_same_factor(const struct view *v)
{
    const struct fm_sampled *m = &v->own.model;
    double below = 0, above = 0, tolerance = SAME_FACTOR + 2 / sqrt(m->all[0] + m->all[1]);
    for (guint i = 0; i < v->own.rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(v->own.rows, struct fm_timing_row, i);
        double a = row->ticks.ticks[0] / m->per_second[0];
        double b = row->ticks.ticks[1] / m->per_second[1];
        below += row->weight * (b < a * v->whole.ratio * (1 - tolerance));
        above += row->weight * (b > a * v->whole.ratio * (1 + tolerance));
    }
    return v->own.rows->len > 1 && below < v->own.weight / 2 && above < v->own.weight / 2;
}

static char *whole_change(const struct view *v)
{
    double ratio = v->whole.ratio, low = v->whole.low, high = v->whole.high;
    if (ratio > BY_FACTORS || ratio < 1 / BY_FACTORS) {
        int decimals = ratio < 1 ? 3 : decimals_of(low, high);
        return g_strdup_printf("%.*f %s (%.*f to %.*f)", decimals, ratio,
                               ratio < 1 ? "of what it was" : "times as much", decimals, low,
                               decimals, high);
    }
    g_autofree char *change = change_of(ratio, low, high);
    return g_strdup(change);
}

static void add_whole(const struct view *v, struct fm_list *to)
{
    const struct fm_sampled *m = &v->t->model;
    g_autofree char *before = amount(v, m->mean[0]), *after = amount(v, m->mean[1]);
    g_autofree char *change = whole_change(v);
    g_autoptr(GString) text = g_string_new("The whole");
    if (is_timed(v))
        g_string_append(text, v->t->clock ? ", by the clock" : ", by samples");
    g_string_append_printf(text, ": %s a run became %s, %s", before, after, change);
    if (m->all[0] + m->all[1] < FM_SAMPLED_LEAST_TICKS)
        g_string_append(text, "; too short to compare");
    else if (!v->whole.told)
        g_string_append(text, ", which chance may explain");
    else if (v->own.told_count == 0)
        g_string_append(text, is_same_factor(v) ? "; about the same factor in all functions"
                                                : "; no function stands out");
    g_string_append_c(text, '.');
    fm_add_text(to, text->str);
}

/* --- rows --- */

static void header(struct view *v, struct fm_list *to, const char *name)
{
    static const struct fm_column_head columns[] = {
        {"Function", "function", FM_COLUMN_PROC},
        {"Before", "before", FM_COLUMN_NUMBER},
        {"After", "after", FM_COLUMN_NUMBER},
        {"Change (99 %)", "change", FM_COLUMN_NUMBER},
        {"Calls before", "calls_before_count", FM_COLUMN_NUMBER},
        {"Calls after", "calls_after_count", FM_COLUMN_NUMBER},
        {"Verdict", "verdict", FM_COLUMN_FIELD_NAME},
    };
    static const struct fm_column_head numbers[] = {
        {"Ratio", "ratio", FM_COLUMN_NUMBER},
        {"from", "ratio_low", FM_COLUMN_NUMBER},
        {"to", "ratio_high", FM_COLUMN_NUMBER},
        {"Difference", "difference", FM_COLUMN_NUMBER},
        {"from", "low", FM_COLUMN_NUMBER},
        {"to", "high", FM_COLUMN_NUMBER},
        {"p", "p", FM_COLUMN_NUMBER},
        {"Level", "level", FM_COLUMN_NUMBER},
        {"Would show", "least_told_percent", FM_COLUMN_NUMBER},
        {"Ticks", "effective_ticks", FM_COLUMN_NUMBER},
        {"Variation", "variation_percent", FM_COLUMN_NUMBER},
    };
    v->table = fm_add_table(to, FM_BOX_IF_PREFERRED, name);
    fm_table_columns(v->table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    if (v->options->numbers)
        fm_table_columns(v->table, numbers, G_N_ELEMENTS(numbers), FM_COLOUR_NEVER);
}

static char *verdict_of(const struct fm_timing_table *of, const struct fm_timing_row *row)
{
    if (row->told || row->perhaps)
        return g_strdup(row->told ? "significant" : "perhaps");
    return g_strdup_printf("within chance; %.0f %% would show",
                           100 * fm_sampled_least_told(&of->model, &row->ticks, row->level));
}

static void number_cells(struct view *v, const struct fm_timing_table *of,
                         const struct fm_timing_row *row, const struct fm_sampled_interval *i)
{
    struct fm_sampled_variance variance;
    fm_sampled_variance_of(&of->model, &row->ticks, &variance);
    cell_ratio(v, i->ratio);
    cell_ratio(v, i->ratio_low);
    cell_ratio(v, i->ratio_high);
    cell_difference(v, i->difference);
    cell_difference(v, i->low);
    cell_difference(v, i->high);
    fm_cell_float(v->table, row->test.p);
    fm_cell_float(v->table, row->level);
    fm_cell_percent(v->table, fm_sampled_least_told(&of->model, &row->ticks, row->level));
    fm_cell_float(v->table, row->weight);
    fm_cell_percent(v->table, variance.phi);
}

static void add_row(struct view *v, const struct fm_timing_table *of,
                    const struct fm_timing_row *row)
{
    const struct fm_profile *p = v->t->c->side[FM_BEFORE];
    struct fm_sampled_interval i;
    fm_sampled_interval_of(&of->model, &row->ticks, &i);
    g_autofree char *change = change_of(i.ratio, i.ratio_low, i.ratio_high);
    g_autofree char *verdict = verdict_of(of, row);
    const char *name = p->flavour == FM_FLAVOUR_C ? fm_profile_short_name(p, row->id)
                                                  : p->ps[row->id].qualified_name;
    fm_table_row(v->table, "function", false);
    if (!row->told)
        fm_row_soft(v->table);
    fm_cell_string(v->table, name, row->told ? FM_STYLE_BOLD : FM_STYLE_PLAIN);
    cell_amount(v, i.before, row->ticks.ticks[0]);
    cell_amount(v, i.after, row->ticks.ticks[1]);
    fm_cell_string(v->table, change, FM_STYLE_PLAIN);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        if (v->calls_of[side][row->id] >= 0)
            fm_cell_int(v->table, v->calls_of[side][row->id]);
        else
            fm_cell_empty(v->table);
    }
    fm_cell_string(v->table, verdict, FM_STYLE_PLAIN);
    if (v->options->numbers)
        number_cells(v, of, row, &i);
}

struct ordered {
    const struct fm_timing_row *row;
    double size;
};

static int class_of(const struct fm_timing_row *row)
{
    return row->told ? 0 : row->perhaps ? 1 : 2;
}

static int by_size(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int of_a = class_of(a->row), of_b = class_of(b->row);
    if (of_a != of_b)
        return of_a - of_b;
    if (a->size < b->size || a->size > b->size)
        return a->size > b->size ? -1 : 1;
    return a->row->id < b->row->id ? -1 : a->row->id > b->row->id;
}

/* Adds significant rows, then possible ones, then the largest of the others. */
static void add_rows(struct view *v, struct fm_list *to, const struct fm_timing_table *of,
                     const char *name, bool untold)
{
    const double *e = of->model.per_second;
    g_autoptr(GArray) order = g_array_new(FALSE, FALSE, sizeof(struct ordered));
    unsigned shown = 0, others = 0;
    for (guint i = 0; i < of->rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(of->rows, struct fm_timing_row, i);
        struct ordered it = {
            row, class_of(row) < 2 ? fabs(row->ticks.ticks[1] / e[1] - row->ticks.ticks[0] / e[0])
                                   : row->weight};
        if (class_of(row) < 2 || untold)
            g_array_append_val(order, it);
    }
    if (order->len == 0)
        return;
    g_array_sort(order, by_size);
    header(v, to, name);
    for (guint i = 0; i < order->len; i++) {
        const struct fm_timing_row *row = g_array_index(order, struct ordered, i).row;
        if (class_of(row) == 2 ? others++ >= UNTOLD_SHOWN : shown++ >= v->options->rows_max)
            continue;
        add_row(v, of, row);
    }
}

/* --- below the tables --- */

static void add_few(const struct view *v, struct fm_list *to)
{
    struct fm_sampled_interval i;
    if (v->own.few_count == 0)
        return;
    fm_sampled_interval_of(&v->own.model, &v->own.few, &i);
    g_autofree char *before = amount(v, i.before), *after = amount(v, i.after);
    g_autofree char *low = amount(v, i.low), *high = amount(v, i.high);
    g_autofree char *text = g_strdup_printf(
        "%u more function%s with too few samples: %s before, %s after, a difference from "
        "%s to %s.",
        v->own.few_count, v->own.few_count == 1 ? "" : "s", before, after, low, high);
    fm_add_text(to, text);
}

static const struct fm_timing_row *heaviest_untold(const struct view *v)
{
    const struct fm_timing_row *best = NULL;
    for (guint i = 0; i < v->own.rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(v->own.rows, struct fm_timing_row, i);
        if (!row->told && (best == NULL || row->weight > best->weight))
            best = row;
    }
    return best;
}

/* Says what would be needed to detect a change of 10 % in the largest function. */
static void add_needed(const struct view *v, struct fm_list *to)
{
    const struct fm_timing_row *row = heaviest_untold(v);
    const struct fm_sampled *m = &v->own.model;
    struct fm_sampled_needed needed;
    g_autoptr(GString) ways = g_string_new(NULL);
    if (row == NULL || fm_sampled_least_told(m, &row->ticks, row->level) <= WANTED - 1)
        return;
    fm_sampled_needed_for(m, &row->ticks, WANTED, row->level / 2, &needed);
    if (needed.runs > 0)
        g_string_append_printf(ways, "%u run%s a side", needed.runs, needed.runs == 1 ? "" : "s");
    if (needed.seconds > 0 && is_timed(v)) {
        g_autofree char *seconds = fm_format_time(needed.seconds);
        g_string_append_printf(ways, "%sruns of %s", ways->len > 0 ? ", or " : "", seconds);
    }
    if (needed.rate > 0 && needed.rate <= RATE_MAX && is_timed(v))
        g_string_append_printf(ways, "%s%.0f ticks a second", ways->len > 0 ? ", or " : "",
                               ceil(needed.rate / 10) * 10);
    if (ways->len == 0)
        return;
    g_autofree char *text =
        g_strdup_printf("To find a change of 10 %% of %s, the largest of the others: %s.%s",
                        fm_profile_short_name(v->t->c->side[FM_BEFORE], row->id), ways->str,
                        is_timed(v) && needed.rate > 0 && needed.rate <= RATE_MAX
                            ? " record --tick=cpu-clock:PERIOD takes other rates."
                            : "");
    fm_add_text(to, text);
}

static void add_notes(const struct view *v, struct fm_list *to)
{
    if (v->own.perhaps_count + v->callers.perhaps_count > 0)
        fm_add_text(to, "Perhaps: of equal builds, one comparison in ten has such a row.");
    if (fm_timing_is_restless(&v->own))
        fm_add_text(to, "The functions of these two runs vary by more than runs of one build "
                        "usually do, which may explain what is significant.");
    add_few(v, to);
    add_needed(v, to);
}

/* --- calls --- */

static void count_calls(struct view *v)
{
    const struct fm_compare *c = v->t->c;
    const struct fm_profile *p = c->side[FM_BEFORE];
    bool known = fm_compare_has(c, FM_COMPARE_CALLS);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        v->calls_of[side] = g_new0(int64_t, p->ps_count + 1u);
        for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
            uint32_t pd = p->csd_callee[csd];
            int64_t *of = &v->calls_of[side][p->pd_ps[pd]];
            if (!known || c->uncounted[pd])
                *of = -1;
            else if (*of >= 0)
                *of += fm_profile_calls(c->side[side], csd);
        }
    }
}

static void add_facts(const struct view *v, struct fm_display *display)
{
    const struct fm_sampled *m = &v->own.model;
    fm_display_fact_int(display, "runs_before", m->side[FM_BEFORE].runs);
    fm_display_fact_int(display, "runs_after", m->side[FM_AFTER].runs);
    fm_display_fact_bool(display, "clock", v->t->clock);
    fm_display_fact_double(display, "whole_before", m->mean[FM_BEFORE]);
    fm_display_fact_double(display, "whole_after", m->mean[FM_AFTER]);
    fm_display_fact_double(display, "whole_ratio", v->whole.ratio);
    fm_display_fact_double(display, "whole_ratio_low", v->whole.low);
    fm_display_fact_double(display, "whole_ratio_high", v->whole.high);
    fm_display_fact_bool(display, "whole_told", v->whole.told);
    fm_display_fact_int(display, "functions_told_count", v->own.told_count);
    fm_display_fact_int(display, "functions_perhaps_count", v->own.perhaps_count);
    fm_display_fact_double(display, "variation_percent", 100 * sqrt(m->pooled));
    fm_display_fact_bool(display, "assumed", m->freedom == 0);
}

void fm_times_add(struct fm_display *display, struct fm_list *to, const struct fm_timing *timing,
                  const struct fm_times_options *options)
{
    struct view v = {.t = timing, .options = options};
    fm_timing_whole(timing, &v.whole);
    fm_timing_functions(timing, &v.own);
    fm_timing_callers(timing, &v.own, &v.callers);
    count_calls(&v);
    add_facts(&v, display);
    g_autofree char *title =
        g_strdup_printf("What changed in %s", fm_compare_measure_words(timing->c, timing->measure));
    fm_add_heading(to, title);
    add_method(&v, to);
    add_whole(&v, to);
    add_rows(&v, to, &v.own, "times", true);
    if (v.callers.told_count + v.callers.perhaps_count > 0) {
        fm_add_text(to, "Total time, of functions that lead to none of the above:");
        add_rows(&v, to, &v.callers, "times_with_callees", false);
    }
    add_notes(&v, to);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        g_free(v.calls_of[side]);
    fm_timing_table_done(&v.own);
    fm_timing_table_done(&v.callers);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of rows by all runs. */
#include <math.h>
#include <string.h>

#include "runs/compare/timing.h"
#include "runs/compare/totals.h"
#include "runs/sampled/tails.h"

/* The linker's placement alone changes each function's time between two builds by as much, and no
 * number of runs shows that: smaller changes are never reported. */
#define FLOOR 0.02
#define RARELY_THE_MACHINE 1.5
#define RESTLESS 0.001
#define CALM_VARIANCE 0.01
#define CALM_ROWS 8u

static bool is_within_floor(const struct fm_timing_table *table, const struct fm_timing_row *row)
{
    const double *e = table->model.per_second;
    double before = row->ticks.ticks[0] / e[0] * row->expected, after = row->ticks.ticks[1] / e[1];
    return fabs(after - before) <= FLOOR * before;
}

/* Holm's test at one level; a row is reported if both tests hold. */
static void hold(struct fm_timing_table *table, double alpha, bool perhaps)
{
    guint count = table->rows->len;
    g_autofree double *p = g_new(double, count), *weight = g_new(double, count);
    g_autofree bool *told = g_new0(bool, count);
    for (guint i = 0; i < count; i++) {
        const struct fm_timing_row *row = &g_array_index(table->rows, struct fm_timing_row, i);
        p[i] = row->test.p;
        weight[i] = row->weight;
    }
    fm_sampled_holm(p, weight, count, alpha, told, NULL);
    for (guint i = 0; i < count; i++) {
        struct fm_timing_row *row = &g_array_index(table->rows, struct fm_timing_row, i);
        bool here = told[i] && !is_within_floor(table, row);
        if (perhaps)
            row->perhaps = here && !row->told;
        else
            row->told = here;
        table->told_count += !perhaps && row->told;
        table->perhaps_count += perhaps && row->perhaps;
    }
}

static void add_few(struct fm_timing_table *table, const double *ticks, unsigned runs, double *sums)
{
    table->few_count++;
    for (unsigned run = 0; run < runs; run++)
        sums[run] += ticks[run];
}

void fm_timing_table_init(struct fm_timing_table *ret, const struct fm_timing *t,
                          const double *ticks, size_t count, const uint32_t *ids,
                          const double *expected, const bool *excluded)
{
    g_autofree struct fm_sampled_row *all = g_new(struct fm_sampled_row, count);
    g_autofree double *few = g_new0(double, t->runs);
    *ret = (struct fm_timing_table){
        .model = t->model, .rows = g_array_new(FALSE, FALSE, sizeof(struct fm_timing_row))};
    for (size_t i = 0; i < count; i++)
        fm_sampled_row_init(&t->model, &ticks[i * t->runs], &all[i]);
    fm_sampled_pool(&ret->model, all, count);
    for (size_t i = 0; i < count; i++) {
        struct fm_timing_row row = {.id = ids[i],
                                    .ticks = all[i],
                                    .expected = expected != NULL ? expected[i] : 1,
                                    .weight = all[i].ticks[0] + all[i].ticks[1]};
        if (excluded != NULL && excluded[i])
            continue;
        if (row.weight < FM_SAMPLED_LEAST_TICKS) {
            if (row.weight > 0)
                add_few(ret, &ticks[i * t->runs], t->runs, few);
            continue;
        }
        fm_sampled_test(&ret->model, &row.ticks, row.expected, &row.test);
        ret->weight += row.weight;
        g_array_append_val(ret->rows, row);
    }
    for (guint i = 0; i < ret->rows->len; i++) {
        struct fm_timing_row *row = &g_array_index(ret->rows, struct fm_timing_row, i);
        row->level = FM_SAMPLED_ALPHA * row->weight / ret->weight;
    }
    fm_sampled_row_init(&t->model, few, &ret->few);
    hold(ret, FM_SAMPLED_ALPHA, false);
    hold(ret, FM_SAMPLED_PERHAPS, true);
}

void fm_timing_table_done(struct fm_timing_table *table)
{
    g_clear_pointer(&table->rows, g_array_unref);
}

/* --- functions --- */

struct by_function {
    const struct fm_timing *t;
    bool totals;   /* else own times */
    double *ticks; /* [ps][run] */
};

static void collect_functions(void *user, unsigned run, const struct fm_timing_ticks *of)
{
    struct by_function *f = user;
    const struct fm_compare *c = f->t->c;
    const struct fm_profile *p = c->side[FM_BEFORE];
    for (uint32_t at = 0; at < c->order_count; at++) {
        uint32_t pd = c->order[at];
        double ticks = f->totals ? of->adds[pd] : of->own[pd];
        f->ticks[(size_t)p->pd_ps[pd] * f->t->runs + run] += ticks;
    }
}

/* Threads and signals are not functions: their rows are excluded. excluded: [ps + 1], freed. */
static void table_of_functions(struct by_function *f, bool *excluded, struct fm_timing_table *ret)
{
    const struct fm_profile *p = f->t->c->side[FM_BEFORE];
    size_t count = p->ps_count + 1u;
    g_autofree uint32_t *ids = g_new(uint32_t, count);
    g_autofree bool *none = excluded;
    f->ticks = g_new0(double, count * f->t->runs);
    for (uint32_t ps = 0; ps <= p->ps_count; ps++) {
        ids[ps] = ps;
        none[ps] = none[ps] || ps == 0 || !fm_profile_is_function(p, ps);
    }
    fm_timing_each_run(f->t, collect_functions, f);
    fm_timing_table_init(ret, f->t, f->ticks, count, ids, NULL, none);
    g_clear_pointer(&f->ticks, g_free);
}

void fm_timing_functions(const struct fm_timing *t, struct fm_timing_table *ret)
{
    struct by_function f = {.t = t};
    table_of_functions(&f, g_new0(bool, t->c->side[FM_BEFORE]->ps_count + 1u), ret);
}

static uint32_t parent_of(const struct fm_compare *c, uint32_t pd)
{
    uint32_t csd = c->tree_csd[pd];
    return csd == 0 ? 0 : c->side[FM_BEFORE]->csd_caller[csd];
}

/* Functions inside recursions whose totals some run did not record. */
static void exclude_unknown(const struct fm_timing *t, bool *excluded)
{
    const struct fm_compare *c = t->c;
    const struct fm_profile *p = c->side[FM_BEFORE];
    for (unsigned i = 0; i < t->runs; i++) {
        enum fm_side side = i < t->model.side[FM_BEFORE].runs ? FM_BEFORE : FM_AFTER;
        struct fm_compare_records records;
        fm_compare_records_init(&records, c, side,
                                side == FM_BEFORE ? i : i - t->model.side[FM_BEFORE].runs,
                                t->measure);
        for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
            if (fm_compare_is_inside(c, pd) && records.states[pd] == FM_RECORD_UNKNOWN)
                excluded[p->pd_ps[pd]] = true;
        }
        fm_compare_records_done(&records);
    }
}

void fm_timing_callers(const struct fm_timing *t, const struct fm_timing_table *own,
                       struct fm_timing_table *ret)
{
    const struct fm_compare *c = t->c;
    const struct fm_profile *p = c->side[FM_BEFORE];
    g_autofree bool *told = g_new0(bool, p->ps_count + 1u);
    g_autofree bool *leads = g_new0(bool, p->pd_count + 1u);
    bool *excluded = g_new0(bool, p->ps_count + 1u);
    for (guint i = 0; i < own->rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(own->rows, struct fm_timing_row, i);
        told[row->id] = row->told;
    }
    for (uint32_t at = c->order_count; at-- > 0;) {
        uint32_t pd = c->order[at], above = parent_of(c, pd);
        leads[pd] = leads[pd] || told[p->pd_ps[pd]];
        excluded[p->pd_ps[pd]] = excluded[p->pd_ps[pd]] || leads[pd];
        leads[above] = leads[above] || leads[pd];
    }
    exclude_unknown(t, excluded);
    struct by_function f = {.t = t, .totals = true};
    table_of_functions(&f, excluded, ret);
}

/* --- contexts --- */

/* Rows: contexts with all below them in the tree, then contexts' parts in their recursions. */
struct by_context {
    const struct fm_timing *t;
    uint32_t count; /* contexts + 1 */
    double *sums;   /* [row]: of all runs */
    uint32_t *row;  /* [row]: of those with ticks enough, + 1 */
    double *ticks;  /* [row][run] */
};

static double context_ticks(const struct by_context *b, const struct fm_timing_ticks *of,
                            uint32_t row)
{
    return row < b->count ? of->tree[row] : of->part[row - b->count];
}

/* Elsewhere the part is all that is below the context. */
static bool is_row(const struct by_context *b, uint32_t row)
{
    return row < b->count ? row != 0 : row != b->count && b->t->c->head[row - b->count] != 0;
}

static void sum_contexts(void *user, unsigned run, const struct fm_timing_ticks *of)
{
    struct by_context *b = user;
    (void)run;
    for (uint32_t row = 0; row < 2 * b->count; row++)
        b->sums[row] += is_row(b, row) ? context_ticks(b, of, row) : 0;
}

static void collect_contexts(void *user, unsigned run, const struct fm_timing_ticks *of)
{
    struct by_context *b = user;
    for (uint32_t row = 0; row < 2 * b->count; row++) {
        if (b->row[row] != 0)
            b->ticks[(size_t)(b->row[row] - 1) * b->t->runs + run] = context_ticks(b, of, row);
    }
}

/* Numbers the rows with ticks enough, of all runs; their count, and each one's row in ret_ids. */
static uint32_t choose_contexts(struct by_context *b, uint32_t *ret_ids)
{
    uint32_t rows = 0;
    fm_timing_each_run(b->t, sum_contexts, b);
    for (uint32_t row = 0; row < 2 * b->count; row++) {
        if (b->sums[row] < FM_SAMPLED_LEAST_TICKS)
            continue;
        ret_ids[rows] = row;
        b->row[row] = ++rows;
    }
    return rows;
}

bool *fm_timing_contexts(const struct fm_timing *t, bool **ret_parts)
{
    struct by_context b = {.t = t, .count = t->c->side[FM_BEFORE]->pd_count + 1u};
    struct fm_timing_table table;
    bool *told[] = {g_new0(bool, b.count), g_new0(bool, b.count)};
    b.sums = g_new0(double, (size_t)2 * b.count);
    b.row = g_new0(uint32_t, (size_t)2 * b.count);
    g_autofree uint32_t *ids = g_new(uint32_t, (size_t)2 * b.count);
    uint32_t rows = choose_contexts(&b, ids);
    b.ticks = g_new0(double, (size_t)rows * t->runs + 1u);
    fm_timing_each_run(t, collect_contexts, &b);
    fm_timing_table_init(&table, t, b.ticks, rows, ids, NULL, NULL);
    for (guint i = 0; i < table.rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(table.rows, struct fm_timing_row, i);
        bool is_part = row->id >= b.count;
        told[is_part][is_part ? row->id - b.count : row->id] = row->told;
    }
    for (uint32_t pd = 1; pd < b.count; pd++) {
        if (t->c->head[pd] == 0)
            told[1][pd] = told[0][pd];
    }
    fm_timing_table_done(&table);
    g_free(b.sums);
    g_free(b.row);
    g_free(b.ticks);
    *ret_parts = told[1];
    return told[0];
}

/* --- the whole --- */

void fm_timing_whole(const struct fm_timing *t, struct fm_sampled_whole *ret)
{
    fm_sampled_whole_of(&t->model, ret);
    ret->told = ret->told && t->model.all[0] + t->model.all[1] >= FM_SAMPLED_LEAST_TICKS;
}

bool fm_timing_differs(const struct fm_compare *c, enum fm_measure_id measure)
{
    struct fm_timing t;
    struct fm_timing_table table;
    struct fm_sampled_whole whole;
    if (!fm_timing_init(&t, c, measure))
        return false;
    fm_timing_whole(&t, &whole);
    /* A small factor between two runs may be the machine. */
    bool differs = whole.told && (t.model.freedom > 0 || whole.ratio > RARELY_THE_MACHINE ||
                                  whole.ratio < 1 / RARELY_THE_MACHINE);
    if (!differs) {
        fm_timing_functions(&t, &table);
        differs = table.told_count > 0;
        fm_timing_table_done(&table);
    }
    fm_timing_done(&t);
    return differs;
}

/* Logarithms of the ratios of rows that have samples enough, around their lower median: their sum
 * of squares, in variances, is a chi-square where 2 % are enough. */
bool fm_timing_is_restless(const struct fm_timing_table *table)
{
    const struct fm_sampled *m = &table->model;
    g_autoptr(GArray) logs = g_array_new(FALSE, FALSE, sizeof(double));
    g_autoptr(GArray) variances = g_array_new(FALSE, FALSE, sizeof(double));
    double chi = 0, middle = 0;
    if (m->freedom > 0 || m->options.measured)
        return false;
    for (guint i = 0; i < table->rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(table->rows, struct fm_timing_row, i);
        struct fm_sampled_variance v;
        fm_sampled_variance_of(m, &row->ticks, &v);
        double all = v.sampling + v.row;
        double one = log((row->ticks.ticks[1] + 0.5) / m->per_second[1]) -
                     log((row->ticks.ticks[0] + 0.5) / m->per_second[0]);
        if (row->told || v.sampling > CALM_VARIANCE)
            continue;
        g_array_append_val(logs, one);
        g_array_append_val(variances, all);
    }
    if (logs->len < CALM_ROWS)
        return false;
    for (guint i = 0; i < logs->len; i++) {
        guint below = 0;
        double one = g_array_index(logs, double, i);
        for (guint k = 0; k < logs->len; k++) {
            double other = g_array_index(logs, double, k);
            below += other < one || (other <= one && k < i);
        }
        if (below == (logs->len - 1) / 2)
            middle = one;
    }
    for (guint i = 0; i < logs->len; i++) {
        double off = g_array_index(logs, double, i) - middle;
        chi += off * off / g_array_index(variances, double, i);
    }
    return fm_sampled_gamma((logs->len - 1) / 2.0, chi / 2) < RESTLESS;
}

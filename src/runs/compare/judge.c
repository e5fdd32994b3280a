/* SPDX-License-Identifier: Apache-2.0 */
/* Causes of a difference of samples: each is a row. Its ticks are its contexts' own where their
 * code costs more or less, against the ratio of their exact calls; else those of all below them. */
#include "runs/compare/internal.h"
#include "runs/compare/timing.h"

struct judging {
    const struct fm_timing *t;
    const struct fm_causes *causes;
    double *ticks; /* [cause][run] */
};

static void collect(void *user, unsigned run, const struct fm_timing_ticks *ticks)
{
    struct judging *j = user;
    enum fm_side side = run < j->t->model.side[FM_BEFORE].runs ? FM_BEFORE : FM_AFTER;
    for (guint i = 0; i < j->causes->causes->len; i++) {
        const struct fm_cause *cause = &g_array_index(j->causes->causes, struct fm_cause, i);
        double sum = 0;
        for (guint k = 0; k < cause->contexts->len; k++) {
            uint32_t pd = g_array_index(cause->contexts, struct fm_cause_context, k).of[side];
            sum += cause->kind == FM_CAUSE_SELF ? ticks->own[pd] : ticks->tree[pd];
        }
        j->ticks[(size_t)i * j->t->runs + run] = sum;
    }
}

/* Ratio of after's calls to before's, by which costs grow if a call costs the same. 1 if calls are
 * not counted. */
static double expected_of(const struct fm_cause *cause)
{
    double calls[FM_SIDES] = {0, 0};
    bool known = cause->kind == FM_CAUSE_SELF;
    for (guint k = 0; k < cause->contexts->len; k++) {
        const struct fm_cause_context *context =
            &g_array_index(cause->contexts, struct fm_cause_context, k);
        for (int side = FM_BEFORE; side < FM_SIDES; side++) {
            known = known && context->calls[side] > 0;
            calls[side] += (double)context->calls[side];
        }
    }
    return known ? calls[FM_AFTER] / calls[FM_BEFORE] : 1;
}

bool fm_causes_judge(struct fm_causes *causes, const struct fm_compare *c)
{
    struct fm_timing t;
    struct fm_timing_table table;
    guint count = causes->causes->len;
    if (!fm_timing_init(&t, c, causes->measure))
        return false;
    struct judging j = {&t, causes, g_new0(double, (size_t)count *t.runs + 1)};
    g_autofree uint32_t *ids = g_new0(uint32_t, count + 1u);
    g_autofree double *expected = g_new0(double, count + 1u);
    for (guint i = 0; i < count; i++) {
        struct fm_cause *cause = &g_array_index(causes->causes, struct fm_cause, i);
        ids[i] = i;
        expected[i] = expected_of(cause);
        cause->told = false;
    }
    fm_timing_each_run(&t, collect, &j);
    fm_timing_table_init(&table, &t, j.ticks, count, ids, expected, NULL);
    for (guint i = 0; i < table.rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(table.rows, struct fm_timing_row, i);
        g_array_index(causes->causes, struct fm_cause, row->id).told = row->told;
    }
    fm_timing_table_done(&table);
    g_free(j.ticks);
    fm_timing_done(&t);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* All limits on what is sampled, together: one pass over the runs collects their ticks, and with
 * many limits each is judged the more strictly. */
#include <math.h>
#include <string.h>

#include "display/display.h"
#include "runs/gate/internal.h"

#define RUNS_MAX 50u /* more are no advice */
#define LOOSE 1e-3   /* a ratio within it is no distance from the bound */

void fm_timed_done(void *data)
{
    struct fm_timed *timed = data;
    g_clear_pointer(&timed->contexts, g_array_unref);
}

struct judging {
    const GArray *timed;
    struct fm_judgement *judgements;
    struct fm_told *told; /* by number of the timed limit, as the next two */
    struct fm_sampled_row *rows;
    struct fm_sampled *models;
    const struct fm_timing *timing; /* its measure is collected */
    double *ticks;                  /* [timed][run] */
};

static const struct fm_timed *timed_at(const struct judging *j, guint i)
{
    return &g_array_index(j->timed, struct fm_timed, i);
}

static void collect(void *user, unsigned run, const struct fm_timing_ticks *ticks)
{
    struct judging *j = user;
    for (guint i = 0; i < j->timed->len; i++) {
        const struct fm_timed *timed = timed_at(j, i);
        double sum = 0;
        if (timed->id != j->timing->measure || timed->contexts == NULL)
            continue;
        const struct fm_stacks stacks = {timed->contexts, timed->overlap};
        if (!timed->self)
            sum = fm_stacks_sum_ticks(&stacks, j->timing->c, ticks->adds, ticks->tree);
        for (guint k = 0; timed->self && k < timed->contexts->len; k++)
            sum += ticks->own[g_array_index(timed->contexts, uint32_t, k)];
        j->ticks[(size_t)i * j->timing->runs + run] = sum;
    }
}

static void judge_one(struct judging *j, guint i, const struct fm_sampled *model)
{
    const struct fm_timed *timed = timed_at(j, i);
    struct fm_judgement *it = &j->judgements[timed->number];
    const struct fm_sampled_row *row = NULL;
    double seconds[FM_SIDES] = {model->mean[FM_BEFORE], model->mean[FM_AFTER]};
    if (timed->contexts != NULL) {
        fm_sampled_row_init(model, &j->ticks[(size_t)i * j->timing->runs], &j->rows[i]);
        row = &j->rows[i];
        for (int side = FM_BEFORE; side < FM_SIDES; side++)
            seconds[side] = row->ticks[side] / model->per_second[side];
    }
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        it->value[side] = seconds[side] / timed->calls[side];
    it->allowed = fm_bound_allowed(it->limit, it->value[FM_BEFORE]);
    j->models[i] = *model;
    fm_time_against_bound(model, row, it->limit, it->value[FM_BEFORE], it->allowed, timed->calls,
                          &j->told[i]);
}

/* The limits of one measure, with how its functions vary. */
static void judge_measure(struct judging *j, const struct fm_compare *c, enum fm_measure_id id)
{
    struct fm_timing timing;
    struct fm_timing_table functions;
    if (!fm_timing_init(&timing, c, id))
        g_assert_not_reached(); /* it would not be here */
    j->timing = &timing;
    j->ticks = g_new0(double, (size_t)j->timed->len *timing.runs + 1);
    fm_timing_functions(&timing, &functions);
    fm_timing_each_run(&timing, collect, j);
    for (guint i = 0; i < j->timed->len; i++) {
        if (timed_at(j, i)->id == id)
            judge_one(j, i, &functions.model);
    }
    fm_timing_table_done(&functions);
    g_clear_pointer(&j->ticks, g_free);
    fm_timing_done(&timing);
}

/* Ways to decide on which side of the bound the value lies. */
static char *needed_for(const struct judging *j, guint i)
{
    const struct fm_timed *timed = timed_at(j, i);
    const struct fm_told *told = &j->told[i];
    const struct fm_sampled_row *row = timed->contexts != NULL ? &j->rows[i] : NULL;
    const struct fm_sampled *m = &j->models[i];
    double value = m->mean[FM_AFTER] / m->mean[FM_BEFORE];
    struct fm_sampled_needed needed;
    if (row != NULL)
        value = row->ticks[FM_AFTER] / m->per_second[FM_AFTER] /
                (row->ticks[FM_BEFORE] / m->per_second[FM_BEFORE]);
    if (told->absolute)
        value = row != NULL ? row->ticks[FM_AFTER] / m->per_second[FM_AFTER] : m->mean[FM_AFTER];
    const struct fm_limit *limit = j->judgements[timed->number].limit;
    bool at_most = limit->op == FM_AT_MOST || limit->op == FM_BELOW;
    bool beyond = at_most ? value > told->allowed : value < told->allowed;
    double off = value / (beyond ? told->allowed : told->tolerated);
    if (!isfinite(off) || off <= 0 || fabs(off - 1) < LOOSE)
        return g_strdup("the value lies at the bound itself: widen the margin");
    fm_sampled_needed_for(m, row, off, beyond ? 1 - limit->confidence / 100 : FM_SAMPLED_PASSES,
                          &needed);
    if (needed.runs == 0 || needed.runs > RUNS_MAX)
        return g_strdup_printf("it would take more than %u runs a side: widen the margin",
                               RUNS_MAX);
    if (needed.seconds <= 0 || strcmp(limit->measure, "time") != 0)
        return g_strdup_printf("%u runs a side would decide it", needed.runs);
    g_autofree char *longer = fm_format_time(needed.seconds);
    return g_strdup_printf("%u runs a side would decide it, or runs of %s", needed.runs, longer);
}

static void decide(struct judging *j, guint i, bool fails, const struct fm_gate_options *options)
{
    struct fm_judgement *it = &j->judgements[timed_at(j, i)->number];
    if (fails) {
        it->verdict = FM_VERDICT_BROKEN;
    } else if (j->told[i].p_pass > fm_sampled_look_level(options->looks, false)) {
        it->verdict = options->strict ? FM_VERDICT_BROKEN : FM_VERDICT_NOT_TOLD;
        g_autofree char *needed = needed_for(j, i);
        it->why = g_strdup_printf("chance may explain it; %s", needed);
    }
}

void fm_timed_judge(const struct fm_compare *c, const GArray *timed, GArray *judgements,
                    const struct fm_gate_options *options)
{
    guint count = timed->len;
    struct judging j = {.timed = timed,
                        .judgements = (void *)judgements->data,
                        .told = g_new0(struct fm_told, count + 1u),
                        .rows = g_new0(struct fm_sampled_row, count + 1u),
                        .models = g_new0(struct fm_sampled, count + 1u)};
    g_autofree double *p = g_new0(double, count + 1u), *weight = g_new0(double, count + 1u);
    g_autofree bool *fails = g_new0(bool, count + 1u);
    for (unsigned id = 0; id < FM_MEASURES_MAX; id++) {
        bool any = false;
        for (guint i = 0; i < count; i++)
            any = any || timed_at(&j, i)->id == id;
        if (any)
            judge_measure(&j, c, (enum fm_measure_id)id);
    }
    for (guint i = 0; i < count; i++) {
        double chance = 1 - j.judgements[timed_at(&j, i)->number].limit->confidence / 100;
        p[i] = j.told[i].p_fail / chance;
        weight[i] = 1;
    }
    fm_sampled_holm(p, weight, count,
                    fm_sampled_look_level(options->looks, true) / FM_SAMPLED_FAILS, fails, NULL);
    for (guint i = 0; i < count; i++)
        decide(&j, i, fails[i], options);
    g_free(j.told);
    g_free(j.rows);
    g_free(j.models);
}

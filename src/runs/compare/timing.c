/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks of all runs over the common graph, and the clocks of the runs. */
#include "runs/compare/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runs/compare/internal.h"
#include "runs/compare/totals.h"
#include "runs/sampled/tails.h"

/* part of all calls: a larger difference is other work, not another machine */
#define OTHER_WORK 0.1
#define ONE_RATE 1.5   /* runs whose ticks differ by more were recorded at different rates */
#define DISTURBED 0.05 /* part of a run's time, and beyond: */
#define DISTURBED_DEVIATIONS (4 * 1.4826) /* times the median of distances */
#define DISTURBED_OF 4u
#define LEFT_LEAST 3u

bool fm_timing_seconds(const struct fm_profile *run, double *ret)
{
    const struct fm_wait_info *info = &run->run_info.wait_info;
    double quanta = (double)run->user_quanta + (double)run->instrumentation_quanta, clock = 0;
    double sampled = run->ticks_per_second > 0 ? quanta / (double)run->ticks_per_second : quanta;
    for (uint32_t i = 0; i < info->thread_count; i++)
        clock += (double)info->threads[i].cpu_ns / 1e9;
    bool known = run->ticks_per_second > 0 && clock > 0 && !fm_profile_is(run, FM_NATURE_CLOCK);
    *ret = known ? fmax(clock, sampled) : sampled;
    return known;
}

bool fm_timing_mean_seconds(const struct fm_compare *c, enum fm_side side, double *ret)
{
    bool all = true;
    *ret = 0;
    for (unsigned i = 0; i < c->run_count[side] && all; i++) {
        double seconds;
        all = fm_timing_seconds(c->runs[side][i], &seconds);
        *ret += seconds / c->run_count[side];
    }
    return all;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median_of(const double *values, unsigned count)
{
    g_autofree double *sorted = g_memdup2(values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, by_value);
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

unsigned fm_timing_disturbed(const struct fm_profile *const *runs, unsigned count, bool *left_out)
{
    g_autofree double *times = g_new0(double, count), *off = g_new0(double, count);
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        left_out[i] = false;
        fm_timing_seconds(runs[i], &times[i]);
        times[i] = log(fmax(times[i], 1e-9));
    }
    if (count < DISTURBED_OF)
        return 0;
    double median = median_of(times, count);
    for (unsigned i = 0; i < count; i++)
        off[i] = fabs(times[i] - median);
    double allowed = DISTURBED + DISTURBED_DEVIATIONS * median_of(off, count);
    for (unsigned i = 0; i < count; i++)
        found += off[i] > allowed;
    if (found == 0 || count - found < LEFT_LEAST)
        return 0;
    for (unsigned i = 0; i < count; i++)
        left_out[i] = off[i] > allowed;
    return found;
}

/* --- one measure --- */

static const struct fm_profile *run_of(const struct fm_timing *t, unsigned run, enum fm_side *side,
                                       unsigned *number)
{
    unsigned before = t->c->run_count[FM_BEFORE];
    *side = run < before ? FM_BEFORE : FM_AFTER;
    *number = run < before ? run : run - before;
    return t->c->runs[*side][*number];
}

/* One run's own effective tick, in the unit that is shown. */
static double own_tick(const struct fm_timing *t, const struct fm_profile *run)
{
    double ticks = (double)run->ticks_per_second;
    return fm_profile_sample_quanta(run) / (t->measure == FM_QUANTA && ticks > 0 ? ticks : 1);
}

static bool has_clock(const struct fm_timing *t)
{
    bool all = t->measure == FM_QUANTA;
    for (unsigned i = 0; i < t->runs && all; i++) {
        enum fm_side side;
        unsigned number;
        double seconds;
        all = fm_timing_seconds(run_of(t, i, &side, &number), &seconds);
    }
    return all;
}

/* Runs of one rate share one estimate of their tick. */
static void set_ticks(const struct fm_timing *t, struct fm_sampled_side *side, enum fm_side of)
{
    double least = INFINITY, most = 0;
    for (unsigned i = 0; i < side->runs && t->measure == FM_QUANTA; i++) {
        double tick = own_tick(t, t->c->runs[of][i]);
        least = fmin(least, tick);
        most = fmax(most, tick);
    }
    for (unsigned i = 0; i < side->runs; i++)
        side->tick[i] = most > ONE_RATE * least ? own_tick(t, t->c->runs[of][i]) : t->tick[of];
}

static void set_side(const struct fm_timing *t, struct fm_sampled_side *side, enum fm_side of)
{
    *side = (struct fm_sampled_side){.runs = t->measure == FM_QUANTA ? t->c->run_count[of] : 1};
    for (unsigned i = 0; i < side->runs; i++) {
        const struct fm_profile *run = t->c->runs[of][i];
        double quanta = (double)run->user_quanta + (double)run->instrumentation_quanta;
        if (t->measure != FM_QUANTA)
            side->seconds[i] = (double)fm_compare_total(t->c, t->measure, of) * t->scale;
        else if (!t->clock || !fm_timing_seconds(run, &side->seconds[i]))
            side->seconds[i] =
                quanta / (run->ticks_per_second > 0 ? (double)run->ticks_per_second : 1);
    }
    set_ticks(t, side, of);
}

static bool is_other_work(const struct fm_compare *c)
{
    if (!fm_compare_has(c, FM_COMPARE_CALLS))
        return false;
    double before = (double)fm_compare_total(c, FM_COMPARE_CALLS, FM_BEFORE);
    double after = (double)fm_compare_total(c, FM_COMPARE_CALLS, FM_AFTER);
    return fabs(after - before) > OTHER_WORK * before;
}

bool fm_timing_init(struct fm_timing *ret, const struct fm_compare *c, enum fm_measure_id measure)
{
    struct fm_sampled_side sides[FM_SIDES];
    bool measured = strcmp(fm_compare_certainty(c, measure), "measured") == 0;
    *ret = (struct fm_timing){.c = c, .measure = measure};
    if (measure == FM_COMPARE_CALLS || !fm_compare_has(c, measure) ||
        (fm_compare_sample(c, measure, FM_BEFORE) <= 0 &&
         fm_compare_sample(c, measure, FM_AFTER) <= 0))
        return false;
    ret->runs = measure == FM_QUANTA ? c->run_count[FM_BEFORE] + c->run_count[FM_AFTER] : FM_SIDES;
    ret->scale = fm_compare_scale(c, measure);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        ret->tick[side] =
            fmax(fm_compare_sample(c, measure, (enum fm_side)side), 1) * ret->scale *
            (measure == FM_QUANTA ? (double)c->quanta_parts / c->run_count[!side] : 1);
    ret->clock = has_clock(ret);
    set_side(ret, &sides[FM_BEFORE], FM_BEFORE);
    set_side(ret, &sides[FM_AFTER], FM_AFTER);
    const struct fm_sampled_options options = {.variation = c->variation,
                                               .other_work = is_other_work(c),
                                               .seconds_sampled = !ret->clock,
                                               .measured = measured};
    fm_sampled_begin(&ret->model, &sides[FM_BEFORE], &sides[FM_AFTER], &options);
    ret->home = fm_compare_homes(c);
    return true;
}

void fm_timing_done(struct fm_timing *t)
{
    g_clear_pointer(&t->home, g_free);
}

/* --- ticks --- */

static void add_run(const struct fm_timing *t, unsigned run, double *own)
{
    const struct fm_profile *graph = t->c->side[FM_BEFORE];
    enum fm_side side;
    unsigned number;
    const struct fm_profile *of = run_of(t, run, &side, &number);
    const uint32_t *csds = t->c->run_csds[side][number];
    double ticks =
        t->measure == FM_QUANTA && of->ticks_per_second > 0 ? (double)of->ticks_per_second : 1;
    double each = t->model.side[side].tick[number] * ticks;
    for (uint32_t csd = 1; csd <= of->csd_count; csd++) {
        uint64_t quanta = fm_profile_own(of, csd, t->measure);
        if (quanta != 0 && csds[csd] != 0)
            own[t->home[graph->csd_callee[csds[csd]]]] += (double)quanta / each;
    }
}

/* For a measure other than time: the middle run's values in the joined graph. */
static void add_column(const struct fm_timing *t, enum fm_side side, double *own)
{
    const struct fm_profile *p = t->c->side[side];
    for (uint32_t csd = 1; csd <= p->csd_count; csd++)
        own[t->home[p->csd_callee[csd]]] +=
            (double)fm_profile_own(p, csd, t->measure) * t->scale / t->tick[side];
}

/* [pd + 1] as struct fm_compare_totals has them. */
struct sums {
    double *own, *tree, *total, *adds, *part;
};

/* Ticks of the run, or quanta of the measure, for one of its records. */
static double tick_of(const struct fm_timing *t, unsigned run)
{
    enum fm_side side;
    unsigned number;
    const struct fm_profile *of = run_of(t, run, &side, &number);
    if (t->measure != FM_QUANTA)
        return t->tick[side] / t->scale;
    return t->model.side[side].tick[number] *
           (of->ticks_per_second > 0 ? (double)of->ticks_per_second : 1);
}

static void add_up(const struct fm_timing *t, unsigned run, const struct sums *s)
{
    const struct fm_compare *c = t->c;
    const struct fm_profile *p = c->side[FM_BEFORE];
    size_t size = (p->pd_count + 1u) * sizeof(double);
    enum fm_side side;
    unsigned number = run;
    struct fm_compare_records records;
    memcpy(s->tree, s->own, size);
    memcpy(s->part, s->own, size);
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at], above = p->csd_caller[c->tree_csd[pd]];
        s->tree[above] += s->tree[pd];
        s->part[above] += fm_compare_crosses(c, pd) ? s->tree[pd] : 0;
    }
    double each = tick_of(t, run);
    run_of(t, run, &side, &number);
    fm_compare_records_init(&records, c, side, number, t->measure);
    for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
        double record = (double)records.values[pd] / each;
        double whole = fmax(s->tree[c->head[pd] == 0 ? pd : c->head[pd]], s->part[pd]);
        if (p->flavour != FM_FLAVOUR_C)
            s->total[pd] = s->part[pd];
        else if (!fm_compare_is_inside(c, pd))
            s->total[pd] = s->tree[pd];
        else
            s->total[pd] = records.states[pd] == FM_RECORD_UNKNOWN
                               ? whole
                               : fmin(fmax(record, s->part[pd]), whole);
        s->adds[pd] =
            records.states[pd] == FM_RECORD_KNOWN ? fmin(record, s->total[pd]) : s->total[pd];
    }
    fm_compare_records_done(&records);
}

void fm_timing_each_run(const struct fm_timing *t, fm_timing_collect_fn collect, void *user)
{
    size_t count = t->c->side[FM_BEFORE]->pd_count + 1u;
    const struct sums s = {g_new(double, count), g_new0(double, count), g_new0(double, count),
                           g_new0(double, count), g_new0(double, count)};
    const struct fm_timing_ticks ticks = {s.own, s.tree, s.total, s.adds, s.part};
    for (unsigned run = 0; run < t->runs; run++) {
        memset(s.own, 0, count * sizeof *s.own);
        if (t->measure == FM_QUANTA)
            add_run(t, run, s.own);
        else
            add_column(t, (enum fm_side)run, s.own);
        add_up(t, run, &s);
        collect(user, run, &ticks);
    }
    g_free(s.own);
    g_free(s.tree);
    g_free(s.total);
    g_free(s.adds);
    g_free(s.part);
}

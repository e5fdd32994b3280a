/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two moments for data in lists. Earlier entries are found by their keys, because
 * lists change their order. */
#include "record/raw/since.h"

#include <string.h>

/* --- waits --- */

static const struct fm_raw_wait *wait_of_kind(const struct fm_raw_recording *recording,
                                              uint32_t first, uint32_t kind)
{
    for (uint32_t at = first; at != 0; at = recording->waits[at].next)
        if (recording->waits[at].kind == kind)
            return &recording->waits[at];
    return NULL;
}

/* One lock and one holder may have two entries: one for waits that are over, one for an open
 * wait. */
static void subtract_blame(const struct fm_raw_since *since, struct fm_raw_blame *blame,
                           struct fm_raw_blame *then)
{
    uint32_t holder = then->holder == FM_RAW_NONE ? FM_RAW_NONE : since->now_csd[then->holder];
    if (then->lock != blame->lock || holder != blame->holder ||
        (blame->lock != 0 && then->epoch != blame->epoch))
        return;
    uint64_t waits = MIN(then->waits, blame->waits), ns = MIN(then->ns, blame->ns);
    blame->waits -= waits;
    blame->ns -= ns;
    then->waits -= waits;
    then->ns -= ns;
}

/* Removes entries without waiting from the list. */
static uint32_t subtract_blames(const struct fm_raw_since *since, uint32_t first, uint32_t before)
{
    struct fm_raw_blame *blames = since->now->blames;
    g_autoptr(GArray) then = g_array_new(FALSE, FALSE, sizeof(struct fm_raw_blame));
    for (uint32_t at = before; at != 0; at = since->then->blames[at].next)
        g_array_append_val(then, since->then->blames[at]);
    uint32_t *link = &first;
    while (*link != 0) {
        struct fm_raw_blame *blame = &blames[*link];
        for (guint i = 0; i < then->len; i++)
            subtract_blame(since, blame, &g_array_index(then, struct fm_raw_blame, i));
        blame->longest_ns = MIN(blame->longest_ns, blame->ns);
        if (blame->waits == 0)
            *link = blame->next;
        else
            link = &blame->next;
    }
    return first;
}

/* The part before is that of waits that are over, and of those that were not. */
static void subtract_wait(const struct fm_raw_since *since, struct fm_raw_wait *wait,
                          const struct fm_raw_wait *then)
{
    wait->calls = fm_raw_less(wait->calls, then->calls);
    wait->waits = fm_raw_less(wait->waits, then->waits);
    wait->ns = wait->waits == 0 ? 0 : fm_raw_less(wait->ns, then->ns);
    wait->short_ns = fm_raw_less(wait->short_ns, then->short_ns);
    wait->cpu_quanta = fm_raw_less(wait->cpu_quanta, then->cpu_quanta);
    wait->left = (uint32_t)fm_raw_less(wait->left, then->left);
    wait->longest_ns = MIN(wait->longest_ns, wait->ns);
    wait->first_blame = subtract_blames(since, wait->first_blame, then->first_blame);
}

void fm_raw_since_waits(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    for (uint32_t i = 0; i < now->csd_count; i++) {
        uint32_t then = since->then_csd[i];
        uint32_t *link = &now->csds[i].waits;
        while (then != FM_RAW_NONE && *link != 0) {
            struct fm_raw_wait *wait = &now->waits[*link];
            const struct fm_raw_wait *before =
                wait_of_kind(since->then, since->then->csds[then].waits, wait->kind);
            if (before != NULL)
                subtract_wait(since, wait, before);
            if (wait->calls == 0 && wait->cpu_quanta == 0)
                *link = wait->next;
            else
                link = &wait->next;
        }
    }
}

void fm_raw_since_sleeps(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    g_autoptr(GHashTable) before = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < since->then->sleep_count; i++) {
        uint32_t csd = since->now_csd[since->then->sleeps[i].csd];
        if (csd != FM_RAW_NONE)
            g_hash_table_insert(before, GUINT_TO_POINTER(csd), GUINT_TO_POINTER(i + 1));
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < now->sleep_count; i++) {
        struct fm_raw_sleep sleep = now->sleeps[i];
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(before, GUINT_TO_POINTER(sleep.csd)));
        if (at != 0) {
            const struct fm_raw_sleep *then = &since->then->sleeps[at - 1];
            sleep.samples = (uint32_t)fm_raw_less(sleep.samples, then->samples);
            sleep.ns = fm_raw_less(sleep.ns, then->ns);
        }
        if (sleep.samples != 0)
            now->sleeps[kept++] = sleep;
    }
    now->sleep_count = kept;
}

/* --- blocks that went from context to context --- */

static uint64_t flow_key(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

/* Heaps of then as those of now. */
static uint32_t *map_heaps(const struct fm_raw_since *since)
{
    uint32_t *map = g_new0(uint32_t, since->then->heap_count + 1u);
    for (uint32_t i = 0; i < since->then->csd_count; i++)
        if (since->now_csd[i] != FM_RAW_NONE)
            map[since->then->csds[i].heap] = since->now->csds[since->now_csd[i]].heap;
    map[0] = 0;
    return map;
}

/* Limits flows to the blocks that an edge allocated in the phase. The source of other blocks is not
 * known. */
static void bound_flows(struct fm_raw_recording *now)
{
    g_autofree uint64_t *left = g_new0(uint64_t, now->heap_count + 1u);
    uint32_t count = now->flow_count;
    for (uint32_t i = 1; i < now->heap_count; i++)
        left[i] = fm_raw_less(now->heaps[i].allocs, now->heaps[i].live_blocks);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_raw_flow *flow = &now->flows[i];
        if (flow->from == 0)
            continue;
        uint64_t own = MIN(flow->blocks, left[flow->from]);
        left[flow->from] -= own;
        if (own < flow->blocks)
            flow->from = 0;
    }
}

void fm_raw_since_flows(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    g_autoptr(GHashTable) before = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autofree uint32_t *heaps = map_heaps(since);
    for (uint32_t i = 0; i < since->then->flow_count; i++) {
        const struct fm_raw_flow *flow = &since->then->flows[i];
        uint64_t *key = g_new(uint64_t, 1);
        *key = flow_key(heaps[flow->from], heaps[flow->to]);
        g_hash_table_insert(before, key, GUINT_TO_POINTER(i + 1));
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < now->flow_count; i++) {
        struct fm_raw_flow flow = now->flows[i];
        uint64_t key = flow_key(flow.from, flow.to);
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(before, &key));
        if (at != 0) {
            flow.blocks = fm_raw_less(flow.blocks, since->then->flows[at - 1].blocks);
            flow.bytes = fm_raw_less(flow.bytes, since->then->flows[at - 1].bytes);
            flow.held_ns = fm_raw_less(flow.held_ns, since->then->flows[at - 1].held_ns);
            flow.longest_ns = MIN(flow.longest_ns, flow.held_ns);
        }
        if (flow.blocks != 0)
            now->flows[kept++] = flow;
    }
    now->flow_count = kept;
    bound_flows(now);
}

/* --- samples and points --- */

struct place {
    uint64_t pc;
    uint32_t of, epoch; /* edge or procedure, of now */
    uint32_t block;     /* block of the procedures' points */
};

static guint hash_place(gconstpointer key)
{
    const struct place *place = key;
    return (guint)(place->pc * 31 + (place->pc >> 32) + place->of * UINT64_C(2654435761) +
                   place->epoch + place->block * UINT64_C(40503));
}

static gboolean equal_places(gconstpointer a, gconstpointer b)
{
    const struct place *pa = a, *pb = b;
    return pa->pc == pb->pc && pa->of == pb->of && pa->epoch == pb->epoch && pa->block == pb->block;
}

static void note_place(GHashTable *table, struct place place, uint32_t index)
{
    g_hash_table_insert(table, g_memdup2(&place, sizeof place), GUINT_TO_POINTER(index + 1));
}

void fm_raw_since_samples(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    g_autoptr(GHashTable) before = g_hash_table_new_full(hash_place, equal_places, g_free, NULL);
    for (uint32_t i = 0; i < since->then->sample_count; i++) {
        const struct fm_raw_sample *sample = &since->then->samples[i];
        uint32_t csd = since->now_csd[sample->csd];
        if (csd != FM_RAW_NONE)
            note_place(before, (struct place){sample->pc, csd, sample->epoch, 0}, i);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < now->sample_count; i++) {
        struct fm_raw_sample sample = now->samples[i];
        const struct place place = {sample.pc, sample.csd, sample.epoch, 0};
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(before, &place));
        if (at != 0)
            sample.quanta = fm_raw_less(sample.quanta, since->then->samples[at - 1].quanta);
        if (sample.quanta != 0)
            now->samples[kept++] = sample;
    }
    now->sample_count = kept;
}

/* A function has one for each call that led there, in the kernel and out of it. */
static guint hash_foreign(gconstpointer key)
{
    const struct fm_raw_foreign *f = key;
    uint64_t mixed = (f->fn * 31 + f->call) * 31 + f->csd * (uint64_t)2 + f->in_kernel;
    return (guint)(mixed ^ mixed >> 32) + f->epoch;
}

static gboolean equal_foreigns(gconstpointer a, gconstpointer b)
{
    const struct fm_raw_foreign *fa = a, *fb = b;
    return fa->fn == fb->fn && fa->call == fb->call && fa->csd == fb->csd &&
           fa->epoch == fb->epoch && fa->in_kernel == fb->in_kernel;
}

void fm_raw_since_foreigns(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    g_autoptr(GHashTable) before = g_hash_table_new(hash_foreign, equal_foreigns);
    for (uint32_t i = 0; i < since->then->foreign_count; i++) {
        struct fm_raw_foreign *foreign = &since->then->foreigns[i];
        foreign->csd = since->now_csd[foreign->csd];
        if (foreign->csd != FM_RAW_NONE)
            g_hash_table_add(before, foreign);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < now->foreign_count; i++) {
        struct fm_raw_foreign foreign = now->foreigns[i];
        const struct fm_raw_foreign *then = g_hash_table_lookup(before, &foreign);
        if (then != NULL)
            foreign.quanta = fm_raw_less(foreign.quanta, then->quanta);
        if (foreign.quanta != 0)
            now->foreigns[kept++] = foreign;
    }
    now->foreign_count = kept;
}

void fm_raw_since_points(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    g_autoptr(GHashTable) before = g_hash_table_new_full(hash_place, equal_places, g_free, NULL);
    g_autofree uint32_t *now_pd = g_new(uint32_t, since->then->pd_count + 1);
    memset(now_pd, 0xff, (since->then->pd_count + 1) * sizeof *now_pd);
    for (uint32_t i = 0; i < now->pd_count; i++)
        if (since->then_pd[i] != FM_RAW_NONE)
            now_pd[since->then_pd[i]] = i;
    for (uint32_t k = 0; k < since->then->point_count; k++) {
        const struct fm_raw_point *point = &since->then->points[k];
        uint32_t pd = now_pd[point->pd];
        if (pd != FM_RAW_NONE)
            note_place(before, (struct place){point->pc, pd, point->epoch, point->block}, k);
    }
    for (uint32_t k = 0; k < now->point_count; k++) {
        struct fm_raw_point *point = &now->points[k];
        const struct place place = {point->pc, point->pd, point->epoch, point->block};
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(before, &place));
        if (at != 0)
            point->count = fm_raw_less(point->count, since->then->points[at - 1].count);
    }
}

/* --- durations --- */

/* The nanoseconds that a step begins at; that of the next one is its end. */
static uint64_t step_start(uint32_t step)
{
    uint64_t octave = step / FM_REC_DURATION_STEPS, within = step % FM_REC_DURATION_STEPS;
    return octave == 0 ? within : (UINT64_C(1) << (octave + 6)) + (within << (octave - 1));
}

static void subtract_durations(struct fm_raw_recording *now, struct fm_raw_durations *of,
                               const struct fm_raw_recording *before,
                               const struct fm_raw_durations *then)
{
    uint32_t kept = 0, k = 0;
    for (uint32_t i = 0; i < of->step_count; i++) {
        struct fm_raw_step step = now->steps[of->step_first + i];
        while (k < then->step_count && before->steps[then->step_first + k].step < step.step)
            k++;
        if (k < then->step_count && before->steps[then->step_first + k].step == step.step)
            step.calls = fm_raw_less(step.calls, before->steps[then->step_first + k].calls);
        if (step.calls != 0)
            now->steps[of->step_first + kept++] = step;
    }
    of->step_count = kept;
    of->timed = fm_raw_less(of->timed, then->timed);
    of->ns = fm_raw_less(of->ns, then->ns);
    of->left = fm_raw_less(of->left, then->left);
    if (kept == 0)
        return;
    const struct fm_raw_step *steps = &now->steps[of->step_first];
    if (of->shortest_ns == then->shortest_ns) /* for a phase: known to 1 % only */
        of->shortest_ns = MAX(of->shortest_ns, step_start(steps[0].step));
    if (of->longest_ns == then->longest_ns)
        of->longest_ns = MIN(of->longest_ns, step_start(steps[kept - 1].step + 1) - 1);
}

/* For one edge: indices into both durations. */
static void subtract_of(const struct fm_raw_since *since, uint32_t *now, uint32_t then)
{
    if (*now == 0 || then == 0)
        return;
    struct fm_raw_durations *of = &since->now->durations[*now];
    subtract_durations(since->now, of, since->then, &since->then->durations[then]);
    if (of->timed == 0)
        *now = 0;
}

void fm_raw_since_durations(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    for (uint32_t i = 0; i < now->csd_count; i++) {
        if (since->then_csd[i] == FM_RAW_NONE)
            continue;
        struct fm_raw_csd *csd = &now->csds[i];
        const struct fm_raw_csd *then = &since->then->csds[since->then_csd[i]];
        subtract_of(since, &csd->durations, then->durations);
        subtract_of(since, &now->heaps[csd->heap].lifetimes,
                    since->then->heaps[then->heap].lifetimes);
    }
}

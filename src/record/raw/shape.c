/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of one recording in which nothing is new but counts. */
#include <string.h>

#include "record/raw/storage.h"

/* Properties of an edge that finishing uses. */
struct edge {
    uint32_t caller, callee, flags, epoch;
    uint64_t hook_pc, site, via;
};

struct context {
    uint64_t fn;
    uint32_t epoch, thread, maker;
};

struct thread {
    uint32_t tid, root_pd, root_csd;
    uint64_t started_in;
    char name[sizeof((struct fm_raw_thread *)NULL)->name];
};

struct fm_raw_shape {
    uint64_t start_monotonic_ns;
    uint32_t pid, grade_flags, tick_source;
    uint32_t csd_count, pd_count, thread_count, module_count;
    struct edge *edges;
    struct context *contexts;
    struct thread *threads;
    struct fm_raw_module *modules; /* their texts are the recording's */
};

/* Flags of the grade that affect the nodes. */
static uint32_t grade_of(const struct fm_raw_recording *recording)
{
    return recording->header.grade_flags &
           (FM_REC_COVERAGE | FM_REC_LAZY_EXITS | FM_REC_WAITING | FM_REC_LIFETIMES | FM_REC_EXITS);
}

static struct edge edge_of(const struct fm_raw_csd *csd)
{
    return (struct edge){csd->caller,  csd->callee, csd->flags, csd->epoch,
                         csd->hook_pc, csd->site,   csd->via};
}

static bool is_edge(const struct edge *edge, const struct fm_raw_csd *csd)
{
    return edge->caller == csd->caller && edge->callee == csd->callee &&
           edge->flags == csd->flags && edge->epoch == csd->epoch &&
           edge->hook_pc == csd->hook_pc && edge->site == csd->site && edge->via == csd->via;
}

static bool is_context(const struct context *context, const struct fm_raw_pd *pd)
{
    return context->fn == pd->fn && context->epoch == pd->epoch && context->thread == pd->thread &&
           context->maker == pd->maker;
}

static bool is_thread(const struct thread *thread, const struct fm_raw_thread *raw)
{
    return thread->tid == raw->tid && thread->root_pd == raw->root_pd &&
           thread->root_csd == raw->root_csd && thread->started_in == raw->started_in &&
           strcmp(thread->name, raw->name) == 0 && !raw->before;
}

static bool is_module(const struct fm_raw_module *a, const struct fm_raw_module *b)
{
    return a->start == b->start && a->end == b->end && a->bias == b->bias &&
           a->loaded == b->loaded && a->unloaded == b->unloaded && a->flags == b->flags &&
           a->build_id_size == b->build_id_size &&
           memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && strcmp(a->path, b->path) == 0;
}

struct fm_raw_shape *fm_raw_shape_new(const struct fm_raw_recording *recording)
{
    g_return_val_if_fail(recording != NULL, NULL);
    struct fm_raw_shape *shape = g_new0(struct fm_raw_shape, 1);
    shape->start_monotonic_ns = recording->header.start_monotonic_ns;
    shape->pid = recording->header.pid;
    shape->grade_flags = grade_of(recording);
    shape->tick_source = recording->header.tick_source;
    shape->csd_count = recording->csd_count;
    shape->pd_count = recording->pd_count;
    shape->thread_count = recording->thread_count;
    shape->module_count = recording->module_count;
    shape->edges = g_new(struct edge, recording->csd_count + 1u);
    shape->contexts = g_new(struct context, recording->pd_count + 1u);
    shape->threads = g_new0(struct thread, recording->thread_count + 1u);
    shape->modules =
        g_memdup2(recording->modules, recording->module_count * sizeof *recording->modules);
    for (uint32_t i = 0; i < recording->csd_count; i++)
        shape->edges[i] = edge_of(&recording->csds[i]);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        const struct fm_raw_pd *pd = &recording->pds[i];
        shape->contexts[i] = (struct context){pd->fn, pd->epoch, pd->thread, pd->maker};
    }
    for (uint32_t i = 0; i < recording->thread_count; i++) {
        const struct fm_raw_thread *raw = &recording->threads[i];
        struct thread *thread = &shape->threads[i];
        *thread = (struct thread){raw->tid, raw->root_pd, raw->root_csd, raw->started_in, ""};
        memcpy(thread->name, raw->name, sizeof thread->name);
    }
    return shape;
}

void fm_raw_shape_free(struct fm_raw_shape *shape)
{
    if (shape == NULL)
        return;
    g_free(shape->edges);
    g_free(shape->contexts);
    g_free(shape->threads);
    g_free(shape->modules);
    g_free(shape);
}

bool fm_raw_shape_has_lists(const struct fm_raw_shape *shape,
                            const struct fm_raw_recording *recording)
{
    g_return_val_if_fail(shape != NULL && recording != NULL, false);
    bool same = shape->start_monotonic_ns == recording->header.start_monotonic_ns &&
                shape->pid == recording->header.pid && shape->grade_flags == grade_of(recording) &&
                shape->tick_source == recording->header.tick_source &&
                shape->csd_count == recording->csd_count &&
                shape->pd_count == recording->pd_count &&
                shape->thread_count == recording->thread_count &&
                shape->module_count == recording->module_count;
    for (uint32_t i = 0; same && i < shape->module_count; i++)
        same = is_module(&shape->modules[i], &recording->modules[i]);
    for (uint32_t i = 0; same && i < shape->thread_count; i++)
        same = is_thread(&shape->threads[i], &recording->threads[i]);
    return same;
}

bool fm_raw_shape_is_of(const struct fm_raw_shape *shape, const struct fm_raw_recording *recording)
{
    bool same = fm_raw_shape_has_lists(shape, recording);
    for (uint32_t i = 0; same && i < shape->pd_count; i++)
        same = is_context(&shape->contexts[i], &recording->pds[i]);
    for (uint32_t i = 0; same && i < shape->csd_count; i++)
        same = is_edge(&shape->edges[i], &recording->csds[i]);
    return same;
}

static void swap_arrays(struct fm_raw_recording_storage *a, struct fm_raw_recording_storage *b)
{
    GArray **ones[] = {&a->heaps,     &a->flows,   &a->depths, &a->waits,   &a->blames,
                       &a->durations, &a->steps,   &a->spans,  &a->points,  &a->samples,
                       &a->sleeps,    &a->threads, &a->marks,  &a->foreigns};
    GArray **others[] = {&b->heaps,     &b->flows,   &b->depths, &b->waits,   &b->blames,
                         &b->durations, &b->steps,   &b->spans,  &b->points,  &b->samples,
                         &b->sleeps,    &b->threads, &b->marks,  &b->foreigns};
    for (size_t i = 0; i < G_N_ELEMENTS(ones); i++) {
        GArray *swap = *ones[i];
        *ones[i] = *others[i];
        *others[i] = swap;
    }
    a->spans_dropped = b->spans_dropped;
}

void fm_raw_recording_take_counts(struct fm_raw_recording *recording, struct fm_raw_recording *from)
{
    g_return_if_fail(recording != NULL && from != NULL && from->csd_count <= recording->csd_count &&
                     from->pd_count <= recording->pd_count);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        static const struct fm_raw_csd nothing;
        const struct fm_raw_csd *now = i < from->csd_count ? &from->csds[i] : &nothing;
        struct fm_raw_csd *csd = &recording->csds[i];
        csd->heap = now->heap;
        csd->open = now->open;
        csd->waits = now->waits;
        csd->durations = now->durations;
        csd->calls = now->calls;
        csd->excps = now->excps;
        csd->quanta = now->quanta;
    }
    for (uint32_t i = 0; i < from->pd_count; i++) {
        const struct fm_raw_pd *now = &from->pds[i];
        struct fm_raw_pd *pd = &recording->pds[i];
        pd->depths = now->depths;
        pd->depths_unknown = now->depths_unknown;
        pd->total = now->total;
        pd->moved = now->moved;
        pd->nested = now->nested;
    }
    recording->has_totals = from->has_totals;
    swap_arrays(recording->storage, from->storage);
    recording->header = from->header;
    recording->is_held = from->is_held;
    recording->held = from->held;
    recording->curve = from->curve;
    recording->forked_in = from->forked_in;
    fm_raw_recording_publish(recording);
    fm_raw_recording_publish(from);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two moments of one recording. Nodes never move in the file: the same place is
 * the same node, and its counters only grow. */
#include "record/raw/since.h"

#include <string.h>

#include "base/error.h"

static bool check(const struct fm_raw_recording *now, const struct fm_raw_recording *then,
                  GError **error)
{
    const struct fm_rec_header *a = &now->header, *b = &then->header;
    if (a->pid == b->pid && a->process_start == b->process_start &&
        a->start_monotonic_ns == b->start_monotonic_ns && a->map_base == b->map_base &&
        b->bytes_used <= a->bytes_used)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "%s: no earlier copy of %s: of process %u with %" G_GUINT64_FORMAT
                " bytes, expected process %u and at most %" G_GUINT64_FORMAT " bytes",
                then->path, now->path, b->pid, (guint64)b->bytes_used, a->pid,
                (guint64)a->bytes_used);
    return false;
}

static uint32_t *new_map(uint32_t count)
{
    uint32_t *map = g_new(uint32_t, count + 1u);
    memset(map, 0xff, (count + 1u) * sizeof *map);
    return map;
}

static void find_pairs(struct fm_raw_since *since)
{
    const struct fm_raw_recording_storage *now = since->now->storage, *then = since->then->storage;
    since->then_csd = new_map(since->now->csd_count);
    since->then_pd = new_map(since->now->pd_count);
    since->now_csd = new_map(since->then->csd_count);
    for (size_t ref = 0; ref < MIN(now->references, then->references); ref++) {
        uint32_t a = now->seen[ref], b = then->seen[ref];
        if (a == 0 || b == 0 || a == FM_RAW_CSD_MARK || b == FM_RAW_CSD_MARK ||
            (a & FM_RAW_CSD_MARK) != (b & FM_RAW_CSD_MARK))
            continue;
        a = (a & ~FM_RAW_CSD_MARK) - 1;
        b = (b & ~FM_RAW_CSD_MARK) - 1;
        if ((now->seen[ref] & FM_RAW_CSD_MARK) == 0) {
            since->then_pd[a] = b;
        } else {
            since->then_csd[a] = b;
            since->now_csd[b] = a;
        }
    }
}

/* Subtracts earlier live memory; at least 0. */
static void subtract_heap(struct fm_raw_heap *now, const struct fm_raw_heap *then)
{
    uint64_t *to = (uint64_t *)now;
    const uint64_t *from = (const uint64_t *)then;
    for (size_t i = 0; i < FM_RAW_HEAP_COUNTS; i++)
        to[i] = fm_raw_less(to[i], from[i]);
    now->live_blocks = MIN(now->live_blocks, now->allocs);
    now->live_bytes = MIN(now->live_bytes, now->bytes);
}

static void subtract_edges(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    for (uint32_t i = 0; i < now->csd_count; i++) {
        struct fm_raw_csd *csd = &now->csds[i];
        if (csd->heap != 0)
            now->heaps[csd->heap].peak_bytes = now->heaps[csd->heap].peak_blocks = 0;
        if (since->then_csd[i] == FM_RAW_NONE)
            continue;
        const struct fm_raw_csd *then = &since->then->csds[since->then_csd[i]];
        csd->calls = fm_raw_less(csd->calls, then->calls);
        csd->quanta = fm_raw_less(csd->quanta, then->quanta);
        /* A call that began before and was left since is not a call of the phase. */
        csd->excps = MIN(fm_raw_less(csd->excps, then->excps), csd->calls);
        csd->open = (uint32_t)MIN(fm_raw_less(csd->open, then->open), csd->calls);
        if (csd->heap != 0 && then->heap != 0)
            subtract_heap(&now->heaps[csd->heap], &since->then->heaps[then->heap]);
    }
}

/* The phase's maximum depth is known by classes: the highest with calls, at most the maximum
 * found. */
static void subtract_depths(const struct fm_raw_since *since)
{
    struct fm_raw_recording *now = since->now;
    for (uint32_t i = 0; i < now->pd_count; i++) {
        if (since->then_pd[i] == FM_RAW_NONE)
            continue;
        struct fm_raw_pd *pd = &now->pds[i];
        const struct fm_raw_pd *before = &since->then->pds[since->then_pd[i]];
        pd->depths_unknown = fm_raw_less(pd->depths_unknown, before->depths_unknown);
        pd->total -= before->total;
        pd->moved -= before->moved;
        if (pd->depths == 0)
            continue;
        struct fm_rec_depths *depths = &now->depths[pd->depths];
        const struct fm_rec_depths *then = &since->then->depths[before->depths];
        uint64_t greatest = 0;
        depths->unknown = fm_raw_less(depths->unknown, then->unknown);
        for (unsigned k = 0; k < FM_REC_DEPTH_CLASSES; k++) {
            depths->calls[k] = fm_raw_less(depths->calls[k], then->calls[k]);
            greatest = depths->calls[k] != 0 ? (UINT64_C(2) << k) - 1 : greatest;
        }
        depths->greatest = MIN(depths->greatest, greatest);
        if (greatest == 0 && depths->unknown == 0)
            pd->depths = 0;
    }
}

static void subtract_thread(struct fm_raw_thread *now, const struct fm_raw_thread *then)
{
    uint64_t *to[] = {&now->user_quanta,   &now->instrumentation_quanta,
                      &now->ticks,         &now->cpu_ns,
                      &now->charges,       &now->charge_squares,
                      &now->calls_dropped, &now->exits_unmatched,
                      &now->last_cpu_ns,   &now->wait_quanta,
                      &now->queued_ns,     &now->stopped_ns};
    const uint64_t from[] = {then->user_quanta,   then->instrumentation_quanta,
                             then->ticks,         then->cpu_ns,
                             then->charges,       then->charge_squares,
                             then->calls_dropped, then->exits_unmatched,
                             then->last_cpu_ns,   then->wait_quanta,
                             then->queued_ns,     then->stopped_ns};
    for (size_t i = 0; i < G_N_ELEMENTS(to); i++)
        *to[i] = fm_raw_less(*to[i], from[i]);
}

/* Its process ended, or became another program: the state of threads that ran then is not noted. */
static bool is_over(const struct fm_raw_recording *recording)
{
    return recording->header.state == FM_REC_CLOSED || recording->header.state == FM_REC_EXECED;
}

static void subtract_threads(const struct fm_raw_since *since, uint64_t since_ns)
{
    struct fm_raw_recording *now = since->now;
    g_autofree uint32_t *of_root = new_map(since->then->csd_count);
    for (uint32_t i = 0; i < since->then->thread_count; i++)
        of_root[since->then->threads[i].root_csd] = i;
    for (uint32_t i = 0; i < now->thread_count; i++) {
        struct fm_raw_thread *thread = &now->threads[i];
        uint32_t root = since->then_csd[thread->root_csd];
        if (root != FM_RAW_NONE && of_root[root] != FM_RAW_NONE) {
            const struct fm_raw_thread *then = &since->then->threads[of_root[root]];
            subtract_thread(thread, then);
            thread->before = then->ended || is_over(since->then);
        }
        thread->start_ns = MAX(thread->start_ns, since_ns);
    }
}

static void subtract_spans(struct fm_raw_recording *now, const struct fm_raw_recording *then,
                           uint64_t since_ns)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < now->span_count; i++)
        if (now->spans[i].start_ns + now->spans[i].ns > since_ns)
            now->spans[kept++] = now->spans[i];
    now->span_count = kept;
    now->spans_dropped = fm_raw_less(now->spans_dropped, then->spans_dropped);
}

/* The marks of the phase, as of a recording that began with it. */
static void subtract_marks(const struct fm_raw_since *since, uint64_t since_ns)
{
    struct fm_raw_recording *now = since->now;
    uint64_t offset = since_ns - now->header.start_monotonic_ns, quanta = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < since->then->thread_count; i++)
        quanta += since->then->threads[i].user_quanta;
    for (uint32_t i = 0; i < now->mark_count; i++) {
        struct fm_raw_mark mark = now->marks[i];
        if (mark.ns <= offset)
            continue;
        mark.ns -= offset;
        mark.quanta = fm_raw_less(mark.quanta, quanta);
        now->marks[kept++] = mark;
    }
    now->mark_count = kept;
}

static void subtract_header(struct fm_rec_header *now, const struct fm_rec_header *then,
                            uint64_t since_ns)
{
    now->start_realtime_ns += since_ns - now->start_monotonic_ns;
    now->start_monotonic_ns = since_ns;
    now->peak_live_bytes = 0;
    now->dropped_nodes = fm_raw_less(now->dropped_nodes, then->dropped_nodes);
    now->dropped_points = fm_raw_less(now->dropped_points, then->dropped_points);
    now->wait_dropped = fm_raw_less(now->wait_dropped, then->wait_dropped);
    now->blame_dropped = fm_raw_less(now->blame_dropped, then->blame_dropped);
    now->wait_backwards = fm_raw_less(now->wait_backwards, then->wait_backwards);
}

static void subtract_held(struct fm_rec_held *now, const struct fm_rec_held *then)
{
    uint64_t *to[] = {&now->unknown_frees,   &now->unknown_freed, &now->inherited_frees,
                      &now->inherited_freed, &now->unseen_frees,  &now->unseen_freed,
                      &now->untold_blocks,   &now->untold_bytes,  &now->dropped_flows};
    const uint64_t from[] = {then->unknown_frees,   then->unknown_freed, then->inherited_frees,
                             then->inherited_freed, then->unseen_frees,  then->unseen_freed,
                             then->untold_blocks,   then->untold_bytes,  then->dropped_flows};
    for (size_t i = 0; i < G_N_ELEMENTS(to); i++)
        *to[i] = fm_raw_less(*to[i], from[i]);
    now->rising = 0;
    now->peak_monotonic_ns = 0;
}

/* Finds when the copy was made: its mark was set in the later recording. */
static bool find_moment(const struct fm_raw_recording *now, const struct fm_raw_recording *then,
                        uint64_t *ns, GError **error)
{
    for (uint32_t i = 0; i < now->mark_count && *ns == 0; i++)
        if (then->header.snapshot_of != 0 && now->marks[i].snapshot == then->header.snapshot_of)
            *ns = now->header.start_monotonic_ns + now->marks[i].ns;
    if (*ns >= now->header.start_monotonic_ns)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "%s: its time is not known: %s has no snapshot mark for it", then->path, now->path);
    return false;
}

bool fm_raw_recording_load_since(const char *path, const char *earlier, uint64_t since_ns,
                                 uint64_t ended_ns, struct fm_raw_recording **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && earlier != NULL && ret != NULL, false);
    g_autoptr(FmRawRecording) now = NULL;
    g_autoptr(FmRawRecording) then = NULL;
    if (!fm_raw_recording_load_seen(path, NULL, &now, error) ||
        !fm_raw_recording_load_seen(earlier, &now->header, &then, error) ||
        !check(now, then, error) || !find_moment(now, then, &since_ns, error))
        return false;
    fm_raw_recording_close_waits(now, ended_ns);
    fm_raw_recording_wait_until(then, since_ns);
    struct fm_raw_since since = {.now = now, .then = then};
    find_pairs(&since);
    subtract_edges(&since);
    subtract_depths(&since);
    fm_raw_since_waits(&since);
    fm_raw_since_sleeps(&since);
    fm_raw_since_flows(&since);
    fm_raw_since_samples(&since);
    fm_raw_since_foreigns(&since);
    fm_raw_since_points(&since);
    fm_raw_since_durations(&since);
    subtract_threads(&since, since_ns);
    subtract_spans(now, then, since_ns);
    subtract_marks(&since, since_ns);
    subtract_header(&now->header, &then->header, since_ns);
    subtract_held(&now->held, &then->held);
    now->curve = (struct fm_rec_curve){0}; /* its slots do not begin with the phase */
    now->is_phase = true;
    fm_raw_recording_cut(now);
    g_free(since.then_csd);
    g_free(since.then_pd);
    g_free(since.now_csd);
    g_clear_pointer(&now->storage->seen, g_free);
    *ret = g_steal_pointer(&now);
    return true;
}

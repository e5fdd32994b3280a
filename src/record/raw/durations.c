/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/durations.h"
#include "record/raw/reading.h"

static bool read_octave(struct fm_raw_recording_storage *storage, const struct fm_raw_bytes *bytes,
                        uint32_t ref, uint32_t octave, GError **error)
{
    const uint64_t *counts = fm_raw_bytes_at(bytes, ref, FM_REC_DURATION_STEPS * sizeof *counts);
    if (counts == NULL)
        return fm_raw_bytes_fail(bytes, ref, "outside the file", "durations of calls", error);
    for (uint32_t i = 0; i < FM_REC_DURATION_STEPS; i++) {
        struct fm_raw_step step = {octave * FM_REC_DURATION_STEPS + i, counts[i]};
        if (step.calls > 0)
            g_array_append_val(storage->steps, step);
    }
    return true;
}

bool fm_raw_durations_read(struct fm_raw_recording_storage *storage,
                           const struct fm_raw_bytes *bytes, uint64_t ref, uint32_t *ret,
                           GError **error)
{
    const struct fm_rec_durations *durations =
        ref > UINT32_MAX ? NULL : fm_raw_bytes_at(bytes, (uint32_t)ref, sizeof *durations);
    if (ref == 0 || durations == NULL || *ret != 0)
        return fm_raw_bytes_fail(bytes, (uint32_t)ref, "none", "durations of calls", error);
    struct fm_raw_durations raw = {.timed = durations->timed,
                                   .ns = durations->ns,
                                   .shortest_ns = durations->shortest,
                                   .longest_ns = durations->longest,
                                   .left = durations->left,
                                   .step_first = storage->steps->len};
    for (uint32_t i = 0; i < FM_REC_DURATION_OCTAVES; i++) {
        if (durations->octaves[i] != 0 &&
            !read_octave(storage, bytes, durations->octaves[i], i, error))
            return false;
    }
    raw.step_count = storage->steps->len - raw.step_first;
    *ret = storage->durations->len;
    g_array_append_val(storage->durations, raw);
    return true;
}

bool fm_raw_spans_read(struct fm_raw_recording_storage *storage, const struct fm_raw_bytes *bytes,
                       uint64_t ref, GError **error)
{
    const struct fm_rec_spans *spans =
        ref > UINT32_MAX ? NULL : fm_raw_bytes_at(bytes, (uint32_t)ref, sizeof *spans);
    if (ref == 0 || spans == NULL)
        return fm_raw_bytes_fail(bytes, (uint32_t)ref, "none", "timed calls of a thread", error);
    storage->spans_dropped += spans->dropped;
    uint64_t blocks = 0;
    for (uint32_t at = spans->newest; at != 0;) {
        const struct fm_rec_span_block *block = fm_raw_bytes_at(bytes, at, sizeof *block);
        if (block == NULL || block->count > FM_REC_SPANS_BLOCK ||
            ++blocks > bytes->size / sizeof *block)
            return fm_raw_bytes_fail(bytes, at, "no timed calls", "the next of a thread", error);
        for (uint32_t i = 0; i < block->count; i++) {
            const struct fm_rec_span *span = &block->spans[i];
            struct fm_raw_span raw = {.csd = span->csd, /* a reference, until all are known */
                                      .thread = storage->threads->len,
                                      .start_ns = span->start_ns,
                                      .ns = span->ns,
                                      .left = span->left != 0};
            g_array_append_val(storage->spans, raw);
        }
        at = block->next;
    }
    return true;
}

void fm_raw_spans_resolve(struct fm_raw_recording_storage *storage, const uint32_t *seen,
                          size_t references, uint32_t mark)
{
    guint kept = 0;
    for (guint i = 0; i < storage->spans->len; i++) {
        struct fm_raw_span span = g_array_index(storage->spans, struct fm_raw_span, i);
        uint32_t at = span.csd < references ? seen[span.csd] : 0;
        if ((at & mark) == 0 || at == mark)
            continue;
        span.csd = (at & ~mark) - 1;
        g_array_index(storage->spans, struct fm_raw_span, kept++) = span;
    }
    g_array_set_size(storage->spans, kept);
}

void fm_raw_durations_join(struct fm_raw_recording *recording, uint32_t *to, uint32_t *from)
{
    uint32_t *end = to;
    while (*end != 0)
        end = &recording->durations[*end].next;
    *end = *from;
    *from = 0;
}

/* --- time in modules without hooks, by function --- */

bool fm_raw_foreigns_read(struct fm_raw_reading *in, uint64_t first, GError **error)
{
    struct fm_raw_recording_storage *storage = in->storage;
    for (uint64_t ref = first; ref != 0;) {
        const struct fm_rec_foreign *foreign =
            ref > UINT32_MAX ? NULL : fm_raw_bytes_at(&in->bytes, (uint32_t)ref, sizeof *foreign);
        if (foreign == NULL || in->seen[ref] != 0)
            return fm_raw_bytes_fail(&in->bytes, (uint32_t)ref, "no function without hooks",
                                     "the next of a call edge", error);
        fm_raw_mark(storage, in->seen, (uint32_t)ref);
        struct fm_raw_foreign raw = {.fn = foreign->fn,
                                     .call = foreign->call,
                                     .quanta = foreign->quanta,
                                     .csd = in->at,
                                     .epoch = foreign->epoch & ~FM_REC_FOREIGN_KERNEL,
                                     .in_kernel = (foreign->epoch & FM_REC_FOREIGN_KERNEL) != 0};
        g_array_append_val(storage->foreigns, raw);
        ref = foreign->next;
    }
    return true;
}

void fm_raw_foreigns_bound(struct fm_raw_reading *in, uint32_t first, uint64_t quanta)
{
    const GArray *foreigns = in->storage->foreigns;
    for (uint32_t i = first; i < foreigns->len; i++) {
        struct fm_raw_foreign *foreign = &g_array_index(foreigns, struct fm_raw_foreign, i);
        foreign->quanta = MIN(foreign->quanta, quanta);
        quanta -= foreign->quanta;
    }
}

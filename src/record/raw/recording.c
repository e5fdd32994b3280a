/* SPDX-License-Identifier: Apache-2.0 */
/* A recording in memory. */
#include "record/raw/reading.h"

#include "record/raw/storage.h"

struct fm_raw_places *fm_raw_places_new(void)
{
    struct fm_raw_places *places = g_new0(struct fm_raw_places, 1);
    places->csds = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    places->threads = g_array_new(FALSE, FALSE, sizeof(struct fm_raw_thread_place));
    places->marked = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return places;
}

static void fm_raw_places_free(struct fm_raw_places *places)
{
    if (places == NULL)
        return;
    GArray *arrays[] = {places->csds, places->pds, places->threads, places->marked};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        if (arrays[i] != NULL)
            g_array_unref(arrays[i]);
    g_free(places);
}

void fm_raw_recording_forget_places(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    if (storage->places == NULL)
        return;
    g_clear_pointer(&storage->places, fm_raw_places_free);
    g_clear_pointer(&storage->seen, g_free);
}

struct fm_raw_recording *fm_raw_recording_new(const char *path)
{
    struct fm_raw_recording *recording = g_new0(struct fm_raw_recording, 1);
    struct fm_raw_recording_storage *storage = g_new0(struct fm_raw_recording_storage, 1);
    recording->storage = storage;
    recording->path = storage->path = g_strdup(path);
    storage->modules = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_module));
    storage->pds = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_pd));
    storage->csds = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_csd));
    storage->heaps = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_heap));
    g_array_set_size(storage->heaps, 1);
    storage->flows = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_flow));
    storage->depths = g_array_new(FALSE, TRUE, sizeof(struct fm_rec_depths));
    g_array_set_size(storage->depths, 1);
    storage->waits = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_wait));
    storage->blames = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_blame));
    storage->durations = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_durations));
    g_array_set_size(storage->durations, 1);
    storage->steps = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_step));
    storage->spans = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_span));
    recording->traced = "";
    g_array_set_size(storage->waits, 1);
    g_array_set_size(storage->blames, 1);
    storage->texts = g_string_chunk_new(4096);
    storage->points = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_point));
    storage->samples = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_sample));
    storage->foreigns = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_foreign));
    storage->sleeps = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_sleep));
    storage->threads = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_thread));
    storage->marks = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_mark));
    return recording;
}

void fm_raw_recording_publish(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    recording->modules = (struct fm_raw_module *)(void *)storage->modules->data;
    recording->module_count = storage->modules->len;
    recording->pds = (struct fm_raw_pd *)(void *)storage->pds->data;
    recording->pd_count = storage->pds->len;
    recording->csds = (struct fm_raw_csd *)(void *)storage->csds->data;
    recording->csd_count = storage->csds->len;
    recording->heaps = (struct fm_raw_heap *)(void *)storage->heaps->data;
    recording->heap_count = storage->heaps->len;
    recording->flows = (struct fm_raw_flow *)(void *)storage->flows->data;
    recording->flow_count = storage->flows->len;
    recording->depths = (struct fm_rec_depths *)(void *)storage->depths->data;
    recording->depth_count = storage->depths->len;
    recording->waits = (struct fm_raw_wait *)(void *)storage->waits->data;
    recording->wait_count = storage->waits->len;
    recording->blames = (struct fm_raw_blame *)(void *)storage->blames->data;
    recording->blame_count = storage->blames->len;
    recording->durations = (struct fm_raw_durations *)(void *)storage->durations->data;
    recording->steps = (struct fm_raw_step *)(void *)storage->steps->data;
    recording->spans = (struct fm_raw_span *)(void *)storage->spans->data;
    recording->span_count = storage->spans->len;
    recording->spans_dropped = storage->spans_dropped;
    recording->points = (struct fm_raw_point *)(void *)storage->points->data;
    recording->point_count = storage->points->len;
    recording->samples = (struct fm_raw_sample *)(void *)storage->samples->data;
    recording->sample_count = storage->samples->len;
    recording->foreigns = (struct fm_raw_foreign *)(void *)storage->foreigns->data;
    recording->foreign_count = storage->foreigns->len;
    recording->sleeps = (struct fm_raw_sleep *)(void *)storage->sleeps->data;
    recording->sleep_count = storage->sleeps->len;
    recording->threads = (struct fm_raw_thread *)(void *)storage->threads->data;
    recording->thread_count = storage->threads->len;
    recording->marks = (struct fm_raw_mark *)(void *)storage->marks->data;
    recording->mark_count = storage->marks->len;
}

void fm_raw_recording_cut(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    g_array_set_size(storage->flows, recording->flow_count);
    g_array_set_size(storage->spans, recording->span_count);
    g_array_set_size(storage->samples, recording->sample_count);
    g_array_set_size(storage->foreigns, recording->foreign_count);
    g_array_set_size(storage->sleeps, recording->sleep_count);
    g_array_set_size(storage->marks, recording->mark_count);
    storage->spans_dropped = recording->spans_dropped;
}

uint32_t fm_raw_recording_add_pd(struct fm_raw_recording *recording, const struct fm_raw_pd *pd)
{
    g_assert(pd->thread < recording->thread_count);
    g_array_append_vals(recording->storage->pds, pd, 1);
    fm_raw_recording_publish(recording);
    return recording->pd_count - 1;
}

uint32_t fm_raw_recording_add_csd(struct fm_raw_recording *recording, const struct fm_raw_csd *csd)
{
    g_assert(csd->caller < recording->pd_count && csd->callee < recording->pd_count);
    g_array_append_vals(recording->storage->csds, csd, 1);
    fm_raw_recording_publish(recording);
    return recording->csd_count - 1;
}

void fm_raw_recording_move_costs(struct fm_raw_recording *recording, struct fm_raw_csd *to,
                                 struct fm_raw_csd *from)
{
    g_assert(to->heap < recording->heap_count && from->heap < recording->heap_count);
    to->quanta += from->quanta;
    from->quanta = 0;
    if (to->heap != 0 && from->heap != 0 && to->heap != from->heap) {
        fm_raw_heap_add(&recording->heaps[to->heap], &recording->heaps[from->heap]);
        recording->heaps[from->heap].into = to->heap;
        fm_raw_durations_join(recording, &recording->heaps[to->heap].lifetimes,
                              &recording->heaps[from->heap].lifetimes);
    } else if (from->heap != 0) {
        to->heap = from->heap;
    }
    from->heap = 0;
    fm_raw_recording_move_waits(recording, to, from);
    fm_raw_durations_join(recording, &to->durations, &from->durations);
    from->flags |= FM_RAW_CSD_MERGED;
    from->via = (uint64_t)(to - recording->csds);
}

uint32_t fm_raw_recording_final_csd(const struct fm_raw_recording *recording, uint32_t csd)
{
    g_return_val_if_fail(csd < recording->csd_count, FM_RAW_NONE);
    while ((recording->csds[csd].flags & FM_RAW_CSD_MERGED) != 0)
        csd = (uint32_t)recording->csds[csd].via;
    return csd;
}

void fm_raw_recording_take_points(struct fm_raw_recording *recording, GArray *points)
{
    g_return_if_fail(points != recording->storage->points);
    g_array_unref(recording->storage->points);
    recording->storage->points = points;
    fm_raw_recording_publish(recording);
}

void fm_raw_recording_drop_graph(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    GArray **arrays[] = {&storage->pds,     &storage->csds,      &storage->heaps,  &storage->flows,
                         &storage->depths,  &storage->waits,     &storage->blames, &storage->points,
                         &storage->samples, &storage->durations, &storage->steps,  &storage->spans,
                         &storage->sleeps,  &storage->foreigns};
    static const size_t sizes[] = {
        sizeof(struct fm_raw_pd),        sizeof(struct fm_raw_csd),    sizeof(struct fm_raw_heap),
        sizeof(struct fm_raw_flow),      sizeof(struct fm_rec_depths), sizeof(struct fm_raw_wait),
        sizeof(struct fm_raw_blame),     sizeof(struct fm_raw_point),  sizeof(struct fm_raw_sample),
        sizeof(struct fm_raw_durations), sizeof(struct fm_raw_step),   sizeof(struct fm_raw_span),
        sizeof(struct fm_raw_sleep),     sizeof(struct fm_raw_foreign)};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++) {
        g_array_unref(*arrays[i]);
        *arrays[i] = g_array_new(FALSE, TRUE, (guint)sizes[i]);
    }
    fm_raw_recording_publish(recording);
}

void fm_raw_recording_free(struct fm_raw_recording *recording)
{
    if (recording == NULL)
        return;
    struct fm_raw_recording_storage *storage = recording->storage;
    GArray *arrays[] = {storage->modules,   storage->pds,     storage->csds,    storage->heaps,
                        storage->flows,     storage->depths,  storage->waits,   storage->blames,
                        storage->points,    storage->samples, storage->threads, storage->marks,
                        storage->durations, storage->steps,   storage->spans,   storage->sleeps,
                        storage->foreigns};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_string_chunk_free(storage->texts);
    g_free(storage->path);
    g_free(storage->seen);
    fm_raw_places_free(storage->places);
    g_free(storage);
    g_free(recording->command);
    g_free(recording->host);
    g_free(recording);
}

const struct fm_raw_module *fm_raw_recording_module_at(const struct fm_raw_recording *recording,
                                                       uint64_t address, uint32_t epoch)
{
    const struct fm_raw_module *found = NULL;
    for (uint32_t i = 0; i < recording->module_count; i++) {
        const struct fm_raw_module *module = &recording->modules[i];
        if (address < module->start || address >= module->end)
            continue;
        if (module->loaded <= epoch && epoch < module->unloaded)
            return module;
        found = module; /* an epoch that stopped counting, or a list read while it changed */
    }
    return found;
}

const char *fm_raw_tick_words(const struct fm_rec_header *header)
{
    static const char *const words[] = {
#define WORDS(upper, number, name, words, type, config, counted, period) [number] = (words),
        FM_REC_TICK_EVENTS(WORDS)
#undef WORDS
    };
    uint32_t event = header->tick_source >> 8 & 0xff;
    bool is_event = (header->tick_source & 0xff) == FM_REC_TICK_EVENT;
    return is_event && event < G_N_ELEMENTS(words) ? words[event] : NULL;
}

void fm_raw_read_exits(const struct fm_raw_reading *in, const struct fm_rec_csd *csd,
                       struct fm_raw_csd *raw)
{
    const struct fm_rec_header *header = &in->recording->header;
    if (header->version < FM_REC_VERSION || (header->grade_flags & FM_REC_EXITS) == 0 ||
        csd->caller == 0)
        return;
    uint32_t ref = (uint32_t)(((const uint8_t *)csd - in->bytes.data) / FM_REC_UNIT);
    const struct fm_rec_csd_exits *counted = fm_raw_bytes_at(&in->bytes, ref, sizeof *counted);
    const struct fm_rec_pd *callee = fm_raw_bytes_at(&in->bytes, csd->callee, sizeof *callee);
    if (counted == NULL || callee == NULL || callee->fn == FM_REC_FN_LOST ||
        counted->exits == FM_REC_EXITS_ALL)
        return;
    raw->excps = raw->calls > counted->exits ? raw->calls - counted->exits : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording again when only counts are new. Nodes never move in a file, and lists of them
 * only grow at their heads: they come in the same order as before, or there is a new one. So
 * nothing is looked up, and nothing is made. */
#include <string.h>

#include "record/raw/reading.h"
#include "record/raw/waits.h"

static uint32_t ref_at(const GArray *refs, uint32_t index)
{
    return ((const uint32_t *)(const void *)refs->data)[index];
}

static bool is_of_the_same(const struct fm_rec_header *now, const struct fm_rec_header *then)
{
    return now->pid == then->pid && now->process_start == then->process_start &&
           now->start_monotonic_ns == then->start_monotonic_ns && now->version == then->version &&
           now->map_base == then->map_base;
}

/* Resets everything except nodes and modules. */
static void forget_counts(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    GArray *from_none[] = {storage->flows,  storage->steps,   storage->spans,
                           storage->points, storage->marks,   storage->threads,
                           storage->sleeps, storage->samples, storage->foreigns};
    GArray *from_one[] = {storage->heaps, storage->depths, storage->waits, storage->blames,
                          storage->durations};
    for (size_t i = 0; i < G_N_ELEMENTS(from_none); i++)
        g_array_set_size(from_none[i], 0);
    for (size_t i = 0; i < G_N_ELEMENTS(from_one); i++) {
        g_array_set_size(from_one[i], 0);
        g_array_set_size(from_one[i], 1); /* zeros */
    }
    storage->spans_dropped = 0;
    recording->is_held = false;
    recording->held = (struct fm_rec_held){0};
    recording->curve = (struct fm_rec_curve){0};
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        recording->pds[i].depths = 0;
        recording->pds[i].depths_unknown = 0;
        recording->pds[i].total = recording->pds[i].moved = 0;
    }
}

/* Marks of before go, and the file may be longer. */
static void begin_seen(struct fm_raw_reading *in)
{
    struct fm_raw_recording_storage *storage = in->storage;
    GArray *marked = storage->places->marked;
    size_t references = in->bytes.size / FM_REC_UNIT + 1;
    for (guint i = 0; i < marked->len; i++)
        storage->seen[g_array_index(marked, uint32_t, i)] = 0;
    g_array_set_size(marked, 0);
    if (references > storage->references) {
        storage->seen = g_renew(uint32_t, storage->seen, references);
        memset(storage->seen + storage->references, 0,
               (references - storage->references) * sizeof *storage->seen);
        storage->references = references;
    }
    in->seen = storage->seen;
}

static bool has_same_modules(const struct fm_raw_reading *in)
{
    const struct fm_raw_recording *recording = in->recording;
    uint32_t ref = recording->header.first_module, i = 0;
    for (; ref != 0 && i < recording->module_count; i++) {
        const struct fm_rec_module *module = fm_raw_bytes_at(&in->bytes, ref, sizeof *module);
        const struct fm_raw_module *known = &recording->modules[i];
        if (module == NULL || module->start != known->start || module->end != known->end ||
            module->bias != known->bias || module->loaded != known->loaded ||
            module->unloaded != known->unloaded || module->flags != known->flags ||
            MIN(module->build_id_bytes, (uint32_t)sizeof module->build_id) !=
                known->build_id_size ||
            memcmp(module->build_id, known->build_id, known->build_id_size) != 0 ||
            strcmp(fm_raw_bytes_text(&in->bytes, module->path), known->path) != 0)
            return false;
        ref = module->next;
    }
    return ref == 0 && i == recording->module_count;
}

/* The counts of the csd at a reference, if that is where its number was. */
static bool take_csd(struct fm_raw_reading *in, uint32_t ref, uint32_t index, uint32_t caller,
                     uint32_t *ret_next)
{
    const struct fm_raw_recording *recording = in->recording;
    const struct fm_raw_places *places = in->storage->places;
    if (index >= recording->csd_count || ref_at(places->csds, index) != ref)
        return false;
    const struct fm_rec_csd *csd = fm_raw_bytes_at(&in->bytes, ref, sizeof *csd);
    struct fm_raw_csd *raw = &recording->csds[index];
    if (csd == NULL || raw->caller != caller || csd->callee != ref_at(places->pds, raw->callee) ||
        csd->epoch_flags != (raw->epoch << FM_REC_CSD_EPOCH_SHIFT | raw->flags) ||
        csd->hook_pc != raw->hook_pc || csd->site != raw->site)
        return false;
    uint64_t via = raw->via;
    raw->via = 0;
    raw->heap = raw->open = raw->waits = raw->durations = 0;
    if (!fm_raw_read_counts(in, index, csd, raw, NULL))
        return false;
    *ret_next = csd->next;
    return raw->via == via;
}

/* Reads the calls of the pds up to pd_end. */
static bool take_graph(struct fm_raw_reading *in, uint32_t *at_pd, uint32_t pd_end, uint32_t *at)
{
    const struct fm_raw_recording *recording = in->recording;
    for (; *at_pd < pd_end; (*at_pd)++) {
        const struct fm_rec_pd *pd =
            fm_raw_bytes_at(&in->bytes, ref_at(in->storage->places->pds, *at_pd), sizeof *pd);
        const struct fm_raw_pd *raw = &recording->pds[*at_pd];
        if (pd == NULL || pd->fn != raw->fn || pd->epoch != raw->epoch || pd->first_point != 0)
            return false;
        for (uint32_t csd = pd->first_csd; csd != 0;) {
            if (!take_csd(in, csd, *at, *at_pd, &csd))
                return false;
            (*at)++;
        }
    }
    return true;
}

/* Newer ones come first, so they take the place of the first. */
static bool take_threads(struct fm_raw_reading *in)
{
    struct fm_raw_recording_storage *storage = in->storage;
    const GArray *places = storage->places->threads;
    uint32_t ref = in->recording->header.first_thread, at_pd = 0, at_csd = 0, next;
    size_t size = fm_raw_thread_bytes(in->recording->header.version);
    for (guint i = 0; i < places->len; i++) {
        const struct fm_raw_thread_place *place =
            &g_array_index(places, struct fm_raw_thread_place, i);
        const struct fm_rec_thread *thread = fm_raw_bytes_at(&in->bytes, ref, size);
        if (thread == NULL || ref != place->ref || at_csd != place->root_csd ||
            thread->root_pd != ref_at(storage->places->pds, place->root_pd) ||
            !take_csd(in, thread->root_csd, at_csd++, FM_RAW_NONE, &next))
            return false;
        struct fm_raw_thread raw = fm_raw_thread_of(in, thread);
        raw.root_pd = place->root_pd;
        raw.root_csd = place->root_csd;
        g_array_append_val(storage->threads, raw);
        if (!take_graph(in, &at_pd, place->pd_end, &at_csd) || at_csd != place->csd_end ||
            !fm_raw_read_stacks(in, thread, place->csd_end, NULL))
            return false;
        ref = thread->next;
    }
    return ref == 0;
}

/* Names recur often: stores each once. */
static void keep_names(struct fm_raw_reading *in)
{
    const struct fm_raw_recording_storage *storage = in->storage;
    for (guint i = 0; i < storage->marks->len; i++) {
        struct fm_raw_mark *mark = &g_array_index(storage->marks, struct fm_raw_mark, i);
        mark->name = g_string_chunk_insert_const(storage->texts, mark->name);
    }
}

static bool take_all(struct fm_raw_reading *in)
{
    struct fm_raw_recording *recording = in->recording;
    struct fm_raw_recording_storage *storage = in->storage;
    size_t references = in->bytes.size / FM_REC_UNIT + 1;
    forget_counts(recording);
    begin_seen(in);
    bool same = fm_raw_heap_begin(&in->heap, &in->bytes, recording, NULL) && has_same_modules(in) &&
                take_threads(in) && storage->spans->len == 0 && fm_raw_read_marks(in, NULL);
    fm_raw_heap_end(&in->heap);
    if (!same)
        return false;
    recording->forked_in = fm_raw_forked_in(in);
    fm_raw_waits_resolve(storage, in->seen, references, FM_RAW_CSD_MARK);
    keep_names(in);
    return fm_raw_sleeps_read(storage, &recording->header, &in->bytes, in->seen, references,
                              FM_RAW_CSD_MARK, NULL);
}

bool fm_raw_recording_load_again(const char *path, struct fm_raw_recording *recording)
{
    g_return_val_if_fail(path != NULL && recording != NULL && recording->storage->places != NULL,
                         false);
    struct fm_raw_reading in = {.recording = recording, .storage = recording->storage};
    const struct fm_rec_header before = recording->header;
    if (recording->traced[0] != '\0' ||
        !fm_raw_bytes_read(&in.bytes, path, &recording->header, NULL))
        return false;
    bool same = is_of_the_same(&recording->header, &before) && take_all(&in);
    fm_raw_bytes_done(&in.bytes);
    fm_raw_recording_publish(recording);
    if (!same)
        return false;
    g_free(fm_raw_order_threads(recording)); /* contexts have theirs from before */
    fm_raw_add_unknown_depths(recording);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as it is in memory. */
#include "record/raw/recording.h"

#include "record/raw/storage.h"

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
    storage->texts = g_string_chunk_new(4096);
    storage->points = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_point));
    storage->samples = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_sample));
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
    recording->points = (struct fm_raw_point *)(void *)storage->points->data;
    recording->point_count = storage->points->len;
    recording->samples = (struct fm_raw_sample *)(void *)storage->samples->data;
    recording->sample_count = storage->samples->len;
    recording->threads = (struct fm_raw_thread *)(void *)storage->threads->data;
    recording->thread_count = storage->threads->len;
    recording->marks = (struct fm_raw_mark *)(void *)storage->marks->data;
    recording->mark_count = storage->marks->len;
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
    if (to->heap != 0 && from->heap != 0) {
        struct fm_raw_heap *sum = &recording->heaps[to->heap];
        const struct fm_raw_heap *more = &recording->heaps[from->heap];
        sum->allocs += more->allocs;
        sum->bytes += more->bytes;
        sum->usable_bytes += more->usable_bytes;
        sum->frees += more->frees;
        sum->freed_bytes += more->freed_bytes;
    } else if (from->heap != 0) {
        to->heap = from->heap;
    }
    from->heap = 0;
}

void fm_raw_recording_drop_graph(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    GArray **arrays[] = {&storage->pds, &storage->csds, &storage->heaps, &storage->points,
                         &storage->samples};
    static const size_t sizes[] = {sizeof(struct fm_raw_pd), sizeof(struct fm_raw_csd),
                                   sizeof(struct fm_raw_heap), sizeof(struct fm_raw_point),
                                   sizeof(struct fm_raw_sample)};
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
    GArray *arrays[] = {storage->modules, storage->pds,     storage->csds,    storage->heaps,
                        storage->points,  storage->samples, storage->threads, storage->marks};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_string_chunk_free(storage->texts);
    g_free(storage->path);
    g_free(storage);
    g_free(recording->command);
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

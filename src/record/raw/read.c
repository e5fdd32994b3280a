/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lists and graphs of a recording: each node once, each reference checked. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "record/raw/durations.h"
#include "record/raw/reading.h"
#include "record/raw/waits.h"

/* Arguments are separated by their NULs; a very long command line is incomplete. */
static char *command_line(const struct fm_raw_reading *in)
{
    const char *bytes = fm_raw_bytes_text(&in->bytes, in->recording->header.arguments);
    if (bytes[0] == '\0')
        return g_strdup("");
    const struct fm_rec_text *text =
        fm_raw_bytes_at(&in->bytes, in->recording->header.arguments, sizeof *text + 1);
    GString *line = g_string_new(NULL);
    for (const char *word = bytes; word < bytes + text->size; word += strlen(word) + 1) {
        g_autofree char *valid = g_utf8_make_valid(word, -1);
        bool plain = word[0] != '\0' && strpbrk(word, " \t\n'\"\\$&;|<>()*?[]#~`!") == NULL;
        g_autofree char *quoted = plain ? g_strdup(valid) : g_shell_quote(valid);
        g_string_append_printf(line, "%s%s", line->len > 0 ? " " : "", quoted);
    }
    return g_string_free(line, FALSE);
}

static bool read_modules(struct fm_raw_reading *in, GError **error)
{
    uint64_t steps = 0;
    for (uint32_t ref = in->recording->header.first_module; ref != 0;) {
        const struct fm_rec_module *module = fm_raw_bytes_at(&in->bytes, ref, sizeof *module);
        if (module == NULL || ++steps > in->bytes.size / sizeof *module)
            return fm_raw_bytes_fail(&in->bytes, ref, "no module", "the next module", error);
        struct fm_raw_module raw = {
            .path = fm_raw_bytes_text(&in->bytes, module->path),
            .start = module->start,
            .end = module->end,
            .bias = module->bias,
            .loaded = module->loaded,
            .unloaded = module->unloaded,
            .flags = module->flags,
            .build_id = module->build_id,
            .build_id_size = MIN(module->build_id_bytes, (uint32_t)sizeof module->build_id),
        };
        g_array_append_val(in->storage->modules, raw);
        ref = module->next;
    }
    return true;
}

bool fm_raw_read_marks(struct fm_raw_reading *in, GError **error)
{
    const struct fm_raw_recording_storage *storage = in->storage;
    uint64_t steps = 0;
    for (uint32_t ref = in->recording->header.first_mark; ref != 0;) {
        const struct fm_rec_mark *mark = fm_raw_bytes_at(&in->bytes, ref, sizeof *mark);
        if (mark == NULL || ++steps > in->bytes.size / sizeof *mark)
            return fm_raw_bytes_fail(&in->bytes, ref, "no mark", "the next mark", error);
        uint64_t start = in->recording->header.start_monotonic_ns;
        struct fm_raw_mark raw = {
            .name = fm_raw_bytes_text(&in->bytes, mark->name),
            .ns = mark->monotonic_ns < start ? 0 : mark->monotonic_ns - start,
            .quanta = mark->user_quanta,
            .snapshot = mark->snapshot,
        };
        g_array_append_val(storage->marks, raw);
        ref = mark->next;
    }
    /* Newest first in the file. */
    for (guint i = 0, end = storage->marks->len; i < end / 2; i++) {
        struct fm_raw_mark *left = &g_array_index(storage->marks, struct fm_raw_mark, i);
        struct fm_raw_mark *right = &g_array_index(storage->marks, struct fm_raw_mark, end - 1 - i);
        struct fm_raw_mark swap = *left;
        *left = *right;
        *right = swap;
    }
    return true;
}

/* Index of the pd at a reference; puts it into the queue the first time. */
static uint32_t pd_at(struct fm_raw_reading *in, uint32_t ref, uint32_t thread)
{
    struct fm_raw_recording_storage *storage = in->storage;
    const struct fm_rec_pd *pd = fm_raw_bytes_at(&in->bytes, ref, sizeof *pd);
    if (ref == 0 || pd == NULL || (in->seen[ref] & FM_RAW_CSD_MARK) != 0)
        return FM_RAW_NONE;
    if (in->seen[ref] == 0) {
        struct fm_raw_pd raw = {
            .fn = pd->fn, .epoch = pd->epoch, .thread = thread, .maker = FM_RAW_NONE};
        g_array_append_val(storage->pds, raw);
        g_array_append_val(in->queue, ref);
        in->seen[ref] = storage->pds->len;
    }
    return in->seen[ref] - 1;
}

static bool read_samples(struct fm_raw_reading *in, uint64_t first, GError **error)
{
    struct fm_raw_recording_storage *storage = in->storage;
    for (uint64_t ref = first; ref != 0;) {
        const struct fm_rec_sample *sample =
            ref > UINT32_MAX ? NULL : fm_raw_bytes_at(&in->bytes, (uint32_t)ref, sizeof *sample);
        if (sample == NULL || in->seen[ref] != 0)
            return fm_raw_bytes_fail(&in->bytes, (uint32_t)ref, "no sample",
                                     "the next of a call edge", error);
        fm_raw_mark(storage, in->seen, (uint32_t)ref);
        struct fm_raw_sample raw = {sample->pc, sample->quanta, in->at, sample->epoch};
        g_array_append_val(storage->samples, raw);
        ref = sample->next;
    }
    return true;
}

/* The samples of addresses cannot exceed those of their edge. */
static void bound_samples(struct fm_raw_reading *in, uint32_t first, uint64_t quanta)
{
    for (uint32_t i = first; i < in->storage->samples->len; i++) {
        struct fm_raw_sample *sample =
            &g_array_index(in->storage->samples, struct fm_raw_sample, i);
        sample->quanta = MIN(sample->quanta, quanta);
        quanta -= sample->quanta;
    }
}

/* Reads the depths of the callee of the edge that created it. */
static bool read_depths(struct fm_raw_reading *in, uint64_t ref, const struct fm_raw_csd *csd,
                        GError **error)
{
    struct fm_raw_pd *pd = &g_array_index(in->storage->pds, struct fm_raw_pd, csd->callee);
    const struct fm_rec_depths *depths =
        ref > UINT32_MAX ? NULL : fm_raw_bytes_at(&in->bytes, (uint32_t)ref, sizeof *depths);
    if (ref == 0 || depths == NULL || pd->depths != 0 || (csd->flags & FM_REC_CSD_MADE_CALLEE) == 0)
        return fm_raw_bytes_fail(&in->bytes, (uint32_t)ref, "none", "counts by depth", error);
    pd->depths = in->storage->depths->len;
    g_array_append_vals(in->storage->depths, depths, 1);
    return true;
}

static struct fm_raw_pd *pd_of_maker(struct fm_raw_reading *in, const struct fm_raw_csd *csd)
{
    return &g_array_index(in->storage->pds, struct fm_raw_pd, csd->callee);
}

static bool read_sides(struct fm_raw_reading *in, const struct fm_rec_csd *csd,
                       struct fm_raw_csd *raw, GError **error)
{
    uint64_t steps = 0;
    for (uint32_t ref = csd->side; ref != 0;) {
        const struct fm_rec_side *side = fm_raw_bytes_at(&in->bytes, ref, sizeof *side);
        if (side == NULL || ++steps > in->bytes.size / sizeof *side)
            return fm_raw_bytes_fail(&in->bytes, ref, "no side record", "the next of a call edge",
                                     error);
        if (side->kind == FM_REC_SIDE_VIA)
            raw->via = side->value;
        else if (side->kind == FM_REC_SIDE_QUANTA_CARRY)
            raw->quanta += side->value << 32;
        else if (side->kind == FM_REC_SIDE_EXCPS_CARRY)
            raw->excps += side->value << 32;
        else if (side->kind == FM_REC_SIDE_SAMPLES && !read_samples(in, side->value, error))
            return false;
        else if (side->kind == FM_REC_SIDE_FOREIGN && !fm_raw_foreigns_read(in, side->value, error))
            return false;
        else if (side->kind == FM_REC_SIDE_DEPTHS && !read_depths(in, side->value, raw, error))
            return false;
        else if (side->kind == FM_REC_SIDE_CHARGED)
            pd_of_maker(in, raw)->total += side->value;
        else if (side->kind == FM_REC_SIDE_MOVED)
            pd_of_maker(in, raw)->moved += side->value;
        else if (side->kind == FM_REC_SIDE_WAITS && in->recording->header.version > 2 &&
                 !fm_raw_waits_read(in->storage, &in->recording->header, &in->bytes, side->value,
                                    in->seen, &raw->waits, error))
            return false;
        else if (side->kind == FM_REC_SIDE_DURATIONS &&
                 !fm_raw_durations_read(in->storage, &in->bytes, side->value, &raw->durations,
                                        error))
            return false;
        else if (side->kind == FM_REC_SIDE_SPANS &&
                 !fm_raw_spans_read(in->storage, &in->bytes, side->value, error))
            return false;
        ref = side->next;
    }
    return true;
}

bool fm_raw_read_counts(struct fm_raw_reading *in, uint32_t at, const struct fm_rec_csd *csd,
                        struct fm_raw_csd *raw, GError **error)
{
    in->at = at;
    raw->calls = csd->calls;
    raw->excps = csd->excps;
    raw->quanta = csd->quanta;
    if (csd->alloc != 0 && !fm_raw_heap_read(&in->heap, csd->alloc, &raw->heap, error))
        return false;
    uint32_t samples = in->storage->samples->len, foreigns = in->storage->foreigns->len;
    if (csd->side != 0 && !read_sides(in, csd, raw, error))
        return false;
    fm_raw_read_exits(in, csd, raw);
    bound_samples(in, samples, raw->quanta);
    fm_raw_foreigns_bound(in, foreigns, raw->quanta);
    return true;
}

/* Index of the csd at a reference, which must not have been seen before. */
static bool read_csd(struct fm_raw_reading *in, uint32_t ref, uint32_t caller, uint32_t thread,
                     uint32_t *ret_next, GError **error)
{
    struct fm_raw_recording_storage *storage = in->storage;
    const struct fm_rec_csd *csd = fm_raw_bytes_at(&in->bytes, ref, sizeof *csd);
    if (csd == NULL || in->seen[ref] != 0)
        return fm_raw_bytes_fail(&in->bytes, ref,
                                 csd == NULL ? "outside the file" : "a node seen before",
                                 "a call edge", error);
    struct fm_raw_csd raw = {
        .caller = caller,
        .callee = pd_at(in, csd->callee, thread),
        .flags = csd->epoch_flags & ((1u << FM_REC_CSD_EPOCH_SHIFT) - 1),
        .epoch = csd->epoch_flags >> FM_REC_CSD_EPOCH_SHIFT,
        .hook_pc = csd->hook_pc,
        .site = csd->site,
        .css = FM_RAW_NONE,
    };
    *ret_next = csd->next;
    if (raw.callee == FM_RAW_NONE)
        return fm_raw_bytes_fail(&in->bytes, csd->callee, "no procedure",
                                 "the callee of a call edge", error);
    if (!fm_raw_read_counts(in, storage->csds->len, csd, &raw, error))
        return false;
    struct fm_raw_pd *callee = &g_array_index(storage->pds, struct fm_raw_pd, raw.callee);
    if ((raw.flags & FM_REC_CSD_MADE_CALLEE) != 0 && callee->maker == FM_RAW_NONE)
        callee->maker = storage->csds->len;
    g_array_append_val(storage->csds, raw);
    if (in->places != NULL)
        g_array_append_val(in->places->csds, ref);
    in->seen[ref] = storage->csds->len | FM_RAW_CSD_MARK;
    return true;
}

/* All counted blocks of a function; those that never ran are left out. */
static bool read_blocks(struct fm_raw_reading *in, uint32_t index, uint32_t ref, GError **error)
{
    const struct fm_rec_point *head = fm_raw_bytes_at(&in->bytes, ref, sizeof *head);
    uint64_t blocks = head->count;
    size_t bytes =
        blocks <= FM_REC_BLOCKS_MAX ? sizeof *head + blocks * sizeof(uint64_t) : SIZE_MAX;
    const char *at = bytes == SIZE_MAX ? NULL : fm_raw_bytes_at(&in->bytes, ref, bytes);
    if (at == NULL)
        return fm_raw_bytes_fail(&in->bytes, ref, "counters that reach beyond the file's end",
                                 "as many as the function has blocks", error);
    struct fm_raw_point raw = {.pc = head->pc,
                               .epoch = head->epoch & ~FM_REC_POINT_BLOCKS,
                               .pd = index,
                               .block = FM_RAW_BLOCK_ENTRY,
                               .place = FM_RAW_NONE};
    g_array_append_val(in->storage->points, raw);
    for (raw.block = 0; raw.block < blocks; raw.block++) {
        memcpy(&raw.count, at + sizeof *head + raw.block * sizeof raw.count, sizeof raw.count);
        if (raw.count != 0)
            g_array_append_val(in->storage->points, raw);
    }
    return true;
}

static bool read_points(struct fm_raw_reading *in, uint32_t index, uint32_t first, GError **error)
{
    for (uint32_t ref = first; ref != 0;) {
        const struct fm_rec_point *point = fm_raw_bytes_at(&in->bytes, ref, sizeof *point);
        if (point == NULL || in->seen[ref] != 0)
            return fm_raw_bytes_fail(&in->bytes, ref, "no coverage point",
                                     "the next of a procedure", error);
        fm_raw_mark(in->storage, in->seen, ref);
        struct fm_raw_point raw = {.pc = point->pc,
                                   .count = point->count,
                                   .epoch = point->epoch,
                                   .pd = index,
                                   .block = FM_RAW_NONE,
                                   .place = FM_RAW_NONE};
        uint32_t next = point->next;
        if ((point->epoch & FM_REC_POINT_BLOCKS) == 0)
            g_array_append_val(in->storage->points, raw);
        else if (!read_blocks(in, index, ref, error))
            return false;
        ref = next;
    }
    return true;
}

/* Visits every pd reachable from those in the queue. */
static bool read_graph(struct fm_raw_reading *in, guint *at_pd, GError **error)
{
    struct fm_raw_recording_storage *storage = in->storage;
    for (; *at_pd < storage->pds->len; (*at_pd)++) {
        uint32_t thread = g_array_index(storage->pds, struct fm_raw_pd, *at_pd).thread;
        uint32_t ref = g_array_index(in->queue, uint32_t, *at_pd);
        const struct fm_rec_pd *pd = fm_raw_bytes_at(&in->bytes, ref, sizeof *pd);
        if (!read_points(in, *at_pd, pd->first_point, error))
            return false;
        for (uint32_t csd = pd->first_csd; csd != 0;) {
            if (!read_csd(in, csd, *at_pd, thread, &csd, error))
                return false;
        }
    }
    return true;
}

bool fm_raw_read_stacks(struct fm_raw_reading *in, const struct fm_rec_thread *thread,
                        uint32_t csd_end, GError **error)
{
    struct fm_raw_recording_storage *storage = in->storage;
    bool lazy = (in->recording->header.grade_flags & FM_REC_LAZY_EXITS) != 0;
    uint64_t steps = 0;
    for (uint32_t ref = thread->first_stack; ref != 0;) {
        const struct fm_rec_stack *stack = fm_raw_bytes_at(&in->bytes, ref, sizeof *stack);
        if (stack == NULL || ++steps > in->bytes.size / sizeof *stack)
            return fm_raw_bytes_fail(&in->bytes, ref, "no stack", "the next of a thread", error);
        uint32_t capacity = stack->capacity;
        const struct fm_rec_frame *frames =
            fm_raw_bytes_at(&in->bytes, stack->frames, (size_t)capacity * sizeof *frames);
        if (frames == NULL)
            return fm_raw_bytes_fail(&in->bytes, stack->frames, "outside the file",
                                     "the frames of a stack", error);
        for (uint32_t i = 1; i < capacity && frames[i].cfa != 0; i++) {
            uint64_t offset = frames[i].csd - in->recording->header.map_base;
            bool inherited = (frames[i].cfa & 1) != 0;
            if (lazy || inherited || offset % FM_REC_UNIT != 0 || offset >= in->bytes.size)
                continue;
            uint32_t seen = in->seen[offset / FM_REC_UNIT];
            uint32_t csd = (seen & ~FM_RAW_CSD_MARK) - 1;
            if ((seen & FM_RAW_CSD_MARK) != 0 && seen != FM_RAW_CSD_MARK && csd < csd_end)
                g_array_index(storage->csds, struct fm_raw_csd, csd).open++;
        }
        ref = stack->next;
    }
    return true;
}

struct fm_raw_thread fm_raw_thread_of(const struct fm_raw_reading *in,
                                      const struct fm_rec_thread *thread)
{
    struct fm_raw_thread raw = {
        .number = thread->number,
        .tid = thread->tid,
        .ended = thread->state == FM_REC_THREAD_ENDED,
        .started_in = thread->started_in,
        .start_ns = thread->start_monotonic_ns,
        .end_ns = thread->end_monotonic_ns,
        .user_quanta = thread->user_quanta,
        .instrumentation_quanta = thread->instrumentation_quanta,
        .without_ticks = thread->tick_source == FM_REC_TICK_NONE,
        .ticks = thread->ticks,
        .cpu_ns = thread->cpu_ns,
        .calls_dropped = thread->calls_dropped,
        .exits_unmatched = thread->exits_unmatched,
    };
    memcpy(raw.name, thread->name, sizeof thread->name);
    if (in->recording->header.version > 1) {
        raw.charges = thread->charges;
        raw.charge_squares = thread->charge_squares;
    }
    if (in->recording->header.version > 2)
        fm_raw_waits_of_thread(&in->recording->header, thread, &raw);
    return raw;
}

static bool read_thread(struct fm_raw_reading *in, uint32_t ref, const struct fm_rec_thread *thread,
                        guint *at_pd, GError **error)
{
    struct fm_raw_recording_storage *storage = in->storage;
    struct fm_raw_thread raw = fm_raw_thread_of(in, thread);
    uint32_t index = storage->threads->len, next;
    raw.root_pd = pd_at(in, thread->root_pd, index);
    if (raw.root_pd == FM_RAW_NONE)
        return fm_raw_bytes_fail(&in->bytes, thread->root_pd, "no procedure",
                                 "the root of a thread", error);
    if (!read_csd(in, thread->root_csd, FM_RAW_NONE, index, &next, error))
        return false;
    raw.root_csd = storage->csds->len - 1;
    g_array_append_val(storage->threads, raw);
    if (!read_graph(in, at_pd, error))
        return false;
    const struct fm_raw_thread_place place = {ref, raw.root_pd, raw.root_csd, storage->pds->len,
                                              storage->csds->len};
    if (in->places != NULL)
        g_array_append_val(in->places->threads, place);
    return fm_raw_read_stacks(in, thread, storage->csds->len, error);
}

size_t fm_raw_thread_bytes(uint32_t version)
{
    return version > 2   ? sizeof(struct fm_rec_thread)
           : version > 1 ? offsetof(struct fm_rec_thread, current_stack)
                         : offsetof(struct fm_rec_thread, charges);
}

static bool read_threads(struct fm_raw_reading *in, GError **error)
{
    uint64_t steps = 0;
    guint at_pd = 0;
    size_t size = fm_raw_thread_bytes(in->recording->header.version);
    for (uint32_t ref = in->recording->header.first_thread; ref != 0;) {
        const struct fm_rec_thread *thread = fm_raw_bytes_at(&in->bytes, ref, size);
        if (thread == NULL || ++steps > in->bytes.size / size)
            return fm_raw_bytes_fail(&in->bytes, ref, "no thread", "the next thread", error);
        /* A thread without root has just begun. */
        if (thread->root_pd != 0 && thread->root_csd != 0 &&
            !read_thread(in, ref, thread, &at_pd, error))
            return false;
        ref = thread->next;
    }
    return true;
}

/* Thread ids count up from the process id, and restart at small ones after the maximum: so the
 * distance from the process id grows. */
static gint by_creation(gconstpointer left, gconstpointer right, gpointer data)
{
    const struct fm_raw_recording *recording = data;
    const struct fm_raw_thread *a = &recording->threads[*(const uint32_t *)left];
    const struct fm_raw_thread *b = &recording->threads[*(const uint32_t *)right];
    uint32_t a_distance = a->tid - recording->header.pid;
    uint32_t b_distance = b->tid - recording->header.pid;
    if (a_distance != b_distance)
        return a_distance < b_distance ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

uint32_t *fm_raw_order_threads(struct fm_raw_recording *recording)
{
    uint32_t count = recording->thread_count;
    g_autofree uint32_t *order = g_new(uint32_t, count + 1);
    uint32_t *place = g_new(uint32_t, count + 1);
    g_autofree struct fm_raw_thread *sorted = g_new(struct fm_raw_thread, count + 1);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)count, sizeof *order, by_creation, recording);
    for (uint32_t i = 0; i < count; i++) {
        place[order[i]] = i;
        sorted[i] = recording->threads[order[i]];
        sorted[i].number = i + 1;
    }
    if (count > 0)
        memcpy(recording->threads, sorted, count * sizeof *sorted);
    return place;
}

static void give_threads(struct fm_raw_recording *recording, const uint32_t *place)
{
    for (uint32_t i = 0; i < recording->pd_count; i++)
        recording->pds[i].thread = place[recording->pds[i].thread];
    for (uint32_t i = 0; i < recording->span_count; i++)
        recording->spans[i].thread = place[recording->spans[i].thread];
}

/* Keeps the few texts: the file's bytes are as many as the nodes made of them. */
static void forget_file(struct fm_raw_reading *in)
{
    struct fm_raw_recording *recording = in->recording;
    const struct fm_raw_recording_storage *storage = in->storage;
    GStringChunk *texts = storage->texts;
    recording->program = g_string_chunk_insert(texts, recording->program);
    recording->traced = g_string_chunk_insert(texts, recording->traced);
    recording->directory = g_string_chunk_insert(texts, recording->directory);
    for (guint i = 0; i < storage->modules->len; i++) {
        struct fm_raw_module *module = &g_array_index(storage->modules, struct fm_raw_module, i);
        module->path = g_string_chunk_insert(texts, module->path);
        module->build_id = (const uint8_t *)g_string_chunk_insert_len(
            texts, (const char *)module->build_id, (gssize)module->build_id_size);
    }
    for (guint i = 0; i < storage->marks->len; i++) {
        struct fm_raw_mark *mark = &g_array_index(storage->marks, struct fm_raw_mark, i);
        mark->name = g_string_chunk_insert(texts, mark->name);
    }
    if (in->keep_seen) {
        in->storage->references = in->bytes.size / FM_REC_UNIT + 1;
        in->storage->seen = g_steal_pointer(&in->seen);
    }
    if (in->places != NULL)
        in->places->pds = g_steal_pointer(&in->queue);
    fm_raw_bytes_done(&in->bytes);
    g_clear_pointer(&in->seen, g_free);
    if (in->queue != NULL)
        g_array_unref(g_steal_pointer(&in->queue));
}

/* Ignores a malformed text: it is not needed. */
static void read_rank(struct fm_raw_reading *in)
{
    struct fm_raw_recording *recording = in->recording;
    const char *text = fm_raw_bytes_text(&in->bytes, recording->header.rank);
    unsigned rank = 0, count = 0;
    int used = 0;
    if (sscanf(text, "%9u %9u %n", &rank, &count, &used) < 2 || used == 0 ||
        (count != 0 && rank >= count))
        return;
    recording->rank = rank + 1;
    recording->rank_count = count;
    if (text[used] != '\0')
        recording->host = g_utf8_make_valid(text + used, -1);
}

uint32_t fm_raw_forked_in(const struct fm_raw_reading *in)
{
    const struct fm_rec_header *header = &in->recording->header;
    uint32_t ref = header->version > 2 ? header->forked_in : 0;
    if (ref == 0 || ref >= in->bytes.size / FM_REC_UNIT + 1)
        return FM_RAW_NONE;
    uint32_t seen = in->seen[ref];
    if ((seen & FM_RAW_CSD_MARK) == 0 || seen == FM_RAW_CSD_MARK)
        return FM_RAW_NONE;
    return g_array_index(in->storage->csds, struct fm_raw_csd, (seen & ~FM_RAW_CSD_MARK) - 1)
        .callee;
}

static bool read_all(struct fm_raw_reading *in, GError **error)
{
    struct fm_raw_recording *recording = in->recording;
    in->seen = g_new0(uint32_t, in->bytes.size / FM_REC_UNIT + 1);
    in->queue = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    recording->program = fm_raw_bytes_text(&in->bytes, recording->header.program);
    recording->directory = fm_raw_bytes_text(&in->bytes, recording->header.directory);
    recording->command = command_line(in);
    read_rank(in);
    if (recording->header.version > 2)
        recording->traced = fm_raw_bytes_text(&in->bytes, recording->header.traced);
    bool ok = fm_raw_heap_begin(&in->heap, &in->bytes, recording, error) &&
              read_modules(in, error) && read_threads(in, error) && fm_raw_read_marks(in, error);
    fm_raw_heap_end(&in->heap);
    g_assert(in->queue->len == in->storage->pds->len);
    recording->forked_in = fm_raw_forked_in(in);
    fm_raw_spans_resolve(in->storage, in->seen, in->bytes.size / FM_REC_UNIT + 1, FM_RAW_CSD_MARK);
    fm_raw_waits_resolve(in->storage, in->seen, in->bytes.size / FM_REC_UNIT + 1, FM_RAW_CSD_MARK);
    ok = ok && fm_raw_sleeps_read(in->storage, &recording->header, &in->bytes, in->seen,
                                  in->bytes.size / FM_REC_UNIT + 1, FM_RAW_CSD_MARK, error);
    forget_file(in);
    return ok;
}

void fm_raw_add_unknown_depths(struct fm_raw_recording *recording)
{
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &recording->csds[i];
        if ((csd->flags & (FM_REC_CSD_MADE_CALLEE | FM_REC_CSD_DEPTHS)) == 0)
            recording->pds[csd->callee].depths_unknown += csd->calls;
    }
}

/* Ticks of one processor's counter are nanoseconds by two moments: the same for both. */
static void take_clock(struct fm_rec_header *header, const struct fm_rec_header *clock)
{
    header->wait_first = clock->wait_first;
    header->wait_latest_at = clock->wait_latest_at;
    memcpy(header->wait_latest, clock->wait_latest, sizeof header->wait_latest);
}

enum kept { KEEP_NOTHING, KEEP_SEEN, KEEP_PLACES };

static bool load(const char *path, enum kept keep, const struct fm_rec_header *clock,
                 struct fm_raw_recording **ret, GError **error)
{
    g_autoptr(FmRawRecording) recording = fm_raw_recording_new(path);
    struct fm_raw_reading in = {
        .recording = recording, .storage = recording->storage, .keep_seen = keep != KEEP_NOTHING};
    if (keep == KEEP_PLACES)
        in.places = recording->storage->places = fm_raw_places_new();
    if (!fm_raw_bytes_read(&in.bytes, recording->path, &recording->header, error))
        return false;
    if (clock != NULL)
        take_clock(&recording->header, clock);
    if (!read_all(&in, error))
        return false;
    fm_raw_recording_publish(recording);
    g_autofree uint32_t *place = fm_raw_order_threads(recording);
    give_threads(recording, place);
    fm_raw_add_unknown_depths(recording);
    *ret = g_steal_pointer(&recording);
    return true;
}

bool fm_raw_recording_load(const char *path, struct fm_raw_recording **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    return load(path, KEEP_NOTHING, NULL, ret, error);
}

bool fm_raw_recording_load_places(const char *path, struct fm_raw_recording **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    return load(path, KEEP_PLACES, NULL, ret, error);
}

bool fm_raw_recording_load_seen(const char *path, const struct fm_rec_header *clock,
                                struct fm_raw_recording **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    return load(path, KEEP_SEEN, clock, ret, error);
}

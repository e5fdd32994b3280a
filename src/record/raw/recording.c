/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* In the map from references to nodes: 0 = not seen, else 1 + index, with this bit for a csd. */
#define CSD_MARK 0x80000000u

struct fm_raw_recording_storage {
    uint8_t *bytes;
    size_t size;
    uint32_t *seen; /* per reference */
    GArray *modules, *pds, *csds, *heaps, *points, *samples, *threads, *marks;
    GArray *queue; /* references of pds, parallel to pds */
    GStringChunk *texts;
    char *path;
};

static bool fail(struct fm_raw_recording *recording, uint32_t ref, const char *found,
                 const char *expected, GError **error)
{
    uint64_t size = recording->storage->size;
    if ((uint64_t)ref * FM_REC_UNIT >= size) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %" G_GUINT64_FORMAT ": beyond the %" G_GUINT64_FORMAT
                    " bytes of the file, expected %s",
                    recording->path, (guint64)ref * FM_REC_UNIT, (guint64)size, expected);
        return false;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: offset %" G_GUINT64_FORMAT ": %s, expected %s", recording->path,
                (guint64)ref * FM_REC_UNIT, found, expected);
    return false;
}

/* The bytes at a reference, NULL when they are not all in the file. */
static const void *at(const struct fm_raw_recording *recording, uint32_t ref, size_t size)
{
    const struct fm_raw_recording_storage *storage = recording->storage;
    uint64_t offset = (uint64_t)ref * FM_REC_UNIT;
    if (offset < sizeof(struct fm_rec_header) || offset > storage->size ||
        storage->size - offset < size)
        return NULL;
    return storage->bytes + offset;
}

static const char *text_at(const struct fm_raw_recording *recording, uint32_t ref)
{
    const struct fm_rec_text *text = at(recording, ref, sizeof(struct fm_rec_text) + 1);
    if (ref == 0 || text == NULL)
        return "";
    const char *bytes = at(recording, ref, sizeof(struct fm_rec_text) + 1 + (size_t)text->size);
    if (bytes == NULL || text->bytes[text->size] != '\0')
        return "";
    return text->bytes;
}

/* Arguments are told apart by their NULs; those of a very long line are not all there. */
static char *command_line(const struct fm_raw_recording *recording)
{
    const char *bytes = text_at(recording, recording->header.arguments);
    if (bytes[0] == '\0')
        return g_strdup("");
    const struct fm_rec_text *text = at(recording, recording->header.arguments, sizeof *text + 1);
    GString *line = g_string_new(NULL);
    for (const char *word = bytes; word < bytes + text->size; word += strlen(word) + 1) {
        g_autofree char *valid = g_utf8_make_valid(word, -1);
        bool plain = word[0] != '\0' && strpbrk(word, " \t\n'\"\\$&;|<>()*?[]#~`!") == NULL;
        g_autofree char *quoted = plain ? g_strdup(valid) : g_shell_quote(valid);
        g_string_append_printf(line, "%s%s", line->len > 0 ? " " : "", quoted);
    }
    return g_string_free(line, FALSE);
}

static bool read_whole(struct fm_raw_recording *recording, int file, size_t size, GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    storage->bytes = g_try_malloc0(size);
    if (storage->bytes == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: no memory for %zu bytes", recording->path,
                    size);
        return false;
    }
    while (storage->size < size) {
        ssize_t got =
            pread(file, storage->bytes + storage->size, size - storage->size, (off_t)storage->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", recording->path, g_strerror(errno));
            return false;
        }
        if (got == 0)
            break;
        storage->size += (size_t)got;
    }
    return true;
}

static bool check_header(const struct fm_raw_recording *recording,
                         const struct fm_rec_header *header, GError **error)
{
    if (memcmp(header->magic, FM_REC_MAGIC, sizeof header->magic) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset 0: this is not a recording of fathom", recording->path);
        return false;
    }
    if (header->byte_order != FM_REC_BYTE_ORDER) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: offset 12: recorded on a machine of the other byte order",
                    recording->path);
        return false;
    }
    if (header->version != FM_REC_VERSION || header->header_bytes != FM_REC_HEADER_BYTES) {
        g_set_error(error, FM_ERROR, FM_ERROR_VERSION,
                    "%s: offset 8: version %u with a header of %u bytes, expected %u with %u",
                    recording->path, header->version, header->header_bytes, FM_REC_VERSION,
                    FM_REC_HEADER_BYTES);
        return false;
    }
    return true;
}

static bool open_file(struct fm_raw_recording *recording, int file, GError **error)
{
    struct stat status;
    struct fm_rec_header header;
    if (fstat(file, &status) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", recording->path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: %s, expected a recording",
                    recording->path,
                    S_ISDIR(status.st_mode) ? "is a folder" : "is not an ordinary file");
        return false;
    }
    ssize_t got = pread(file, &header, sizeof header, 0);
    if (got != (ssize_t)sizeof header) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset %zd: the file ends inside the header of %zu bytes", recording->path,
                    MAX(got, 0), sizeof header);
        return false;
    }
    if (!check_header(recording, &header, error))
        return false;
    /* The file is sparse and may be reserved far beyond what it holds. */
    uint64_t used = MIN(header.bytes_used, (uint64_t)status.st_size);
    used = MIN(used, (uint64_t)UINT32_MAX * FM_REC_UNIT);
    if (used < sizeof header)
        used = sizeof header;
    if (!read_whole(recording, file, (size_t)used, error))
        return false;
    memcpy(&recording->header, recording->storage->bytes, sizeof recording->header);
    return check_header(recording, &recording->header, error);
}

static bool read_modules(struct fm_raw_recording *recording, GError **error)
{
    uint64_t steps = 0;
    for (uint32_t ref = recording->header.first_module; ref != 0;) {
        const struct fm_rec_module *module = at(recording, ref, sizeof *module);
        if (module == NULL || ++steps > recording->storage->size / sizeof *module)
            return fail(recording, ref, "no module", "the next module", error);
        struct fm_raw_module raw = {
            .path = text_at(recording, module->path),
            .start = module->start,
            .end = module->end,
            .bias = module->bias,
            .loaded = module->loaded,
            .unloaded = module->unloaded,
            .flags = module->flags,
            .build_id = module->build_id,
            .build_id_size = MIN(module->build_id_bytes, (uint32_t)sizeof module->build_id),
        };
        g_array_append_val(recording->storage->modules, raw);
        ref = module->next;
    }
    return true;
}

static bool read_marks(struct fm_raw_recording *recording, GError **error)
{
    const struct fm_raw_recording_storage *storage = recording->storage;
    uint64_t steps = 0;
    for (uint32_t ref = recording->header.first_mark; ref != 0;) {
        const struct fm_rec_mark *mark = at(recording, ref, sizeof *mark);
        if (mark == NULL || ++steps > storage->size / sizeof *mark)
            return fail(recording, ref, "no mark", "the next mark", error);
        uint64_t start = recording->header.start_monotonic_ns;
        struct fm_raw_mark raw = {
            .name = text_at(recording, mark->name),
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
static uint32_t pd_at(struct fm_raw_recording *recording, uint32_t ref, uint32_t thread)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    const struct fm_rec_pd *pd = at(recording, ref, sizeof *pd);
    if (ref == 0 || pd == NULL || (storage->seen[ref] & CSD_MARK) != 0)
        return FM_RAW_NONE;
    if (storage->seen[ref] == 0) {
        struct fm_raw_pd raw = {
            .fn = pd->fn, .epoch = pd->epoch, .thread = thread, .maker = FM_RAW_NONE};
        g_array_append_val(storage->pds, raw);
        g_array_append_val(storage->queue, ref);
        storage->seen[ref] = storage->pds->len;
    }
    return storage->seen[ref] - 1;
}

static bool read_samples(struct fm_raw_recording *recording, uint64_t first, GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    for (uint64_t ref = first; ref != 0;) {
        const struct fm_rec_sample *sample =
            ref > UINT32_MAX ? NULL : at(recording, (uint32_t)ref, sizeof *sample);
        if (sample == NULL || storage->seen[ref] != 0)
            return fail(recording, (uint32_t)ref, "no sample", "the next of a call edge", error);
        storage->seen[ref] = CSD_MARK; /* no csd: just seen */
        struct fm_raw_sample raw = {sample->pc, sample->quanta, storage->csds->len, sample->epoch};
        g_array_append_val(storage->samples, raw);
        ref = sample->next;
    }
    return true;
}

static bool read_sides(struct fm_raw_recording *recording, const struct fm_rec_csd *csd,
                       struct fm_raw_csd *raw, GError **error)
{
    uint64_t steps = 0;
    for (uint32_t ref = csd->side; ref != 0;) {
        const struct fm_rec_side *side = at(recording, ref, sizeof *side);
        if (side == NULL || ++steps > recording->storage->size / sizeof *side)
            return fail(recording, ref, "no side record", "the next of a call edge", error);
        if (side->kind == FM_REC_SIDE_VIA)
            raw->via = side->value;
        else if (side->kind == FM_REC_SIDE_QUANTA_CARRY)
            raw->quanta += side->value << 32;
        else if (side->kind == FM_REC_SIDE_EXCPS_CARRY)
            raw->excps += side->value << 32;
        else if (side->kind == FM_REC_SIDE_SAMPLES && !read_samples(recording, side->value, error))
            return false;
        ref = side->next;
    }
    return true;
}

/* Index of the csd at a reference, which must not have been seen before. */
static bool read_csd(struct fm_raw_recording *recording, uint32_t ref, uint32_t caller,
                     uint32_t thread, uint32_t *ret_next, GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    const struct fm_rec_csd *csd = at(recording, ref, sizeof *csd);
    if (csd == NULL || storage->seen[ref] != 0)
        return fail(recording, ref, csd == NULL ? "outside the file" : "a node seen before",
                    "a call edge", error);
    struct fm_raw_csd raw = {
        .caller = caller,
        .callee = pd_at(recording, csd->callee, thread),
        .flags = csd->epoch_flags & ((1u << FM_REC_CSD_EPOCH_SHIFT) - 1),
        .epoch = csd->epoch_flags >> FM_REC_CSD_EPOCH_SHIFT,
        .hook_pc = csd->hook_pc,
        .site = csd->site,
        .calls = csd->calls,
        .excps = csd->excps,
        .quanta = csd->quanta,
        .css = FM_RAW_NONE,
    };
    *ret_next = csd->next;
    if (raw.callee == FM_RAW_NONE)
        return fail(recording, csd->callee, "no procedure", "the callee of a call edge", error);
    if (csd->alloc != 0) {
        const struct fm_rec_alloc *alloc = at(recording, csd->alloc, sizeof *alloc);
        if (alloc == NULL)
            return fail(recording, csd->alloc, "outside the file", "allocation counts", error);
        struct fm_raw_heap heap = {alloc->allocs, alloc->bytes, alloc->usable_bytes, alloc->frees,
                                   alloc->freed_bytes};
        raw.heap = storage->heaps->len;
        g_array_append_val(storage->heaps, heap);
    }
    if (!read_sides(recording, csd, &raw, error))
        return false;
    struct fm_raw_pd *callee = &g_array_index(storage->pds, struct fm_raw_pd, raw.callee);
    if ((raw.flags & FM_REC_CSD_MADE_CALLEE) != 0 && callee->maker == FM_RAW_NONE)
        callee->maker = storage->csds->len;
    g_array_append_val(storage->csds, raw);
    storage->seen[ref] = storage->csds->len | CSD_MARK;
    return true;
}

static bool read_points(struct fm_raw_recording *recording, uint32_t index, uint32_t first,
                        GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    struct fm_raw_pd *pd = &g_array_index(storage->pds, struct fm_raw_pd, index);
    pd->point_first = storage->points->len;
    for (uint32_t ref = first; ref != 0;) {
        const struct fm_rec_point *point = at(recording, ref, sizeof *point);
        if (point == NULL || storage->seen[ref] != 0)
            return fail(recording, ref, "no coverage point", "the next of a procedure", error);
        storage->seen[ref] = CSD_MARK; /* no csd: just seen */
        struct fm_raw_point raw = {point->pc, point->count, point->epoch};
        g_array_append_val(storage->points, raw);
        pd->point_count++;
        ref = point->next;
    }
    return true;
}

/* Visits every pd reachable from those in the queue. */
static bool read_graph(struct fm_raw_recording *recording, guint *at_pd, GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    for (; *at_pd < storage->pds->len; (*at_pd)++) {
        uint32_t thread = g_array_index(storage->pds, struct fm_raw_pd, *at_pd).thread;
        uint32_t ref = g_array_index(storage->queue, uint32_t, *at_pd);
        const struct fm_rec_pd *pd = at(recording, ref, sizeof *pd);
        if (!read_points(recording, *at_pd, pd->first_point, error))
            return false;
        for (uint32_t csd = pd->first_csd; csd != 0;) {
            if (!read_csd(recording, csd, *at_pd, thread, &csd, error))
                return false;
        }
    }
    return true;
}

/* Frames that are open count as calls without an exit. Where exits are not seen, frames stay behind
 * when their functions have returned, and tell nothing. */
static bool read_stacks(struct fm_raw_recording *recording, const struct fm_rec_thread *thread,
                        GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    bool lazy = (recording->header.grade_flags & FM_REC_LAZY_EXITS) != 0;
    uint64_t steps = 0;
    for (uint32_t ref = thread->first_stack; ref != 0;) {
        const struct fm_rec_stack *stack = at(recording, ref, sizeof *stack);
        if (stack == NULL || ++steps > storage->size / sizeof *stack)
            return fail(recording, ref, "no stack", "the next of a thread", error);
        uint32_t capacity = stack->capacity;
        const struct fm_rec_frame *frames =
            at(recording, stack->frames, (size_t)capacity * sizeof *frames);
        if (frames == NULL)
            return fail(recording, stack->frames, "outside the file", "the frames of a stack",
                        error);
        for (uint32_t i = 1; i < capacity && frames[i].cfa != 0; i++) {
            uint64_t offset = frames[i].csd - recording->header.map_base;
            bool inherited = (frames[i].cfa & 1) != 0;
            if (lazy || inherited || offset % FM_REC_UNIT != 0 || offset >= storage->size)
                continue;
            uint32_t seen = storage->seen[offset / FM_REC_UNIT];
            if ((seen & CSD_MARK) != 0 && seen != CSD_MARK)
                g_array_index(storage->csds, struct fm_raw_csd, (seen & ~CSD_MARK) - 1).open++;
        }
        ref = stack->next;
    }
    return true;
}

static bool read_thread(struct fm_raw_recording *recording, const struct fm_rec_thread *thread,
                        guint *at_pd, GError **error)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    struct fm_raw_thread raw = {
        .number = thread->number,
        .tid = thread->tid,
        .ended = thread->state == FM_REC_THREAD_ENDED,
        .started_in = thread->started_in,
        .user_quanta = thread->user_quanta,
        .instrumentation_quanta = thread->instrumentation_quanta,
        .ticks = thread->ticks,
        .cpu_ns = thread->cpu_ns,
        .calls_dropped = thread->calls_dropped,
        .exits_unmatched = thread->exits_unmatched,
    };
    memcpy(raw.name, thread->name, sizeof thread->name);
    uint32_t index = storage->threads->len, next;
    raw.root_pd = pd_at(recording, thread->root_pd, index);
    if (raw.root_pd == FM_RAW_NONE)
        return fail(recording, thread->root_pd, "no procedure", "the root of a thread", error);
    if (!read_csd(recording, thread->root_csd, FM_RAW_NONE, index, &next, error))
        return false;
    raw.root_csd = storage->csds->len - 1;
    g_array_append_val(storage->threads, raw);
    return read_graph(recording, at_pd, error) && read_stacks(recording, thread, error);
}

static bool read_threads(struct fm_raw_recording *recording, GError **error)
{
    uint64_t steps = 0;
    guint at_pd = 0;
    for (uint32_t ref = recording->header.first_thread; ref != 0;) {
        const struct fm_rec_thread *thread = at(recording, ref, sizeof *thread);
        if (thread == NULL || ++steps > recording->storage->size / sizeof *thread)
            return fail(recording, ref, "no thread", "the next thread", error);
        /* A thread whose root is not there yet has just begun. */
        if (thread->root_pd != 0 && thread->root_csd != 0 &&
            !read_thread(recording, thread, &at_pd, error))
            return false;
        ref = thread->next;
    }
    return true;
}

static void publish(struct fm_raw_recording *recording)
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
    g_array_append_vals(recording->storage->pds, pd, 1);
    publish(recording);
    return recording->pd_count - 1;
}

uint32_t fm_raw_recording_add_csd(struct fm_raw_recording *recording, const struct fm_raw_csd *csd)
{
    g_array_append_vals(recording->storage->csds, csd, 1);
    publish(recording);
    return recording->csd_count - 1;
}

void fm_raw_recording_move_costs(struct fm_raw_recording *recording, struct fm_raw_csd *to,
                                 struct fm_raw_csd *from)
{
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

static gint by_creation(gconstpointer left, gconstpointer right, gpointer data)
{
    const struct fm_raw_recording *recording = data;
    const struct fm_raw_thread *a = &recording->threads[*(const uint32_t *)left];
    const struct fm_raw_thread *b = &recording->threads[*(const uint32_t *)right];
    bool a_main = a->tid == recording->header.pid, b_main = b->tid == recording->header.pid;
    if (a_main != b_main)
        return a_main ? -1 : 1;
    return a->tid != b->tid ? (a->tid < b->tid ? -1 : 1) : (a->number < b->number ? -1 : 1);
}

/* In the file they stand in the order of their first hooks, which changes from run to run; here in
 * that of their creation, as the kernel numbers them. */
static void order_threads(struct fm_raw_recording *recording)
{
    uint32_t count = recording->thread_count;
    g_autofree uint32_t *order = g_new(uint32_t, count + 1);
    g_autofree uint32_t *place = g_new(uint32_t, count + 1);
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
    for (uint32_t i = 0; i < recording->pd_count; i++)
        recording->pds[i].thread = place[recording->pds[i].thread];
}

/* Keeps the few texts: the file's bytes are as many as the nodes made of them. */
static void forget_file(struct fm_raw_recording *recording)
{
    struct fm_raw_recording_storage *storage = recording->storage;
    GStringChunk *texts = storage->texts;
    recording->program = g_string_chunk_insert(texts, recording->program);
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
    g_clear_pointer(&storage->bytes, g_free);
    g_clear_pointer(&storage->seen, g_free);
    g_clear_pointer(&storage->queue, g_array_unref);
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
    publish(recording);
}

bool fm_raw_recording_load(const char *path, struct fm_raw_recording **ret, GError **error)
{
    g_autoptr(FmRawRecording) recording = g_new0(struct fm_raw_recording, 1);
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
    storage->queue = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    if (file < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    bool ok = open_file(recording, file, error);
    close(file);
    if (!ok)
        return false;
    storage->seen = g_new0(uint32_t, storage->size / FM_REC_UNIT + 1);
    recording->program = text_at(recording, recording->header.program);
    recording->directory = text_at(recording, recording->header.directory);
    recording->command = command_line(recording);
    if (!read_modules(recording, error) || !read_threads(recording, error) ||
        !read_marks(recording, error))
        return false;
    forget_file(recording);
    publish(recording);
    order_threads(recording);
    *ret = g_steal_pointer(&recording);
    return true;
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
    if (storage->queue != NULL)
        g_array_unref(storage->queue);
    g_string_chunk_free(storage->texts);
    g_free(storage->bytes);
    g_free(storage->seen);
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

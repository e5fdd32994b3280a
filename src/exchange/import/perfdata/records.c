/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the records once: those that describe the file are read, the others are put in the order of
 * time. */
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "exchange/import/perfdata/file.h"

#define ATTR_FIRST 64u
#define UNPACKED_FREE ((size_t)64 << 20) /* beyond it at most a hundred times the file */
#define UNPACKED_MAX ((size_t)G_MAXUINT32 / 2)
#define PART_BYTES ((size_t)128 << 10)

struct walk {
    struct fm_perf_file *file;
    ZSTD_DStream *stream;
    size_t done;   /* bytes of what was unpacked whose records were walked */
    uint64_t time; /* time of the record before */
    bool sorted, broken;
};

static void stop(struct walk *walk, uint64_t at, const char *why)
{
    walk->broken = true;
    if (walk->file->damage == NULL)
        walk->file->damage = g_strdup_printf("%s at offset %" G_GUINT64_FORMAT, why, (guint64)at);
}

/* Bytes of the fields that a record of the kernel ends with, and where in them the time is. */
static size_t ids_of(const struct fm_perf_file *file, size_t *ret_time, bool *ret_timed)
{
    const struct fm_perf_event *event =
        file->events->len == 0 ? NULL : &g_array_index(file->events, struct fm_perf_event, 0);
    uint64_t type = event == NULL || !event->ids_in_all ? 0 : event->sample_type;
    unsigned count = 0;
    *ret_timed = (type & FM_PERF_TIME) != 0;
    *ret_time = (type & FM_PERF_TID) != 0 ? 8 : 0;
    for (uint64_t bits = type & (FM_PERF_TID | FM_PERF_TIME | FM_PERF_ID | FM_PERF_STREAM_ID |
                                 FM_PERF_CPU | FM_PERF_IDENTIFIER);
         bits != 0; bits &= bits - 1)
        count++;
    return count * (size_t)8;
}

static const uint8_t *bytes_at(const struct fm_perf_file *file, uint64_t at)
{
    return (at & FM_PERF_UNPACKED) != 0 ? file->unpacked->data + (at & ~FM_PERF_UNPACKED)
                                        : file->input->bytes + at;
}

struct fm_perf_body fm_perf_body_at(const struct fm_perf_file *file, uint64_t at)
{
    const uint8_t *record = bytes_at(file, at);
    size_t size = fm_perf_u16(file, record + 6), time;
    bool timed;
    struct fm_perf_body body = {
        fm_perf_u32(file, record),
        fm_perf_u16(file, record + 4),
        {file, record + FM_PERF_HEADER, record + MAX(size, FM_PERF_HEADER), false}};
    size_t ids = body.type == FM_PERF_SAMPLE || body.type >= FM_PERF_USER_FIRST
                     ? 0
                     : ids_of(file, &time, &timed);
    if (size >= FM_PERF_HEADER + ids)
        body.fields.end -= ids;
    return body;
}

/* The time of a record of the kernel; of one that has none the time of the one before. */
static uint64_t time_of(struct walk *walk, uint32_t type, const uint8_t *record, size_t size)
{
    const struct fm_perf_file *file = walk->file;
    size_t within;
    bool timed;
    if (type == FM_PERF_SAMPLE) {
        uint64_t bits = file->events->len == 0
                            ? 0
                            : g_array_index(file->events, struct fm_perf_event, 0).sample_type;
        size_t at = FM_PERF_HEADER + ((bits & FM_PERF_IDENTIFIER) != 0 ? 8 : 0) +
                    ((bits & FM_PERF_IP) != 0 ? 8 : 0) + ((bits & FM_PERF_TID) != 0 ? 8 : 0);
        if ((bits & FM_PERF_TIME) != 0 && size >= at + 8)
            walk->time = fm_perf_u64(file, record + at);
        return walk->time;
    }
    size_t ids = ids_of(file, &within, &timed);
    if (timed && size >= FM_PERF_HEADER + ids)
        walk->time = fm_perf_u64(file, record + size - ids + within);
    else if ((type == FM_PERF_FORK || type == FM_PERF_EXIT) && size >= FM_PERF_HEADER + 24)
        walk->time = fm_perf_u64(file, record + FM_PERF_HEADER + 16);
    return walk->time;
}

static void read_attribute(struct fm_perf_file *file, const uint8_t *record, size_t size)
{
    if (size < FM_PERF_HEADER + ATTR_FIRST)
        return;
    size_t attr = fm_perf_u32(file, record + FM_PERF_HEADER + 4);
    attr = attr == 0 ? ATTR_FIRST : MIN(attr, size - FM_PERF_HEADER);
    fm_perf_add_event(file, record + FM_PERF_HEADER, attr);
    fm_perf_add_ids(file, file->events->len - 1, record + FM_PERF_HEADER + attr,
                    size - FM_PERF_HEADER - attr);
}

/* A later name of an event. */
static void read_update(struct fm_perf_file *file, const uint8_t *record, size_t size)
{
    enum { NAME = 2 };
    if (size <= FM_PERF_HEADER + 16 || fm_perf_u64(file, record + FM_PERF_HEADER) != NAME)
        return;
    uint64_t id = fm_perf_u64(file, record + FM_PERF_HEADER + 8);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(file->by_id, &id));
    if (number == 0)
        return;
    struct fm_perf_event *event = &g_array_index(file->events, struct fm_perf_event, number - 1);
    g_free(event->name);
    event->name = g_strndup((const char *)record + FM_PERF_HEADER + 16, size - FM_PERF_HEADER - 16);
}

static void read_event_type(struct fm_perf_file *file, const uint8_t *record, size_t size)
{
    uint64_t config = size > FM_PERF_HEADER + 8 ? fm_perf_u64(file, record + FM_PERF_HEADER) : 0;
    for (guint i = 0; size > FM_PERF_HEADER + 8 && i < file->events->len; i++) {
        struct fm_perf_event *event = &g_array_index(file->events, struct fm_perf_event, i);
        if (event->name == NULL && event->config == config)
            event->name =
                g_strndup((const char *)record + FM_PERF_HEADER + 8, size - FM_PERF_HEADER - 8);
    }
}

static bool walk_unpacked(struct walk *walk, GError **error);

/* One stream over all such records. */
static bool unpack(struct walk *walk, uint64_t at, const uint8_t *packed, size_t size,
                   GError **error)
{
    struct fm_perf_file *file = walk->file;
    ZSTD_inBuffer in = {packed, size, 0};
    g_autofree uint8_t *part = g_malloc(PART_BYTES);
    if (walk->stream == NULL)
        walk->stream = ZSTD_createDStream();
    for (bool full = false; in.pos < in.size || full;) {
        ZSTD_outBuffer out = {part, PART_BYTES, 0};
        if (ZSTD_isError(ZSTD_decompressStream(walk->stream, &out, &in))) {
            stop(walk, at, "what zstd compressed is damaged");
            break;
        }
        full = out.pos == PART_BYTES;
        g_byte_array_append(file->unpacked, part, (guint)out.pos);
        size_t most = MIN(MAX(UNPACKED_FREE, 100 * file->input->size), UNPACKED_MAX);
        if (file->unpacked->len > most) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: offset %" G_GUINT64_FORMAT ": unpacked it has more than %zu bytes, "
                        "the most that are read of a file of this size",
                        file->input->name, (guint64)at, most);
            return false;
        }
        if (in.pos == in.size && out.pos == 0)
            break;
    }
    return walk_unpacked(walk, error);
}

/* Records of perf's own. ret_more: bytes that follow the record and belong to it. */
static bool read_own(struct walk *walk, uint32_t type, uint64_t at, size_t size, uint64_t *ret_more,
                     GError **error)
{
    struct fm_perf_file *file = walk->file;
    const uint8_t *record = bytes_at(file, at), *body = record + FM_PERF_HEADER;
    switch (type) {
    case FM_PERF_HEADER_ATTR:
        read_attribute(file, record, size);
        break;
    case FM_PERF_EVENT_TYPE:
        read_event_type(file, record, size);
        break;
    case FM_PERF_TRACING_DATA:
        *ret_more = size < FM_PERF_HEADER + 4 ? 0 : ((uint64_t)fm_perf_u32(file, body) + 7) / 8 * 8;
        break;
    case FM_PERF_BUILD_ID:
        fm_perf_read_build_id(file, record, size);
        break;
    case FM_PERF_AUXTRACE:
        *ret_more = size < FM_PERF_HEADER + 8 ? 0 : fm_perf_u64(file, body);
        file->aux += *ret_more;
        break;
    case FM_PERF_EVENT_UPDATE:
        read_update(file, record, size);
        break;
    case FM_PERF_HEADER_FEATURE:
        if (size >= FM_PERF_HEADER + 8)
            fm_perf_read_feature(file, fm_perf_u64(file, body), body + 8,
                                 size - FM_PERF_HEADER - 8);
        break;
    case FM_PERF_COMPRESSED:
        return (at & FM_PERF_UNPACKED) != 0 || unpack(walk, at, body, size - FM_PERF_HEADER, error);
    case FM_PERF_COMPRESSED2: {
        uint64_t bytes = size < FM_PERF_HEADER + 8 ? 0 : fm_perf_u64(file, body);
        if (bytes == 0 || bytes > size - FM_PERF_HEADER - 8 || (at & FM_PERF_UNPACKED) != 0)
            break;
        return unpack(walk, at, body + 8, bytes, error);
    }
    default:
        break;
    }
    return true;
}

bool fm_perf_count_losses(struct fm_perf_file *file, const uint8_t *record, size_t size)
{
    uint32_t type = fm_perf_u32(file, record);
    if (type == FM_PERF_LOST && size >= FM_PERF_HEADER + 16)
        fm_import_sum(&file->lost, fm_perf_u64(file, record + FM_PERF_HEADER + 8));
    else if (type == FM_PERF_LOST_SAMPLES && size >= FM_PERF_HEADER + 8)
        fm_import_sum(&file->lost_samples, fm_perf_u64(file, record + FM_PERF_HEADER));
    else if (type == FM_PERF_THROTTLE)
        file->throttled++;
    return type == FM_PERF_SAMPLE || type == FM_PERF_MMAP || type == FM_PERF_MMAP2 ||
           type == FM_PERF_COMM || type == FM_PERF_FORK;
}

static bool read_record(struct walk *walk, uint32_t type, uint64_t at, size_t size,
                        uint64_t *ret_more, GError **error)
{
    struct fm_perf_file *file = walk->file;
    const uint8_t *record = bytes_at(file, at);
    *ret_more = 0;
    if (type >= FM_PERF_USER_FIRST)
        return read_own(walk, type, at, size, ret_more, error);
    bool used = fm_perf_count_losses(file, record, size);
    uint64_t before = walk->time;
    struct fm_perf_record place = {time_of(walk, type, record, size), at};
    walk->sorted = walk->sorted && walk->time >= before;
    if (used)
        g_array_append_val(file->records, place);
    return true;
}

/* Records may straddle what two of the compressed ones hold. */
static bool walk_unpacked(struct walk *walk, GError **error)
{
    struct fm_perf_file *file = walk->file;
    while (file->unpacked->len - walk->done >= FM_PERF_HEADER) {
        const uint8_t *record = file->unpacked->data + walk->done;
        size_t size = fm_perf_u16(file, record + 6);
        uint64_t more, at = FM_PERF_UNPACKED | walk->done;
        if (size < FM_PERF_HEADER) {
            stop(walk, walk->done, "a record of less than 8 bytes, in what was compressed,");
            return true;
        }
        if (size > file->unpacked->len - walk->done)
            return true;
        walk->done += size;
        if (!read_record(walk, fm_perf_u32(file, record), at, size, &more, error))
            return false;
    }
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct fm_perf_record *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

bool fm_perf_read_records(struct fm_perf_file *file, uint64_t at, uint64_t size, GError **error)
{
    static const char said[] = {'[', ' ', 'p', 'e', 'r', 'f', ' '};
    struct walk walk = {.file = file, .sorted = true};
    uint64_t end = size > file->input->size - at ? file->input->size : at + size;
    bool done = true, whole = end - at == size;
    while (done && !walk.broken && end - at >= FM_PERF_HEADER) {
        const uint8_t *record = file->input->bytes + at;
        uint64_t length = fm_perf_u16(file, record + 6), more;
        if (length < FM_PERF_HEADER) {
            stop(&walk, at, "a record of less than 8 bytes stands");
            break;
        }
        if (file->pipe && end - at > sizeof said && memcmp(record, said, sizeof said) == 0) {
            stop(&walk, at, "text of perf's own stands behind the last record");
            break;
        }
        if (length > end - at) {
            stop(&walk, at, "the file ends within a record");
            break;
        }
        done = read_record(&walk, fm_perf_u32(file, record), at, length, &more, error);
        at += length;
        at += MIN(more, end - at);
    }
    if (!walk.broken && (!whole || at < end))
        stop(&walk, end, "the file ends before its last record");
    ZSTD_freeDStream(walk.stream);
    if (done && !walk.sorted) /* equal times keep their order */
        g_array_sort(file->records, by_time);
    return done;
}

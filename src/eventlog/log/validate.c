/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/log/validate.h"

#include <inttypes.h>

#include "eventlog/reader/internal.h"

/* smaller steps back are normal: GHC logs the end of a GC late */
enum { BACKWARD_NS = 1000000000 };

struct stream {
    uint64_t block_end_ns; /* end time of the last block; 0 = none yet */
    uint64_t last_ns;
};

struct check {
    fm_eventlog_problem *problem;
    void *user;
    struct fm_eventlog_verdict *verdict;
    GHashTable *streams;       /* capability -> struct stream */
    GHashTable *names_defined; /* ids */
    GHashTable *names_used;    /* id -> nothing */
    uint64_t name_used_at;
    uint64_t block, block_end, block_begin_ns, block_end_ns;
    bool block_open; /* inside a block: after its marker, before its end */
    bool blocks;     /* the header declares block markers */
};

static void report(struct check *check, enum fm_eventlog_severity severity, uint64_t offset,
                   const char *format, ...) G_GNUC_PRINTF(4, 5);

static void report(struct check *check, enum fm_eventlog_severity severity, uint64_t offset,
                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (severity == FM_EVENTLOG_WRONG)
        check->verdict->wrong++;
    else
        check->verdict->notes++;
    check->problem(check->user, severity, offset, message);
}

static void check_header(struct check *check, const struct fm_eventlog_header *header, uint64_t end)
{
    uint64_t begin = end - header->bytes->len;
    check->verdict->headers++;
    check->block_open = false;
    g_hash_table_remove_all(check->streams);
    for (guint i = 0; i < header->declared->len; i++) {
        const struct fm_eventlog_declared *declared =
            &g_array_index(header->declared, struct fm_eventlog_declared, i);
        uint64_t at = begin + declared->name_at - 12;
        if (declared->replaced)
            report(check, FM_EVENTLOG_NOTE, at,
                   "event number %u is declared again later; the last declaration counts",
                   declared->number);
        if (declared->number == FM_EVENTLOG_END_MARK)
            report(check, FM_EVENTLOG_WRONG, at,
                   "event number 65535 is declared, which is the end mark");
        if (declared->known == NULL && fm_eventlog_type_find(declared->number, -1) != NULL &&
            !declared->replaced)
            report(check, FM_EVENTLOG_WRONG, at,
                   "event number %u is declared with %d bytes, expected at least %u",
                   declared->number, declared->size,
                   fm_eventlog_type_find(declared->number, -1)->fixed_size);
    }
    const struct fm_eventlog_declared *marker =
        fm_eventlog_header_find(header, FM_EVENTLOG_BLOCK_MARKER);
    check->blocks = marker != NULL;
    if (marker != NULL && marker->size != 14)
        report(check, FM_EVENTLOG_WRONG, begin + marker->name_at - 12,
               "block markers are declared with %d bytes, expected 14", marker->size);
}

static struct stream *stream_of(struct check *check, int32_t capability)
{
    struct stream *stream = g_hash_table_lookup(check->streams, GINT_TO_POINTER(capability));
    if (stream == NULL) {
        stream = g_new0(struct stream, 1);
        g_hash_table_insert(check->streams, GINT_TO_POINTER(capability), stream);
    }
    return stream;
}

static void check_marker(struct check *check, const struct fm_eventlog_event *event)
{
    uint32_t size = fm_eventlog_u32(event, 0);
    uint64_t end_ns = fm_eventlog_u64(event, 4);
    struct stream *stream = stream_of(check, event->capability);
    check->verdict->blocks++;
    if (check->block_open && check->block_end != UINT64_MAX && check->block_end > event->offset)
        report(check, FM_EVENTLOG_WRONG, event->offset,
               "a block marker inside the block at %" PRIu64 ", expected it at %" PRIu64,
               check->block, check->block_end);
    if (size == 0 && end_ns == 0)
        report(check, FM_EVENTLOG_NOTE, event->offset,
               "a block that was never closed: its marker has size and end time 0");
    else if (end_ns < event->time_ns)
        report(check, FM_EVENTLOG_WRONG, event->offset,
               "the block ends at %" PRIu64 " ns, before its begin at %" PRIu64 " ns", end_ns,
               event->time_ns);
    if (event->time_ns < stream->block_end_ns)
        report(check, FM_EVENTLOG_WRONG, event->offset,
               "the block begins at %" PRIu64
               " ns, expected not before the end of the block before of the same capability, "
               "%" PRIu64 " ns",
               event->time_ns, stream->block_end_ns);
    stream->block_end_ns = MAX(stream->block_end_ns, end_ns);
    check->block = event->offset;
    check->block_end = size == 0 ? UINT64_MAX : event->offset + size;
    check->block_begin_ns = event->time_ns;
    check->block_end_ns = end_ns;
    check->block_open = true;
}

static void check_fields(struct check *check, const struct fm_eventlog_event *event)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    size_t count = fm_eventlog_decode(event, values, &malformed);
    if (malformed)
        report(check, FM_EVENTLOG_WRONG, event->offset,
               "%s: the field '%s' runs past the payload of %u bytes", event->type->name,
               event->type->fields[count].name, event->payload_length);
    if (event->number == FM_EVENTLOG_INTERN_STRING && !malformed)
        g_hash_table_add(check->names_defined, GUINT_TO_POINTER((guint)values[1].number));
    for (size_t i = 0; i < count && event->number >= FM_EVENTLOG_SPAN_BEGIN; i++) {
        if (values[i].field->unit != FM_EVENTLOG_UNIT_STRING)
            continue;
        if (g_hash_table_size(check->names_used) == 0)
            check->name_used_at = event->offset;
        g_hash_table_add(check->names_used, GUINT_TO_POINTER((guint)values[i].number));
    }
}

static void check_event(struct check *check, const struct fm_eventlog_event *event)
{
    if (event->number == FM_EVENTLOG_BLOCK_MARKER && event->payload_length >= 14) {
        check_marker(check, event);
        return;
    }
    check->verdict->events++;
    if (check->block_open && event->offset >= check->block_end)
        check->block_open = false;
    if (!check->block_open && check->blocks && check->block != event->block)
        report(check, FM_EVENTLOG_WRONG, event->offset,
               "event %u stands in no block, expected a block marker", event->number);
    check->block = event->block; /* report a run of such events once */
    struct stream *stream = stream_of(check, event->capability);
    if (check->block_open && check->block_end_ns != 0 && event->time_ns > check->block_end_ns)
        report(check, FM_EVENTLOG_WRONG, event->offset,
               "an event at %" PRIu64 " ns in a block that ended at %" PRIu64 " ns", event->time_ns,
               check->block_end_ns);
    if (event->time_ns + BACKWARD_NS < stream->last_ns)
        report(check, FM_EVENTLOG_NOTE, event->offset,
               "time goes back by %" PRIu64 " ns inside a capability",
               stream->last_ns - event->time_ns);
    stream->last_ns = event->time_ns;
    check_fields(check, event);
}

static void check_tail(struct check *check, const struct fm_eventlog_tail *tail)
{
    if (tail->end_mark && tail->length > 0)
        report(check, FM_EVENTLOG_WRONG, tail->offset,
               "%" PRIu64 " bytes follow the end mark, expected nothing or another log",
               tail->length);
    if (!tail->end_mark && tail->length > 0)
        report(check, FM_EVENTLOG_WRONG, tail->offset,
               "the log is truncated: %" PRIu64 " bytes of an incomplete event", tail->length);
    else if (!tail->end_mark && tail->block_cut)
        report(check, FM_EVENTLOG_WRONG, tail->bytes,
               "the log is truncated: the block at %" PRIu64 " reaches to %" PRIu64, check->block,
               check->block_end);
    else if (!tail->end_mark)
        report(check, FM_EVENTLOG_NOTE, tail->bytes, "not finished: no end mark FF FF");
    GHashTableIter iterator;
    gpointer id;
    guint undefined = 0;
    g_hash_table_iter_init(&iterator, check->names_used);
    while (g_hash_table_iter_next(&iterator, &id, NULL))
        undefined += !g_hash_table_contains(check->names_defined, id);
    if (undefined > 0)
        report(check, FM_EVENTLOG_NOTE, check->name_used_at,
               "%u ids of interned strings are used and never defined", undefined);
}

bool fm_eventlog_validate(struct fm_eventlog_source *source, fm_eventlog_problem *problem,
                          void *user, struct fm_eventlog_verdict *ret, GError **error)
{
    *ret = (struct fm_eventlog_verdict){0};
    struct check check = {
        .problem = problem,
        .user = user,
        .verdict = ret,
        .streams = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .names_defined = g_hash_table_new(NULL, NULL),
        .names_used = g_hash_table_new(NULL, NULL),
    };
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    GError *failure = NULL;
    enum fm_eventlog_status status;
    do {
        struct fm_eventlog_event event;
        status = fm_eventlog_source_next(source, &event, &failure);
        if (status == FM_EVENTLOG_HAS_EVENT) {
            check_event(&check, &event);
        } else if (status == FM_EVENTLOG_HAS_HEADER) {
            check_header(&check, fm_eventlog_reader_header(reader),
                         fm_eventlog_reader_offset(reader));
        } else if (status == FM_EVENTLOG_HAS_GAP) {
            const struct fm_eventlog_gap *gap = fm_eventlog_reader_gap(reader);
            report(&check, FM_EVENTLOG_WRONG, gap->offset, "%s; %" PRIu64 " bytes left out",
                   gap->reason, gap->length);
            check.block_open = false;
            check.block = FM_EVENTLOG_NO_BLOCK;
        }
    } while (status != FM_EVENTLOG_FINISHED && status != FM_EVENTLOG_FAILED);
    if (status == FM_EVENTLOG_FINISHED)
        check_tail(&check, fm_eventlog_reader_tail(reader));
    g_hash_table_unref(check.streams);
    g_hash_table_unref(check.names_defined);
    g_hash_table_unref(check.names_used);
    if (failure == NULL)
        return true;
    g_propagate_error(error, failure);
    return false;
}

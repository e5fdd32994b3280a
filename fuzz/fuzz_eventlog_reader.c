/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an event log: items do not depend on the split, counting agrees with reading, every
 * byte of a readable log is in an item, and everything that was read can be printed. */
#include <string.h>

#include "eventlog/reader/count.h"
#include "eventlog/output/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint64_t events, sum, end;
    enum fm_eventlog_status last;
};

static void print(const struct fm_eventlog_event *event, const struct fm_eventlog_header *header)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (int format = FM_EVENTLOG_AS_TEXT; format <= FM_EVENTLOG_AS_CSV; format++)
        fm_eventlog_format_event(out, (enum fm_eventlog_format)format, event, header, NULL);
    if (!g_utf8_validate(out->str, (gssize)out->len, NULL))
        g_error("printed what is no UTF-8");
}

static void take(struct fm_eventlog_reader *reader, struct seen *seen, bool printing)
{
    for (;;) {
        struct fm_eventlog_event event;
        g_autoptr(GError) error = NULL;
        seen->last = fm_eventlog_reader_next(reader, &event, &error);
        if (seen->last == FM_EVENTLOG_HAS_EVENT) {
            seen->events += event.number != FM_EVENTLOG_BLOCK_MARKER;
            seen->sum = seen->sum * 31 + event.offset + event.payload_length;
            if (printing)
                print(&event, fm_eventlog_reader_header(reader));
        } else if (seen->last == FM_EVENTLOG_HAS_GAP) {
            const struct fm_eventlog_gap *gap = fm_eventlog_reader_gap(reader);
            if (gap->length == 0)
                g_error("an empty gap at %" G_GUINT64_FORMAT, gap->offset);
            seen->sum = seen->sum * 37 + gap->offset + gap->length;
        } else if (seen->last == FM_EVENTLOG_FAILED) {
            if (error == NULL)
                g_error("failed without an error");
            return;
        } else if (seen->last == FM_EVENTLOG_FINISHED || seen->last == FM_EVENTLOG_MORE) {
            const struct fm_eventlog_tail *tail = fm_eventlog_reader_tail(reader);
            seen->end = tail->offset + tail->length;
            return;
        }
    }
}

static struct seen read_in_pieces(const uint8_t *data, size_t size, size_t piece, bool printing)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("fuzz");
    struct seen seen = {0};
    for (size_t at = 0; at < size; at += piece) {
        fm_eventlog_reader_push(reader, data + at, MIN(piece, size - at));
        take(reader, &seen, printing);
    }
    fm_eventlog_reader_finish(reader);
    take(reader, &seen, printing);
    fm_eventlog_reader_free(reader);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t piece = (size_t)data[0] + 1;
    data++;
    size--;
    struct seen whole = read_in_pieces(data, size, MAX(size, 1), true);
    struct seen split = read_in_pieces(data, size, piece, false);
    if (whole.events != split.events || whole.sum != split.sum || whole.last != split.last)
        g_error("pieces of %zu bytes give other items", piece);
    if (whole.last == FM_EVENTLOG_FINISHED && whole.end != size)
        g_error("%zu bytes, but the items end at %" G_GUINT64_FORMAT, size, whole.end);

    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("fuzz");
    struct fm_eventlog_counts *counts = fm_eventlog_counts_new();
    enum fm_eventlog_status status;
    fm_eventlog_reader_view(reader, data, size);
    fm_eventlog_reader_finish(reader);
    do {
        status = fm_eventlog_count(reader, counts, NULL);
    } while (status != FM_EVENTLOG_FINISHED && status != FM_EVENTLOG_FAILED);
    if (counts->events != whole.events)
        g_error("counted other than read");
    fm_eventlog_counts_free(counts);
    fm_eventlog_reader_free(reader);
    return 0;
}

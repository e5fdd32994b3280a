/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the blocks of a log by hopping from marker to marker, and again as the file grows.
 *
 * A hop is taken only when the end of the block is followed by a marker, the end mark, another
 * log, or the end of the file. Otherwise the reader takes over, with all its rules of recovery,
 * until it reaches a marker from which hopping can go on. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/log/run.h"

enum {
    READ_BYTES = 256 << 10,
    HOP_COST = 4096,     /* cost of a hop in the budget */
    CUT_BYTES = 4 << 20, /* events outside of blocks are grouped into blocks of this size */
};

enum scan_state {
    SCAN_READING, /* the reader is at work: on a header, or on blocks that do not fit together */
    SCAN_HOPPING,
    SCAN_AFTER_END, /* after an end mark */
    SCAN_OVER,      /* everything up to the file's size at that time has been scanned */
};

struct fm_eventlog_scan {
    enum scan_state state;
    uint64_t at;   /* the next boundary; with the reader, its start */
    uint64_t size; /* size of the file */
    bool final;
    int32_t capability_max;
    struct fm_eventlog_reader *reader;
    struct fm_eventlog_counts *counts;
    uint64_t closed_at;         /* end of the last block that the reader closed; 0 = none */
    bool can_restart;           /* when over: scanning can go on if the file grows */
    enum scan_state restart_in; /* state to go on with: hopping or after the end */
    uint64_t restart_at;
};

enum step { STEP_ON, STEP_WAIT, STEP_FAILED };

static void drop_reader(struct fm_eventlog_scan *scan)
{
    if (scan->reader != NULL)
        scan->capability_max = MAX(scan->capability_max, scan->reader->capability_max);
    g_clear_pointer(&scan->reader, fm_eventlog_reader_free);
    g_clear_pointer(&scan->counts, fm_eventlog_counts_free);
}

static void free_scan(struct fm_eventlog_scan *scan)
{
    drop_reader(scan);
    g_free(scan);
}

static void take_block(void *user, const struct fm_eventlog_block *block)
{
    struct fm_eventlog_log *log = user;
    log->scan->closed_at = block->offset + block->length;
    if (block->events == 0)
        return;
    struct fm_eventlog_block taken = *block;
    g_assert(log->headers->len > 0);
    taken.header = log->headers->len - 1;
    g_array_append_val(log->blocks, taken);
}

/* Starts the reader at scan->at; header NULL: a header is expected there. */
static void begin_reading(struct fm_eventlog_log *log, struct fm_eventlog_header *header)
{
    struct fm_eventlog_scan *scan = log->scan;
    g_assert(scan->reader == NULL && scan->counts == NULL);
    scan->state = SCAN_READING;
    scan->reader = fm_eventlog_reader_new_at(log->name, header, scan->at);
    scan->reader->capability_max = scan->capability_max;
    scan->counts = fm_eventlog_counts_new();
    scan->counts->on_block = take_block;
    scan->counts->user = log;
    scan->counts->cut_bytes = CUT_BYTES;
    scan->closed_at = 0;
    if (header != NULL)
        fm_eventlog_counts_take_header(scan->counts, header);
}

static void read_on(struct fm_eventlog_log *log)
{
    begin_reading(log, log->headers->len == 0 ? NULL : log->headers->pdata[log->headers->len - 1]);
}

struct fm_eventlog_log *fm_eventlog_log_take(int fd, const char *name)
{
    struct fm_eventlog_log *log = fm_eventlog_log_new(fd, name);
    log->scan = g_new0(struct fm_eventlog_scan, 1);
    log->free_scan = free_scan;
    begin_reading(log, NULL);
    return log;
}

static void hop_from(struct fm_eventlog_scan *scan, enum scan_state state, uint64_t at)
{
    drop_reader(scan);
    scan->state = state;
    scan->at = at;
    scan->closed_at = 0;
}

/* --- hopping --- */

/* Whether a block can end before these bytes (up to 24). left: bytes of the file from there on. */
static bool is_boundary(const struct fm_eventlog_scan *scan, const uint8_t *bytes, uint64_t left)
{
    if (left == 0)
        return true;
    if (left < 2)
        return !scan->final;
    uint16_t number = fm_eventlog_get16(bytes);
    if (number == FM_EVENTLOG_END_MARK)
        return true;
    if (left >= 8 && memcmp(bytes, "hdrbhetb", 8) == 0)
        return true;
    if (left < FM_EVENTLOG_MARKER_LENGTH)
        return number == FM_EVENTLOG_BLOCK_MARKER;
    bool open = number == FM_EVENTLOG_BLOCK_MARKER && fm_eventlog_get32(bytes + 10) == 0 &&
                fm_eventlog_get64(bytes + 14) == 0;
    return open || fm_eventlog_marker_plausible(scan->capability_max, bytes);
}

static bool markers_declared(const struct fm_eventlog_log *log)
{
    const struct fm_eventlog_header *header = log->headers->pdata[log->headers->len - 1];
    const struct fm_eventlog_declared *declared =
        fm_eventlog_header_find(header, FM_EVENTLOG_BLOCK_MARKER);
    return declared != NULL && declared->size == FM_EVENTLOG_MARKER_LENGTH - 10;
}

static void add_block(struct fm_eventlog_log *log, const uint8_t *marker, uint64_t size)
{
    struct fm_eventlog_scan *scan = log->scan;
    uint16_t capability = fm_eventlog_get16(marker + 22);
    struct fm_eventlog_block block = {
        .offset = scan->at,
        .length = size,
        .marked = true,
        .capability =
            capability == FM_EVENTLOG_NO_CAPABILITY_16 ? FM_EVENTLOG_NO_CAPABILITY : capability,
        .begin_ns = fm_eventlog_get64(marker + 2),
        .end_ns = fm_eventlog_get64(marker + 14),
        .header = log->headers->len - 1,
    };
    g_assert(size >= FM_EVENTLOG_MARKER_LENGTH && scan->at + size <= scan->size);
    scan->capability_max = MAX(scan->capability_max, block.capability);
    log->tail.end_mark = false;
    if (size > FM_EVENTLOG_MARKER_LENGTH)
        g_array_append_val(log->blocks, block);
}

/* At the end of the file and of a block: newer producers put the end mark into the last block. */
static enum step at_clean_end(struct fm_eventlog_log *log, GError **error)
{
    uint8_t last[2];
    log->tail.offset = log->tail.bytes = log->scan->at;
    log->tail.length = 0;
    log->tail.block_cut = false;
    if (log->blocks->len > 0 && !log->tail.end_mark) {
        if (!fm_eventlog_pread(log, last, sizeof last, log->scan->at - 2, error))
            return STEP_FAILED;
        if (fm_eventlog_get16(last) == FM_EVENTLOG_END_MARK &&
            !fm_eventlog_log_learn(log, log->blocks->len - 1, error))
            return STEP_FAILED;
    }
    return STEP_WAIT;
}

static enum step hop(struct fm_eventlog_log *log, GError **error)
{
    struct fm_eventlog_scan *scan = log->scan;
    uint8_t marker[FM_EVENTLOG_MARKER_LENGTH], next[FM_EVENTLOG_MARKER_LENGTH];
    g_assert(scan->at <= scan->size);
    uint64_t left = scan->size - scan->at;
    if (left == 0)
        return at_clean_end(log, error);
    if (left >= 2 && left < sizeof marker) {
        if (!fm_eventlog_pread(log, marker, 2, scan->at, error))
            return STEP_FAILED;
        if (fm_eventlog_get16(marker) == FM_EVENTLOG_END_MARK) {
            log->tail.end_mark = true;
            hop_from(scan, SCAN_AFTER_END, scan->at + 2);
            return STEP_ON;
        }
    }
    if (left < sizeof marker) {
        if (!scan->final)
            return STEP_WAIT;
        read_on(log);
        return STEP_ON;
    }
    if (!fm_eventlog_pread(log, marker, sizeof marker, scan->at, error))
        return STEP_FAILED;
    if (fm_eventlog_get16(marker) == FM_EVENTLOG_END_MARK) {
        log->tail.end_mark = true;
        hop_from(scan, SCAN_AFTER_END, scan->at + 2);
        return STEP_ON;
    }
    uint64_t size = fm_eventlog_get32(marker + 10);
    if (!markers_declared(log) || !fm_eventlog_marker_plausible(scan->capability_max, marker)) {
        read_on(log);
        return STEP_ON;
    }
    if (size > left) {
        if (!scan->final)
            return STEP_WAIT;
        read_on(log);
        return STEP_ON;
    }
    size_t there = (size_t)MIN(left - size, sizeof next);
    if (!fm_eventlog_pread(log, next, there, scan->at + size, error))
        return STEP_FAILED;
    if (!is_boundary(scan, next, there)) {
        read_on(log);
        return STEP_ON;
    }
    add_block(log, marker, size);
    scan->at += size;
    return STEP_ON;
}

static enum step after_end(struct fm_eventlog_log *log, GError **error)
{
    struct fm_eventlog_scan *scan = log->scan;
    uint8_t begin[4];
    uint64_t left = scan->size - scan->at;
    log->tail.offset = scan->at;
    log->tail.bytes = scan->size;
    log->tail.length = left;
    if (left < sizeof begin)
        return STEP_WAIT;
    if (!fm_eventlog_pread(log, begin, sizeof begin, scan->at, error))
        return STEP_FAILED;
    if (memcmp(begin, "hdrb", sizeof begin) == 0) {
        begin_reading(log, NULL);
        return STEP_ON;
    }
    scan->state = SCAN_OVER;
    scan->can_restart = false;
    return STEP_WAIT;
}

/* --- reading --- */

static enum step feed(struct fm_eventlog_log *log, GError **error)
{
    struct fm_eventlog_scan *scan = log->scan;
    struct fm_eventlog_reader *reader = scan->reader;
    g_assert(reader != NULL);
    uint64_t fed = fm_eventlog_reader_at(reader, reader->end);
    if (fed >= scan->size) {
        if (!scan->final)
            return STEP_WAIT;
        fm_eventlog_reader_finish(reader);
        return STEP_ON;
    }
    size_t space;
    uint8_t *at = fm_eventlog_reader_space(reader, READ_BYTES, &space);
    size_t length = (size_t)MIN(MIN(space, READ_BYTES), scan->size - fed);
    if (!fm_eventlog_pread(log, at, length, fed, error))
        return STEP_FAILED;
    fm_eventlog_reader_commit(reader, length);
    return STEP_ON;
}

static void over(struct fm_eventlog_log *log)
{
    struct fm_eventlog_scan *scan = log->scan;
    const struct fm_eventlog_block *last =
        log->blocks->len == 0
            ? NULL
            : &g_array_index(log->blocks, struct fm_eventlog_block, log->blocks->len - 1);
    g_assert(scan->reader != NULL);
    scan->can_restart = !scan->reader->tail.end_mark;
    scan->restart_in = SCAN_HOPPING;
    scan->restart_at = last != NULL && last->offset >= scan->at ? last->offset : scan->at;
    log->tail = scan->reader->tail;
    hop_from(scan, SCAN_OVER, scan->size);
}

/* Handles a damaged header after a readable log. */
static enum step header_failed(struct fm_eventlog_log *log, GError *failure, GError **error)
{
    struct fm_eventlog_scan *scan = log->scan;
    if (log->headers->len == 0) {
        g_propagate_error(error, failure);
        return STEP_FAILED;
    }
    struct fm_eventlog_gap gap = {
        .offset = fm_eventlog_reader_offset(scan->reader),
        .capability = FM_EVENTLOG_NO_CAPABILITY,
    };
    gap.length = scan->size - gap.offset;
    g_strlcpy(gap.reason, failure->message, sizeof gap.reason);
    g_array_append_val(log->gaps, gap);
    g_error_free(failure);
    hop_from(scan, SCAN_OVER, scan->size);
    scan->can_restart = false;
    return STEP_WAIT;
}

static enum step reading(struct fm_eventlog_log *log, GError **error)
{
    struct fm_eventlog_scan *scan = log->scan;
    struct fm_eventlog_reader *reader = scan->reader;
    g_assert(reader != NULL);
    GError *failure = NULL;
    switch (fm_eventlog_count(reader, scan->counts, &failure)) {
    case FM_EVENTLOG_HAS_HEADER:
        g_ptr_array_add(log->headers, fm_eventlog_header_ref(reader->header));
        g_ptr_array_add(log->steps, fm_eventlog_header_steps(reader->header));
        scan->capability_max = reader->capability_max = 0;
        hop_from(scan, SCAN_HOPPING, fm_eventlog_reader_offset(reader));
        return STEP_ON;
    case FM_EVENTLOG_HAS_GAP:
        g_array_append_val(log->gaps, reader->gap);
        if (reader->state == READER_EVENTS && reader->end - reader->pos >= 2)
            hop_from(scan, SCAN_HOPPING, fm_eventlog_reader_offset(reader));
        return STEP_ON;
    case FM_EVENTLOG_HAS_END:
        log->tail.end_mark = true;
        hop_from(scan, SCAN_AFTER_END, fm_eventlog_reader_offset(reader));
        return STEP_ON;
    case FM_EVENTLOG_MORE:
        /* The reader is inside a marked block that follows a whole one: hop again from there. */
        if (scan->closed_at > scan->at && reader->state == READER_EVENTS &&
            reader->block == scan->closed_at) {
            hop_from(scan, SCAN_HOPPING, scan->closed_at);
            return STEP_ON;
        }
        return feed(log, error);
    case FM_EVENTLOG_FINISHED:
        over(log);
        return STEP_WAIT;
    case FM_EVENTLOG_FAILED:
        return header_failed(log, failure, error);
    case FM_EVENTLOG_HAS_EVENT:
        break;
    }
    return STEP_ON;
}

/* The file has grown after it was taken as final: its last block has changed. */
static void restart(struct fm_eventlog_log *log)
{
    struct fm_eventlog_scan *scan = log->scan;
    guint blocks = log->blocks->len, gaps = log->gaps->len;
    while (blocks > 0 && g_array_index(log->blocks, struct fm_eventlog_block, blocks - 1).offset >=
                             scan->restart_at)
        blocks--;
    while (gaps > 0 &&
           g_array_index(log->gaps, struct fm_eventlog_gap, gaps - 1).offset >= scan->restart_at)
        gaps--;
    g_array_set_size(log->blocks, blocks);
    log->first_new = blocks;
    g_array_set_size(log->gaps, gaps);
    if (log->facts->len > blocks)
        g_ptr_array_set_size(log->facts, (gint)blocks);
    hop_from(scan, scan->restart_in, scan->restart_at);
}

enum fm_eventlog_extent fm_eventlog_log_extend(struct fm_eventlog_log *log, bool final,
                                               uint64_t budget, GError **error)
{
    struct fm_eventlog_scan *scan = log->scan;
    struct stat stat;
    if (fstat(log->fd, &stat) < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", log->name, g_strerror(errno));
        return FM_EVENTLOG_EXTENT_FAILED;
    }
    uint64_t size = (uint64_t)MAX(stat.st_size, 0);
    if (size < scan->size)
        return FM_EVENTLOG_EXTENT_SHRUNK;
    log->first_new = log->blocks->len;
    if (scan->state == SCAN_OVER && size > scan->size && scan->can_restart)
        restart(log);
    scan->size = log->size = size;
    scan->final = final;
    for (uint64_t used = 0; used < budget;) {
        enum step step = STEP_WAIT;
        switch (scan->state) {
        case SCAN_READING:
            used += READ_BYTES;
            step = reading(log, error);
            break;
        case SCAN_HOPPING:
            used += HOP_COST;
            step = hop(log, error);
            break;
        case SCAN_AFTER_END:
            step = after_end(log, error);
            break;
        case SCAN_OVER:
            break;
        }
        if (step == STEP_FAILED)
            return FM_EVENTLOG_EXTENT_FAILED;
        if (step == STEP_WAIT)
            return FM_EVENTLOG_EXTENT_DONE;
    }
    return FM_EVENTLOG_EXTENT_MORE;
}

uint64_t fm_eventlog_log_whole(const struct fm_eventlog_log *log)
{
    const struct fm_eventlog_scan *scan = log->scan;
    bool all = scan == NULL || scan->state == SCAN_OVER ||
               (scan->final && scan->state == SCAN_AFTER_END); /* too short for another log */
    return all ? log->size : MAX(scan->at, scan->closed_at);
}

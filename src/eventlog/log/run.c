/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/log/run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum {
    WINDOW_BYTES = 64 << 10, /* so that the windows of all open blocks fit into the cache */
    AHEAD_BYTES = 16 << 10,
    SPARE_WINDOWS = 16,
    EVENT_BYTES_MAX = 12 + 65535
};

struct fm_eventlog_run *fm_eventlog_run_open(const struct fm_eventlog_log *log,
                                             const struct fm_eventlog_block *block,
                                             uint64_t skip_to, size_t window_max)
{
    struct fm_eventlog_run *run = g_new0(struct fm_eventlog_run, 1);
    run->log = log;
    run->block = *block;
    run->header = g_ptr_array_index(log->headers, block->header);
    run->steps = g_ptr_array_index(log->steps, block->header);
    run->step_count = run->header->number_count;
    run->limit = block->offset + block->length;
    run->base = MAX(block->offset, skip_to);
    g_assert(run->base <= run->limit && block->header < log->headers->len);
    run->window_size = MAX((size_t)MIN(run->limit - run->base, MIN(window_max, WINDOW_BYTES)), 1);
    GPtrArray *spare = log->spare_windows;
    if (run->window_size == WINDOW_BYTES && spare->len > 0)
        run->window = g_ptr_array_steal_index_fast(spare, spare->len - 1);
    else
        run->window = g_malloc(run->window_size);
    run->ahead = AHEAD_BYTES;
    return run;
}

struct fm_eventlog_run *fm_eventlog_run_new(const struct fm_eventlog_log *log,
                                            const struct fm_eventlog_block *block, uint64_t skip_to)
{
    return fm_eventlog_run_open(log, block, skip_to, WINDOW_BYTES);
}

void fm_eventlog_run_free(struct fm_eventlog_run *run)
{
    if (run == NULL)
        return;
    if (run->window_size == WINDOW_BYTES && run->log->spare_windows->len < SPARE_WINDOWS)
        g_ptr_array_add(run->log->spare_windows, run->window);
    else
        g_free(run->window);
    g_free(run);
}

bool fm_eventlog_pread(const struct fm_eventlog_log *log, uint8_t *bytes, size_t length,
                       uint64_t offset, GError **error)
{
    while (length > 0) {
        ssize_t got = pread(log->fd, bytes, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: offset %" G_GUINT64_FORMAT ": %s",
                        log->name, offset, got < 0 ? g_strerror(errno) : "the file was truncated");
            return false;
        }
        bytes += got;
        length -= (size_t)got;
        offset += (uint64_t)got;
    }
    return true;
}

/* Moves the window so that it holds `wanted` bytes from pos, or the rest of the block. Read-ahead
 * doubles each time, so a seek that looks at few events reads little. */
bool fm_eventlog_run_fill(struct fm_eventlog_run *run, size_t wanted, GError **error)
{
    size_t kept = run->end - run->pos;
    uint64_t at = run->base + run->end;
    if (wanted <= kept || at >= run->limit)
        return true;
    if (wanted > run->window_size && run->limit - run->base - run->pos > run->window_size) {
        run->window_size = (size_t)MIN(run->limit - run->base - run->pos, EVENT_BYTES_MAX);
        uint8_t *window = g_malloc(run->window_size);
        memcpy(window, run->window + run->pos, kept);
        g_free(run->window);
        run->window = window;
    } else {
        memmove(run->window, run->window + run->pos, kept);
    }
    g_assert(kept <= run->window_size);
    run->base += run->pos;
    run->pos = 0;
    run->end = kept;
    size_t length = MIN(run->window_size - kept, MAX(run->ahead, wanted - kept));
    length = (size_t)MIN((uint64_t)length, run->limit - at);
    run->ahead = MIN(2 * run->ahead, WINDOW_BYTES);
    if (!fm_eventlog_pread(run->log, run->window + kept, length, at, error))
        return false;
    run->end += length;
    g_assert(run->end <= run->window_size && run->base + run->end <= run->limit);
    return true;
}

static bool changed(const struct fm_eventlog_run *run, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: offset %" G_GUINT64_FORMAT ": the file changed while it was read",
                run->log->name, run->base + run->pos);
    return false;
}

bool fm_eventlog_run_next(struct fm_eventlog_run *run, struct fm_eventlog_event *ret,
                          GError **error)
{
    for (;;) {
        /* Most events are short: asking for 64 bytes at once usually makes another fill
         * unnecessary. */
        if (run->end - run->pos < 64 && !fm_eventlog_run_fill(run, 64, error))
            return false;
        size_t left = run->end - run->pos;
        if (left == 0)
            return false;
        const uint8_t *at = run->window + run->pos;
        uint16_t number = left >= 2 ? fm_eventlog_get16(at) : FM_EVENTLOG_END_MARK;
        const struct fm_eventlog_step *step = &run->steps[number];
        if (number >= run->header->number_count || step->length == 0 || left < 10 ||
            (step->variable && left < 12))
            return changed(run, error);
        uint32_t length = step->length;
        if (step->variable)
            length += fm_eventlog_get16(at + 10);
        if (length > left) {
            if (!fm_eventlog_run_fill(run, length, error))
                return false;
            if (run->end - run->pos < length)
                return changed(run, error);
            at = run->window + run->pos;
        }
        ret->offset = run->base + run->pos;
        run->pos += length;
        if (number == FM_EVENTLOG_BLOCK_MARKER)
            continue;
        ret->number = number;
        ret->time_ns = fm_eventlog_get64(at + 2);
        ret->head_length = step->variable ? 12 : 10;
        ret->payload = at + ret->head_length;
        ret->payload_length = length - ret->head_length;
        ret->type = step->type;
        ret->capability = run->block.capability;
        ret->block = run->block.marked ? run->block.offset : FM_EVENTLOG_NO_BLOCK;
        return true;
    }
}

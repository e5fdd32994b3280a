/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one block of a log through a window; facts from its first reading. Private to this
 * folder. */
#pragma once

#include "eventlog/reader/internal.h"
#include "eventlog/log/log.h"

struct fm_eventlog_run {
    const struct fm_eventlog_log *log;
    struct fm_eventlog_block block;
    const struct fm_eventlog_header *header;
    const struct fm_eventlog_step *steps;
    uint32_t step_count;
    uint8_t *window;
    size_t window_size, pos, end;
    size_t ahead;   /* bytes to read at the next fill: doubles while reading goes on */
    uint64_t base;  /* stream offset of window[0] */
    uint64_t limit; /* stream offset of the block's end */
};

/* window_max: bytes, at most 64 KiB are used. */
struct fm_eventlog_run *fm_eventlog_run_open(const struct fm_eventlog_log *log,
                                             const struct fm_eventlog_block *block,
                                             uint64_t skip_to, size_t window_max);
/* Fast path: returns the next event if it is a short one of fixed size in the window. Capability
 * and offset, which do not change within a block, are not set. False: call
 * fm_eventlog_run_next(). */
static inline bool fm_eventlog_run_quick(struct fm_eventlog_run *run, struct fm_eventlog_event *ret)
{
    if (FM_UNLIKELY(run->end - run->pos < FM_EVENTLOG_QUICK_BYTES))
        return false;
    const uint8_t *at = run->window + run->pos;
    uint16_t number = fm_eventlog_get16(at);
    if (FM_UNLIKELY(number >= run->step_count))
        return false;
    const struct fm_eventlog_step *step = &run->steps[number];
    uint32_t length = step->quick;
    if (length == 0)
        return false;
    ret->offset = run->base + run->pos;
    run->pos += length;
    ret->number = number;
    ret->time_ns = fm_eventlog_get64(at + 2);
    ret->head_length = 10;
    ret->payload = at + 10;
    ret->payload_length = length - 10;
    ret->type = step->type;
    return true;
}
bool fm_eventlog_run_fill(struct fm_eventlog_run *run, size_t wanted, GError **error);
bool fm_eventlog_pread(const struct fm_eventlog_log *log, uint8_t *bytes, size_t length,
                       uint64_t offset, GError **error);

/* An event whose time is less than one before it in its block. */
struct fm_eventlog_stray {
    uint64_t time_ns, offset;
};

/* An event begins at offset; greatest is the maximum time of the events before it in the block. */
struct fm_eventlog_sample {
    uint64_t offset, greatest;
};

struct fm_eventlog_facts {
    struct fm_eventlog_stray *strays; /* by time, then offset; NULL when too many to be kept */
    size_t stray_count;
    struct fm_eventlog_sample *samples; /* one each 64 KiB of the block */
    size_t sample_count;
};

void fm_eventlog_facts_free(struct fm_eventlog_facts *facts); /* NULL is allowed */
/* Reads the whole block and finds its strays and samples. Sets the block's times and counts. Damage
 * cuts the block and is added to the log's gaps, once. */
struct fm_eventlog_facts *fm_eventlog_facts_find(struct fm_eventlog_log *log, guint block,
                                                 GError **error);
/* Facts about a block; NULL = not read yet. */
static inline const struct fm_eventlog_facts *fm_eventlog_facts(const struct fm_eventlog_log *log,
                                                                guint block)
{
    return block < log->facts->len ? log->facts->pdata[block] : NULL;
}

struct fm_eventlog_log *fm_eventlog_log_new(int fd, const char *name);

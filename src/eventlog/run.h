/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one block of a log through a window; seen by this folder only. */
#pragma once

#include "eventlog/internal.h"
#include "eventlog/log.h"

struct fm_eventlog_run {
    const struct fm_eventlog_log *log;
    const struct fm_eventlog_block *block;
    const struct fm_eventlog_header *header;
    const struct fm_eventlog_step *steps;
    uint8_t *window;
    size_t window_size, pos, end;
    uint64_t base;  /* stream offset of window[0] */
    uint64_t limit; /* stream offset of the block's end */
};

void fm_eventlog_run_rewind(struct fm_eventlog_run *run);
bool fm_eventlog_pread(const struct fm_eventlog_log *log, uint8_t *bytes, size_t length,
                       uint64_t offset, GError **error);

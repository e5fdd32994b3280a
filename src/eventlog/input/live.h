/* SPDX-License-Identifier: Apache-2.0 */
/* LOG.live: the last events of a C program that ended without stopping its log
 * (runtime/eventlog/core/live_format.h). */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum fm_eventlog_live {
    FM_EVENTLOG_LIVE_NONE,    /* there is no such file beside the log */
    FM_EVENTLOG_LIVE_RUNNING, /* its program still logs */
    FM_EVENTLOG_LIVE_ENDED,   /* events can be recovered */
};
enum fm_eventlog_live fm_eventlog_live_look(const char *log_path);

struct fm_eventlog_recovered {
    uint64_t events, blocks;
    uint64_t left_out; /* bytes of buffers that are no events */
    /* bytes of a torn block at the end of the log, rewritten if its content was known */
    uint64_t cut;
};

/* Appends to the log, in order, the events that only LOG.live holds, then a message that says so
 * and the end mark. Then removes LOG.live. After an interruption, call it again: it starts over. */
bool fm_eventlog_live_recover(const char *log_path, struct fm_eventlog_recovered *ret,
                              GError **error);

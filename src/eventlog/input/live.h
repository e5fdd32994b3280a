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
    uint64_t cut; /* bytes of a torn block at the end of the log, written anew if it was known */
};

/* Adds to the log what stands only in LOG.live, in order, with a message that says so and the end
 * mark, and removes that file. Called again after it was interrupted, it begins anew. */
bool fm_eventlog_live_recover(const char *log_path, struct fm_eventlog_recovered *ret,
                              GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers blocks to the destinations; the global buffer, for events that belong to no lane. */
#pragma once
#include "core/block.h"
#include "core/names.h"

/* A destination. The enum is in the order in which the sinks' locks are taken. */
enum fm_el_sink_place { FM_EL_SINK_STREAM, FM_EL_SINK_MEMORY, FM_EL_SINK_CLIENTS, FM_EL_SINKS };
struct fm_el_sink {
    void (*write)(const struct fm_el_block *b, bool *taken);
    int (*settle)(int timeout_ms); /* waits until everything delivered has been written; or NULL */
    void (*tick)(void); /* called after a flush at the interval, without locks; or NULL */
    void (*lane_ends)(uint16_t cap); /* or NULL */
    void (*fork_lock)(void);
    void (*fork_unlock)(void);
    void (*after_fork)(void);
    void (*stats)(struct fm_eventlog_stats *s);
};
/* Call before the first event. */
void fm_el_sink_register(enum fm_el_sink_place place, const struct fm_el_sink *sink);
int fm_el_sinks_settle(int timeout_ms);
void fm_el_sinks_tick(void);
void fm_el_sinks_lane_ends(uint16_t cap);
void fm_el_sinks_fork_lock(void);
void fm_el_sinks_fork_unlock(void);
void fm_el_sinks_after_fork(void);
void fm_el_sinks_stats(struct fm_eventlog_stats *s);
/* Delivers a block to every destination. Takes leaf locks only. */
void fm_el_deliver(const struct fm_el_block *b);
/* Waits until no block is being delivered, and lets none begin until release. Sink lock held. */
void fm_el_deliver_hold(void);
void fm_el_deliver_release(void);

/* ---- global buffer; all but post need the sink lock */
void fm_el_global_post(uint16_t type, const void *first, size_t first_bytes, const void *second,
                       size_t second_bytes);
/* Posts with that time, or the end of the last block if that is later. */
void fm_el_global_post_locked(uint16_t type, uint64_t ns, const void *first, size_t first_bytes,
                              const void *second, size_t second_bytes);
void fm_el_global_flush_locked(void);
void fm_el_global_not_before(uint64_t ns); /* blocks from now on begin no earlier */
uint64_t fm_el_global_end(void);           /* end time of the last block that was handed over */
void fm_el_sink_lock(void);
void fm_el_sink_unlock(void);
void fm_el_global_own(void); /* in a child of fork: makes live memory private */
void fm_el_global_after_fork(void);

/* ---- names, as the streams hear of them */
/* Interns a name; NULL when memory or the limit is exceeded. Signal handlers may call it. */
const struct fm_el_name *fm_el_name(const char *text, size_t bytes);
void fm_el_names_announce(void); /* takes the sink lock if there are new names */
void fm_el_names_again(void);    /* announces all names again, for a new stream; sink lock held */

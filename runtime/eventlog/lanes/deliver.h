/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a block to the destinations, and the global buffer, for events that belong to no lane.
 */
#pragma once
#include "core/block.h"
#include "core/names.h"

/* A destination, as those below it know it. Places are in the order of the sinks' locks. */
enum fm_el_sink_place { FM_EL_SINK_STREAM, FM_EL_SINK_MEMORY, FM_EL_SINK_CLIENTS, FM_EL_SINKS };
struct fm_el_sink {
    void (*write)(const struct fm_el_block *b, bool *taken);
    int (*settle)(int timeout_ms);   /* waits until what it was given is out; or NULL */
    void (*tick)(void);              /* after a flush at the interval, no locks held; or NULL */
    void (*lane_ends)(uint16_t cap); /* or NULL */
    void (*fork_lock)(void);
    void (*fork_unlock)(void);
    void (*after_fork)(void);
    void (*stats)(struct fm_eventlog_stats *s);
};
/* Before the first event. */
void fm_el_sink_register(enum fm_el_sink_place place, const struct fm_el_sink *sink);
int fm_el_sinks_settle(int timeout_ms);
void fm_el_sinks_tick(void);
void fm_el_sinks_lane_ends(uint16_t cap);
void fm_el_sinks_fork_lock(void);
void fm_el_sinks_fork_unlock(void);
void fm_el_sinks_after_fork(void);
void fm_el_sinks_stats(struct fm_eventlog_stats *s);
/* To every destination. Takes leaf locks only. */
void fm_el_deliver(const struct fm_el_block *b);
/* Waits until no block is under way, and lets none begin until release. Sink lock held. */
void fm_el_deliver_hold(void);
void fm_el_deliver_release(void);

/* ---- global buffer; all with the sink lock held but post */
void fm_el_global_post(uint16_t type, const void *first, size_t first_bytes, const void *second,
                       size_t second_bytes);
/* With that time, if no block before has ended later. */
void fm_el_global_post_locked(uint16_t type, uint64_t ns, const void *first, size_t first_bytes,
                              const void *second, size_t second_bytes);
void fm_el_global_flush_locked(void);
void fm_el_global_not_before(uint64_t ns); /* no block begins earlier from now on */
uint64_t fm_el_global_end(void);           /* of the last block that was handed over */
void fm_el_sink_lock(void);
void fm_el_sink_unlock(void);
void fm_el_global_own(void); /* in a child of fork: live memory is its own */
void fm_el_global_after_fork(void);

/* ---- names, as the streams hear of them */
/* NULL when memory or the limit is exceeded. A handler may call it. */
const struct fm_el_name *fm_el_name(const char *text, size_t bytes);
void fm_el_names_announce(void); /* takes the sink lock if there is any new */
void fm_el_names_again(void);    /* all are new to the stream that comes; sink lock held */

/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the event log runtime. Order of locks: state, then a lane's, then sink; the stream's,
 * the chunk list's and the clients' locks are leaves, the pool's is below all. README.md says more.
 */
#pragma once
#include "core/copies.h"

#include <fathom/eventlog.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define FM_EL_MARKER_BYTES 24u
#define FM_EL_NO_CAP 0xFFFFu
#define FM_EL_LANES_MAX 0xFFFFu
#define FM_EL_BUFFER_MIN 128u
#define FM_EL_BUFFER_MAX (64u << 20)
#define FM_EL_BUFFER_DEFAULT (2u << 20)
#define FM_EL_SIDE_BYTES 4096u
#define FM_EL_MESSAGE_MAX 512u
#define FM_EL_NAME_MAX 4000u
#define FM_EL_NAMES_MAX 1000000u
#define FM_EL_VARIABLE 0xFFFFu

/* ---- memory: pages from the kernel in powers of two, never malloc, so that a flush inside a
 * signal handler meets no lock of the C library. */
void *fm_el_pool_alloc(size_t bytes); /* NULL when there is none; contents undefined */
void fm_el_pool_free(void *memory, size_t bytes);
size_t fm_el_pool_size(size_t bytes); /* what alloc really takes */
void fm_el_pool_lock(void);
void fm_el_pool_unlock(void);

/* A growing run of bytes, big-endian. failed: memory ran out, the rest was left away. */
struct fm_el_bytes {
    unsigned char *data;
    size_t used, capacity;
    bool failed;
};
void fm_el_put(struct fm_el_bytes *b, const void *data, size_t bytes);
void fm_el_put16(struct fm_el_bytes *b, uint16_t v);
void fm_el_put32(struct fm_el_bytes *b, uint32_t v);
void fm_el_put64(struct fm_el_bytes *b, uint64_t v);
void fm_el_bytes_done(struct fm_el_bytes *b);

static inline uint16_t fm_el_get16(const unsigned char *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return fm_eventlog_be16_(v);
}
static inline uint32_t fm_el_get32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return fm_eventlog_be32_(v);
}
static inline uint64_t fm_el_get64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return fm_eventlog_be64_(v);
}

/* ---- clock: raw stamps become nanoseconds by the line between two samples of both clocks. */
struct fm_el_sample {
    uint64_t ticks, ns; /* ns since the first start */
};
void fm_el_clock_init(void);
bool fm_el_clock_is_counter(void); /* stamps are a CPU counter; otherwise nanoseconds */
uint64_t fm_el_clock_stamp(void);
uint64_t fm_el_clock_ns(void);
uint64_t fm_el_clock_start_ns(void); /* CLOCK_MONOTONIC at time 0 */
struct fm_el_sample fm_el_clock_sample(void);
/* For the timed waits of pthreads; timeout_ms >= 0. */
struct timespec fm_el_deadline(int timeout_ms);

/* ---- types */
#define FM_EL_NUMBERS_END FM_EVENTLOG_EVENT_END
extern uint16_t fm_el_sizes[FM_EL_NUMBERS_END]; /* payload; FM_EL_VARIABLE */
size_t fm_el_event_bytes(const unsigned char *event);
struct fm_el_type {
    uint16_t number, size;
    const char *text, *fields;
};
extern const struct fm_el_type fm_el_types[];
extern const unsigned fm_el_types_own;                        /* how many */
void fm_el_type_entry(struct fm_el_bytes *b, uint16_t index); /* etb..ete of the index-th */
void fm_el_header(struct fm_el_bytes *b);                     /* hdrb..datb */
unsigned fm_el_types_count(void);                             /* as from now in each header */
/* The program's own. Close: how many are in the header that is made now; those that come later wait
 * for open, when no destination has a header. */
unsigned fm_el_user_types_close(void);
void fm_el_user_types_open(void);
void fm_el_user_types_after_fork(void);
bool fm_el_user_type_is_usable(const struct fm_eventlog_event_type_ *type);
void fm_el_user_type(unsigned index, const char **ret_name, const char **ret_fields);

/* ---- a block on its way to the destinations: whole, with its marker */
struct fm_live_slot;
struct fm_el_block {
    const unsigned char *data;
    size_t bytes;
    uint32_t events;
    uint16_t cap;
    struct fm_live_slot *live; /* that data stands in, or NULL: delivering frees it */
};
void fm_el_marker(unsigned char out[FM_EL_MARKER_BYTES], size_t block_bytes, uint16_t cap,
                  uint64_t begin_ns, uint64_t end_ns);
bool fm_el_has_destination(void);
/* A destination, as those below it know it. Places are in the order of the sinks' locks. */
enum fm_el_sink_place { FM_EL_SINK_STREAM, FM_EL_SINK_MEMORY, FM_EL_SINK_CLIENTS, FM_EL_SINKS };
struct fm_el_sink {
    void (*write)(const struct fm_el_block *b, bool *taken);
    int (*settle)(int timeout_ms);   /* waits until what it was given is out; or NULL */
    void (*lane_ends)(uint16_t cap); /* or NULL */
    void (*fork_lock)(void);
    void (*fork_unlock)(void);
    void (*after_fork)(void);
    void (*stats)(struct fm_eventlog_stats *s);
};
/* Before the first event. */
void fm_el_sink_register(enum fm_el_sink_place place, const struct fm_el_sink *sink);
int fm_el_sinks_settle(int timeout_ms);
void fm_el_sinks_lane_ends(uint16_t cap);
void fm_el_sinks_fork_lock(void);
void fm_el_sinks_fork_unlock(void);
void fm_el_sinks_after_fork(void);
void fm_el_sinks_stats(struct fm_eventlog_stats *s);
/* To every destination. Takes leaf locks only. */
void fm_el_deliver(const struct fm_el_block *b);
/* The two events that tell of a gap, as a whole block of its own, in out (see below). */
#define FM_EL_MISSING_MAX 256u
struct fm_el_gap {
    uint64_t events, bytes, blocks;
};
void fm_el_gap_add(struct fm_el_gap *gap, const struct fm_el_block *dropped);
extern const unsigned char fm_el_end_mark[2];
/* Bytes of the block; 0 = nothing is missing. next: the block behind the gap (its first 24 bytes
 * count): the gap takes its lane and its time, so that the blocks of each lane stay in order. NULL
 * = none follows. */
size_t fm_el_missing_block(unsigned char out[FM_EL_MISSING_MAX], const struct fm_el_gap *gap,
                           const unsigned char *next);

/* ---- lanes */
struct fm_el_side {
    _Atomic uint64_t state; /* reserved bytes << 32 | committed bytes */
    uint32_t done;          /* handed over; under the lane's lock */
    unsigned char data[FM_EL_MARKER_BYTES + FM_EL_SIDE_BYTES]; /* offsets count after the marker */
};
/* A handler reserves room, writes one event and commits it. NULL = no room. */
unsigned char *fm_el_side_reserve(struct fm_el_side *s, size_t bytes);
void fm_el_side_commit(struct fm_el_side *s, size_t bytes);
bool fm_el_side_waits(const struct fm_el_side *s);
/* Under the lane's lock: the bytes that no handler is in the middle of, 0 = none; they have gone.
 */
size_t fm_el_side_ready(struct fm_el_side *s, unsigned char **data);
void fm_el_side_done(struct fm_el_side *s, size_t bytes);
/* Puts the queued events among events, by their raw stamps; behind events there is room for them.
 */
void fm_el_side_merge(unsigned char *events, size_t bytes, const unsigned char *side,
                      size_t side_bytes);
/* Always: buffer + 24 <= taken <= head->pos <= buffer + size; [taken, pos) is not handed over yet,
 * and the 24 bytes before taken are dead: the block's marker is written there. */
struct fm_el_lane {
    pthread_mutex_t mutex;
    struct fm_eventlog_head_ *head; /* the owner's; NULL = no owner */
    unsigned char *buffer, *taken;
    size_t size;               /* of buffer */
    struct fm_live_slot *live; /* that the buffer is in; NULL = the pool */
    uint64_t generation;       /* of live files, when the buffer was taken */
    struct fm_el_side *side;   /* in the slot, or the lane's own; changed by the owner */
    unsigned char *own_copy;   /* of pos, while there is no slot */
    struct fm_el_sample begin;
    uint64_t created_ns;
    uint32_t thread;
    pid_t task;
    uint16_t number;
    bool in_use; /* under the state lock, as is next_free */
    struct fm_el_lane *next_free;
    struct fm_el_side own_side;
};
/* A buffer of the wanted size, or less in a live file, in place of the one that it has; false = it
 * keeps that. Owner (or nobody), lane locked, all handed over. */
bool fm_el_lane_take_buffer(struct fm_el_lane *l, size_t wanted);
void fm_el_lane_drop_buffer(struct fm_el_lane *l);
bool fm_el_lane_has_wanted(const struct fm_el_lane *l); /* the buffer is as it should be */
void fm_el_lane_set_pos(struct fm_el_lane *l, unsigned char *pos);
/* Tells the live file what is handed over; side_done as it is about to be. */
void fm_el_lane_note(struct fm_el_lane *l, uint32_t side_done);
unsigned fm_el_lane_count(void);
struct fm_el_lane *fm_el_lane_at(unsigned i);
struct fm_el_lane *fm_el_lane_mine(void); /* NULL = the thread has not logged yet */
struct fm_el_lane *fm_el_lane_need(void); /* attaches it if the log runs; inside enter/leave */
/* Hands over what this lane has committed; its lock held, by its owner or anybody. */
void fm_el_lane_hand_over(struct fm_el_lane *l);
/* Hands over what every lane has committed, and waits until the stream has it, unless timeout_ms is
 * 0; 0 or -ETIMEDOUT. No locks held by the caller. */
int fm_el_lanes_flush(int timeout_ms);
void fm_el_lanes_fork_lock(void);
void fm_el_lanes_fork_unlock(void);
void fm_el_lanes_after_fork(void);
void fm_el_lanes_own(void);
void fm_el_lanes_nudge(void);
void fm_el_lanes_init(void);
uint32_t fm_el_lanes_used(void);
/* Appends to the calling thread's lane; false = dropped (and counted). */
bool fm_el_append(uint16_t type, const void *first, size_t first_bytes, const void *second,
                  size_t second_bytes);
bool fm_el_append_pieces(uint16_t type, const struct fm_eventlog_piece_ *pieces, unsigned count);
/* While inside, this thread's events (from handlers and callbacks) are queued aside. */
uint32_t fm_el_enter(void);
void fm_el_leave(uint32_t before);
void fm_el_look_away(bool begin); /* ThreadSanitizer, from what follows */

/* ---- global buffer; all with the sink lock held but post */
void fm_el_global_post(uint16_t type, const void *first, size_t first_bytes, const void *second,
                       size_t second_bytes);
/* With that time, if no block before has ended later. */
void fm_el_global_post_locked(uint16_t type, uint64_t ns, const void *first, size_t first_bytes,
                              const void *second, size_t second_bytes);
void fm_el_global_flush_locked(void);
void fm_el_global_not_before(uint64_t ns); /* no block begins earlier from now on */
void fm_el_sink_lock(void);
void fm_el_sink_unlock(void);
void fm_el_global_own(void); /* in a child of fork: live memory is its own */
void fm_el_global_after_fork(void);

/* ---- stream sink */
void fm_el_stream_write(const struct fm_el_block *b, bool *taken);
int fm_el_stream_settle(int timeout_ms); /* waits until what it was given is written */
int fm_el_stream_end(void);              /* end mark, flush; close what is ours; sink NULL */
bool fm_el_stream_is_set(void);          /* its fork lock held */
void fm_el_stream_fork_lock(void);
void fm_el_stream_fork_unlock(void);
void fm_el_stream_after_fork(void);
void fm_el_stream_stats(struct fm_eventlog_stats *s);

/* ---- in memory */
int fm_el_memory_start(const struct fm_eventlog_options *o);
void fm_el_memory_write(const struct fm_el_block *b, bool *taken);
void fm_el_memory_finish(void);
void fm_el_memory_tick(void); /* state again after definitions may have been dropped */
void fm_el_memory_fork_lock(void);
void fm_el_memory_fork_unlock(void);
void fm_el_memory_after_fork(void);
void fm_el_memory_stats(struct fm_eventlog_stats *s);

/* ---- names: made by any thread and any handler without a lock, never freed. In the list of all
 * before anybody can find one, so that a definition precedes the first use in every stream: what is
 * new in the list is posted before the next block is handed over, and replays hold the whole list.
 */
struct fm_el_name {
    struct fm_el_name *next_all, *next_same_hash;
    uint64_t made_ns;
    uint32_t id, bytes;
    char text[]; /* ends with a zero */
};
/* NULL when memory or the limit is exceeded. A handler may call it. */
const struct fm_el_name *fm_el_name(const char *text, size_t bytes);
const struct fm_el_name *fm_el_names_newest(void); /* the others by next_all */
void fm_el_names_announce(void);                   /* takes the sink lock if there is any new */
/* A flush of the global buffer: posts what is new; once that is delivered, posted is told. */
struct fm_el_name *fm_el_names_post(void);
void fm_el_names_posted(struct fm_el_name *newest_posted);
void fm_el_names_again(void); /* all are new to the stream that comes; sink lock held */

/* ---- state: threads; replay */
struct fm_el_thread {
    uint32_t id;
    const struct fm_el_name *label; /* NULL = none */
    uint64_t created_ns, changed_ns;
    uint32_t info;
    uint16_t status, lane; /* lane FM_EL_NO_CAP = none yet */
    uint8_t state;         /* 0 created, 1 running, 2 stopped, 3 runnable; 255 = free slot */
};
void fm_el_state_lock(void);
void fm_el_state_unlock(void);
uint32_t fm_el_state_thread_new(uint16_t lane, uint8_t state); /* state lock held */
void fm_el_state_thread_gone(uint32_t id);                     /* state lock held */
/* Replay of now, as blocks. State and sink locks held. again: between two messages, as always for a
 * destination that is not the log's first. values: with the last values too (clients' lock held).
 * at_ns: 0 = original times; else all has this time, since the stream is past the original ones. */
void fm_el_replay(struct fm_el_bytes *b, bool again, uint64_t at_ns, bool values);
/* Values: the clients' lock held. */
struct fm_el_replay;
void fm_el_values_replay(struct fm_el_replay *o);
void fm_el_values_take(const struct fm_el_block *b);
void fm_el_values_lane_ends(uint16_t cap);
void fm_el_values_reset(void);
bool fm_el_values_any(void);        /* there was something before */
extern _Atomic int fm_el_values_on; /* somebody may come late */
/* Threads in order of creation. State lock held. Pool memory: free with *ret_bytes. */
struct fm_el_thread *fm_el_state_threads(uint32_t *count, size_t *ret_bytes);
bool fm_el_state_lock_name(uint32_t i, uint64_t *lock, uint32_t *name); /* state lock held */
void fm_el_process_refresh(void); /* arguments, ids, clock, modules; no locks held */
void fm_el_state_options(const struct fm_eventlog_options *o);
void fm_el_state_after_fork(void);
void fm_el_state_stats(struct fm_eventlog_stats *s);
struct fm_el_process {
    uint32_t pid, ppid;
    uint64_t wall_s;
    uint32_t wall_ns;
    uint64_t wall_at_ns; /* time in the log that belongs to the wall clock */
    size_t args_bytes;
    char args[16384]; /* each with its zero byte */
};
const struct fm_el_process *fm_el_process(void);

/* ---- clients */
void fm_el_clients_write(const struct fm_el_block *b, bool *taken);
void fm_el_clients_stop(int timeout_ms);
bool fm_el_clients_listen(void);            /* there is a listener */
void fm_el_clients_lane_ends(uint16_t cap); /* nothing of it is open any more */
void fm_el_clients_values(bool on);         /* begins to keep values anew, or ends */
void fm_el_clients_fork_lock(void);
void fm_el_clients_fork_unlock(void);
void fm_el_clients_after_fork(void);
void fm_el_clients_stats(struct fm_eventlog_stats *s);
int fm_el_service_start(void); /* the thread; once */
void fm_el_service_wake(void);
extern _Atomic unsigned fm_el_flush_interval_ms;

/* ---- what all share */
struct fm_el_shared {
    _Atomic int running;
    _Atomic size_t wanted_size;
    _Atomic uint64_t produced, dropped, discarded, replayed, resize_failures;
    _Atomic int memory_on, stream_on, clients_on;
    bool no_state, no_fork, no_live;
    bool values; /* kept for clients to come from the start on, though nobody takes events */
    bool begun;  /* a destination has its header: later ones hear of what is past; state lock */
    unsigned failures_max;
    char fork_path[4096];     /* "" = the default */
    _Atomic int fork_pending; /* in a child: open its own output at the next event */
};
extern struct fm_el_shared fm_el;
void fm_el_update_active(void);
void fm_el_fork_open(void);
/* NAME.eventlog beside this process's recording; false when there is none. */
bool fm_el_beside_recording(char *path, size_t bytes);

static inline void fm_el_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a trace at one instant, for every format in one form: lanes, each with a stack.
 *
 *   lane     what has a state over time: a thread, a capability, a CPU, the collector, a lock, a
 *            counter, an interrupt line, a disk
 *   entry    one level of a lane's stack: a value since a time. A thread with spans open is a stack
 *            of spans; a CPU that runs is one entry, the thread that it runs
 *   value    an interned name with a colour class, "running", "parse", "GC work"
 *
 * A state belongs to one reader of one trace (a tab's context, the background pass). Hooks of
 * priority FM_HOOK_STATE keep it current while events are read. Observers are told of each segment
 * as it ends, which is what pictures, statistics and summaries are made of.
 *
 * Traces are forgiven: an end without a begin, a begin without an end, a thread never created; what
 * does not fit is counted in fm_state.inconsistent and reading goes on. */
#pragma once

#include "trace/core/trace.h"

enum fm_lane_kind {
    FM_LANE_PROCESS,    /* key: process id */
    FM_LANE_THREAD,     /* key: thread id; stack: spans, functions (C), run/blocked (Haskell) */
    FM_LANE_CAPABILITY, /* key: its number; Haskell: which thread runs, or GC, or idle */
    FM_LANE_COLLECTOR,  /* the garbage collector */
    FM_LANE_SPARKS,
    FM_LANE_LOCK,      /* key: address; who holds it */
    FM_LANE_ASYNC,     /* asynchronous spans of one name; key: name << 32 | lowest free row */
    FM_LANE_COUNTER,   /* key: name id; has a number, no stack */
    FM_LANE_HEAP,      /* counters of the heap: size, live, allocated */
    FM_LANE_CPU,       /* key: its number */
    FM_LANE_INTERRUPT, /* key: number of the line */
    FM_LANE_SOFT_INTERRUPT,
    FM_LANE_TRAP,
    FM_LANE_DISK, /* key: device */
    FM_LANE_TASK, /* a thread of the operating system that serves a language's own threads */
    FM_LANE_KIND_COUNT
};
const char *fm_lane_kind_name(enum fm_lane_kind kind); /* "thread" */

/* Meaning of a value, for colours and for sums of busy time. */
enum fm_state_class {
    FM_STATE_UNKNOWN,
    FM_STATE_IDLE,
    FM_STATE_RUNNING, /* user mode */
    FM_STATE_SYSTEM_CALL,
    FM_STATE_TRAP,
    FM_STATE_INTERRUPT,
    FM_STATE_SOFT_INTERRUPT,
    FM_STATE_WAITING,  /* for a lock, a device, a message */
    FM_STATE_READY,    /* waits for a CPU or capability */
    FM_STATE_CREATED,  /* waits for its first run */
    FM_STATE_FINISHED, /* exited, not yet released */
    FM_STATE_COLLECTING,
    FM_STATE_READING,
    FM_STATE_WRITING,
    FM_STATE_SPAN, /* named work of the program: coloured by name */
    FM_STATE_CLASS_COUNT
};
const char *fm_state_class_name(enum fm_state_class state_class); /* "system call" */
/* Whether a lane in such a state is at work: not idle, waiting, ready, created, finished. */
bool fm_state_class_is_busy(enum fm_state_class state_class);

struct fm_state_entry {
    uint32_t value;  /* fm_state_value() */
    uint64_t since;  /* ns */
    uint64_t detail; /* by kind: thread that runs, call site, asynchronous id; 0 = none */
    uint64_t nested; /* ns spent in entries above it that have ended */
};

#define FM_LANE_NONE UINT32_MAX

/* Deeper stacks are cut: what is pushed beyond is only counted, in fm_lane.hidden. */
enum { FM_STATE_DEPTH_MAX = 4096 };

struct fm_lane {
    uint32_t index;  /* in order of first sight; never changes, and is not used again */
    uint32_t parent; /* lane, or FM_LANE_NONE */
    enum fm_lane_kind kind;
    bool ended; /* nothing more is expected (a thread that ended) */
    bool has_number;
    bool had_state;      /* an entry, at some time */
    uint32_t name_value; /* the name's number in the trace */
    uint64_t key;
    uint64_t born;    /* ns: when first seen; lanes with one (kind, key) differ by this */
    const char *name; /* "worker 3"; may change; lives as long as the trace */
    uint32_t depth, capacity;
    uint32_t hidden;              /* levels above depth that are not kept */
    uint32_t changed;             /* private: for checkpoints */
    struct fm_state_entry *stack; /* depth entries, outermost first */
    double number;                /* counters: the value now */
    uint64_t model[4];            /* the model's own, saved with the lane; 0 at first */
};

/* Threads as their programs number them, in namespaces of their own and apart from the kernel's:
 * the key has this bit, the process, and the thread. */
#define FM_LANE_OF_PROGRAM (UINT64_C(1) << 52)
enum { FM_LANE_THREAD_BITS = 24 };
/* In keys of FM_LANE_HEAP: a part of what is alive, by a heap profile. */
#define FM_LANE_HEAP_BAND (UINT64_C(2) << 32)
/* The number by which the lane is known outside: of such a thread without its process. */
uint64_t fm_lane_number(const struct fm_lane *lane);

struct fm_state;

/* Each may be NULL. They may read the state, not change it. The state is that after the change. */
struct fm_state_observer {
    void *user;
    void (*lane_added)(void *user, const struct fm_lane *lane);
    void (*lane_named)(void *user, const struct fm_lane *lane); /* name or parent are others now */
    /* An entry began: the innermost one. */
    void (*begun)(void *user, const struct fm_lane *lane, const struct fm_state_entry *entry);
    /* An entry of this lane at this depth (0 = outermost) ended, or was replaced. A begin that lay
     * before the place where reading began has since = that place. */
    void (*segment)(void *user, const struct fm_lane *lane, uint32_t depth,
                    const struct fm_state_entry *entry, uint64_t end);
    /* A counter has this value from now on. */
    void (*number)(void *user, const struct fm_lane *lane, uint64_t time, double value);
    /* A point in time on a lane: instants, user messages and markers. value as of entries. */
    void (*mark)(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value);
    /* From one lane to another: a wake-up, a migration, a lock handed over. */
    void (*arrow)(void *user, const struct fm_lane *from, uint64_t from_time,
                  const struct fm_lane *to, uint64_t to_time);
};

/* How a kind of trace changes a state: one table of (event -> transition) a format. */
struct fm_state_model {
    const char *name;
    /* Makes what the model keeps beside the lanes; for checkpoints it can be copied and written. */
    void *(*model_new)(struct fm_state *state);
    void *(*model_copy)(const void *model);
    void (*model_free)(void *model);
    void (*model_write)(const void *model, GByteArray *to);
    /* NULL when the bytes are not those of model_write. lanes: how many the state will have, for
     * checking numbers. */
    void *(*model_read)(struct fm_state *state, const uint8_t *bytes, size_t length,
                        uint32_t lanes);
    /* The lanes have been restored with this model; rebuilds what can be told from them. May be
     * NULL. */
    void (*model_restored)(struct fm_state *state, void *model);
    /* Data shared by all states of a trace besides values (texts by number): saved once with the
     * checkpoints, loaded before anything else of the trace is read. Both may be NULL. */
    void (*shared_write)(struct fm_trace *trace, GByteArray *to);
    bool (*shared_read)(struct fm_trace *trace, const uint8_t *bytes, size_t length);
    void (*event)(struct fm_state *state, void *model, const struct fm_tracefile_context *at);
    /* As fm_state_lane_label(); NULL = the name is all. */
    char *(*label)(const struct fm_state *state, const struct fm_lane *lane);
    /* Name of the code at an address of a process, from what has been read: "parse",
     * "libhello.so+0x156e", or NULL. The caller frees it. May be NULL. */
    char *(*code)(struct fm_trace *trace, uint64_t process, uint64_t address);
};
extern const struct fm_state_model fm_state_model_eventlog; /* C and Haskell programs */
extern const struct fm_state_model fm_state_model_kernel;   /* LTTng kernel events by name */

/* The model is that of the trace, which must have one. */
struct fm_state *fm_state_new(struct fm_trace *trace);
void fm_state_free(struct fm_state *state);
struct fm_trace *fm_state_trace(const struct fm_state *state);
uint64_t fm_state_inconsistent(const struct fm_state *state);
/* Levels of stacks that were deeper than FM_STATE_DEPTH_MAX, in all. */
uint64_t fm_state_hidden(const struct fm_state *state);
/* Back to "nothing known", reading goes on at time. Ends no segments. Lanes are numbered anew: a
 * number means the same lane in all states that were read from the trace's begin or from a
 * checkpoint, and no other. */
void fm_state_clear(struct fm_state *state, uint64_t time);
/* Place where reading began: the trace's begin, or that of the last clear or restore. */
uint64_t fm_state_origin(const struct fm_state *state);
/* Whether all before is known: read from the begin of the trace, or from a checkpoint. */
bool fm_state_is_complete(const struct fm_state *state);
/* Observers are called in order of adding; the table is borrowed. */
void fm_state_add_observer(struct fm_state *state, const struct fm_state_observer *observer);
void fm_state_remove_observer(struct fm_state *state, const struct fm_state_observer *observer);
/* Tells one observer of every open entry as a segment that ends at time; the state stays. */
void fm_state_flush(struct fm_state *state, uint64_t time,
                    const struct fm_state_observer *observer);
/* The event hook: hook_data = the state, call data = tracefile context. Events of other traces are
 * left alone. */
bool fm_state_hook(void *state, void *tracefile_context);
/* The lane that the last event happened on, as the model sees it; NULL = none. */
const struct fm_lane *fm_state_event_lane(const struct fm_state *state);

uint32_t fm_state_lane_count(const struct fm_state *state);
/* Lanes stay at one address until the state is cleared, restored or freed. */
const struct fm_lane *fm_state_lane(const struct fm_state *state, uint32_t index);
const struct fm_lane *fm_state_find_lane(const struct fm_state *state, enum fm_lane_kind kind,
                                         uint64_t key); /* the living one; NULL */

/* Values and names belong to the trace: the same in every state of it, and they only grow. Names
 * are valid UTF-8 of at most 200 bytes (made so), and live as long as the trace. Value 0 is
 * "unknown". */
uint32_t fm_trace_value(struct fm_trace *trace, const char *name, enum fm_state_class state_class);
const char *fm_trace_value_name(const struct fm_trace *trace, uint32_t value);
enum fm_state_class fm_trace_value_class(const struct fm_trace *trace, uint32_t value);
uint32_t fm_trace_value_count(const struct fm_trace *trace);

/* A lane's name with the numbers that tell it from others of that name: "make (tid 20, pid 10, CPU
 * 1)"; of a CPU the thread that runs there. Caller frees. */
char *fm_state_lane_label(const struct fm_state *state, const struct fm_lane *lane);
/* For models. */
struct fm_lane *fm_state_lane_find(struct fm_state *state, enum fm_lane_kind kind, uint64_t key);
/* Found or made; a new one is named after kind and key: "thread 7". */
struct fm_lane *fm_state_lane_get(struct fm_state *state, enum fm_lane_kind kind, uint64_t key,
                                  uint32_t parent, uint64_t time);
/* There must not be a living one. name is copied. */
struct fm_lane *fm_state_lane_new(struct fm_state *state, enum fm_lane_kind kind, uint64_t key,
                                  uint32_t parent, uint64_t time, const char *name);
struct fm_lane *fm_state_lane_at(struct fm_state *state, uint32_t index); /* NULL for NONE */
void fm_state_lane_rename(struct fm_state *state, struct fm_lane *lane, const char *name);
void fm_state_lane_set_parent(struct fm_state *state, struct fm_lane *lane, uint32_t parent);
/* Ends its entries. It may be looked at, but not changed, from then on. */
void fm_state_lane_end(struct fm_state *state, struct fm_lane *lane, uint64_t time);
/* To be called after changing lane->model[]. */
void fm_state_lane_changed(struct fm_state *state, struct fm_lane *lane);
void fm_state_push(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t detail,
                   uint64_t time);
/* False (and counted) when the stack is empty. */
bool fm_state_pop(struct fm_state *state, struct fm_lane *lane, uint64_t time);
/* Pops up to and with the innermost entry of that value. What stands above it counts as
 * inconsistent; when it is not among the innermost 256 nothing changes, and that counts too. */
bool fm_state_pop_value(struct fm_state *state, struct fm_lane *lane, uint32_t value,
                        uint64_t time);
/* Replaces the entry at depth (at most the present depth) and ends all above it. */
void fm_state_replace(struct fm_state *state, struct fm_lane *lane, uint32_t depth, uint32_t value,
                      uint64_t detail, uint64_t time);
/* Replaces the outermost entry (or makes it), and ends all above it. */
void fm_state_set(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t detail,
                  uint64_t time);
/* Ends every entry. */
void fm_state_empty(struct fm_state *state, struct fm_lane *lane, uint64_t time);
void fm_state_number(struct fm_state *state, struct fm_lane *lane, double value, uint64_t time);
void fm_state_mark(struct fm_state *state, struct fm_lane *lane, uint32_t value, uint64_t time);
void fm_state_arrow(struct fm_state *state, struct fm_lane *from, uint64_t from_time,
                    struct fm_lane *to, uint64_t to_time);
void fm_state_count_inconsistent(struct fm_state *state);
/* The event being handled happened on this lane. */
void fm_state_set_event_lane(struct fm_state *state, struct fm_lane *lane);

/* --- checkpoints (checkpoint.c): saved states along the trace --- */

struct fm_checkpoints; /* an attribute of the trace, made by the computation "state" */

/* A full copy every so often, between them only what changed; within a budget of bytes: when it is
 * met every second one is dropped and the interval doubles. */
struct fm_checkpoints *fm_checkpoints_new(struct fm_trace *trace, size_t memory_budget);
void fm_checkpoints_free(struct fm_checkpoints *checkpoints);
size_t fm_checkpoints_memory(const struct fm_checkpoints *checkpoints);
unsigned fm_checkpoints_count(const struct fm_checkpoints *checkpoints);
/* Records checkpoints of a state that reads the trace from its begin: the hook (FM_HOOK_STATE,
 * added before that of the state) saves the state before every Nth event. hook_data = the
 * checkpoints. Only one state may be recorded at a time. NULL ends it. */
void fm_checkpoints_record(struct fm_checkpoints *checkpoints, struct fm_state *state);
bool fm_checkpoints_hook(void *checkpoints, void *tracefile_context);
/* All has been read up to time. */
void fm_checkpoints_end(struct fm_checkpoints *checkpoints, uint64_t time);
/* Recording is near the end of a trace that grows: what comes behind the last checkpoint is little.
 */
void fm_checkpoints_follow(struct fm_checkpoints *checkpoints, bool follows);
bool fm_checkpoints_is_complete(const struct fm_checkpoints *checkpoints);
/* Events between two; 25,000 at first, doubled whenever the budget is met. */
uint64_t fm_checkpoints_interval(const struct fm_checkpoints *checkpoints);
void fm_checkpoints_set_interval(struct fm_checkpoints *checkpoints, uint64_t events);
/* The last one strictly before time: state and cursors of its trace; reading on to time gives the
 * state there. False when there is none: the state is cleared, and the cursors stand at the begin
 * if the time is known to lie near it (reading on gives the state as well), else at time itself. */
bool fm_checkpoints_restore(struct fm_checkpoints *checkpoints, struct fm_context *context,
                            uint64_t time, struct fm_state *state);
/* In the user's cache folder ($FATHOM_CACHE or ~/.cache/fathom, below it states/), by device and
 * inode of the trace; used again if its size and time of change match. Nothing is written with
 * FATHOM_CACHE=off. FM_ERROR_NOT_FOUND: the trace is no file or folder, or not all of it is known.
 */
FM_MUST_USE bool fm_checkpoints_write(const struct fm_checkpoints *checkpoints, GError **error);
/* Before anything of the trace has been read. NULL without error when there is none that fits; with
 * FM_ERROR_FORMAT when damaged. Nothing in such a file can do more harm than a wrong picture. */
struct fm_checkpoints *fm_checkpoints_read(struct fm_trace *trace, size_t memory_budget,
                                           GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Traces, tracesets, and contexts that read them.
 *
 *   traceset          an ordered list of traces
 *   trace             one recording: a set of tracefiles; one instance in the process
 *   tracefile         one ordered stream of events, with ONE cursor shared by all contexts
 *   context           the reading state of one user over a traceset: hooks, merge queue
 *
 * Events come in the total order (time, tracefile index, trace index), so a position is exact even
 * among events of one time. Times are nanoseconds; FM_TIME_INF is "unset" and "past the end". */
#pragma once

#include "base/compiler.h"
#include "trace/core/hook.h"

#define FM_TIME_INF UINT64_MAX

struct fm_event {
    uint64_t time;
    uint32_t id;            /* type of the event within its channel */
    int32_t cpu;            /* that it happened on; of a Haskell log the capability; -1 = none */
    uint32_t payload_size;  /* bytes */
    const uint8_t *payload; /* valid until the cursor moves */
};

/* A field of an event, for reading by people, filters and exports. */
enum fm_value_kind {
    FM_VALUE_UNSIGNED,
    FM_VALUE_SIGNED,
    FM_VALUE_REAL,
    FM_VALUE_ADDRESS, /* an unsigned number, shown in hex */
    FM_VALUE_TEXT,
};
struct fm_event_value {
    const char *name; /* constant while the trace is open */
    const char *unit; /* "bytes", "ns"; NULL = none */
    enum fm_value_kind kind;
    uint64_t number; /* value of _UNSIGNED and _ADDRESS; of _SIGNED after conversion to int64_t */
    double real;
    bool structured;  /* of _TEXT: a JSON array or object, if it is valid */
    const char *text; /* not ended by a zero byte; for _UNSIGNED the word for the number, or NULL */
    uint32_t text_length;
};
enum { FM_EVENT_VALUES_MAX = 32 };

struct fm_tracefile;

/* Functions that a format has to be read. All calls act on the tracefile's one cursor. */
struct fm_tracefile_class {
    /* The event at the cursor. False past the end. */
    bool (*peek)(struct fm_tracefile *tracefile, struct fm_event *ret);
    void (*advance)(struct fm_tracefile *tracefile);
    /* To the first event with time >= the given one. */
    void (*seek_time)(struct fm_tracefile *tracefile, uint64_t time);
    /* Place of the cursor among events of its time: ascends in reading order, at least while
     * the time is equal (an index does, or the event's number among those of its time). */
    uint64_t (*tell)(struct fm_tracefile *tracefile);
    /* Back to such a place; time is that of the event there. */
    void (*seek)(struct fm_tracefile *tracefile, uint64_t time, uint64_t location);
    void (*free)(struct fm_tracefile *tracefile); /* frees implementation; may be NULL */
    /* For people; may be NULL. "CreateThread"; NULL for an id that is not known. */
    const char *(*event_name)(struct fm_tracefile *tracefile, uint32_t id);
    /* Decodes into at most FM_EVENT_VALUES_MAX values; texts live until the cursor moves. */
    unsigned (*event_values)(struct fm_tracefile *tracefile, const struct fm_event *event,
                             struct fm_event_value *ret);
    /* The names of the fields of a type, at most FM_EVENT_VALUES_MAX; constant while the trace is
     * open. May be NULL. */
    unsigned (*event_fields)(struct fm_tracefile *tracefile, uint32_t id, const char **ret_names);
    /* Event logs of C programs: the thread that logs into a lane (fm_event.cpu) at that time, by
     * what is told of the lane from then on. May be NULL. */
    bool (*lane_owner)(struct fm_tracefile *tracefile, uint32_t lane, uint64_t time,
                       uint32_t *ret_thread);
    /* Advance, then peek, in one call; may be NULL. */
    bool (*next)(struct fm_tracefile *tracefile, struct fm_event *ret);
};

struct fm_tracefile {
    const struct fm_tracefile_class *class_;
    struct fm_trace *trace;
    unsigned index; /* in its trace */
    char *name;     /* "capability 3" */
    char *channel;  /* groups events of one set of ids */
    int cpu;        /* -1 = none */
    void *implementation;
};

/* A value that analyses keep with a trace, by path ("computation/stats/ready"). */
struct fm_attributes;

struct fm_state_model;
struct fm_trace_values;
struct fm_trace_clock;

/* Whether there will be more of a trace than is known now. */
enum fm_trace_growth {
    FM_TRACE_WHOLE,    /* no */
    FM_TRACE_LIVE,     /* perhaps: somebody may be writing it */
    FM_TRACE_ARRIVING, /* surely, or its end: an import is at work; what comes is later */
    FM_TRACE_SEARCHED, /* surely: blocks of a large log are being found, of any time */
};
enum fm_trace_growth fm_trace_growth(const struct fm_trace *trace);

/* Functions of a format for a trace as a whole. All but format may be NULL. */
struct fm_trace_class {
    const char *format;                            /* "eventlog" */
    char *(*damage)(const struct fm_trace *trace); /* as fm_trace_damage() */
    bool (*grow)(struct fm_trace *trace, bool *ret_ended, GError **error);
    enum fm_trace_growth (*growth)(const struct fm_trace *trace);
    uint64_t (*extent)(const struct fm_trace *trace);             /* as fm_trace_extent() */
    uint64_t (*pending)(const struct fm_trace *trace);            /* as fm_trace_pending() */
    bool (*epoch)(const struct fm_trace *trace, int64_t *ret_ns); /* as fm_trace_epoch() */
    int (*poll_fd)(const struct fm_trace *trace);
};

struct fm_trace {
    const struct fm_trace_class *class_; /* may be NULL: events in memory */
    char *path;
    char *identity;        /* "device:inode" and, of profiles, more: another when it was replaced */
    uint64_t serial;       /* no other trace of this process has, had or will have it; under 2^48 */
    GPtrArray *tracefiles; /* holds struct fm_tracefile */
    uint64_t start_time, end_time;
    /* Goes up when what was read before is no longer true: the file was replaced, or shrank. */
    unsigned generation;
    uint64_t
        late; /* changes when events come of times before end_time: who has read them missed some */
    struct fm_attributes *attributes;
    bool locked;
    const void *cursor_owner;                 /* the context that moved the cursors last */
    const struct fm_state_model *state_model; /* state.h; set by the format; NULL = has no states */
    struct fm_trace_values *values;           /* state.h: names met so far; NULL = none yet */
    struct fm_trace_clock *clock;             /* synchronize.h; NULL = times are as recorded */
    GPtrArray *owned; /* data of analyses, freed last first: fm_trace_own() */
    void *implementation;
    void (*free_implementation)(struct fm_trace *trace);
};

/* identity: NULL = who opens it sets it. */
struct fm_trace *fm_trace_new(const char *path, const char *identity);
/* The identity that an open file gives, "device:inode"; NULL when the system tells nothing of it.
 * Caller frees. */
FM_MUST_USE char *fm_trace_identity_of(int fd);
void fm_trace_free(struct fm_trace *trace);
/* free_data(data) is called when the trace is freed, while its tracefiles are still there. */
void fm_trace_own(struct fm_trace *trace, void *data, GDestroyNotify free_data);
/* name and channel are copied. */
struct fm_tracefile *fm_trace_add_tracefile(struct fm_trace *trace,
                                            const struct fm_tracefile_class *class_,
                                            const char *name, const char *channel, int cpu,
                                            void *implementation);
/* -1 when it is locked already, or not locked. */
int fm_trace_lock(struct fm_trace *trace);
int fm_trace_unlock(struct fm_trace *trace);

/* --- attributes (attributes.c) --- */

struct fm_attributes *fm_attributes_new(void);
void fm_attributes_free(struct fm_attributes *attributes);
/* value may be NULL: presence alone is a flag. free_value may be NULL. Replaces. */
void fm_attributes_set(struct fm_attributes *attributes, const char *path, void *value,
                       GDestroyNotify free_value);
bool fm_attributes_has(const struct fm_attributes *attributes, const char *path);
void *fm_attributes_get(const struct fm_attributes *attributes, const char *path);
void fm_attributes_remove(struct fm_attributes *attributes, const char *path);

/* --- contexts (context.c) --- */

struct fm_context;

struct fm_tracefile_context {
    struct fm_context *context;
    struct fm_trace_context *trace_context;
    struct fm_tracefile *tracefile;
    uint64_t time;         /* time of the next event, FM_TIME_INF = exhausted or not queued */
    struct fm_event event; /* valid while hooks are called */
    struct fm_hooks *event_hooks;
    GPtrArray *by_id; /* event id -> struct fm_hooks or NULL */
};

struct fm_trace_context {
    struct fm_context *context;
    struct fm_trace *trace;
    unsigned index;
    struct fm_tracefile_context *tracefiles;
    unsigned tracefile_count;
};

struct fm_context {
    struct fm_trace_context *traces;
    unsigned trace_count;
    uint64_t start_time, end_time; /* span of the traceset */
    void **queue;                  /* holds struct fm_tracefile_context, by time */
    unsigned queue_count;
    struct fm_position *sync; /* position to which the cursors are restored; NULL = never saved */
    uint64_t last_time;       /* time of the event before the current position, if known */
    bool last_time_known;
    void *user;
};

/* The traces are borrowed. */
struct fm_context *fm_context_new(struct fm_trace *const *traces, unsigned count);
void fm_context_free(struct fm_context *context);

uint64_t fm_context_time(const struct fm_context *context); /* FM_TIME_INF at the end */
void fm_context_seek_time(struct fm_context *context, uint64_t time);

/* The next event of one tracefile. */
struct fm_place {
    uint64_t time;     /* FM_TIME_INF = exhausted */
    uint64_t location; /* tell(); 0 when exhausted */
};
/* "Just before the event that it designates". Belongs to the context's set of tracefiles. */
struct fm_position {
    uint64_t time; /* time of that event, FM_TIME_INF = the end */
    unsigned count;
    struct fm_place places[]; /* one a tracefile */
};
struct fm_position *fm_context_save_position(const struct fm_context *context);
struct fm_position *fm_position_copy(const struct fm_position *position);
void fm_position_free(struct fm_position *position);
/* < 0, 0, > 0 as in reading order. */
int fm_position_compare(const struct fm_position *a, const struct fm_position *b);
int fm_context_compare_position(const struct fm_context *context,
                                const struct fm_position *position);
void fm_context_seek_position(struct fm_context *context, const struct fm_position *position);

/* One trace's cursors, the others stay: to places (one a tracefile), or, NULL, to a time. */
void fm_context_seek_trace(struct fm_context *context, const struct fm_trace *trace,
                           const struct fm_place *places, uint64_t time);

/* Whether the current place is the first one with time >= the given one, with an event there or
 * after it. May seek and come back. */
bool fm_context_is_first_at(struct fm_context *context, uint64_t time);

/* Locks every trace; on failure none is locked and false is returned. */
bool fm_context_lock(struct fm_context *context);
void fm_context_unlock(struct fm_context *context);
/* A trace has grown. Readers that were at the end continue at the first event after old_end_time
 * (the trace's end_time before); FM_TIME_INF = it had no events, or others: at its first one. */
void fm_context_renew(struct fm_context *context, const struct fm_trace *trace,
                      uint64_t old_end_time);
/* The cursors where this context left them; what it left is kept. */
void fm_context_restore_sync(struct fm_context *context);
void fm_context_save_sync(struct fm_context *context);

/* The hooks of one reader. Any may be NULL. Call data: context, trace context, tracefile
 * context by level; tracefile context for events. */
struct fm_chunk_hooks {
    struct fm_hooks *before_traceset, *before_trace, *before_tracefile;
    struct fm_hooks *event;
    struct fm_hooks_by_id *event_by_id;
    struct fm_hooks *after_tracefile, *after_trace, *after_traceset;
};
/* trace: index of the only trace to attach to, -1 = all. */
void fm_context_begin(struct fm_context *context, const struct fm_chunk_hooks *hooks, int trace);
/* Takes the event hooks away; the second half of a chunk's end calls the after hooks. */
void fm_context_detach(struct fm_context *context, const struct fm_chunk_hooks *hooks, int trace);
void fm_context_after(struct fm_context *context, const struct fm_chunk_hooks *hooks, int trace);

/* Reads: at most max_events, while the time is below end_time and the position below end_position
 * (NULL = none), or until a hook says stop. Returns the number of events read. */
uint64_t fm_context_middle(struct fm_context *context, uint64_t end_time, uint64_t max_events,
                           const struct fm_position *end_position);

/* All of that at once, for who reads a trace from one time up to another (exclusive; FM_TIME_INF =
 * to the end): each event goes to the hooks, which are taken. The number of events read. */
uint64_t fm_trace_each_event(struct fm_trace *trace, uint64_t start_time, uint64_t end_time,
                             struct fm_hooks *hooks);

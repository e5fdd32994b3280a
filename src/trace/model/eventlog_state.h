/* SPDX-License-Identifier: Apache-2.0 */
/* The model of event logs; seen by its own files only: eventlog_state.c (threads, names, what both
 * kinds of program share), eventlog_state_c.c, eventlog_state_haskell.c. */
#pragma once

#include "eventlog/reader/eventlog.h"
#include "trace/state/state_internal.h"
#include "trace/model/symbols.h"

enum {
    SPARK_NUMBERS = 7,
    DECLARED_FIRST = 640, /* types that a C program declares itself; shown by their names */
    DECLARED_END = 896,
    STOP_STATUSES = 32,
    CAPABILITIES_MAX = 65536,
    GENERATIONS = 8,            /* greater ones are shown as the last */
    MESSAGE_VALUES_MAX = 10000, /* more different texts are shown as "message" */
};

/* Names of a trace that all its states share: they only grow. */
struct eventlog_names {
    struct fm_trace *trace;
    uint32_t *texts; /* id -> value of class span, 0 = not yet met; small ids */
    uint32_t text_slots;
    GHashTable *far_texts;    /* texts with large ids */
    GHashTable *cost_centres; /* id -> name */
    struct fm_symbols *symbols;
    uint64_t *function_addresses; /* open addressing: address -> value */
    uint32_t *function_values;    /* 0 = free */
    uint32_t function_mask, function_used;
    uint32_t message_values;
    bool native; /* written by a C program */
    uint32_t running, runnable, created, idle, disabled, collecting, gc_work, gc_idle, gc_done;
    uint32_t held, message, missing, serving;
    uint32_t mark, sync, sweep;
    uint32_t sequential, parallel, stopped, shutdown;
    uint32_t generations[GENERATIONS];
    uint32_t stops[STOP_STATUSES];
    uint32_t sparks[SPARK_NUMBERS];                   /* marks, from event 35 on */
    uint32_t declared[DECLARED_END - DECLARED_FIRST]; /* values; 0 = not met yet */
};

/* A capability's part in a collection. One that is idle is told of the end only when it wakes. */
enum gc_part { GC_NONE, GC_RUNS, GC_OVER };

/* The pause of the program: from the begin to the end of a collection on the capability that asked
 * for it, which is what the run-time system's own statistics count. */
struct gc_pause {
    uint32_t asked;      /* capability + 1 that asked for the next one; 0 = none */
    uint32_t leads;      /* capability + 1 that asked for the one that runs; 0 = none runs */
    uint32_t generation; /* + 1, of the one that runs or ran last; 0 = not told yet */
    uint64_t until;      /* ns: the end of one that is over, which is not shown yet; 0 = none */
};

/* A capability; in logs of C programs what one thread at a time logs into. */
struct capability {
    uint32_t lane;    /* shown for Haskell programs only */
    uint32_t owner;   /* C: lane of the thread that logs here */
    uint32_t running; /* lane of the thread that runs here */
    enum gc_part in_gc;
    uint64_t kernel_thread; /* thread of the next owner; 0 = not told */
    uint64_t allocated;
    uint64_t sparks[SPARK_NUMBERS];
};

/* A sampled allocation that has not been freed. */
struct sample {
    uint64_t address; /* 0 = free slot */
    uint64_t weight;
    uint32_t site;
};

struct eventlog_model {
    struct eventlog_names *names;
    struct capability *capabilities;
    uint32_t capability_count;
    uint32_t process;      /* lane */
    uint32_t process_name; /* value; 0 = not told */
    uint32_t collector, sweeper;
    bool native;
    struct gc_pause pause;
    uint32_t tasks;     /* seen so far */
    uint64_t missing;   /* events */
    uint64_t allocated; /* sum over capabilities */
    uint64_t sparks[SPARK_NUMBERS];
    struct sample *samples; /* open addressing by address */
    uint32_t sample_mask, sample_count;
    double sampled_live, sampled_ever;
    GHashTable *asynchronous; /* (name, id) -> lane; told from the lanes */
    uint64_t heap_sample;     /* number of heap profile samples, 0 = before the first */
    bool heap_sampling;
    GArray *heap_bands; /* holds uint32_t: lanes with a number other than 0 */
};

/* One event. */
struct happening {
    struct fm_state *state;
    struct eventlog_model *model;
    struct eventlog_names *names;
    const struct fm_event *event;
    struct fm_tracefile *tracefile;
    struct capability *capability; /* NULL = none */
    uint32_t capability_number;    /* UINT32_MAX = none */
    uint64_t time;
};

typedef void event_handler(struct happening *at);
struct event_rule {
    event_handler *handle;
    uint16_t least; /* bytes of payload */
};
const struct event_rule *fm_eventlog_rule_c(uint32_t number);
const struct event_rule *fm_eventlog_rule_haskell(uint32_t number);

static inline uint16_t u16_at(const struct happening *at, uint32_t offset)
{
    return fm_eventlog_get16(at->event->payload + offset);
}
static inline uint32_t u32_at(const struct happening *at, uint32_t offset)
{
    return fm_eventlog_get32(at->event->payload + offset);
}
static inline uint64_t u64_at(const struct happening *at, uint32_t offset)
{
    return fm_eventlog_get64(at->event->payload + offset);
}
static inline const char *text_at(const struct happening *at, uint32_t offset)
{
    return (const char *)at->event->payload + offset;
}

/* One that no event was about yet; NULL = there are no such numbers. */
struct capability *fm_eventlog_capability_new(struct eventlog_model *model, uint32_t number);
static inline struct capability *fm_eventlog_capability(struct eventlog_model *model,
                                                        uint32_t number)
{
    if (FM_LIKELY(number < model->capability_count))
        return &model->capabilities[number];
    return fm_eventlog_capability_new(model, number);
}
/* The lane that an event without one of its own belongs to: thread, capability or process. */
struct fm_lane *fm_eventlog_lane_first(struct happening *at);
static inline struct fm_lane *fm_eventlog_lane_here(struct happening *at)
{
    const struct capability *capability = at->capability;
    if (FM_LIKELY(capability != NULL)) {
        uint32_t index = at->model->native ? capability->owner : capability->running;
        if (FM_LIKELY(index < at->state->lane_count))
            return fm_state_lane_fast(at->state, index);
    }
    return fm_eventlog_lane_first(at);
}
/* The event happened on this lane; NULL = none. */
static inline void set_event_lane(struct happening *at, const struct fm_lane *lane)
{
    at->state->event_lane = lane == NULL ? FM_LANE_NONE : lane->index;
}
struct fm_lane *fm_eventlog_thread(struct happening *at, uint32_t thread);
/* C: from now on that thread logs into the lane of that number. */
void fm_eventlog_own(struct happening *at, uint32_t number, struct fm_lane *thread);
/* Whether it stands for the thread of a lane that nothing is told of. */
bool fm_eventlog_is_stand_in(const struct fm_lane *thread);
struct fm_lane *fm_eventlog_capability_lane(struct happening *at, uint32_t number);
struct fm_lane *fm_eventlog_process(struct happening *at);
/* A process with this number begins: what was seen before any becomes its own. */
struct fm_lane *fm_eventlog_process_begin(struct happening *at, uint64_t key);
struct fm_lane *fm_eventlog_number_lane(struct happening *at, enum fm_lane_kind kind, uint64_t key,
                                        const char *name);
struct eventlog_names *fm_eventlog_names(struct fm_trace *trace);
void fm_eventlog_set_text(struct eventlog_names *names, uint32_t id, const char *text,
                          size_t length);
void fm_eventlog_set_text_value(struct eventlog_names *names, uint32_t id, uint32_t value);
void fm_eventlog_set_function(struct eventlog_names *names, uint64_t address, uint32_t value);
void fm_eventlog_set_cost_centre(struct eventlog_names *names, uint32_t id, const char *name);
uint32_t fm_eventlog_function_value(struct eventlog_names *names, uint64_t address);
uint32_t fm_eventlog_text_value(struct eventlog_names *names, uint32_t id);
/* A text that may be anything: at most MESSAGE_VALUES_MAX of them are kept apart. */
uint32_t fm_eventlog_message_value(struct eventlog_names *names, const char *text, size_t length);
/* Asynchronous spans that are open: (name id, id) -> lane. */
struct asynchronous_key {
    uint64_t id;
    uint32_t name;
};
GHashTable *fm_eventlog_asynchronous_new(void);
void fm_eventlog_asynchronous_add(struct eventlog_model *model, uint32_t name, uint64_t id,
                                  uint32_t lane);

/* Saving, in eventlog_save.c. */
void fm_eventlog_model_write(const void *model, GByteArray *to);
void *fm_eventlog_model_read(struct fm_state *state, const uint8_t *bytes, size_t length,
                             uint32_t lanes);
void fm_eventlog_model_restored(struct fm_state *state, void *model);
void fm_eventlog_names_write(struct fm_trace *trace, GByteArray *to);
bool fm_eventlog_names_read(struct fm_trace *trace, const uint8_t *bytes, size_t length);
void fm_eventlog_sample_add(struct eventlog_model *model, uint64_t address, uint64_t weight,
                            uint32_t site);

/* Keys of heap lanes. */
enum heap_key {
    HEAP_SIZE,
    HEAP_LIVE,
    HEAP_ALLOCATED,
    HEAP_BLOCKS,
    HEAP_COPIED,
    HEAP_SLOP,
    HEAP_FRAGMENTATION,
    HEAP_RETAINED,
    HEAP_NEEDED,
    HEAP_RETURNED,
    HEAP_SAMPLED_LIVE,
    HEAP_SAMPLED_EVER,
    HEAP_PRUNED,
};
#define HEAP_SITE_KEY (UINT64_C(1) << 32) /* | name id: live bytes of one place of allocation */
#define HEAP_BAND_KEY FM_LANE_HEAP_BAND   /* | value: a band of the heap profile */

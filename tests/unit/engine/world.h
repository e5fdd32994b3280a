/* SPDX-License-Identifier: Apache-2.0 */
/* The world of the scheduler scenarios: an engine over traces in memory, and hooks that write down
 * what is called, in the notation of the scenarios: "ip+A BR.A BC.A A:1-4 AC.A ->T". */
#pragma once

#include "memory_trace.h"
#include "engine/engine.h"

struct world {
    struct fm_engine *engine;
    char *folder;
    GString *log;
    GPtrArray *labels;     /* of struct label, freed at the end */
    GHashTable *events_of; /* path -> const struct memory_event * */
    unsigned opened, closed;
    unsigned split; /* so many tracefiles: an event lies in that of its id modulo this; 0 = one */
};

struct label {
    struct world *world;
    const char *name;
    struct fm_trace *trace;            /* of a module's hooks: for the flags */
    const char *stop_at;               /* event label at which the event hook says true */
    struct fm_events_request *request; /* set its stop flag at stop_at */
    void (*act)(struct world *world, struct label *label); /* in after_request */
    const char *argument;
};

struct world *world_new(uint64_t chunk);
void world_free(struct world *world);

/* A file that opens as a trace with these events. Returns its path, owned by the world. */
const char *world_file(struct world *world, const char *name, const struct memory_event *events);
struct fm_trace *world_open(struct world *world, const char *name,
                            const struct memory_event *events);

/* Registers a module whose hooks write NAME's calls down. */
struct label *world_module(struct world *world, const char *name, struct fm_trace *trace);
/* Hooks of a notification that writes N(NAME). */
struct fm_hooks *world_notify(struct world *world, const char *name);
struct label *world_label(struct world *world, const char *name);
/* A request of a viewer that writes BR BC events AC AR down, with "NAME." before each. */
struct fm_events_request *world_request(struct world *world, const char *name, uint64_t start,
                                        uint64_t end);
struct label *world_label_of(struct fm_events_request *request);

/* Does one step of the engine, checks the invariants, and compares what was written. */
void world_expect(struct world *world, const char *expected);
void world_expect_background(struct world *world, struct fm_trace *trace, const char *expected);
void world_expect_log(struct world *world, const char *expected);

extern const struct memory_event ten_events[];   /* 1..10 */
extern const struct memory_event eight_events[]; /* 1..8 */
extern const struct memory_event no_events[];

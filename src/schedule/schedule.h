/* SPDX-License-Identifier: Apache-2.0 */
/* The engine that reads recordings on behalf of viewers. A deep profile is a trace without events,
 * whose computations are work in steps. One instance of each trace; two kinds of work:
 *
 *   ad hoc requests      of a reader (a viewer page): an interval, served at once
 *   precomputation       of a trace: a module's pass over all of it, once, in the background
 *
 * The engine is cooperative and single-threaded: fm_engine_step does one bounded step. A background
 * step is done only when no reader has a request pending; equals take turns. Rules: README.md. */
#pragma once

#include "base/progress.h"
#include "trace/core/trace.h"

struct fm_engine;
struct fm_trace_reader;

#define FM_CHUNK_DEFAULT 6000
#define FM_STEP_WORK_US 1500 /* of a step of work without events */

/* Opens a trace; identity is the "device:inode" that path led to a moment ago, the trace's own that
 * of the file that was opened. */
typedef struct fm_trace *fm_trace_opener(const char *path, const char *identity, void *user,
                                         GError **error);

struct fm_engine *fm_engine_new(fm_trace_opener *open, void *user);
void fm_engine_free(struct fm_engine *engine); /* closes everything */
void fm_engine_set_chunk(struct fm_engine *engine, uint64_t events);
/* 0 = strict (the default); n = one background step after n foreground steps. */
void fm_engine_set_background_share(struct fm_engine *engine, unsigned foreground_steps);

/* One step of whoever is next. False when nothing is registered. */
bool fm_engine_step(struct fm_engine *engine);
bool fm_engine_has_work(const struct fm_engine *engine);
bool fm_engine_has_foreground(
    const struct fm_engine *engine); /* some reader has a request pending */
/* Nestable: while disabled, steps do nothing. */
void fm_engine_disable(struct fm_engine *engine);
void fm_engine_enable(struct fm_engine *engine);
/* The first invariant that does not hold (I1-I12, J1-J6), or NULL. For tests; between steps. */
const char *fm_engine_check(const struct fm_engine *engine);

/* --- registry (registry.c) --- */

/* The one instance of the trace at path; each open is one reference. */
FM_MUST_USE struct fm_trace *fm_engine_open(struct fm_engine *engine, const char *path,
                                            GError **error);
/* The last reference closes it, in mid-pass too. */
void fm_engine_close(struct fm_engine *engine, struct fm_trace *trace);
/* The trace has grown beyond its old end (FM_TIME_INF: there was nothing, or something else): all
 * contexts over it begin to see what is new. Not from inside a step. */
void fm_engine_trace_grown(struct fm_engine *engine, const struct fm_trace *trace,
                           uint64_t old_end_time);
unsigned fm_engine_references(const struct fm_engine *engine, const struct fm_trace *trace);

/* --- computations (background.c) --- */

enum fm_step_state { FM_STEP_MORE, FM_STEP_DONE, FM_STEP_FAILED };

/* Work that is no reading of events, as loading and summing a deep profile. Such a computation has
 * a pass of its own: one call a step of the scheduler, in the trace's turn. */
struct fm_step_work {
    /* Works for about budget_us microseconds, at least a little; NULL = hooks only. */
    enum fm_step_state (*step)(struct fm_trace *trace, void *user, unsigned budget_us,
                               GError **error);
    /* How much of it is done, 0 to 1; may be NULL. */
    double (*fraction)(struct fm_trace *trace, void *user);
    /* Forgets the result, or the half of one. Not called when the trace is closed. May be NULL. */
    void (*discard)(struct fm_trace *trace, void *user);
    void *user;
};

/* Owned by the engine after registering. Call data: the private traceset context for requests,
 * adder and remover; by level for the others. Any may be NULL. */
struct fm_computation {
    struct fm_hooks *before_request, *after_request;
    struct fm_chunk_hooks chunk;
    struct fm_hooks *adder, *remover; /* once a pass */
    struct fm_step_work work;
    /* Computations that are asked for before this one; NULL-terminated, static; NULL = none. */
    const char *const *needs;
    /* Asked at a request before anything is done: whether the result is there already, saved at
     * another time; then the module is ready without a pass. May be NULL. */
    bool (*found)(struct fm_trace *trace);
};
/* False, and the hooks freed, when the name is taken. */
bool fm_engine_register_computation(struct fm_engine *engine, const char *module,
                                    struct fm_computation *computation);

enum fm_request_result {
    FM_REQUEST_NO_MODULE,
    FM_REQUEST_READY,
    FM_REQUEST_IN_PROGRESS,
    FM_REQUEST_QUEUED_BEFORE,
    FM_REQUEST_QUEUED,
    FM_REQUEST_FAILED /* it, or one that it needs: fm_background_error() */
};
enum fm_request_result fm_background_request(struct fm_engine *engine, struct fm_trace *trace,
                                             const char *module);
bool fm_background_find(struct fm_engine *engine, struct fm_trace *trace, const char *module);
bool fm_background_is_ready(const struct fm_trace *trace, const char *module);
bool fm_background_is_in_progress(const struct fm_trace *trace, const char *module);
/* Why a computation failed (attribute computation/MODULE/failed), NULL when it did not. A failure
 * ends the pass: after_request is called with `ready` false, notifications fire, and what needs the
 * module has failed with it. Borrowed until the next step. */
const GError *fm_background_error(const struct fm_trace *trace, const char *module);
/* Fraction of the running pass, by time or as the work tells; negative when none runs. */
double fm_background_progress(struct fm_engine *engine, struct fm_trace *trace);
/* The first module of the running pass, or NULL. Borrowed. */
const char *fm_background_current(struct fm_engine *engine, struct fm_trace *trace);
/* The recording has changed: a running pass is broken off (after_request with `ready` false), no
 * module is ready or failed any more. What was being done or waited is asked for again; so are
 * notifications kept. Not from inside a step. */
void fm_background_discard(struct fm_engine *engine, struct fm_trace *trace);
/* Does steps, of others too, until the module is ready: for programs that have nothing else to do.
 * Errors: why it failed, FM_ERROR_NOT_FOUND (no such module), FM_ERROR_CANCELLED (by progress,
 * which may be NULL). */
FM_MUST_USE bool fm_background_run(struct fm_engine *engine, struct fm_trace *trace,
                                   const char *module, const struct fm_progress *progress,
                                   GError **error);

struct fm_notify { /* call data of notification hooks */
    void *owner;
    struct fm_trace *trace;
    uint64_t time;                /* FM_TIME_INF = at the end of the pass */
    struct fm_position *position; /* NULL = none; owned */
    struct fm_hooks *hooks;       /* owned */
};
/* Watches the next pass. position and hooks are taken. */
void fm_background_notify_queue(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                                uint64_t time, struct fm_position *position,
                                struct fm_hooks *hooks);
/* Watches the pass now running; false, and nothing recorded, when none runs. */
bool fm_background_notify_current(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                                  uint64_t time, struct fm_position *position,
                                  struct fm_hooks *hooks);
/* Called after every step of this trace's scheduler, as long as it is not removed: for showing how
 * far a pass is. Call data: a notify record, time FM_TIME_INF. hooks are taken. */
void fm_background_watch(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                         struct fm_hooks *hooks);
/* All notifications and watches of an owner, on all traces. */
void fm_background_notify_remove(struct fm_engine *engine, const void *owner);
/* One step of one trace's scheduler: true = stays registered. */
bool fm_background_step(struct fm_engine *engine, struct fm_trace *trace);

/* --- readers and ad hoc requests (foreground.c) --- */

struct fm_trace_reader *fm_trace_reader_new(struct fm_engine *engine);
void fm_trace_reader_free(
    struct fm_trace_reader *reader); /* frees its requests, gives its traces back */
/* Adding a trace that is there has no effect. Pending requests are withdrawn when the set changes.
 */
FM_MUST_USE bool fm_trace_reader_add_trace(struct fm_trace_reader *reader, const char *path,
                                           GError **error);
/* Adds the other reader's traces; into an empty one, in the same order. */
void fm_trace_reader_share(struct fm_trace_reader *reader, const struct fm_trace_reader *with);
void fm_trace_reader_remove_trace(struct fm_trace_reader *reader, struct fm_trace *trace);
struct fm_context *
fm_trace_reader_context(struct fm_trace_reader *reader); /* NULL while there is no trace */

/* Puts the context at the latest saved state strictly before time, so that reading on to time
 * with the permanent hooks alone gives the state there. NULL: plain seeks. */
typedef void fm_restore_state(struct fm_context *context, uint64_t time, void *user);
void fm_trace_reader_set_state(struct fm_trace_reader *reader, fm_restore_state *restore,
                               void *user);
/* Hooks that stay in the context, as those that keep the state. Not copied; NULL = none. */
void fm_trace_reader_set_permanent_hooks(struct fm_trace_reader *reader,
                                         const struct fm_chunk_hooks *hooks);

/* Fill one with fm_events_request_new and set fields; the engine owns it after submission. */
struct fm_events_request {
    void *owner;
    void *viewer_data;
    bool servicing;      /* before_request has been called; the engine's */
    bool stop;           /* the viewer's, from its event hooks: finish after this chunk */
    uint64_t start_time; /* inclusive; FM_TIME_INF = unset */
    struct fm_position *start_position;              /* inclusive; wins; owned */
    uint64_t end_time;                               /* exclusive; FM_TIME_INF = unset */
    uint64_t num_events;                             /* UINT64_MAX = unlimited */
    struct fm_position *end_position;                /* exclusive; owned */
    int trace;                                       /* index, -1 = all */
    struct fm_hooks *before_request, *after_request; /* call data: the context; owned */
    struct fm_chunk_hooks chunk;                     /* owned */
    /* the engine's: */
    uint64_t sequence;
    bool withdrawn, attached;
    bool in_chunk; /* its before-chunk hooks have been called, its after-chunk hooks will be */
};
struct fm_events_request *fm_events_request_new(void *owner);
/* False, and the request freed, when it has no start. */
bool fm_trace_reader_request(struct fm_trace_reader *reader, struct fm_events_request *request);
void fm_trace_reader_remove_all(struct fm_trace_reader *reader, const void *owner);
void fm_trace_reader_stop(struct fm_trace_reader *reader); /* frees all, calls nothing */
unsigned fm_trace_reader_pending(const struct fm_trace_reader *reader);
bool fm_foreground_step(struct fm_trace_reader *reader);

/* --- modules (module.c) --- */

struct fm_schedule_module {
    const char *name, *description;
    bool (*init)(struct fm_engine *engine, GError **error);
    const char *const *prerequisites; /* NULL-terminated, or NULL */
};
/* Makes the modules known, without running init. The array, ended by NULL, is borrowed: static. */
void fm_engine_add_modules(struct fm_engine *engine,
                           const struct fm_schedule_module *const *modules);
/* Runs init of a module that is known, after those that it needs; once. */
FM_MUST_USE bool fm_engine_require(struct fm_engine *engine, const char *module, GError **error);

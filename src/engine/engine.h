/* SPDX-License-Identifier: Apache-2.0 */
/* The engine that reads recordings for viewers. A deep profile is a trace without events; its
 * computations are work in steps. There is one instance of each trace, and two kinds of work:
 *
 *   ad hoc requests    of a reader (a viewer page): an interval, served at once
 *   background passes  over a whole trace, for a module's computation, once
 *
 * The engine is cooperative and single-threaded: fm_engine_step does one bounded step. A
 * background step is done only when no reader has a pending request; equals take turns. Rules:
 * README.md. */
#pragma once

#include "base/progress.h"
#include "trace/core/trace.h"

struct fm_engine;
struct fm_engine_reader;

#define FM_CHUNK_DEFAULT 6000
#define FM_STEP_WORK_US 1500 /* time for a step of work without events */

/* Opens a trace. identity is the "device:inode" to which path led just before; the trace must have
 * that of the file that was opened. */
typedef struct fm_trace *fm_engine_opener(const char *path, const char *identity, void *user,
                                          GError **error);

struct fm_engine *fm_engine_new(fm_engine_opener *open, void *user);
void fm_engine_free(struct fm_engine *engine); /* closes everything */
void fm_engine_set_chunk(struct fm_engine *engine, uint64_t events);
/* 0 = strict (the default); n = one background step after n foreground steps. */
void fm_engine_set_background_share(struct fm_engine *engine, unsigned foreground_steps);

/* Does the next step. False when there is no work. */
bool fm_engine_step(struct fm_engine *engine);
bool fm_engine_has_work(const struct fm_engine *engine);
bool fm_engine_has_foreground(
    const struct fm_engine *engine); /* some reader has a request pending */
/* From now on a pass over a trace that is being written does not end: its modules are ready when it
 * has read what is there, and it goes on when there is more. */
void fm_engine_follow(struct fm_engine *engine);
/* Whether a pass is under way that goes on when the trace grows. */
bool fm_background_follows(struct fm_engine *engine, struct fm_trace *trace);
/* Nestable: while disabled, steps do nothing. */
void fm_engine_disable(struct fm_engine *engine);
void fm_engine_enable(struct fm_engine *engine);
/* Returns the first violated invariant (I1-I12, J1-J6), or NULL. For tests, between steps. */
const char *fm_engine_check(const struct fm_engine *engine);

/* --- registry (registry.c) --- */

/* Opens the trace at path, or the instance that is already open; adds a reference. */
FM_MUST_USE struct fm_trace *fm_engine_open(struct fm_engine *engine, const char *path,
                                            GError **error);
/* Removes a reference; the last one closes the trace, even during a pass. */
void fm_engine_close(struct fm_engine *engine, struct fm_trace *trace);
/* The trace has grown beyond its old end (FM_TIME_INF: it was empty, or was replaced): all its
 * contexts see the new events from now on. Not from inside a step. */
void fm_engine_trace_grown(struct fm_engine *engine, const struct fm_trace *trace,
                           uint64_t old_end_time);
unsigned fm_engine_references(const struct fm_engine *engine, const struct fm_trace *trace);

/* --- computations (background.c) --- */

enum fm_step_state { FM_STEP_MORE, FM_STEP_DONE, FM_STEP_FAILED };

/* Work that reads no events, such as loading and summing a deep profile. Such a computation has a
 * pass of its own, with one call for each step of the scheduler. */
struct fm_step_work {
    /* Works for about budget_us microseconds, and makes some progress in any case; NULL = hooks
     * only. */
    enum fm_step_state (*step)(struct fm_trace *trace, void *user, unsigned budget_us,
                               GError **error);
    /* Fraction that is done, 0 to 1; may be NULL. */
    double (*fraction)(struct fm_trace *trace, void *user);
    /* Discards the result, complete or not. Not called when the trace is closed. May be NULL. */
    void (*discard)(struct fm_trace *trace, void *user);
    void *user;
};

/* Owned by the engine after registration. Call data: adder, remover and the request hooks get the
 * private traceset context; other hooks get the context of their level. Any may be NULL. */
struct fm_computation {
    struct fm_hooks *before_request, *after_request;
    struct fm_chunk_hooks chunk;
    struct fm_hooks *adder, *remover; /* once a pass */
    /* Makes what has been read so far a result to be shown, which the pass then goes on with: see
     * fm_engine_follow(). NULL: it has a result only at the end. */
    struct fm_hooks *publish;
    struct fm_step_work work;
    /* Computations that are done before this one; NULL-terminated, static; NULL = none. */
    const char *const *needs;
    /* Called first for a request: whether the result exists already, saved earlier; then the module
     * is ready without a pass. May be NULL. */
    bool (*found)(struct fm_trace *trace);
};
/* False when the name is taken; frees the hooks then. */
bool fm_engine_register_computation(struct fm_engine *engine, const char *module,
                                    struct fm_computation *computation);

enum fm_request_result {
    FM_REQUEST_NO_MODULE,
    FM_REQUEST_READY,
    FM_REQUEST_IN_PROGRESS,
    FM_REQUEST_QUEUED_BEFORE,
    FM_REQUEST_QUEUED,
    FM_REQUEST_FAILED /* it failed, or one that it needs: fm_background_error() */
};
enum fm_request_result fm_background_request(struct fm_engine *engine, struct fm_trace *trace,
                                             const char *module);
bool fm_background_find(struct fm_engine *engine, struct fm_trace *trace, const char *module);
bool fm_background_is_ready(const struct fm_trace *trace, const char *module);
bool fm_background_is_in_progress(const struct fm_trace *trace, const char *module);
/* Why a computation failed (attribute computation/MODULE/failed); NULL when it did not. A failure
 * ends the pass: after_request is called with `ready` false, notifications fire, and modules that
 * need this one have failed, too. Borrowed until the next step. */
const GError *fm_background_error(const struct fm_trace *trace, const char *module);
/* Progress of the running pass, by time or as the work reports it, 0 to 1; negative when none
 * runs. */
double fm_background_progress(struct fm_engine *engine, struct fm_trace *trace);
/* The first module of the running pass, or NULL. Borrowed. */
const char *fm_background_current(struct fm_engine *engine, struct fm_trace *trace);
/* The recording has changed: a running pass is aborted (after_request with `ready` false), and no
 * module is ready or failed any more. Requests that were active or pending are repeated, and
 * notifications stay. Not from inside a step. */
void fm_background_discard(struct fm_engine *engine, struct fm_trace *trace);
/* Does steps, also of other work, until the module is ready: for programs that do nothing else
 * meanwhile. Errors: that of the computation, FM_ERROR_NOT_FOUND (no such module),
 * FM_ERROR_CANCELLED (by progress, which may be NULL). */
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
/* Adds a notification to the next pass; takes ownership of position and hooks. */
void fm_background_notify_queue(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                                uint64_t time, struct fm_position *position,
                                struct fm_hooks *hooks);
/* Adds a notification to the running pass; false, without effect, when none runs. */
bool fm_background_notify_current(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                                  uint64_t time, struct fm_position *position,
                                  struct fm_hooks *hooks);
/* Calls hooks after every background step of this trace until removed, to show progress. Call data:
 * a notify record, time FM_TIME_INF. Takes ownership of hooks. */
void fm_background_watch(struct fm_engine *engine, void *owner, struct fm_trace *trace,
                         struct fm_hooks *hooks);
/* Removes all notifications and watches of an owner, on all traces. */
void fm_background_notify_remove(struct fm_engine *engine, const void *owner);
/* Does one background step of one trace; true = more work is registered. */
bool fm_background_step(struct fm_engine *engine, struct fm_trace *trace);

/* --- readers and ad hoc requests (foreground.c) --- */

struct fm_engine_reader *fm_engine_reader_new(struct fm_engine *engine);
void fm_engine_reader_free(
    struct fm_engine_reader *reader); /* frees its requests, closes its traces */
/* Adding a trace twice has no effect. When the set changes, pending requests are withdrawn. */
FM_MUST_USE bool fm_engine_reader_add_trace(struct fm_engine_reader *reader, const char *path,
                                            GError **error);
/* Adds the traces of `with`; if the reader is empty, in the same order. */
void fm_engine_reader_share(struct fm_engine_reader *reader, const struct fm_engine_reader *with);
void fm_engine_reader_remove_trace(struct fm_engine_reader *reader, struct fm_trace *trace);
struct fm_context *
fm_engine_reader_context(struct fm_engine_reader *reader); /* NULL while it has no trace */

/* Moves the context to the latest saved state strictly before time; reading on to time with the
 * permanent hooks then gives the state there. NULL: plain seeks. */
typedef void fm_restore_state(struct fm_context *context, uint64_t time, void *user);
void fm_engine_reader_set_state(struct fm_engine_reader *reader, fm_restore_state *restore,
                                void *user);
/* Sets hooks that stay in the context, such as those that keep the state. Not copied; NULL =
 * none. */
void fm_engine_reader_set_permanent_hooks(struct fm_engine_reader *reader,
                                          const struct fm_chunk_hooks *hooks);

/* Create one with fm_events_request_new() and set its fields; the engine owns it once submitted. */
struct fm_events_request {
    void *owner;
    void *viewer_data;
    bool servicing;      /* set by the engine: before_request has been called */
    bool stop;           /* set by the viewer's event hooks: finish after this chunk */
    uint64_t start_time; /* inclusive; FM_TIME_INF = unset */
    struct fm_position *start_position;              /* inclusive; overrides start_time; owned */
    uint64_t end_time;                               /* exclusive; FM_TIME_INF = unset */
    uint64_t num_events;                             /* UINT64_MAX = unlimited */
    struct fm_position *end_position;                /* exclusive; owned */
    int trace;                                       /* index, -1 = all */
    struct fm_hooks *before_request, *after_request; /* call data: the context; owned */
    struct fm_chunk_hooks chunk;                     /* owned */
    /* Set by the engine: */
    uint64_t sequence;
    bool withdrawn, attached;
    bool in_chunk; /* between its before-chunk and after-chunk hooks */
};
struct fm_events_request *fm_events_request_new(void *owner);
/* False when the request has no start; frees it then. */
bool fm_engine_reader_request(struct fm_engine_reader *reader, struct fm_events_request *request);
void fm_engine_reader_remove_all(struct fm_engine_reader *reader, const void *owner);
/* frees all requests without calling hooks */
void fm_engine_reader_stop(struct fm_engine_reader *reader);
unsigned fm_engine_reader_pending(const struct fm_engine_reader *reader);
bool fm_foreground_step(struct fm_engine_reader *reader);

/* --- modules (module.c) --- */

struct fm_schedule_module {
    const char *name, *description;
    bool (*init)(struct fm_engine *engine, GError **error);
    const char *const *prerequisites; /* NULL-terminated, or NULL */
};
/* Registers modules without running init. The array ends with NULL, is borrowed and static. */
void fm_engine_add_modules(struct fm_engine *engine,
                           const struct fm_schedule_module *const *modules);
/* Runs init of a registered module, after its prerequisites; once. */
FM_MUST_USE bool fm_engine_require(struct fm_engine *engine, const char *module, GError **error);

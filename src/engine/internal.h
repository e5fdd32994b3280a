/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "engine/engine.h"

/* A registered computation: stays for the life of the engine. */
struct computation {
    char *name;
    struct fm_computation hooks;
};

struct background_request {
    struct computation *computation;
    bool attached; /* its chunk hooks are in the context */
};

struct background {
    struct fm_engine *engine;
    struct fm_trace *trace;
    unsigned references;               /* readers and other openers */
    struct fm_context *context;        /* this background's own */
    GPtrArray *list_out, *list_in;     /* holds struct background_request */
    GPtrArray *notify_out, *notify_in; /* holds struct fm_notify */
    GPtrArray *watches;                /* used by notify.c only */
    bool stepping, pass_over, closing;
    bool waiting;   /* more of the trace is sure to come */
    bool following; /* what list_in asks for is ready, and goes on as the trace grows */
};

struct fm_engine {
    fm_engine_opener *open;
    void *user;
    GPtrArray *backgrounds; /* in order of opening */
    GHashTable *computations;
    GPtrArray *readers;
    GArray *modules; /* used by module.c only */
    uint64_t chunk, chunk_max;
    unsigned disabled;
    bool follows;
    unsigned next_reader, next_background; /* indices for taking turns */
    unsigned share, foreground_steps;
    uint64_t sequence;
};

struct fm_engine_reader {
    struct fm_engine *engine;
    GPtrArray *traces; /* holds struct fm_trace, with references */
    struct fm_context *context;
    GPtrArray *list_out, *list_in; /* holds struct fm_events_request */
    bool stepping;
    fm_restore_state *restore;
    void *restore_user;
    const struct fm_chunk_hooks *permanent;
};

static inline struct background *fm_engine_background(const struct fm_engine *engine,
                                                      const struct fm_trace *trace)
{
    for (unsigned i = 0; i < engine->backgrounds->len; i++) {
        struct background *background = g_ptr_array_index(engine->backgrounds, i);
        if (background->trace == trace)
            return background;
    }
    return NULL;
}
/* --- registry.c --- */
void fm_engine_close_background(struct fm_engine *engine, struct background *background);
/* --- notify.c --- */
void fm_notify_free(void *notify);
void fm_watch_free(void *watch);
/* Calls and frees the notification at index of notify_in. */
void fm_notify_fire(struct background *background, unsigned index);
void fm_notify_fire_due(struct background *background);
void fm_notify_call_watches(struct background *background);

struct background_request *fm_background_find_request(GPtrArray *list, const char *module,
                                                      unsigned *ret_index);
void fm_background_set_flag(struct fm_trace *trace, const char *module, const char *flag,
                            bool value);
/* Ends the requests of a pass, not ready. */
void fm_background_break_off(struct background *background);
const struct fm_step_work *fm_background_work(GPtrArray *list, unsigned index);
void fm_background_abandon_pass(struct background *background);
/* Whether it is registered and a step would have an effect. */
bool fm_background_has_work(const struct background *background);
struct background *fm_background_new(struct fm_engine *engine, struct fm_trace *trace);
void fm_background_close(struct background *background); /* calls after_request of a running pass */
bool fm_engine_reader_is_registered(const struct fm_engine_reader *reader);
const char *fm_engine_reader_check(const struct fm_engine_reader *reader);
void fm_chunk_hooks_done(struct fm_chunk_hooks *hooks);
void fm_computation_free(struct computation *computation);
/* --- module.c --- */
GArray *fm_modules_new(void);

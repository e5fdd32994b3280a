/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations against a simple model: a request is owed the events of its interval, each
 * once and in order; a module is owed every event of the trace, in order, once a pass. */
#include "world.h"

#define OPERATIONS 100000
#define EVENTS 40
#define VIEWERS 8
#define MODULES 3
#define TABS 2

/* What a reader was promised, and how far it has come. */
struct reader {
    bool active;
    unsigned next, end; /* indexes in the model's list of events */
    uint64_t left;      /* events that a request by count may still see */
    unsigned begun, ended, chunks_begun, chunks_ended;
    struct fm_tab *tab;
    struct fm_trace *trace;
    const char *module;
};

static struct memory_event events[EVENTS + 1];
static struct reader viewers[VIEWERS], modules[MODULES];
static const char *const module_names[MODULES] = {"A", "B", "C"};
static unsigned notified;

static void make_events(GRand *chance)
{
    uint64_t time = 10;
    for (unsigned i = 0; i < EVENTS; i++) {
        time += (uint64_t)g_rand_int_range(chance, 0, 4); /* with equal times */
        events[i] = (struct memory_event){time, (uint32_t)g_rand_int_range(chance, 0, 3), "e"};
    }
    events[EVENTS] = (struct memory_event){0, 0, NULL};
}

static unsigned first_at(uint64_t time)
{
    unsigned i = 0;
    while (i < EVENTS && events[i].time < time)
        i++;
    return i;
}

static bool on_event(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    const struct fm_tracefile_context *context = call_data;
    g_assert_true(reader->active);
    g_assert_cmpuint(reader->chunks_begun, ==, reader->chunks_ended + 1);
    g_assert_cmpuint(reader->next, <, reader->end);
    g_assert_cmpuint(context->event.time, ==, events[reader->next].time);
    g_assert_cmpuint(context->event.id, ==, events[reader->next].id);
    g_assert_cmpuint(reader->left, >, 0);
    reader->left--;
    reader->next++;
    return false;
}

static bool on_before_request(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    reader->begun++;
    g_assert_cmpuint(reader->begun, ==, reader->ended + 1);
    return false;
}

static bool on_after_request(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    reader->ended++;
    g_assert_cmpuint(reader->chunks_begun, ==, reader->chunks_ended);
    g_assert_true(reader->next == reader->end || reader->left == 0);
    reader->active = false;
    return false;
}

static bool on_before_chunk(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    reader->chunks_begun++;
    return false;
}

static bool on_after_chunk(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    reader->chunks_ended++;
    g_assert_cmpuint(reader->chunks_begun, ==, reader->chunks_ended);
    return false;
}

static struct fm_hooks *one(fm_hook_function *function, void *data)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, function, data, FM_HOOK_DEFAULT);
    return hooks;
}

static void fill_chunk(struct fm_chunk_hooks *chunk, struct reader *reader)
{
    chunk->before_traceset = one(on_before_chunk, reader);
    chunk->event = one(on_event, reader);
    chunk->after_traceset = one(on_after_chunk, reader);
}

static void submit(struct fm_tab *tab, struct reader *reader, GRand *chance)
{
    uint64_t last = events[EVENTS - 1].time;
    uint64_t start = (uint64_t)g_rand_int_range(chance, 0, (gint32)last + 10);
    uint64_t end = (uint64_t)g_rand_int_range(chance, 0, (gint32)last + 10);
    bool by_count = g_rand_boolean(chance);
    *reader = (struct reader){.active = true, .tab = tab};
    reader->next = first_at(start);
    reader->end = by_count ? EVENTS : MAX(first_at(end), reader->next);
    reader->left = by_count ? (uint64_t)g_rand_int_range(chance, 0, EVENTS) : UINT64_MAX;
    struct fm_events_request *request = fm_events_request_new(reader);
    request->start_time = start;
    request->num_events = reader->left;
    if (!by_count)
        request->end_time = end;
    request->before_request = one(on_before_request, reader);
    request->after_request = one(on_after_request, reader);
    fill_chunk(&request->chunk, reader);
    g_assert_true(fm_tab_request(tab, request));
}

static void register_module(struct world *world, unsigned index)
{
    struct reader *reader = &modules[index];
    struct fm_computation computation = {
        .before_request = one(on_before_request, reader),
        .after_request = one(on_after_request, reader),
    };
    fill_chunk(&computation.chunk, reader);
    g_assert_true(fm_engine_register_computation(world->engine, module_names[index], &computation));
}

static bool on_notify(void *hook_data, void *call_data)
{
    (void)hook_data;
    (void)call_data;
    notified++;
    return false;
}

static void ask_module(struct world *world, struct fm_trace *trace, unsigned index, unsigned *owed)
{
    struct reader *reader = &modules[index];
    switch (fm_background_request(world->engine, trace, module_names[index])) {
    case FM_REQUEST_QUEUED:
        g_assert_false(reader->active);
        *reader = (struct reader){.active = true, .end = EVENTS, .left = UINT64_MAX};
        fm_background_notify_queue(world->engine, reader, trace, FM_TIME_INF, NULL,
                                   one(on_notify, reader));
        ++*owed;
        break;
    case FM_REQUEST_QUEUED_BEFORE:
    case FM_REQUEST_IN_PROGRESS:
        g_assert_true(reader->active);
        break;
    case FM_REQUEST_READY:
        g_assert_false(reader->active);
        /* Computed anew, as when a module's data is discarded. */
        fm_engine_unregister_computation(world->engine, module_names[index]);
        fm_attributes_remove(trace->attributes, index == 0   ? "computation/A/ready"
                                                : index == 1 ? "computation/B/ready"
                                                             : "computation/C/ready");
        register_module(world, index);
        break;
    case FM_REQUEST_FAILED:
    case FM_REQUEST_NO_MODULE:
        g_assert_not_reached();
    }
}

static void unload_module(struct world *world, unsigned index)
{
    fm_engine_unregister_computation(world->engine, module_names[index]);
    modules[index] = (struct reader){.active = false};
    register_module(world, index);
}

static void check_step(struct world *world)
{
    bool more = fm_engine_step(world->engine);
    g_assert_cmpint(more, ==, fm_engine_has_work(world->engine));
    g_assert_cmpstr(fm_engine_check(world->engine), ==, NULL);
}

static void one_operation(struct world *world, struct fm_tab **tabs, struct fm_trace *trace,
                          GRand *chance, unsigned *owed)
{
    unsigned which = (unsigned)g_rand_int_range(chance, 0, VIEWERS);
    unsigned module = (unsigned)g_rand_int_range(chance, 0, MODULES);
    switch (g_rand_int_range(chance, 0, 20)) {
    case 0:
    case 1:
    case 2:
        if (!viewers[which].active)
            submit(tabs[which % TABS], &viewers[which], chance);
        break;
    case 3:
        if (viewers[which].active) {
            fm_tab_remove_all(viewers[which].tab, &viewers[which]);
            viewers[which].active = false;
        }
        break;
    case 4:
        ask_module(world, trace, module, owed);
        break;
    case 5:
        if (g_rand_int_range(chance, 0, 20) == 0)
            unload_module(world, module);
        break;
    case 6:
        fm_engine_set_chunk(world->engine, (uint64_t)g_rand_int_range(chance, 1, 9));
        break;
    case 7:
        fm_engine_set_background_share(world->engine, (unsigned)g_rand_int_range(chance, 0, 4));
        break;
    case 8: /* somebody else holds the trace */
        g_assert_cmpint(fm_trace_lock(trace), ==, 0);
        fm_engine_step(world->engine);
        g_assert_cmpint(fm_trace_unlock(trace), ==, 0);
        break;
    case 9:
        fm_engine_disable(world->engine);
        fm_engine_step(world->engine);
        fm_engine_enable(world->engine);
        break;
    default:
        check_step(world);
    }
}

static void test_random_operations(void)
{
    GRand *chance = g_rand_new_with_seed(20261121);
    make_events(chance);
    struct world *world = world_new(4);
    struct fm_trace *trace = world_open(world, "x", events);
    struct fm_tab *tabs[TABS];
    unsigned owed = 0;
    for (unsigned i = 0; i < TABS; i++) {
        g_autoptr(GError) error = NULL;
        tabs[i] = fm_tab_new(world->engine);
        g_assert_true(fm_tab_add_trace(tabs[i], trace->path, &error));
    }
    for (unsigned i = 0; i < MODULES; i++)
        register_module(world, i);
    for (unsigned i = 0; i < OPERATIONS; i++)
        one_operation(world, tabs, trace, chance, &owed);
    while (fm_engine_has_work(world->engine))
        check_step(world);
    for (unsigned i = 0; i < VIEWERS; i++)
        g_assert_false(viewers[i].active);
    g_assert_cmpuint(notified, >, owed / 2); /* those of unloaded modules wait for a later pass */
    g_assert_cmpuint(notified, <=, owed);
    world_free(world);
    g_rand_free(chance);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/schedule/random", test_random_operations);
    return g_test_run();
}

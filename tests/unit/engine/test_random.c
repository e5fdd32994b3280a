/* SPDX-License-Identifier: Apache-2.0 */
/* Random operations against a simple model: a request is owed the events of its interval, each
 * once and in order; a module is owed every event of the trace, in order, once a pass; a
 * notification is owed at the end of the first chunk that reaches its place, once. Hooks call back:
 * they stop, withdraw and submit. */
#include "world.h"

#include <stdlib.h>
#include <string.h>

#define OPERATIONS 100000
#define EVENTS 40
#define TRACEFILES 3
#define VIEWERS 9
#define MODULES 3
#define TRACE_READERS 3
#define NOTES 6

/* What a reader was promised, and how far it has come. */
struct reader {
    bool active;
    unsigned next, end; /* indexes in the model's list of events */
    uint64_t left;      /* events that a request by count may still see */
    unsigned stop_at;   /* index of the event at which its hook says stop */
    unsigned begun, ended, chunks_begun, chunks_ended;
    struct fm_engine_reader *trace_reader;
    struct fm_events_request *request;
    bool is_module;
};

struct note {
    bool pending, joined; /* the pass that runs has it */
    unsigned due;         /* index of the event before which the pass must stand */
    unsigned grace;       /* it was asked for when the pass stood there: at the next chunk's end */
};

static struct memory_event events[EVENTS + 1];
static struct reader viewers[VIEWERS], modules[MODULES];
static struct note notes[NOTES];
static const char *const module_names[MODULES] = {"A", "B", "C"};
static struct world *world;
static struct fm_trace *trace;
static struct fm_engine_reader *trace_readers[TRACE_READERS];
static GRand *chance;
/* Of the step that is done, and of the pass. */
static struct fm_engine_reader *stepped;
static bool pass_completed, background_read;
static unsigned pass_next, share, starved[TRACE_READERS], fired;

static bool one_in(unsigned n)
{
    return g_rand_int_range(chance, 0, (gint32)n) == 0;
}

static int compare_events(gconstpointer a, gconstpointer b)
{
    const struct memory_event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (int)(x->id % TRACEFILES) - (int)(y->id % TRACEFILES);
}

/* In reading order; with equal times, within tracefiles and between them. */
static void make_events(void)
{
    uint64_t time = 10;
    for (unsigned i = 0; i < EVENTS; i++) {
        time += (uint64_t)g_rand_int_range(chance, 0, 3);
        events[i] =
            (struct memory_event){time, (uint32_t)g_rand_int_range(chance, 0, TRACEFILES), "e"};
    }
    qsort(events, EVENTS, sizeof *events, compare_events);
    for (unsigned i = 0; i < EVENTS; i++)
        events[i].id += TRACEFILES * i; /* no two alike */
    events[EVENTS] = (struct memory_event){0, 0, NULL};
}

static unsigned first_at(uint64_t time)
{
    unsigned i = 0;
    while (i < EVENTS && events[i].time < time)
        i++;
    return i;
}

/* The position just before an event. */
static struct fm_position *position_before(unsigned index)
{
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    fm_context_middle(context, FM_TIME_INF, index, NULL);
    struct fm_position *position = fm_context_save_position(context);
    fm_context_free(context);
    return position;
}

/* --- hooks --- */

static void submit(struct reader *reader, bool from_hook);

static void call_back(void)
{
    unsigned viewer = (unsigned)g_rand_int_range(chance, 0, VIEWERS);
    switch (g_rand_int_range(chance, 0, 2)) {
    case 0:
        if (viewers[viewer].active) {
            fm_engine_reader_remove_all(viewers[viewer].trace_reader, &viewers[viewer]);
            viewers[viewer].active = false;
        }
        break;
    case 1:
        /* One that has not ended its chunk yet cannot be told apart from the one that follows. */
        if (!viewers[viewer].active && viewers[viewer].chunks_begun == viewers[viewer].chunks_ended)
            submit(&viewers[viewer], true);
        break;
    }
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
    bool stop = !reader->is_module && reader->next == reader->stop_at;
    reader->next++;
    if (reader->is_module) {
        background_read = true;
        pass_next = reader->next;
    }
    if (stop) {
        reader->request->stop = true;
        reader->end = reader->next;
    }
    if (one_in(200))
        call_back();
    return stop;
}

static void join_notes(void)
{
    for (unsigned i = 0; i < NOTES; i++)
        notes[i].joined |= notes[i].pending;
}

static bool on_before_request(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    g_assert_true(reader->active);
    reader->begun++;
    g_assert_cmpuint(reader->begun, ==, reader->ended + 1);
    if (reader->is_module) {
        pass_next = 0;
        join_notes();
    }
    if (one_in(50))
        call_back();
    return false;
}

static bool on_after_request(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    g_assert_true(reader->active);
    reader->ended++;
    g_assert_cmpuint(reader->begun, ==, reader->ended);
    g_assert_cmpuint(reader->chunks_begun, ==, reader->chunks_ended);
    g_assert_true(reader->next == reader->end || reader->left == 0);
    reader->active = false;
    pass_completed |= reader->is_module;
    if (one_in(20))
        call_back();
    return false;
}

static bool on_before_chunk(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    g_assert_true(reader->active);
    reader->chunks_begun++;
    if (!reader->is_module)
        stepped = reader->trace_reader;
    if (one_in(50))
        call_back();
    return false;
}

/* Also of a request that was withdrawn in the chunk. */
static bool on_after_chunk(void *hook_data, void *call_data)
{
    struct reader *reader = hook_data;
    (void)call_data;
    g_assert_true(reader->active || !reader->is_module);
    reader->chunks_ended++;
    g_assert_cmpuint(reader->chunks_begun, ==, reader->chunks_ended);
    if (one_in(50))
        call_back();
    return false;
}

static bool on_notify(void *hook_data, void *call_data)
{
    struct note *note = hook_data;
    (void)call_data;
    g_assert_true(note->pending && note->joined);
    g_assert_cmpuint(pass_next, >=, note->due);
    note->pending = note->joined = false;
    fired++;
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

/* --- operations --- */

static void choose_begin(struct reader *reader, struct fm_events_request *request, bool from_hook)
{
    if (!from_hook && one_in(2)) {
        reader->next = (unsigned)g_rand_int_range(chance, 0, EVENTS + 1);
        request->start_position = position_before(reader->next);
        return;
    }
    request->start_time =
        (uint64_t)g_rand_int_range(chance, 0, (gint32)events[EVENTS - 1].time + 10);
    reader->next = first_at(request->start_time);
}

static void choose_end(struct reader *reader, struct fm_events_request *request, bool from_hook)
{
    reader->end = EVENTS;
    reader->left = UINT64_MAX;
    if (one_in(3)) {
        reader->left = request->num_events = (uint64_t)g_rand_int_range(chance, 0, EVENTS);
    } else if (!from_hook && one_in(2)) {
        unsigned end = (unsigned)g_rand_int_range(chance, 0, EVENTS + 1);
        request->end_position = position_before(end);
        reader->end = MAX(end, reader->next);
    } else {
        request->end_time =
            (uint64_t)g_rand_int_range(chance, 0, (gint32)events[EVENTS - 1].time + 10);
        reader->end = MAX(first_at(request->end_time), reader->next);
    }
}

static void submit(struct reader *reader, bool from_hook)
{
    unsigned index = (unsigned)(reader - viewers);
    struct fm_engine_reader *trace_reader = trace_readers[index % TRACE_READERS];
    struct fm_events_request *request = fm_events_request_new(reader);
    *reader = (struct reader){
        .active = true, .trace_reader = trace_reader, .request = request, .stop_at = EVENTS};
    choose_begin(reader, request, from_hook);
    choose_end(reader, request, from_hook);
    if (one_in(4))
        reader->stop_at = (unsigned)g_rand_int_range(chance, 0, EVENTS);
    request->before_request = one(on_before_request, reader);
    request->after_request = one(on_after_request, reader);
    fill_chunk(&request->chunk, reader);
    g_assert_true(fm_engine_reader_request(trace_reader, request));
}

static void register_module(unsigned index)
{
    struct reader *reader = &modules[index];
    struct fm_computation computation = {
        .before_request = one(on_before_request, reader),
        .after_request = one(on_after_request, reader),
    };
    fill_chunk(&computation.chunk, reader);
    g_assert_true(fm_engine_register_computation(world->engine, module_names[index], &computation));
}

static void ask_module(unsigned index)
{
    struct reader *reader = &modules[index];
    g_autofree char *ready = g_strdup_printf("computation/%s/ready", module_names[index]);
    switch (fm_background_request(world->engine, trace, module_names[index])) {
    case FM_REQUEST_QUEUED:
        g_assert_false(reader->active);
        *reader =
            (struct reader){.active = true, .is_module = true, .end = EVENTS, .left = UINT64_MAX};
        break;
    case FM_REQUEST_QUEUED_BEFORE:
    case FM_REQUEST_IN_PROGRESS:
        g_assert_true(reader->active);
        break;
    case FM_REQUEST_READY:
        g_assert_false(reader->active);
        /* Computed anew, as when a module's data is discarded. */
        fm_attributes_remove(trace->attributes, ready);
        break;
    case FM_REQUEST_FAILED:
    case FM_REQUEST_NO_MODULE:
        g_assert_not_reached();
    }
}

static void add_note(struct note *note)
{
    struct fm_position *position = NULL;
    uint64_t time = FM_TIME_INF;
    note->due = EVENTS;
    if (one_in(2)) {
        note->due = (unsigned)g_rand_int_range(chance, 0, EVENTS + 1);
        position = position_before(note->due);
    } else if (one_in(2)) {
        time = (uint64_t)g_rand_int_range(chance, 0, (gint32)events[EVENTS - 1].time + 10);
        note->due = first_at(time);
    }
    note->joined = false;
    note->grace = 0;
    if (one_in(2)) {
        note->pending = note->joined = fm_background_notify_current(
            world->engine, note, trace, time, position, one(on_notify, note));
        note->grace = pass_next + 1;
        return;
    }
    note->pending = true;
    fm_background_notify_queue(world->engine, note, trace, time, position, one(on_notify, note));
}

static void remove_note(struct note *note)
{
    fm_background_notify_remove(world->engine, note);
    note->pending = note->joined = false;
}

/* --- what holds after a step --- */

static void check_notes(void)
{
    bool runs = false;
    for (unsigned i = 0; i < MODULES; i++)
        runs |= fm_background_is_in_progress(trace, module_names[i]);
    for (unsigned i = 0; i < NOTES; i++) {
        if (!notes[i].pending || !notes[i].joined)
            continue;
        if (runs) {
            g_assert_cmpuint(pass_next, <, MAX(notes[i].due, notes[i].grace));
            continue;
        }
        g_assert_false(pass_completed); /* all that are left are called when a pass ends */
        notes[i].joined = false;        /* the pass was abandoned: they wait for the next */
        notes[i].grace = 0;
    }
}

/* Nobody who has something to do is passed over for longer than a round. */
static void check_turns(const bool *waited)
{
    for (unsigned i = 0; i < TRACE_READERS; i++) {
        if (!waited[i] || stepped == trace_readers[i])
            starved[i] = 0;
        else if (stepped != NULL)
            starved[i]++;
        g_assert_cmpuint(starved[i], <, TRACE_READERS);
    }
}

static void check_step(void)
{
    bool foreground = fm_engine_has_foreground(world->engine), waited[TRACE_READERS];
    for (unsigned i = 0; i < TRACE_READERS; i++)
        waited[i] = fm_engine_reader_pending(trace_readers[i]) > 0;
    stepped = NULL;
    pass_completed = background_read = false;
    bool more = fm_engine_step(world->engine);
    g_assert_cmpint(more, ==, fm_engine_has_work(world->engine));
    g_assert_cmpstr(fm_engine_check(world->engine), ==, NULL);
    if (foreground && share == 0)
        g_assert_false(background_read || pass_completed);
    check_notes();
    check_turns(waited);
}

static void one_operation(void)
{
    struct reader *viewer = &viewers[g_rand_int_range(chance, 0, VIEWERS)];
    struct note *note = &notes[g_rand_int_range(chance, 0, NOTES)];
    unsigned module = (unsigned)g_rand_int_range(chance, 0, MODULES);
    switch (g_rand_int_range(chance, 0, 24)) {
    case 0:
    case 1:
    case 2:
        if (!viewer->active)
            submit(viewer, false);
        break;
    case 3:
        if (viewer->active) {
            fm_engine_reader_remove_all(viewer->trace_reader, viewer);
            viewer->active = false;
        }
        break;
    case 4:
        ask_module(module);
        break;
    case 5:
        check_notes();
        break;
    case 6:
        fm_engine_set_chunk(world->engine, (uint64_t)g_rand_int_range(chance, 1, 9));
        break;
    case 7:
        share = one_in(2) ? 0 : (unsigned)g_rand_int_range(chance, 1, 4);
        fm_engine_set_background_share(world->engine, share);
        break;
    case 8: /* somebody else holds the trace */
        g_assert_cmpint(fm_trace_lock(trace), ==, 0);
        fm_engine_step(world->engine);
        g_assert_cmpint(fm_trace_unlock(trace), ==, 0);
        memset(starved, 0, sizeof starved); /* whose turn it was, it lost */
        break;
    case 9:
        fm_engine_disable(world->engine);
        fm_engine_step(world->engine);
        fm_engine_enable(world->engine);
        break;
    case 10:
        if (!note->pending)
            add_note(note);
        else if (one_in(8))
            remove_note(note);
        break;
    default:
        check_step();
    }
}

static void test_random_operations(void)
{
    chance = g_rand_new_with_seed(20261121);
    make_events();
    world = world_new(4);
    world->split = TRACEFILES;
    trace = world_open(world, "x", events);
    g_assert_cmpuint(trace->tracefiles->len, ==, TRACEFILES);
    for (unsigned i = 0; i < TRACE_READERS; i++) {
        g_autoptr(GError) error = NULL;
        trace_readers[i] = fm_engine_reader_new(world->engine);
        g_assert_true(fm_engine_reader_add_trace(trace_readers[i], trace->path, &error));
    }
    for (unsigned i = 0; i < MODULES; i++)
        register_module(i);
    for (unsigned i = 0; i < OPERATIONS; i++) {
        pass_completed = false;
        one_operation();
    }
    while (fm_engine_has_work(world->engine))
        check_step();
    for (unsigned i = 0; i < VIEWERS; i++)
        g_assert_false(viewers[i].active);
    g_assert_cmpuint(fired, >, 100);
    world_free(world);
    g_rand_free(chance);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/schedule/random", test_random_operations);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <glib/gstdio.h>
#include <string.h>

const struct memory_event ten_events[] = {
    {1, 0, "1"}, {2, 1, "2"}, {3, 0, "3"}, {4, 1, "4"},   {5, 0, "5"},  {6, 1, "6"},
    {7, 0, "7"}, {8, 1, "8"}, {9, 0, "9"}, {10, 1, "10"}, {0, 0, NULL},
};
const struct memory_event eight_events[] = {
    {1, 0, "1"}, {2, 1, "2"}, {3, 0, "3"}, {4, 1, "4"},  {5, 0, "5"},
    {6, 1, "6"}, {7, 0, "7"}, {8, 1, "8"}, {0, 0, NULL},
};
const struct memory_event no_events[] = {{0, 0, NULL}};

static void note_closed(struct fm_trace *trace)
{
    struct world *world = trace->implementation;
    world->closed++;
}

static void add_split(struct world *world, struct fm_trace *trace,
                      const struct memory_event *events)
{
    for (unsigned part = 0; part < world->split; part++) {
        g_autoptr(GArray) of_part = g_array_new(TRUE, FALSE, sizeof *events);
        for (unsigned i = 0; events[i].label != NULL; i++) {
            if (events[i].id % world->split == part)
                g_array_append_val(of_part, events[i]);
        }
        struct memory_event *own = (struct memory_event *)(void *)g_array_steal(of_part, NULL);
        g_ptr_array_add(world->labels, own);
        memory_trace_add(trace, "kernel", own);
    }
}

static struct fm_trace *open_trace(const char *path, const char *identity, void *user,
                                   GError **error)
{
    struct world *world = user;
    g_autofree char *base = g_path_get_basename(path);
    const struct memory_event *events = g_hash_table_lookup(world->events_of, base);
    (void)error;
    g_assert_nonnull(events);
    struct fm_trace *trace = fm_trace_new(path, identity);
    if (world->split > 0)
        add_split(world, trace, events);
    else
        memory_trace_add(trace, "kernel", events);
    trace->implementation = world;
    trace->free_implementation = note_closed;
    world->opened++;
    return trace;
}

struct world *world_new(uint64_t chunk)
{
    struct world *world = g_new0(struct world, 1);
    world->folder = g_dir_make_tmp("fathom-schedule-XXXXXX", NULL);
    g_assert_nonnull(world->folder);
    world->log = g_string_new(NULL);
    world->labels = g_ptr_array_new_with_free_func(g_free);
    world->events_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    world->engine = fm_engine_new(open_trace, world);
    fm_engine_set_chunk(world->engine, chunk);
    return world;
}

void world_free(struct world *world)
{
    fm_engine_free(world->engine);
    g_assert_cmpuint(world->opened, ==, world->closed);
    GHashTableIter iter;
    void *name;
    g_hash_table_iter_init(&iter, world->events_of);
    while (g_hash_table_iter_next(&iter, &name, NULL)) {
        g_autofree char *path = g_build_filename(world->folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(world->folder);
    g_free(world->folder);
    g_hash_table_unref(world->events_of);
    g_ptr_array_unref(world->labels);
    g_string_free(world->log, TRUE);
    g_free(world);
}

const char *world_file(struct world *world, const char *name, const struct memory_event *events)
{
    char *path = g_build_filename(world->folder, name, NULL);
    g_assert_true(g_file_set_contents(path, name, -1, NULL));
    g_hash_table_replace(world->events_of, g_strdup(name), (gpointer)(uintptr_t)events);
    g_ptr_array_add(world->labels, path);
    return path;
}

struct fm_trace *world_open(struct world *world, const char *name,
                            const struct memory_event *events)
{
    g_autoptr(GError) error = NULL;
    struct fm_trace *trace = fm_engine_open(world->engine, world_file(world, name, events), &error);
    g_assert_no_error(error);
    return trace;
}

struct label *world_label(struct world *world, const char *name)
{
    struct label *label = g_new0(struct label, 1);
    label->world = world;
    label->name = name;
    g_ptr_array_add(world->labels, label);
    return label;
}

static void write_word(struct world *world, const char *what, const char *name)
{
    g_string_append_printf(world->log, "%s%s ", what, name);
}

static bool write_before_request(void *hook_data, void *call_data)
{
    struct label *label = hook_data;
    (void)call_data;
    if (label->trace != NULL && fm_background_is_in_progress(label->trace, label->name))
        write_word(label->world, "ip+", label->name);
    write_word(label->world, "BR.", label->name);
    return false;
}

static bool write_after_request(void *hook_data, void *call_data)
{
    struct label *label = hook_data;
    (void)call_data;
    if (label->trace != NULL && !fm_background_is_in_progress(label->trace, label->name))
        write_word(label->world, "ip-", label->name);
    if (label->trace != NULL && fm_background_is_ready(label->trace, label->name))
        write_word(label->world, "rdy", label->name);
    write_word(label->world, "AR.", label->name);
    if (label->act != NULL)
        label->act(label->world, label);
    return false;
}

static bool write_before_chunk(void *hook_data, void *call_data)
{
    struct label *label = hook_data;
    (void)call_data;
    write_word(label->world, "BC.", label->name);
    return false;
}

static bool write_after_chunk(void *hook_data, void *call_data)
{
    struct label *label = hook_data;
    (void)call_data;
    write_word(label->world, "AC.", label->name);
    return false;
}

/* "A:1 " then "A:1-2 ": a run of events is one word. */
static bool write_event(void *hook_data, void *call_data)
{
    struct label *label = hook_data;
    const char *event = memory_event_label(call_data);
    GString *log = label->world->log;
    g_autofree char *prefix = g_strdup_printf("%s:", label->name);
    g_autofree char *last_word = NULL;
    if (log->len > 0) {
        log->str[log->len - 1] = '\0'; /* without the space */
        const char *space = strrchr(log->str, ' ');
        last_word = g_strdup(space == NULL ? log->str : space + 1);
        log->str[log->len - 1] = ' ';
    }
    if (last_word != NULL && g_str_has_prefix(last_word, prefix)) {
        g_string_truncate(log, log->len - 1);
        char *dash = strchr(last_word, '-');
        if (dash != NULL)
            g_string_truncate(log, log->len - strlen(dash));
        g_string_append_printf(log, "-%s ", event);
    } else {
        g_string_append_printf(log, "%s%s ", prefix, event);
    }
    bool stop = label->stop_at != NULL && strcmp(label->stop_at, event) == 0;
    if (stop && label->request != NULL)
        label->request->stop = true;
    return stop;
}

static struct fm_hooks *one_hook(fm_hook_function *function, struct label *label)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, function, label, FM_HOOK_DEFAULT);
    return hooks;
}

struct label *world_module(struct world *world, const char *name, struct fm_trace *trace)
{
    struct label *label = world_label(world, name);
    label->trace = trace;
    struct fm_computation computation = {
        .before_request = one_hook(write_before_request, label),
        .after_request = one_hook(write_after_request, label),
        .chunk = {.before_traceset = one_hook(write_before_chunk, label),
                  .event = one_hook(write_event, label),
                  .after_traceset = one_hook(write_after_chunk, label)},
    };
    g_assert_true(fm_engine_register_computation(world->engine, name, &computation));
    return label;
}

static bool write_notification(void *hook_data, void *call_data)
{
    struct label *label = hook_data;
    const struct fm_notify *notify = call_data;
    g_assert_nonnull(notify->trace);
    g_string_append_printf(label->world->log, "N(%s) ", label->name);
    if (label->act != NULL)
        label->act(label->world, label);
    return false;
}

struct fm_hooks *world_notify(struct world *world, const char *name)
{
    return one_hook(write_notification, world_label(world, name));
}

struct fm_events_request *world_request(struct world *world, const char *name, uint64_t start,
                                        uint64_t end)
{
    struct label *label = world_label(world, name);
    struct fm_events_request *request = fm_events_request_new(label);
    label->request = request;
    request->start_time = start;
    request->end_time = end;
    request->before_request = one_hook(write_before_request, label);
    request->after_request = one_hook(write_after_request, label);
    request->chunk.before_traceset = one_hook(write_before_chunk, label);
    request->chunk.event = one_hook(write_event, label);
    request->chunk.after_traceset = one_hook(write_after_chunk, label);
    return request;
}

struct label *world_label_of(struct fm_events_request *request)
{
    return request->owner;
}

void world_expect_log(struct world *world, const char *expected)
{
    g_strchomp(world->log->str);
    g_assert_cmpstr(world->log->str, ==, expected);
    g_string_truncate(world->log, 0);
    g_assert_cmpstr(fm_engine_check(world->engine), ==, NULL);
}

void world_expect(struct world *world, const char *expected)
{
    bool more = fm_engine_step(world->engine);
    g_string_append(world->log, more ? "->T" : "->F");
    world_expect_log(world, expected);
}

void world_expect_background(struct world *world, struct fm_trace *trace, const char *expected)
{
    bool more = fm_background_step(world->engine, trace);
    g_string_append(world->log, more ? "->T" : "->F");
    world_expect_log(world, expected);
}

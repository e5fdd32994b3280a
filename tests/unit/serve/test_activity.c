/* SPDX-License-Identifier: Apache-2.0 */
/* How many lanes are at work over the window: from events, from the summary, in every format. */
#include <glib/gstdio.h>
#include <string.h>

#include "serve/serve.h"
#include "trace_log.h"
#include "pages/viewers/viewers.h"

#define WHOLE_HOUR_US (INT64_C(3600) * 1000000)

struct fixture {
    char *folder;
    struct fm_server *server;
};

static void set_up(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GError) error = NULL;
    const struct fm_server_options options = {.patience_us = WHOLE_HOUR_US};
    f->folder = g_dir_make_tmp("fathom-activity-XXXXXX", &error);
    g_assert_no_error(error);
    f->server = fm_server_new(&options);
}

static void tear_down(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GDir) dir = g_dir_open(f->folder, 0, NULL);
    fm_server_free(f->server);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(f->folder, name, NULL);
        g_remove(path);
    }
    g_rmdir(f->folder);
    g_free(f->folder);
}

static char *add(struct fixture *f, const char *name, const GByteArray *bytes)
{
    g_autoptr(GError) error = NULL;
    char *path = g_build_filename(f->folder, name, NULL);
    g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
    g_assert_no_error(error);
    bool added = fm_server_add(f->server, path, &error);
    g_assert_no_error(error);
    g_assert_true(added);
    return path;
}

static char *ask(struct fixture *f, const char *path, const char *file, const char *query)
{
    struct fm_response response;
    g_autofree char *whole = g_strdup_printf("file=%s&%s", file, query);
    const struct fm_request request = {.method = "GET", .path = path, .query = whole};
    fm_server_handle(f->server, &request, &response);
    g_assert_cmpuint(response.status, ==, 200);
    gsize size;
    const char *bytes = g_bytes_get_data(response.body, &size);
    char *body = g_strndup(bytes, size);
    fm_response_done(&response);
    return body;
}

static void assert_has(const char *body, const char *text)
{
    if (strstr(body, text) == NULL)
        g_error("'%s' is not in: %s", text, body);
}

/* Thread 1 works from 1000 to 5000 ns, its inner span included once; thread 2 from 4000 to 8000. */
static void test_of_events(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write(bytes, true);
    g_autofree char *log = add(f, "small.eventlog", bytes);
    g_autofree char *json = ask(f, "/trace.json", log, "view=timeline&start=0&end=9000&width=9");
    assert_has(json,
               "\"activity\": [{\"trace\": 0, \"kind\": \"thread\", \"lanes\": 2, \"scale\": 2, "
               "\"from_summary\": false, \"complete\": true, \"known_until_ns\": 9000, "
               "\"at_work\": 0.8889, \"at_work_percent\": 44.44, "
               "\"classes\": [\n   {\"class\": \"span\", \"colour\": 14, \"at_work\": true, "
               "\"time_ns\": 8000, \"load\": [0, 1, 1, 1, 2, 1, 1, 1, 0]}]}]");
    g_autofree char *page = ask(f, "/trace", log, "start=0&end=9000");
    assert_has(page, "id=\"activity\"");
    assert_has(page, "On average 0.89 of 2 threads at work (44 %), by the events.");
    assert_has(page, "<path class=\"k14\"");
    g_autofree char *csv = ask(f, "/trace.csv", log, "view=timeline&start=0&end=9000");
    assert_has(csv, "lanes,class,time_seconds,share_percent\r\n2 threads,span,8e-06,44.44");
    g_autofree char *resources = ask(f, "/trace.json", log, "view=resources");
    g_assert_null(strstr(resources, "activity"));
}

/* A window in the middle of a span, and one after all spans. */
static void test_of_windows(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write(bytes, true);
    g_autofree char *log = add(f, "small.eventlog", bytes);
    g_autofree char *inside =
        ask(f, "/trace.json", log, "view=timeline&start=2000&end=3000&width=2");
    assert_has(inside, "\"at_work_percent\": 50.00");
    assert_has(inside, "\"time_ns\": 1000, \"load\": [1, 1]");
    g_autofree char *after =
        ask(f, "/trace.json", log, "view=timeline&start=8500&end=9000&width=2");
    assert_has(after, "\"lanes\": 2, \"scale\": 1, \"from_summary\": false, \"complete\": true, "
                      "\"known_until_ns\": 9000, \"at_work\": 0, \"at_work_percent\": 0.00, "
                      "\"classes\": []}");
}

/* More events than are read for a picture: one thread that works from 1000 ns on without a gap. */
static void test_of_the_summary(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_long(bytes, 1, 60000);
    g_autofree char *log = add(f, "long.eventlog", bytes);
    g_autofree char *json =
        ask(f, "/trace.json", log, "view=timeline&start=1000&end=6001000&width=4");
    assert_has(json, "\"lanes\": 1, \"scale\": 1, \"from_summary\": true, \"complete\": true, "
                     "\"known_until_ns\": 6001000, \"at_work\": 1, \"at_work_percent\": 100.00");
    assert_has(json, "\"time_ns\": 6000000, \"load\": [1, 1, 1, 1]");
    g_autofree char *page = ask(f, "/trace", log, "");
    assert_has(page, "of 1 thread at work (100 %), by the summary");
}

static unsigned count_of(const char *body, const char *text)
{
    unsigned count = 0;
    for (const char *at = body; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

/* Twelve threads at work, of which one is on the screen: it alone has the picture's boxes, and
 * all of them count as activity. */
static void test_of_lanes_outside_of_the_screen(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_long(bytes, 12, 6000);
    g_autofree char *log = add(f, "wide.eventlog", bytes);
    g_autofree char *json =
        ask(f, "/trace.json", log, "view=timeline&start=1000&end=601000&width=1000&lanes=2");
    assert_has(json, "\"lanes\": 12, \"scale\": 12, \"from_summary\": true, ");
    assert_has(json, "\"at_work\": 12, \"at_work_percent\": 100.00");
    g_auto(GStrv) lanes = g_strsplit(json, "\"boxes\": [", 0);
    g_assert_cmpuint(g_strv_length(lanes), ==, 3);
    /* The first is the process. A box a column of the other: of all lanes there would be too many.
     */
    g_assert_cmpuint(count_of(lanes[2], "[0, "), >, 900);
}

/* Threads are seen before the CPUs that they run on; what waits within what works does not work. */
static void test_of_kinds_and_nesting(struct fixture *f, gconstpointer user)
{
    (void)f;
    (void)user;
    struct fm_trace *trace = fm_trace_new("made", "made:1");
    trace->state_model = &fm_state_model_eventlog;
    struct fm_state *state = fm_state_new(trace);
    uint32_t works = fm_trace_value(trace, "works", FM_STATE_RUNNING);
    uint32_t waits = fm_trace_value(trace, "waits", FM_STATE_WAITING);
    struct fm_lane thread = {.kind = FM_LANE_THREAD}, cpu = {.kind = FM_LANE_CPU, .index = 1};
    const struct fm_state_entry outer = {.value = works, .since = 100};
    const struct fm_state_entry inner = {.value = waits, .since = 300};
    struct fm_viewer_activity activity;
    fm_viewer_activity_init(&activity,
                            &(const struct fm_viewer_job){.start = 0, .end = 1000, .columns = 10});
    fm_viewer_activity_count(&activity, state, &thread, 0, &outer, 900);
    g_assert_cmpfloat(fm_load_time(&activity.ended, FM_STATE_RUNNING), ==, 800);
    struct fm_state_entry stack[] = {outer};
    cpu.stack = stack;
    cpu.depth = 1; /* what is on the stack when the inner entry has ended */
    fm_viewer_activity_count(&activity, state, &cpu, 1, &inner, 500);
    cpu.depth = 0;
    fm_viewer_activity_count(&activity, state, &cpu, 0, &outer, 900);
    g_assert_cmpfloat(fm_load_time(&activity.ended, FM_STATE_RUNNING), ==, 600);
    g_assert_cmpfloat(fm_load_time(&activity.ended, FM_STATE_WAITING), ==, 200);
    fm_viewer_activity_count(&activity, state, &thread, 0, &outer, 900);
    g_assert_cmpfloat(fm_load_time(&activity.ended, FM_STATE_RUNNING), ==, 600);
    fm_viewer_activity_done(&activity);
    fm_state_free(state);
    fm_trace_free(trace);
}

/* Work, collecting and idle are told apart; a capability that tells late of a collection's end does
 * not collect until then. */
static void test_productivity(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_haskell(bytes);
    g_autofree char *path = add(f, "haskell.eventlog", bytes);
    g_autofree char *json = ask(f, "/trace.json", path, "view=timeline&width=19");
    g_assert_nonnull(strstr(json, "\"at_work\": 0.421, ")); /* 4000 of 9501 */
    g_assert_nonnull(strstr(json, "\"collecting\": 0.842, \"productivity_percent\": 33.33"));
    g_assert_nonnull(strstr(json, "\"class\": \"collecting\", \"colour\": 11, \"at_work\": false, "
                                  "\"time_ns\": 8000"));
    g_autofree char *page = ask(f, "/trace", path, "");
    g_assert_nonnull(strstr(page,
                            "On average 0.42 of 2 capabilities at work (21 %), 0.84 collecting, "
                            "productivity 33 %, by the events. It mostly collects garbage."));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct fixture *f, gconstpointer user);
    } tests[] = {
        {"events", test_of_events},           {"windows", test_of_windows},
        {"summary", test_of_the_summary},     {"outside", test_of_lanes_outside_of_the_screen},
        {"kinds", test_of_kinds_and_nesting}, {"productivity", test_productivity}};
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_autofree char *path = g_strconcat("/traces/activity/", tests[i].name, NULL);
        g_test_add(path, struct fixture, NULL, set_up, tests[i].run, tear_down);
    }
    return g_test_run();
}

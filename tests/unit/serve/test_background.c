/* SPDX-License-Identifier: Apache-2.0 */
/* A server that works in the background, the test being its main loop: pages of profiles while
 * they are read, and the streams that tell them. */
#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#include "base/error.h"
#include "engine/engine.h"
#include "open/prepared.h"
#include "open/profile.h"
#include "serve/serve.h"
#include "serve/stream.h"
#include "small_profile.h"

struct fixture {
    char *folder, *one, *two;
    struct fm_server *server, *waiting; /* waiting: the one that answers when all is known */
    struct fm_engine *engine;
    unsigned failures;
};

static void count_failure(void *user, const GError *error)
{
    g_assert_nonnull(error->message);
    ++*(unsigned *)user;
}

static void set_up(struct fixture *f, gconstpointer user)
{
    g_autoptr(GError) error = NULL;
    const struct fm_server_options options = {.background = true,
                                              .recordings_max = user != NULL ? 1 : 0,
                                              .failed = count_failure,
                                              .failed_user = &f->failures};
    f->folder = g_dir_make_tmp("fathom-background-XXXXXX", &error);
    g_assert_no_error(error);
    f->one = g_build_filename(f->folder, "one.data", NULL);
    f->two = g_build_filename(f->folder, "two.data", NULL);
    write_small_profile(f->one, "./one", "main", "hello", "hello.m", 1000);
    write_small_profile(f->two, "./two", "main", "hello", "hello.m", 2000);
    f->server = fm_server_new(&options);
    f->waiting = fm_server_new(NULL);
    f->engine = fm_server_engine(f->server);
    g_assert_true(fm_server_add_root(f->server, f->folder, &error));
    g_assert_true(fm_server_add_root(f->waiting, f->folder, &error));
    f->failures = 0;
}

static void tear_down(struct fixture *f, gconstpointer user)
{
    (void)user;
    fm_server_free(f->server);
    fm_server_free(f->waiting);
    g_remove(f->one);
    g_remove(f->two);
    g_rmdir(f->folder);
    g_assert_false(g_file_test(f->folder, G_FILE_TEST_EXISTS));
    g_free(f->folder);
    g_free(f->one);
    g_free(f->two);
}

static void ask(struct fm_server *server, const char *path, const char *command, const char *file,
                struct fm_response *ret)
{
    g_autofree char *query = g_strdup_printf("%s&%s", command, file);
    const struct fm_request request = {
        .method = "GET", .path = path, .query = query, .can_stream = true};
    fm_server_handle(server, &request, ret);
}

static char *body_of(const struct fm_response *response)
{
    gsize size;
    const char *bytes = g_bytes_get_data(response->body, &size);
    return g_strndup(bytes, size);
}

/* The answer holds the text. */
static void expect(struct fm_server *server, const char *path, const char *command,
                   const char *file, unsigned status, const char *text)
{
    struct fm_response response;
    ask(server, path, command, file, &response);
    g_autofree char *body = body_of(&response);
    if (response.status != status || strstr(body, text) == NULL)
        g_error("%s?%s: status %u, expected %u with \"%s\": %s", path, command, response.status,
                status, text, body);
    fm_response_done(&response);
}

static void expect_same(struct fixture *f, const char *path, const char *command, const char *file)
{
    struct fm_response now, later;
    ask(f->server, path, command, file, &now);
    ask(f->waiting, path, command, file, &later);
    g_assert_cmpuint(now.status, ==, later.status);
    g_assert_cmpstr(now.etag, ==, later.etag);
    g_autofree char *a = body_of(&now), *b = body_of(&later);
    g_assert_cmpstr(a, ==, b);
    fm_response_done(&now);
    fm_response_done(&later);
}

static void step(struct fixture *f)
{
    fm_engine_step(f->engine);
    g_assert_cmpstr(fm_engine_check(f->engine), ==, NULL);
}

static void finish(struct fixture *f)
{
    while (fm_engine_has_work(f->engine))
        step(f);
}

/* The engine's one instance, without keeping it. */
static struct fm_trace *trace_of(struct fixture *f, const char *path)
{
    g_autoptr(GError) error = NULL;
    struct fm_trace *trace = fm_engine_open(f->engine, path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(fm_engine_references(f->engine, trace), >, 1);
    fm_engine_close(f->engine, trace);
    return trace;
}

static void step_until(struct fixture *f, const char *path, const char *module)
{
    struct fm_trace *trace = trace_of(f, path);
    while (!fm_background_is_ready(trace, module)) {
        g_assert_true(fm_engine_has_work(f->engine));
        step(f);
    }
}

static const char *const commands[] = {
    "menu",
    "root/no",
    "root/90",
    "clique/1",
    "proc/2",
    "proc_callers/2/pr/1/100/nc",
    "program_modules",
    "module/hello",
    "top_procs/1-10/callseqs/self/oa",
    "dump_proc_static/2",
    "dump_proc_dynamic/1",
    "dump_call_site_static/1",
    "dump_call_site_dynamic/1",
    "dump_raw_clique/1",
    "clique/77",
    "proc/77",
};
static const char *const formats[] = {"/deep", "/deep.json", "/deep.txt", "/deep.csv"};

static void pages_before_and_after(struct fixture *f, gconstpointer user)
{
    (void)user;
    expect(f->server, "/deep.txt", "menu", f->one, 200,
           "Incomplete: Not all is known yet: the profile is being read");
    expect(f->server, "/deep.json", "menu", f->one, 200, "\"program_name\": \"./one\"");
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    expect(f->server, "/deep.txt", "proc/2", f->one, 200, "Procedure 2");
    expect(f->server, "/deep.csv", "menu", f->one, 503, "Not all is known yet");
    expect(f->server, "/deep.txt", "proc/77", f->one, 404, "expected 1 to 2");
    struct fm_response response;
    ask(f->server, "/deep", "clique/1", f->one, &response);
    g_assert_null(response.etag); /* not to be kept */
    fm_response_done(&response);

    step_until(f, f->one, "loading");
    expect_same(f, "/deep.json", "dump_proc_static/2", f->one); /* whole already */
    expect(f->server, "/deep.txt", "proc/2", f->one, 200, "Procedure hello.main");
    expect(f->server, "/deep.txt", "proc/2", f->one, 200, "hello.m:7");
    expect(f->server, "/deep.txt", "proc/2", f->one, 200, "Incomplete: ");

    step_until(f, f->one, "summaries");
    expect_same(f, "/deep", "clique/1", f->one);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "the invariants are being checked");
    expect(f->server, "/deep.txt", "menu", f->one, 200, "Cliques:");

    finish(f);
    for (size_t c = 0; c < G_N_ELEMENTS(commands); c++) {
        for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
            expect_same(f, formats[i], commands[c], f->one);
    }
}

/* What one page needs is made after what all need, and kept; without bodies the page says so. */
static void recursion_types_are_kept(struct fixture *f, gconstpointer user)
{
    (void)user;
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    step_until(f, f->one, "checks");
    const struct fm_open_profile *recording = fm_open_profile_of(trace_of(f, f->one));
    g_assert_null(recording->recursion_types);
    expect_same(f, "/deep", "menu", f->one);
    expect(f->server, "/deep.txt", "recursion_type_freq", f->one, 200,
           "Incomplete: Not all is known yet: cliques are being classified");
    finish(f);
    g_assert_nonnull(recording->recursion_types);
    const void *kept = recording->recursion_types;
    expect_same(f, "/deep", "recursion_type_freq", f->one);
    g_assert_true(recording->recursion_types == kept);
}

/* A page is an answer of its own: it does not wait for a step, nor does one. */
static void pages_do_not_step(struct fixture *f, gconstpointer user)
{
    (void)user;
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    struct fm_trace *trace = trace_of(f, f->one);
    for (unsigned steps = 0; fm_engine_has_work(f->engine); steps++) {
        enum fm_known known = fm_open_profile_of(trace)->known;
        double progress = fm_background_progress(f->engine, trace);
        for (size_t c = 0; c < G_N_ELEMENTS(commands); c++) {
            struct fm_response response;
            ask(f->server, "/deep", commands[c], f->one, &response);
            fm_response_done(&response);
        }
        g_assert_cmpint(fm_open_profile_of(trace)->known, ==, known);
        g_assert_cmpfloat(fm_background_progress(f->engine, trace), ==, progress);
        g_assert_null(fm_engine_check(f->engine));
        step(f);
    }
    g_assert_cmpint(fm_open_profile_of(trace)->known, ==, FM_KNOWN_ALL);
}

static unsigned ready_modules(const struct fm_trace *trace)
{
    static const char *const names[] = {"loading",   "cliques", "callers",  "costs",
                                        "summaries", "checks",  "recursion"};
    unsigned count = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        count += fm_background_is_ready(trace, names[i]);
    return count;
}

static void two_take_turns(struct fixture *f, gconstpointer user)
{
    (void)user;
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    expect(f->server, "/deep", "menu", f->two, 200, "data-stage=\"1\"");
    struct fm_trace *one = trace_of(f, f->one), *two = trace_of(f, f->two);
    unsigned steps = 0;
    while (ready_modules(one) == 0 || ready_modules(two) == 0) {
        step(f);
        steps++;
    }
    /* Neither is done while the other has not begun. */
    g_assert_cmpint(fm_open_profile_of(one)->known, <, FM_KNOWN_ALL);
    g_assert_cmpint(fm_open_profile_of(two)->known, <, FM_KNOWN_ALL);
    finish(f);
    expect_same(f, "/deep", "menu", f->one);
    expect_same(f, "/deep", "menu", f->two);
}

/* --- streams --- */

struct door {
    struct fm_trace *trace;
    struct fm_stream *stream;
    GString *got;
    unsigned ends;
};

static void door_write(void *user, const char *bytes, size_t size)
{
    struct door *door = user;
    g_string_append_len(door->got, bytes, (gssize)size);
    if (strstr(door->got->str, "event: ready") != NULL) {
        /* The notification comes when the flags are set: the page is whole. */
        g_assert_true(fm_background_is_ready(door->trace, "checks") ||
                      fm_profile_error(door->trace) != NULL);
    }
}

static size_t door_backlog(void *user)
{
    (void)user;
    return 0;
}

static void door_end(void *user)
{
    ((struct door *)user)->ends++;
}

static const struct fm_stream_sink door_sink = {door_write, door_backlog, door_end};

static void listen(struct fixture *f, struct door *door, const char *command, const char *file)
{
    struct fm_response response;
    ask(f->server, "/events", command, file, &response);
    g_assert_cmpuint(response.status, ==, 200);
    *door = (struct door){trace_of(f, file), NULL, g_string_new(NULL), 0};
    g_assert_nonnull(response.stream);
    door->stream = g_steal_pointer(&response.stream);
    fm_stream_attach(door->stream, &door_sink, door);
    fm_response_done(&response);
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void a_page_hears_of_its_recording(struct fixture *f, gconstpointer user)
{
    struct door door;
    (void)user;
    listen(f, &door, "menu", f->one);
    g_assert_nonnull(strstr(door.got->str, "{\"stage\":1,\"complete\":false,\"failed\":false,"
                                           "\"module\":\"loading\",\"fraction\":0,"));
    g_assert_cmpuint(door.ends, ==, 0);
    finish(f);
    /* After each pass; in between no more often than every 100 ms. */
    static const char *const names[] = {"cliques", "callers", "costs", "summaries", "checks"};
    const char *at = door.got->str;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *word = g_strdup_printf("\"module\":\"%s\"", names[i]);
        at = strstr(at, word);
        g_assert_nonnull(at);
    }
    g_assert_cmpuint(count_of(door.got->str, "\"complete\":true"), ==, 1);
    g_assert_true(g_str_has_suffix(door.got->str, "event: ready\ndata: {}\n\n"));
    g_assert_cmpuint(door.ends, ==, 1);
    g_string_free(door.got, TRUE);

    listen(f, &door, "menu", f->one); /* whole already */
    g_assert_cmpuint(count_of(door.got->str, "event: state"), ==, 1);
    g_assert_cmpuint(count_of(door.got->str, "event: ready"), ==, 1);
    g_assert_cmpuint(door.ends, ==, 1);
    g_string_free(door.got, TRUE);
}

static void readers_leave_in_mid_pass(struct fixture *f, gconstpointer user)
{
    struct door doors[5];
    (void)user;
    for (size_t i = 0; i < G_N_ELEMENTS(doors); i++)
        listen(f, &doors[i], i % 2 == 0 ? "menu" : "clique/1", f->one);
    for (size_t i = 0; i + 1 < G_N_ELEMENTS(doors); i++) {
        step(f);
        fm_stream_gone(doors[i].stream);
    }
    finish(f);
    for (size_t i = 0; i < G_N_ELEMENTS(doors); i++) {
        bool last = i + 1 == G_N_ELEMENTS(doors);
        g_assert_cmpuint(doors[i].ends, ==, last);
        g_assert_cmpuint(count_of(doors[i].got->str, "event: ready"), ==, last);
        g_string_free(doors[i].got, TRUE);
    }
}

/* The least used recording is closed, here in mid-pass: its pages must ask again. */
static void closed_in_mid_pass(struct fixture *f, gconstpointer user)
{
    struct door door;
    (void)user;
    listen(f, &door, "menu", f->one);
    step(f);
    expect(f->server, "/deep.txt", "menu", f->two, 200, "./two");
    g_assert_cmpuint(fm_server_count(f->server), ==, 1);
    g_assert_cmpuint(door.ends, ==, 1);
    g_assert_null(strstr(door.got->str, "event: ready"));
    g_string_free(door.got, TRUE);
    finish(f);
    expect_same(f, "/deep", "menu", f->two);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "Incomplete: "); /* from the beginning */
    finish(f);
    expect_same(f, "/deep", "menu", f->one);
}

static void the_server_ends_in_mid_pass(struct fixture *f, gconstpointer user)
{
    struct door door;
    (void)user;
    listen(f, &door, "menu", f->one);
    step(f);
    fm_server_free(f->server);
    g_assert_cmpuint(door.ends, ==, 1);
    g_string_free(door.got, TRUE);
    f->server = fm_server_new(NULL);
}

static void streams_are_refused(struct fixture *f, gconstpointer user)
{
    g_autofree char *query = g_strdup_printf("menu&%s", f->one);
    const struct {
        unsigned status;
        struct fm_request request;
    } rows[] = {
        {405, {.method = "POST", .path = "/events", .query = query, .can_stream = true}},
        {406, {.method = "GET", .path = "/events", .query = query}},
        {403,
         {.method = "GET", .path = "/events", .query = query, .can_stream = true, .foreign = true}},
        {404,
         {.method = "GET", .path = "/events", .query = "menu&/etc/passwd", .can_stream = true}},
        {400, {.method = "GET", .path = "/events", .query = "", .can_stream = true}},
    };
    (void)user;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct fm_response response;
        fm_server_handle(f->server, &rows[i].request, &response);
        g_assert_cmpuint(response.status, ==, rows[i].status);
        g_assert_null(response.stream);
        fm_response_done(&response);
    }
    struct fm_stream *streams[FM_STREAMS_MAX];
    for (size_t i = 0; i < FM_STREAMS_MAX; i++)
        streams[i] = fm_stream_new(f->server);
    expect(f->server, "/events", "menu", f->one, 503, "too many pages");
    for (size_t i = 0; i < FM_STREAMS_MAX; i++)
        fm_stream_gone(streams[i]);
}

/* --- files that are bad, or change --- */

static void cut_off(const char *path, gsize bytes)
{
    g_autofree char *text = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &text, &size, NULL));
    g_assert_true(g_file_set_contents(path, text, (gssize)(size - bytes), NULL));
}

static void a_bad_file(struct fixture *f, gconstpointer user)
{
    struct door door;
    (void)user;
    cut_off(f->one, 5);
    listen(f, &door, "menu", f->one);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "Incomplete: ");
    finish(f);
    g_assert_nonnull(strstr(door.got->str, "\"failed\":true"));
    g_assert_true(g_str_has_suffix(door.got->str, "event: ready\ndata: {}\n\n"));
    g_assert_cmpuint(door.ends, ==, 1);
    g_string_free(door.got, TRUE);
    g_assert_cmpuint(f->failures, ==, 1);
    expect(f->server, "/deep.txt", "menu", f->one, 422, "one.data");
    expect_same(f, "/deep", "clique/1", f->one);
    expect(f->server, "/events", "menu", f->one, 422, "one.data");
    expect(f->server, "/", "", "", 200, "could not be read");
    g_assert_false(fm_engine_has_work(f->engine)); /* nobody tries in vain */
    for (unsigned i = 0; i < 3; i++) { /* asked for, but it is the same file: it was told */
        struct fm_response response;
        ask(f->server, "/deep", "restart", f->one, &response);
        fm_response_done(&response);
        finish(f);
        expect(f->server, "/deep.txt", "menu", f->one, 422, "one.data");
    }
    g_assert_cmpuint(f->failures, ==, 1);
    cut_off(f->one, 1);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "Incomplete: ");
    finish(f);
    g_assert_cmpuint(f->failures, ==, 2);
    write_small_profile(f->one, "./mended", "main", "hello", "hello.m", 77);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "./mended");
    finish(f);
    expect_same(f, "/deep", "menu", f->one);
    g_assert_cmpuint(f->failures, ==, 2);
}

/* In place: the same inode. */
static void overwrite(const char *path, const char *with)
{
    g_autofree char *text = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(with, &text, &size, NULL));
    FILE *file = fopen(path, "r+");
    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite("?", 1, 1, file), ==, 1); /* a change whatever the clock's grain */
    g_assert_cmpint(fflush(file), ==, 0);
    rewind(file);
    g_assert_cmpuint(fwrite(text, 1, size, file), ==, size);
    g_assert_cmpint(fclose(file), ==, 0);
    g_assert_cmpint(g_utime(path, &(struct utimbuf){1000000000, 1000000000}), ==, 0);
}

static void a_file_changes(struct fixture *f, gconstpointer user)
{
    bool in_mid_pass = user != NULL;
    struct door door;
    listen(f, &door, "menu", f->one);
    if (in_mid_pass)
        step_until(f, f->one, "callers");
    else
        finish(f);
    overwrite(f->one, f->two);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "Incomplete: ");
    expect(f->server, "/deep.txt", "menu", f->one, 200, "./two");
    g_assert_cmpuint(ready_modules(trace_of(f, f->one)), ==, 0);
    finish(f);
    expect_same(f, "/deep", "menu", f->one);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "2,000");
    g_assert_cmpuint(door.ends, ==, 1); /* also who listened before hears the end */
    g_assert_cmpuint(count_of(door.got->str, "event: ready"), ==, 1);
    g_string_free(door.got, TRUE);
}

/* Changed into something else, while it is open: the page tells, and when it is gone, too. */
static void a_file_becomes_bad(struct fixture *f, gconstpointer user)
{
    (void)user;
    expect(f->server, "/deep.txt", "menu", f->one, 200, "Incomplete: ");
    step_until(f, f->one, "loading");
    FILE *file = fopen(f->one, "w"); /* the same inode, empty */
    g_assert_cmpint(fclose(file), ==, 0);
    expect(f->server, "/deep.txt", "menu", f->one, 422, "it is empty");
    g_assert_null(fm_engine_check(f->engine));
    finish(f);
    expect(f->server, "/", "", "", 200, "could not be read again");
    write_small_profile(f->one, "./again", "main", "hello", "hello.m", 5);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "./again");
    finish(f);
    g_remove(f->one);
    expect(f->server, "/deep.txt", "menu", f->one, 200, "The file is gone");
}

static void restarting(struct fixture *f, gconstpointer user)
{
    (void)user;
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    finish(f);
    struct fm_response response;
    ask(f->server, "/deep", "restart", f->one, &response);
    g_assert_cmpuint(response.status, ==, 303);
    g_assert_true(g_str_has_prefix(response.location, "?menu&"));
    fm_response_done(&response);
    g_assert_true(fm_engine_has_work(f->engine));
    finish(f);
    expect_same(f, "/deep", "clique/1", f->one);
}

/* What was worked out before the file was written takes the place of reading it; of another file it
 * does not. */
static void prepared_profiles_need_no_steps(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GError) error = NULL;
    FmProfile *profile;
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    finish(f);
    g_assert_true(fm_profile_read(f->two, NULL, &profile, &error));
    struct fm_prepared_profile *prepared = fm_profile_prepare(f->one, profile, &error);
    g_assert_no_error(error);
    g_assert_true(fm_profile_write(fm_prepared_profile_borrow(prepared), f->one, false, &error));
    g_assert_true(fm_prepared_profile_written(prepared));
    fm_server_offer(f->server, prepared);
    expect_same(f, "/deep", "clique/1", f->one); /* before any step */
    expect_same(f, "/deep.json", "menu", f->one);
    finish(f);
    expect_same(f, "/deep.json", "recursion_type_freq", f->one);

    g_assert_true(fm_profile_read(f->two, NULL, &profile, &error));
    prepared = fm_profile_prepare(f->one, profile, &error);
    g_assert_true(fm_profile_write(fm_prepared_profile_borrow(prepared), f->one, false, &error));
    g_assert_true(fm_prepared_profile_written(prepared));
    write_small_profile(f->one, "./another", "main", "hello", "hello.m", 7);
    fm_server_offer(f->server, prepared);
    expect(f->server, "/deep", "menu", f->one, 200, "data-stage=\"1\"");
    finish(f);
    expect_same(f, "/deep", "menu", f->one);
}

#define TEST(name, function, user) \
    g_test_add("/serve/background/" name, struct fixture, user, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TEST("pages", pages_before_and_after, NULL);
    TEST("no-steps", pages_do_not_step, NULL);
    TEST("recursion-types", recursion_types_are_kept, NULL);
    TEST("turns", two_take_turns, NULL);
    TEST("stream", a_page_hears_of_its_recording, NULL);
    TEST("leaving", readers_leave_in_mid_pass, NULL);
    TEST("closing", closed_in_mid_pass, "one");
    TEST("ending", the_server_ends_in_mid_pass, NULL);
    TEST("refused", streams_are_refused, NULL);
    TEST("bad-file", a_bad_file, NULL);
    TEST("changed", a_file_changes, NULL);
    TEST("changed-in-mid-pass", a_file_changes, "mid");
    TEST("becomes-bad", a_file_becomes_bad, NULL);
    TEST("restart", restarting, NULL);
    TEST("prepared", prepared_profiles_need_no_steps, NULL);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that grow, and pages with a stream of events. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "serve/stream.h"
#include "tests/own_clock.h"
#include "tests/patience.h"
#include "trace_log.h"
#include "traces_world.h"

#define FAR_NS UINT64_C(5000000000)

static void append_bytes(const char *path, int writer, const void *bytes, size_t size)
{
    g_assert_cmpint(write(writer, bytes, size), ==, (gssize)size);
    own_clock_set_by(path);
}

static void append_to(const char *path, uint64_t from_ns, unsigned spans)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_append(bytes, from_ns, spans);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    g_assert_cmpint(fd, >=, 0);
    append_bytes(path, fd, bytes->data, bytes->len);
    close(fd);
}

static char *growing_log(struct fixture *f)
{
    char *path = g_build_filename(f->folder, "growing.eventlog", NULL);
    write_small(path, false);
    own_clock_set_by(path);
    g_assert_true(fm_server_add(f->server, path, NULL));
    return path;
}

static void test_growing(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    g_autofree char *query = g_strdup_printf("file=%s&view=set", path);
    g_autofree char *before = ask(f, "/trace.json", query, 200);
    assert_has(before, "\"end_ns\": 5001, \"grows\": true"); /* as far as all have delivered */
    append_to(path, 20000, 3);
    append_to(path, FAR_NS, 1); /* so that what lies two seconds before is sure to be whole */
    g_autofree char *after = ask(f, "/trace.json", query, 200);
    g_autofree char *end = between(after, "\"end_ns\": ", ",");
    g_assert_cmpuint(g_ascii_strtoull(end, NULL, 10), >=, 22101);
    g_autofree char *timeline_query =
        g_strdup_printf("file=%s&view=timeline&find=thread+1&start=19000&end=24000", path);
    g_autofree char *timeline = ask(f, "/trace.json", timeline_query, 200);
    assert_has(timeline, "[0, 20000, 20100, ");
    assert_has(timeline, "[0, 22000, 22100, ");
}

static void age(const char *path)
{
    const struct timespec old[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    g_assert_cmpint(utimensat(AT_FDCWD, path, old, 0), ==, 0);
}

/* What was added is of times that were known already: it is counted, and the log is no longer live
 * when nobody has it open for writing. */
static void test_growing_within_known_times(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    g_autofree char *query = g_strdup_printf("file=%s&view=statistics&scope=trace", path);
    g_autofree char *before = ask(f, "/trace.json", query, 200);
    assert_has_not(before, "late");
    append_to(path, 1000, 3);
    age(path);
    g_autofree char *set_query = g_strdup_printf("file=%s&view=set", path);
    g_autofree char *set = ask(f, "/trace.json", set_query, 200);
    assert_has(set, "\"grows\": false");
    assert_has_not(set, "\"behind\"");
    g_autofree char *tree = g_strdup_printf("file=%s&view=statistics&scope=trace", path);
    g_autofree char *after = ask(f, "/trace.json", tree, 200);
    unsigned late = 0; /* in the spans that were open then */
    for (const char *at = after; (at = strstr(at, "\"late\"")) != NULL; at++)
        late += (unsigned)g_ascii_strtoull(strstr(at, "\"count\": ") + 9, NULL, 10);
    g_assert_cmpuint(late, ==, 3);
    g_autofree char *timeline_query =
        g_strdup_printf("file=%s&view=timeline&find=thread+1&start=0&end=4000", path);
    g_autofree char *timeline = ask(f, "/trace.json", timeline_query, 200);
    assert_has(timeline, "3000, 3100, ");
}

/* A log that is written is live, and a page of it says what its numbers leave out. */
static void test_behind(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "long.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_long(bytes, 1, 60000);
    g_byte_array_set_size(bytes, bytes->len - 2); /* no end mark */
    g_assert_cmpuint(bytes->len, >, 1u << 20);
    write_log(path, bytes);
    int writer = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    age(path);
    g_assert_true(fm_server_add(f->server, path, NULL));
    g_autofree char *query = g_strdup_printf("file=%s&view=set", path);
    g_autofree char *statistics = g_strdup_printf("file=%s&view=statistics&scope=trace", path);
    g_autofree char *first = ask(f, "/trace.json", statistics, 200);
    assert_has(first, "\"incomplete\": false");
    g_autofree char *set = ask(f, "/trace.json", query, 200);
    assert_has(set, "\"grows\": true");
    assert_has(set, "\"statistics\": \"ready\"");
    append_to(path, 20000, 3);
    g_autofree char *grown = ask(f, "/trace.json", query, 200);
    assert_has(grown, "\"statistics\": \"behind\"");
    g_autofree char *second = ask(f, "/trace.json", statistics, 200);
    assert_has(second, "\"incomplete\": true");
    own_clock_advance(1000100); /* it has not grown for a second */
    g_free(ask(f, "/trace.json", query, 200));
    g_autofree char *third = ask(f, "/trace.json", statistics, 200);
    assert_has(third, "\"incomplete\": false");
    assert_has(third, "\"late\"");
    close(writer);
}

static unsigned late_spans(struct fixture *f, const char *path, bool incomplete)
{
    g_autofree char *query = g_strdup_printf("file=%s&view=statistics&scope=trace", path);
    g_autofree char *body = ask(f, "/trace.json", query, 200);
    assert_has(body, incomplete ? "\"incomplete\": true" : "\"incomplete\": false");
    unsigned late = 0;
    for (const char *at = body; (at = strstr(at, "\"late\"")) != NULL; at++)
        late += (unsigned)g_ascii_strtoull(strstr(at, "\"count\": ") + 9, NULL, 10);
    return late;
}

/* A writer that stops in the middle of a block: the page is not complete, and says so, until nobody
 * has written for a while and what is there of the block has been counted. */
static void test_within_a_block(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    g_autofree char *query = g_strdup_printf("file=%s&view=set", path);
    g_assert_cmpuint(late_spans(f, path, false), ==, 0);
    g_autoptr(GByteArray) block = g_byte_array_new();
    trace_log_append(block, 3100, 4);
    int writer = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    size_t part = 24 + 2 * 2 * 14 + 5; /* two spans, and a part of the third */
    append_bytes(path, writer, block->data, part);
    for (unsigned i = 0; i < 3; i++) { /* however often it is asked for */
        g_autofree char *set = ask(f, "/trace.json", query, 200);
        assert_has(set, "\"grows\": true");
        assert_has(set, "\"statistics\": \"behind\"");
        assert_has_not(set, "\"progress\": 1,");
        g_assert_cmpuint(late_spans(f, path, true), ==, 0);
    }
    g_autofree char *page_query = g_strdup_printf("file=%s", path);
    g_autofree char *page = ask(f, "/trace", page_query, 200);
    assert_has(page, "The trace is still being read (");
    age(path);
    g_free(ask(f, "/trace.json", query, 200));
    g_assert_cmpuint(late_spans(f, path, false), ==, 2);
    g_autofree char *set = ask(f, "/trace.json", query, 200);
    assert_has(set, "\"progress\": 1,");
    assert_has(set, "\"statistics\": \"ready\"");
    append_bytes(path, writer, block->data + part, block->len - part);
    g_free(ask(f, "/trace.json", query, 200));
    g_assert_cmpuint(late_spans(f, path, false), ==, 4);
    close(writer);
}

/* Events that were held back, as another capability might have delivered earlier ones, are counted
 * when they are shown. */
static void test_held_back(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    append_to(path, 20000, 3); /* of the first capability: the second has been silent since 9000 */
    g_assert_cmpuint(late_spans(f, path, false), ==, 0);
    age(path);
    g_autofree char *query = g_strdup_printf("file=%s&view=set", path);
    g_free(ask(f, "/trace.json", query, 200));
    g_assert_cmpuint(late_spans(f, path, false), ==, 3);
}

/* --- a page with a stream --- */

struct sink {
    GString *got;
    bool ended;
};

static void sink_write(void *user, const char *bytes, size_t size)
{
    g_string_append_len(((struct sink *)user)->got, bytes, (gssize)size);
}

static size_t sink_backlog(void *user)
{
    (void)user;
    return 0;
}

static void sink_end(void *user)
{
    ((struct sink *)user)->ended = true;
}

static const struct fm_stream_sink sink_functions = {sink_write, sink_backlog, sink_end};

static struct fm_stream *open_stream(struct fixture *f, const char *file, struct sink *sink)
{
    g_autofree char *query = g_strdup_printf("file=%s", file);
    const struct fm_request request = {
        .method = "GET", .path = "/trace/stream", .query = query, .can_stream = true};
    struct fm_response response;
    sink->got = g_string_new(NULL);
    fm_server_handle(f->server, &request, &response);
    g_assert_cmpuint(response.status, ==, 200);
    g_assert_nonnull(response.stream);
    struct fm_stream *stream = g_steal_pointer(&response.stream);
    fm_response_done(&response);
    fm_stream_attach(stream, &sink_functions, sink);
    assert_has(sink->got->str, "event: hello");
    return stream;
}

/* The loop's turns and the engine's steps, until the text has come. */
static void run_until(struct fixture *f, struct sink *sink, const char *text)
{
    gint64 end = own_system_us(CLOCK_MONOTONIC) + (gint64)(patience() * G_USEC_PER_SEC);
    while (strstr(sink->got->str, text) == NULL) {
        if (own_system_us(CLOCK_MONOTONIC) > end)
            g_error("'%s' does not come: %.2000s", text, sink->got->str);
        fm_engine_step(fm_server_engine(f->server));
        g_main_context_iteration(NULL, FALSE);
    }
}

static void ask_stream(struct fixture *f, const struct fm_stream *stream, const char *file,
                       const char *rest, unsigned status)
{
    g_autofree char *query =
        g_strdup_printf("file=%s&_stream=%s&%s", file, fm_stream_id(stream), rest);
    g_free(ask(f, "/trace/ask", query, status));
}

static void test_stream(struct fixture *f, gconstpointer user)
{
    (void)user;
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, f->log, &sink);
    ask_stream(f, stream, f->log, "_owner=timeline&_serial=1&view=timeline", 204);
    run_until(f, &sink, "\"owner\": \"timeline\", \"serial\": 1");
    run_until(f, &sink, "[0, 1000, 5000, 0, 1, 1, 0, 1, 0]");
    ask_stream(f, stream, f->log, "_owner=events&_serial=2&view=events&rows=2", 204);
    run_until(f, &sink, "\"owner\": \"events\", \"serial\": 2");
    run_until(f, &sink, "event: ready"); /* the passes */
    ask_stream(f, stream, f->log, "_owner=events&_serial=3&view=events&filter=x%3D", 400);
    ask_stream(f, stream, f->log, "_owner=Bad&_serial=3&view=events", 404);
    ask_stream(f, stream, f->log, "_owner=set&_serial=3&view=set", 400);
    g_free(ask(f, "/trace/ask", "_stream=0123&_owner=events&view=events", 404));
    g_autofree char *status = ask(f, "/trace/status", NULL, 200);
    assert_has(status, "\"pages\": 1, \"requests\": 0, \"cancelled\": 0");
    fm_stream_gone(stream);
    g_autofree char *after = ask(f, "/trace/status", NULL, 200);
    assert_has(after, "\"pages\": 0, \"requests\": 0");
    g_string_free(sink.got, TRUE);
}

static void test_stream_needs_a_door(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_free(ask_log(f, "/trace/stream", "", 406));
    struct fm_response response;
    g_autofree char *query = g_strdup_printf("file=%s", f->log);
    const struct fm_request foreign = {.method = "GET",
                                       .path = "/trace/stream",
                                       .query = query,
                                       .can_stream = true,
                                       .foreign = true};
    fm_server_handle(f->server, &foreign, &response);
    g_assert_cmpuint(response.status, ==, 403);
    fm_response_done(&response);
}

/* A later request of the same owner takes the place of the one before; a page that goes away takes
 * its work with it. */
static void test_cancelled(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "long.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_long(bytes, 1, 60000);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, path, &sink);
    ask_stream(f, stream, path, "_owner=timeline&_serial=1&view=timeline", 204);
    fm_engine_step(fm_server_engine(f->server));
    g_autofree char *reading = ask(f, "/trace/status", NULL, 200);
    assert_has(reading, "\"requests\": 1, \"cancelled\": 0");
    ask_stream(f, stream, path, "_owner=timeline&_serial=2&view=timeline&start=2000&end=9000", 204);
    g_autofree char *replaced = ask(f, "/trace/status", NULL, 200);
    assert_has(replaced, "\"requests\": 1, \"cancelled\": 1");
    ask_stream(f, stream, path, "_owner=timeline&_cancel=1", 204);
    g_autofree char *cancelled = ask(f, "/trace/status", NULL, 200);
    assert_has(cancelled, "\"requests\": 0, \"cancelled\": 2");
    ask_stream(f, stream, path, "_owner=statistics&_serial=3&view=statistics", 204);
    fm_engine_step(fm_server_engine(f->server));
    fm_stream_gone(stream);
    g_autofree char *gone = ask(f, "/trace/status", NULL, 200);
    assert_has(gone, "\"pages\": 0, \"requests\": 0, \"cancelled\": 3");
    g_assert_null(fm_engine_check(fm_server_engine(f->server)));
    assert_has(sink.got->str, "\"serial\": 1"); /* its first picture came before */
    assert_has_not(sink.got->str, "\"done\": true");
    g_string_free(sink.got, TRUE);
}

/* Of a log that is being read: what a page asks for first is answered by the next step, not by one
 * after the pass, and says until when it is true. */
static void test_first_picture_during_the_pass(struct fixture *f, gconstpointer user)
{
    enum { STEPS_OF_THE_PASS = 3, STEPS_MAX = 2 };
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "long.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_long(bytes, 1, 60000);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, path, &sink);
    for (unsigned i = 0; i < STEPS_OF_THE_PASS; i++)
        g_assert_true(fm_engine_step(fm_server_engine(f->server)));
    ask_stream(f, stream, path, "_owner=timeline&_serial=1&view=timeline", 204);
    unsigned steps = 0;
    while (strstr(sink.got->str, "event: answer") == NULL && steps < STEPS_MAX) {
        g_assert_true(fm_engine_step(fm_server_engine(f->server)));
        steps++;
    }
    assert_has(sink.got->str, "\"owner\": \"timeline\", \"serial\": 1");
    assert_has(sink.got->str, "\"done\": false");
    assert_has_not(sink.got->str, "event: ready");
    g_autofree char *known = between(sink.got->str, "\"known_until_ns\": ", ",");
    g_autofree char *start = between(sink.got->str, "\"start_ns\": ", ",");
    g_autofree char *end = between(sink.got->str, "\"end_ns\": ", ",");
    g_assert_cmpuint(g_ascii_strtoull(known, NULL, 10), >, g_ascii_strtoull(start, NULL, 10));
    g_assert_cmpuint(g_ascii_strtoull(known, NULL, 10), <, g_ascii_strtoull(end, NULL, 10));
    fm_stream_gone(stream);
    g_string_free(sink.got, TRUE);
}

static void test_stream_of_a_growing_log(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, path, &sink);
    assert_has(sink.got->str, "\"grows\": true");
    append_to(path, 20000, 2);
    append_to(path, FAR_NS, 1);
    run_until(f, &sink, "event: grown");
    ask_stream(f, stream, path,
               "_owner=timeline&_serial=1&view=timeline&find=thread+1&start=19000&end=24000", 204);
    run_until(f, &sink, "[0, 21000, 21100, ");
    fm_stream_gone(stream);
    g_string_free(sink.got, TRUE);
}

/* A page that was told that all is read is told when it no longer is. */
static void test_stream_within_a_block(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, path, &sink);
    run_until(f, &sink, "event: ready");
    g_string_truncate(sink.got, 0);
    g_autoptr(GByteArray) block = g_byte_array_new();
    trace_log_append(block, 3100, 1);
    int writer = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    append_bytes(path, writer, block->data, 40);
    run_until(f, &sink, "event: progress");
    assert_has(sink.got->str, "\"statistics\": \"behind\"");
    assert_has_not(sink.got->str, "\"progress\": 1,");
    assert_has_not(sink.got->str, "event: ready");
    append_bytes(path, writer, block->data + 40, block->len - 40);
    run_until(f, &sink, "event: ready");
    assert_has(sink.got->str, "\"progress\": 1,");
    close(writer);
    fm_stream_gone(stream);
    g_string_free(sink.got, TRUE);
}

static bool count_pass(void *hook_data, void *call_data)
{
    (void)call_data;
    (*(unsigned *)hook_data)++;
    return false;
}

/* Counts if another pass over the trace begins and ends. */
static struct fm_trace *watch_passes(struct fixture *f, const char *path, unsigned *passes)
{
    struct fm_engine *engine = fm_server_engine(f->server);
    GError *error = NULL;
    struct fm_trace *trace = fm_engine_open(engine, path, &error);
    g_assert_no_error(error);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, count_pass, passes, FM_HOOK_DEFAULT);
    fm_background_notify_queue(engine, passes, trace, FM_TIME_INF, NULL, hooks);
    return trace;
}

static void run_to_rest(struct fixture *f)
{
    while (fm_engine_step(fm_server_engine(f->server)))
        ;
    g_assert_cmpstr(fm_engine_check(fm_server_engine(f->server)), ==, NULL);
}

/* The numbers of the whole trace, without its name. */
static char *rows_of(struct fixture *f, const char *path)
{
    g_autofree char *query = g_strdup_printf("file=%s&view=statistics&scope=trace", path);
    g_autofree char *body = ask(f, "/trace.json", query, 200);
    return g_strdup(strstr(body, "\"rows\""));
}

/* Passes over a log that is written go on from where they were, and what they have made is that of
 * a pass over all of it: with a span that is open for long, and ends. */
static void test_passes_go_on(struct fixture *f, gconstpointer user)
{
    enum { ROUNDS = 6, SPANS = 60000 };
    unsigned passes = 0;
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "long.eventlog", NULL);
    g_autofree char *copy = g_build_filename(f->folder, "copy.eventlog", NULL);
    g_autoptr(GByteArray) all = g_byte_array_new();
    trace_log_write_long(all, 1, SPANS);
    g_byte_array_set_size(all, all->len - 2); /* no end mark */
    write_log(path, all);
    own_clock_set_by(path);
    int writer = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    g_assert_true(fm_server_add(f->server, path, NULL));
    g_autofree char *query = g_strdup_printf("file=%s&view=set", path);
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, path, &sink);
    g_free(ask(f, "/trace.json", query, 200));
    run_to_rest(f);
    struct fm_trace *trace = watch_passes(f, path, &passes);
    g_assert_true(fm_background_follows(fm_server_engine(f->server), trace));
    for (unsigned round = 1; round <= ROUNDS; round++) {
        g_autoptr(GByteArray) more = g_byte_array_new();
        const struct trace_log_step begins[] = {{round * FAR_NS, true}, {round * FAR_NS + 1, true}};
        const struct trace_log_step ends[] = {{round * FAR_NS, false}, {round * FAR_NS + 1, false}};
        trace_log_append_steps(more, round % 2 == 1 ? begins : ends, 2);
        trace_log_append(more, round * FAR_NS + 10000, 100);
        append_bytes(path, writer, more->data, more->len);
        g_byte_array_append(all, more->data, more->len);
        g_autofree char *grown = ask(f, "/trace.json", query, 200);
        assert_has(grown, "\"grows\": true");
        run_to_rest(f);
        g_autofree char *set = ask(f, "/trace.json", query, 200);
        assert_has_not(set, "\"behind\"");
        assert_has(set, "\"statistics\": \"ready\"");
        g_autofree char *end = between(set, "\"end_ns\": ", ",");
        g_autofree char *whole = g_strdup_printf("file=%s&view=timeline", path);
        g_autofree char *timeline = ask(f, "/trace.json", whole, 200);
        assert_has(timeline, "\"exact\": false"); /* by the summary */
        g_autofree char *known = between(timeline, "\"known_until_ns\": ", ",");
        g_assert_cmpstr(known, ==, end);
        /* Nobody writes the copy: it is read once. */
        write_log(copy, all);
        age(copy);
        g_autofree char *named = g_strdup_printf("%s-%u", copy, round);
        g_assert_cmpint(g_rename(copy, named), ==, 0);
        g_assert_true(fm_server_add(f->server, named, NULL));
        g_autofree char *named_query = g_strdup_printf("file=%s&view=set", named);
        g_free(ask(f, "/trace.json", named_query, 200));
        g_autofree char *here = rows_of(f, path), *there = rows_of(f, named);
        g_assert_cmpstr(here, ==, there);
    }
    g_assert_cmpuint(passes, ==, 0);
    g_assert_true(fm_background_follows(fm_server_engine(f->server), trace));
    fm_background_notify_remove(fm_server_engine(f->server), &passes);
    fm_engine_close(fm_server_engine(f->server), trace);
    fm_stream_gone(stream);
    g_string_free(sink.got, TRUE);
    close(writer);
}

/* A program that was started again wrote another log of that name: pages that come then follow that
 * one, as they would have followed the first. */
static void test_stream_of_a_replaced_log(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = growing_log(f);
    g_autofree char *query = g_strdup_printf("file=%s&view=set", path);
    g_free(ask(f, "/trace.json", query, 200));
    g_autofree char *other = g_strconcat(path, ".new", NULL);
    write_small(other, false);
    own_clock_set_by(other);
    g_assert_cmpint(g_rename(other, path), ==, 0);
    g_free(ask(f, "/trace.json", query, 200));
    struct sink sink = {0};
    struct fm_stream *stream = open_stream(f, path, &sink);
    append_to(path, 20000, 2);
    append_to(path, FAR_NS, 1);
    run_until(f, &sink, "event: grown");
    const char *told = strstr(sink.got->str, "event: grown");
    assert_has(told, "\"statistics\": \"");
    assert_has_not(told, "\"progress\": 1,"); /* nothing of what was added has been counted yet */
    g_assert_cmpuint(late_spans(f, path, false), >=, 2);
    fm_stream_gone(stream);
    g_string_free(sink.got, TRUE);
}

int main(int argc, char **argv)
{
    static const struct traces_test tests[] = {
        {"growing", test_growing},
        {"growing-within-known-times", test_growing_within_known_times},
        {"behind", test_behind},
        {"passes-go-on", test_passes_go_on},
        {"within-a-block", test_within_a_block},
        {"held-back", test_held_back},
        {"stream", test_stream},
        {"stream-needs-a-door", test_stream_needs_a_door},
        {"first-picture-during-the-pass", test_first_picture_during_the_pass},
        {"cancelled", test_cancelled},
        {"stream-of-a-growing-log", test_stream_of_a_growing_log},
        {"stream-within-a-block", test_stream_within_a_block},
        {"stream-of-a-replaced-log", test_stream_of_a_replaced_log},
    };
    return traces_run(argc, argv, tests, G_N_ELEMENTS(tests));
}

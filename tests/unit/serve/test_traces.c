/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces: every viewer in every format, with exact values of a small log. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "serve/stream.h"
#include "trace_log.h"
#include "traces_world.h"

/* --- viewers as JSON --- */

static void test_timeline(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *body = ask_log(f, "/trace.json", "view=timeline&width=10", 200);
    assert_has(body, "\"start_ns\": 0, \"end_ns\": 9001, \"columns\": 10, \"incomplete\": false, "
                     "\"done\": true, \"known_until_ns\": 9001");
    assert_has(body, "\"lanes_total\": 3, \"first\": 0, \"clipped\": false, \"exact\": true");
    assert_has(body, "{\"id\": \"0-1-1\", \"trace\": 0, \"kind\": \"thread\", \"name\": "
                     "\"thread 1\", \"indent\": 1, \"levels\": 2,\n   \"boxes\": "
                     "[[0, 1000, 5000, 0, 1, 1, 0, 1, 0], [1, 2000, 3000, 1, 1, 1, 0, 1, 0]]}");
    assert_has(body, "\"name\": \"thread 2\", \"indent\": 1, \"levels\": 1,\n   \"boxes\": "
                     "[[0, 4000, 8000, 2, 1, 1, 0, 1, 0]]}");
    assert_has(body, "\"marks\": [[1, 3500, 3], [2, 9000, 4]]");
    assert_has(body, "[[\"parse\", ");
    assert_has(body, "[\"<b>&\\\"'</script>\", ");
}

static void test_window_and_lanes(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *window = ask_log(f, "/trace.json", "view=timeline&start=2500&end=4500", 200);
    assert_has(window,
               "\"boxes\": [[0, 1000, 5000, 0, 1, 1, 0, 1, 3], [1, 2000, 3000, 1, 1, 1, 0, 1, 1]]");
    assert_has(window, "\"boxes\": [[0, 4000, 8000, 2, 1, 1, 0, 1, 2]]");
    g_autofree char *hidden = ask_log(f, "/trace.json", "view=timeline&hide=0-1-1,0-0-77", 200);
    assert_has(hidden, "\"lanes_total\": 1,");
    assert_has_not(hidden, "thread 1");
    g_autofree char *found = ask_log(f, "/trace.json", "view=timeline&find=THREAD+2", 200);
    assert_has(found, "\"lanes_total\": 1,");
    assert_has(found, "\"name\": \"thread 2\"");
    g_autofree char *paged = ask_log(f, "/trace.json", "view=timeline&first=1&lanes=1", 200);
    assert_has(paged, "\"lanes_total\": 3, \"first\": 1,");
    assert_has(paged, "\"name\": \"thread 1\"");
    assert_has_not(paged, "\"name\": \"thread 2\"");
    g_autofree char *beyond = ask_log(f, "/trace.json", "view=timeline&start=1h&end=2s", 400);
    assert_has(beyond, "is not a time");
    g_autofree char *outside = ask_log(f, "/trace.json", "view=timeline&start=1s&end=2s", 200);
    assert_has(outside, "\"start_ns\": 9000, \"end_ns\": 9001");
}

/* Many segments in a pixel are no box of one of them: it tells how much of it they filled. */
static void test_density(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "dense.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write(bytes, false);
    trace_log_append(bytes, 20000, 40000); /* 100 ns of each 1000 */
    g_byte_array_append(bytes, (const guint8 *)"\xff\xff", 2);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    /* More events than are read for a picture: from the summary; fewer: painted. */
    static const char *const windows[] = {"", "&start=20000&end=12020000"};
    for (unsigned i = 0; i < G_N_ELEMENTS(windows); i++) {
        g_autofree char *query =
            g_strdup_printf("file=%s&view=timeline&find=thread+1&width=10%s", path, windows[i]);
        g_autofree char *body = ask(f, "/trace.json", query, 200);
        assert_has(body, i == 0 ? "\"exact\": false" : "\"exact\": true");
        g_autofree char *boxes = between(body, "\"boxes\": [", "]]");
        unsigned merged = 0;
        for (const char *at = boxes; at != NULL; at = strchr(at + 1, '[')) {
            unsigned level, count, value;
            uint64_t start, end, detail;
            double share, load;
            int got = sscanf(at + (at[0] != '['),
                             "[%u, %" SCNu64 ", %" SCNu64 ", %u, %u, %lf, %" SCNu64 ", %lf", &level,
                             &start, &end, &value, &count, &share, &detail, &load);
            if (got != 8 || count < 100)
                continue;
            g_assert_cmpfloat(load, >, 0.09);
            g_assert_cmpfloat(load, <, 0.12);
            merged++;
        }
        g_assert_cmpuint(merged, >, 3);
    }
    g_autofree char *page_query = g_strdup_printf("file=%s&find=thread+1", path);
    g_autofree char *page = ask(f, "/trace", page_query, 200);
    assert_has(page, " mixed l1\"");
    assert_has_not(page, " mixed l10\"");
}

static void test_overview(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *body = ask_log(f, "/trace.json", "view=overview&width=9", 200);
    assert_has(body, "\"events\": 21, \"greatest\": 12, \"counts\": [12,1,2,3,1,0,0,1,1]");
    g_autofree char *filtered =
        ask_log(f, "/trace.json", "view=overview&width=9&filter=event.name+%3D+SpanEnd", 200);
    assert_has(filtered, "\"events\": 3, \"greatest\": 1, \"counts\": [0,0,1,0,1,0,0,1,0]");
}

static void test_events_by_position(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *query = g_strdup("view=events&rows=4");
    unsigned rows = 0, pages = 0;
    for (;;) { /* forward, four by four */
        g_autofree char *body = ask_log(f, "/trace.json", query, 200);
        rows += count(body, "\"position\": ");
        pages++;
        g_assert_cmpuint(pages, <, 20);
        if (strstr(body, "\"next\": null") != NULL)
            break;
        g_autofree char *next = between(body, "\"next\": \"", "\"");
        g_free(query);
        query = g_strdup_printf("view=events&rows=4&from=%s", next);
    }
    g_assert_cmpuint(rows, ==, 21);
    g_assert_cmpuint(pages, ==, 6);
}

static void test_events_backward(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *all = ask_log(f, "/trace.json", "view=events&at=9000", 200);
    g_autofree char *last = between(all, "{\"position\": \"", "\"");
    g_autofree char *query = g_strdup_printf("view=events&rows=3&until=%s", last);
    g_autofree char *before = ask_log(f, "/trace.json", query, 200);
    g_assert_cmpuint(count(before, "\"position\": "), ==, 3);
    g_autofree char *times = between(before, "\"rows\": [", "]");
    const char *at = strstr(times, "\"time_ns\": 4000, \"trace\": 0, \"lane\": 1");
    g_assert_nonnull(at);
    at = strstr(at, "\"time_ns\": 5000,");
    g_assert_nonnull(at);
    g_assert_nonnull(strstr(at, "\"time_ns\": 8000,"));
    g_autofree char *many = g_strdup_printf("view=events&rows=100&until=%s", last);
    g_autofree char *everything = ask_log(f, "/trace.json", many, 200);
    g_assert_cmpuint(count(everything, "\"position\": "), ==, 20);
    assert_has(everything, "\"at_start\": true");
}

static void test_events_filtered(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *body =
        ask_log(f, "/trace.json", "view=events&filter=event.name+%3D+UserMessage", 200);
    g_assert_cmpuint(count(body, "\"position\": "), ==, 2);
    assert_has(body, "\"time_ns\": 3500, \"trace\": 0, \"lane\": 0");
    assert_has(body, "\"fields\": {\"text\": \"hello <script>\"}");
    g_autofree char *bad = ask_log(f, "/trace.json", "view=events&filter=event.name+%3D%3D", 400);
    assert_has(bad, "\"error\"");
    /* A reader of pages gets the page, and what is wrong beside the filter. */
    g_autofree char *page = ask_log(f, "/trace", "filter=event.name+%3D%3D", 200);
    assert_has(page, "class=\"problem\"");
    assert_has(page, "value=\"event.name ==\"");
    assert_has(page, "aria-invalid=\"true\"");
}

static void test_completion(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *fields = ask_log(f, "/trace/complete", "filter=event.na", 200);
    assert_has(fields, "{\"at\": 0, \"words\": [\"event.name\"");
    g_autofree char *values = ask_log(f, "/trace/complete", "filter=event.name+%3D+UserM", 200);
    assert_has(values, "UserMessage");
    g_free(ask(f, "/trace/complete", "file=/etc/passwd&filter=e", 404));
}

static void test_statistics(struct fixture *f, gconstpointer user)
{
    (void)user;
    for (unsigned whole = 0; whole < 2; whole++) {
        g_autofree char *body = ask_log(
            f, "/trace.json", whole ? "view=statistics&scope=trace" : "view=statistics", 200);
        assert_has(body, "\"name\": \"parse\", \"class\": \"span\", \"count\": 1, "
                         "\"time_ns\": 4000, \"self_ns\": 3000, \"longest_ns\": 4000, "
                         "\"longest_at_ns\": 1000");
        assert_has(body, "\"name\": \"lex\", \"class\": \"span\", \"count\": 1, "
                         "\"time_ns\": 1000, \"self_ns\": 1000");
        assert_has(body, "\"name\": \"UserMessage\", \"class\": \"unknown\", \"count\": 2");
        /* Two threads have more time than the window: their sum is no share of it. */
        g_autofree char *threads = between(body, "\"name\": \"thread\"", "}");
        assert_has(threads, "\"shared\": true");
        g_autofree char *parse = between(body, "\"name\": \"parse\"", "}");
        assert_has(parse, "\"shared\": false");
    }
    g_autofree char *window =
        ask_log(f, "/trace.json", "view=statistics&start=2500&end=4500&sort=name", 200);
    assert_has(window, "\"whole_trace\": false, \"length_ns\": 2000");
    assert_has(window, "\"name\": \"parse\", \"class\": \"span\", \"count\": 1, "
                       "\"time_ns\": 2000, \"self_ns\": 1500");
    assert_has(window, "\"name\": \"lex\", \"class\": \"span\", \"count\": 1, \"time_ns\": 500");
}

static void test_counters(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *body = ask_log(f, "/trace.json", "view=counters&width=3", 200);
    assert_has(body, "\"kind\": \"counter\", \"name\": \"queue\"");
    assert_has(body, "\"least\": [5,5,9], \"greatest\": [5,9,9], \"last\": [5,9,9]");
}

/* Of more bands than are shown the largest are told one by one, the others by their sum. */
static void test_bands(struct fixture *f, gconstpointer user)
{
    enum { BANDS = 40, SHOWN = 32 };
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "bands.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_bands(bytes, BANDS, 4);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    g_autofree char *query =
        g_strdup_printf("file=%s&view=counters&start=1000&end=5000&width=4", path);
    g_autofree char *body = ask(f, "/trace.json", query, 200);
    assert_has(body, "\"left_out\": 8");
    g_assert_cmpuint(count(body, "\"band\": true"), ==, SHOWN);
    assert_has(body, "\"name\": \"band 40\"");
    assert_has(body, "\"name\": \"band 9\"");
    assert_has_not(body, "\"name\": \"band 8\"");
    /* 1 to 8 KiB: 36 KiB, in the first sample. */
    assert_has(body, "\"rest\": {\"count\": 8, \"last\": [36864,73728,110592,147456]}");
    g_autofree char *few = ask_log(f, "/trace.json", "view=counters", 200);
    assert_has(few, "\"band\": false");
    assert_has_not(few, "\"rest\"");
}

static void test_set(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *body = ask_log(f, "/trace.json", "view=set", 200);
    assert_has(body, "\"origin_ns\": \"0\", \"start_ns\": 0, \"end_ns\": 9001, \"grows\": false, "
                     "\"progress\": 1");
    assert_has(body, "\"format\": \"eventlog\"");
    assert_has(body, "\"statistics\": \"ready\", \"summary\": \"ready\"}, \"damage\": []");
}

/* --- other formats --- */

static void test_pages(struct fixture *f, gconstpointer user)
{
    (void)user;
    static const char *const views[] = {"events", "statistics", "resources", "counters",
                                        "area",   "path",       "timeline",  "overview"};
    for (unsigned i = 0; i < G_N_ELEMENTS(views); i++) {
        g_autofree char *query = g_strdup_printf("view=%s", views[i]);
        g_autofree char *page = ask_log(f, "/trace", query, 200);
        assert_has(page, "<svg role=\"img\" aria-label=\"Lanes over time\"");
        assert_has(page, "aria-label=\"Density of events over the whole span: 21 events");
        assert_has(page, "<h1>small.eventlog</h1>");
        assert_has(page, "Zoom in");
        assert_has(page, "<form method=\"get\" id=\"controls-form\"");
        assert_has_not(page, "still being read");
        /* Names of the log are text wherever they stand. */
        assert_has_not(page, "<b>&");
        assert_has_not(page, "<script>");
        assert_has_not(page, "'</script>");
        assert_has_not(page, " style=");
        assert_has_not(page, " onclick");
        g_assert_cmpuint(count(page, "<script"), ==, 3);
        g_assert_cmpuint(count(page, "</script>"), ==, 3);
    }
    g_autofree char *events = ask_log(f, "/trace", "view=events", 200);
    assert_has(events, "hello &lt;script&gt;");
}

static void test_zoom_links(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *page = ask_log(f, "/trace", "start=2000&end=4000&cursor=3000", 200);
    assert_has(page, "start=2500&amp;end=3500"); /* in */
    assert_has(page, "start=1000&amp;end=5000"); /* out */
    assert_has(page, "start=999&amp;end=2999");  /* earlier */
    assert_has(page, "start=3001&amp;end=5001"); /* later */
    assert_has(page, "class=\"cursor\"");
    assert_has(page, "class=\"shade\"");
}

static void test_text(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *text = ask_log(f, "/trace.txt", "view=timeline", 200);
    assert_has(text, "thread 1");
    assert_has(text, "0.000001000  0.000005000  parse");
    g_autofree char *csv = ask_log(f, "/trace.csv", "view=timeline", 200);
    assert_has(csv, "lane,level,start_seconds,end_seconds,state,count,share_percent\r\n");
    assert_has(csv, "thread 1,1,0.000002000,0.000003000,lex,1,100\r\n");
    g_autofree char *events = ask_log(f, "/trace.csv", "view=events&rows=1&at=3500", 200);
    assert_has(events, "time_seconds,source,event,fields\r\n0.000003500,capability 0,UserMessage,"
                       "text = hello <script>");
    g_autofree char *statistics = ask_log(f, "/trace.csv", "view=statistics", 200);
    assert_has(statistics, "depth,name,count,time_seconds,share_percent,self_seconds,"
                           "longest_seconds,events_count\r\n");
    g_autofree char *counters = ask_log(f, "/trace.txt", "view=counters", 200);
    assert_has(counters, "queue");
    g_autofree char *overview = ask_log(f, "/trace.csv", "view=overview&width=1", 200);
    assert_has(overview, "start_seconds,events_count\r\n0.000000000,21");
}

/* --- what may not be --- */

static void test_refused(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_free(ask(f, "/trace.json", "file=/etc/passwd", 404));
    g_free(ask(f, "/trace", "", 400));
    g_free(ask(f, "/trace.exe", "file=x", 404));
    g_free(ask_log(f, "/trace.json", "view=events&from=zz", 400));
    g_free(ask_log(f, "/trace.json", "view=events&from=1.2_3.4", 400));
    g_free(ask_log(f, "/trace.json", "view=nothing", 400));
    /* A position that no event has is taken for the place where it would be. */
    g_free(ask_log(f, "/trace.json", "view=events&from=dac.99999999999", 200));
    g_free(ask_log(f, "/trace.json", "view=events&from=ffffffffffffffff.0", 200));
    g_free(ask_log(f, "/trace.json", "view=events&until=0.0", 200));
    g_autofree char *many = g_strnfill(20000, 'x');
    g_free(ask_log(f, "/trace", many, 400));
}

static void test_below_root(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *other = g_build_filename(f->folder, "other.eventlog", NULL);
    g_autofree char *query = g_strdup_printf("file=%s&view=set", other);
    write_small(other, true);
    g_free(ask(f, "/trace.json", query, 404));
    g_assert_true(fm_server_add_root(f->server, f->folder, NULL));
    g_free(ask(f, "/trace.json", query, 200));
    g_free(ask(f, "/trace.json", "file=other.eventlog&view=set", 200));
    g_free(ask(f, "/trace.json", "file=../../../etc/passwd&view=set", 404));
    g_autofree char *front = ask(f, "/", NULL, 200);
    assert_has(front, "Traces below");
    assert_has(front, "other.eventlog");
    assert_has(front, "event log");
}

/* --- several, damaged, growing --- */

static void test_two(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *other = g_build_filename(f->folder, "other.eventlog", NULL);
    write_small(other, true);
    g_assert_true(fm_server_add(f->server, other, NULL));
    g_autofree char *files = g_strdup_printf("file=%s&file=%s", f->log, other);
    g_autofree char *timeline_query = g_strconcat(files, "&view=timeline", NULL);
    g_autofree char *timeline = ask(f, "/trace.json", timeline_query, 200);
    assert_has(timeline, "\"lanes_total\": 6");
    assert_has(timeline, "\"id\": \"0-1-1\"");
    assert_has(timeline, "\"id\": \"1-1-1\"");
    g_autofree char *events_query = g_strconcat(files, "&view=events&at=9000", NULL);
    g_autofree char *events = ask(f, "/trace.json", events_query, 200);
    g_assert_cmpuint(count(events, "\"time_ns\": 9000"), ==, 2);
    g_autofree char *overview_query = g_strconcat(files, "&view=overview&width=2", NULL);
    g_autofree char *overview = ask(f, "/trace.json", overview_query, 200);
    assert_has(overview, "\"events\": 42");
    g_autofree char *page = ask(f, "/trace", files, 200);
    assert_has(page, "small.eventlog + other.eventlog");
}

static char *log_of_clock(struct fixture *f, const char *name, uint64_t epoch_ns)
{
    char *path = g_build_filename(f->folder, name, NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_clock(bytes, epoch_ns);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    return path;
}

/* Two traces that tell the wall clock are shown by it; one alone keeps its times, before and after;
 * one that is earlier still moves them all. */
static void test_wall_clock(struct fixture *f, gconstpointer user)
{
    const uint64_t epoch = UINT64_C(1700000000123456789), later = UINT64_C(45476342545);
    (void)user;
    g_autofree char *a = log_of_clock(f, "a.eventlog", epoch);
    g_autofree char *b = log_of_clock(f, "b.eventlog", epoch + later);
    g_autofree char *c = log_of_clock(f, "c.eventlog", epoch - 1000);
    g_autofree char *alone_query = g_strdup_printf("file=%s&view=set", b);
    g_autofree char *both_query = g_strdup_printf("file=%s&file=%s&view=set", b, a);
    g_autofree char *alone = ask(f, "/trace.json", alone_query, 200);
    assert_has(alone, "\"clock\": \"recorded\", \"time_0_utc\": "
                      "\"2023-11-14T22:14:05.599799334Z\", \"start_ns\": 0, \"end_ns\": 9000");
    g_autofree char *page_query = g_strdup_printf("file=%s", a);
    g_autofree char *page = ask(f, "/trace", page_query, 200);
    assert_has(page, "Time 0 is 2023-11-14T22:13:20.123456789Z.");
    for (unsigned turn = 0; turn < 2; turn++) {
        g_autofree char *both = ask(f, "/trace.json", both_query, 200);
        assert_has(both, "\"start_ns\": 0, \"end_ns\": 45476351546, ");
        assert_has(both, "\"clock\": \"wall clock\", \"time_0_utc\": "
                         "\"2023-11-14T22:13:20.123456789Z\", \"start_ns\": 45476342545, "
                         "\"end_ns\": 45476351545");
        assert_has(both, "\"2023-11-14T22:13:20.123456789Z\", \"start_ns\": 0, \"end_ns\": 9000");
        g_autofree char *again = ask(f, "/trace.json", alone_query, 200);
        assert_has(again, "\"clock\": \"wall clock\", \"time_0_utc\": "
                          "\"2023-11-14T22:14:05.599799334Z\", \"start_ns\": 0, \"end_ns\": 9000");
        g_autofree char *query =
            g_strdup_printf("file=%s&file=%s&view=timeline&find=thread+1&start=45476342545", a, b);
        g_autofree char *timeline = ask(f, "/trace.json", query, 200);
        assert_has(timeline, "[0, 45476343545, 45476347545, "); /* parse */
        g_autofree char *own = g_strdup_printf("file=%s&view=timeline&find=thread+1", b);
        g_autofree char *parse = ask(f, "/trace.json", own, 200);
        assert_has(parse, "[0, 1000, 5000, ");
        /* The earliest of all comes up. */
        g_autofree char *three = g_strdup_printf("file=%s&file=%s&view=set", a, c);
        g_autofree char *earlier = ask(f, "/trace.json", three, 200);
        assert_has(earlier, "\"start_ns\": 1000, \"end_ns\": 10000");
        assert_has(earlier, "\"start_ns\": 0, \"end_ns\": 9000");
    }
    /* One that does not tell it begins with the others' begin. */
    g_autofree char *mixed_query = g_strdup_printf("file=%s&file=%s&view=set", f->log, c);
    g_autofree char *mixed = ask(f, "/trace.json", mixed_query, 200);
    assert_has(mixed, "\"clock\": \"recorded\"");
}

static void test_damaged(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *cut = g_build_filename(f->folder, "cut.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write(bytes, true);
    /* A number that no type has, in place of thread 1's message. */
    static const uint8_t text[] = "hello <script>";
    uint8_t *at = memmem(bytes->data, bytes->len, text, sizeof text - 1);
    g_assert_nonnull(at);
    at[-12] = 0x7F; /* number 2, time 8, length 2 */
    write_log(cut, bytes);
    g_assert_true(fm_server_add(f->server, cut, NULL));
    g_autofree char *query = g_strdup_printf("file=%s&view=events", cut);
    g_free(ask(f, "/trace", query, 200)); /* reads it */
    g_autofree char *page = ask(f, "/trace", query, 200);
    assert_has(page, "Part of this could not be read");
    assert_has(page, "parse"); /* what could be */
    g_autofree char *set_query = g_strdup_printf("file=%s&view=set", cut);
    g_autofree char *set = ask(f, "/trace.json", set_query, 200);
    assert_has_not(set, "\"damage\": []");
    g_autofree char *front = ask(f, "/", NULL, 200);
    assert_has(front, "part of it could not be read");
}

/* --- real logs --- */

static void test_real(struct fixture *f, gconstpointer user)
{
    (void)user;
    const char *data = g_getenv("FATHOM_SAMPLE_DATA");
    g_autofree char *path = g_build_filename(data == NULL ? "" : data, "eventlog", NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
        g_test_skip("no real logs: FATHOM_SAMPLE_DATA");
        return;
    }
    static const struct {
        const char *name;
        unsigned events;
    } logs[] = {{"conc.eventlog", 53292}, {"marks.eventlog", 0}, {"profhc.eventlog", 0}};
    for (unsigned i = 0; i < G_N_ELEMENTS(logs); i++) {
        g_autofree char *log = g_build_filename(path, logs[i].name, NULL);
        g_assert_true(fm_server_add(f->server, log, NULL));
        g_autofree char *overview_query = g_strdup_printf("file=%s&view=overview&width=100", log);
        g_autofree char *overview = ask(f, "/trace.json", overview_query, 200);
        g_autofree char *events = g_strdup_printf("\"events\": %u,", logs[i].events);
        if (logs[i].events > 0)
            assert_has(overview, events);
        static const char *const views[] = {"events", "statistics", "resources", "counters"};
        for (unsigned j = 0; j < G_N_ELEMENTS(views); j++) {
            g_autofree char *query = g_strdup_printf("file=%s&view=%s", log, views[j]);
            g_autofree char *page = ask(f, "/trace", query, 200);
            g_assert_cmpuint(count(page, "<rect"), >, 10);
            g_assert_cmpuint(count(page, "<rect"), <, 15100);
        }
    }
    g_autofree char *header = g_build_filename(path, "trunc_header.eventlog", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_server_add(f->server, header, &error));
    g_assert_nonnull(error);
}

int main(int argc, char **argv)
{
    static const struct traces_test tests[] = {
        {"timeline", test_timeline},
        {"window-and-lanes", test_window_and_lanes},
        {"density", test_density},
        {"overview", test_overview},
        {"events-by-position", test_events_by_position},
        {"events-backward", test_events_backward},
        {"events-filtered", test_events_filtered},
        {"completion", test_completion},
        {"statistics", test_statistics},
        {"counters", test_counters},
        {"bands", test_bands},
        {"set", test_set},
        {"pages", test_pages},
        {"zoom-links", test_zoom_links},
        {"text-and-csv", test_text},
        {"refused", test_refused},
        {"below-root", test_below_root},
        {"two", test_two},
        {"wall-clock", test_wall_clock},
        {"damaged", test_damaged},
        {"real-logs", test_real},
    };
    return traces_run(argc, argv, tests, G_N_ELEMENTS(tests));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Viewers of segments: areas, stacks, details, steps and critical paths of a small log. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace_log.h"
#include "traces_world.h"

static void test_area(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *all = ask_log(f, "/trace.json", "view=area", 200);
    assert_has(all, "\"incomplete\": false, \"done\": true");
    assert_has(all, "\"area_start_ns\": 0, \"area_end_ns\": 9001, \"by\": \"name\"");
    assert_has(all, "\"kind\": \"thread\", \"name\": \"parse\", \"count\": 1, \"total_ns\": 4000, "
                    "\"self_ns\": 3000, \"whole\": 1, \"mean_ns\": 4000, \"longest_ns\": 4000, "
                    "\"longest_at_ns\": 1000, \"longest_lane\": \"0-1-1\", \"p50_ns\": 4000");
    assert_has(all, "\"bars\": [[3840,4096,1]]");
    /* Clipped are the times in the area, not the durations. */
    g_autofree char *part =
        ask_log(f, "/trace.json", "view=area&area_start=2500&area_end=4500&in=0-1-1", 200);
    assert_has(part, "\"name\": \"parse\", \"count\": 1, \"total_ns\": 2000, \"self_ns\": 1500, "
                     "\"whole\": 1, \"mean_ns\": 4000");
    assert_has(part, "\"name\": \"lex\", \"count\": 1, \"total_ns\": 500");
    g_assert_cmpuint(count(part, "\"total_ns\""), ==, 2);
    g_autofree char *hidden = ask_log(f, "/trace.json", "view=area&hide=0-1-1", 200);
    g_assert_cmpuint(count(hidden, "\"total_ns\""), ==, 1);
    g_autofree char *slow = ask_log(f, "/trace.json", "view=area&least=2us&most=4us&in=0-1-1", 200);
    assert_has(slow, "\"name\": \"parse\"");
    assert_has_not(slow, "\"name\": \"lex\"");
    g_autofree char *lanes = ask_log(f, "/trace.json", "view=area&by=lane", 200);
    assert_has(lanes,
               "\"name\": \"thread 1\", \"count\": 2, \"total_ns\": 5000, \"self_ns\": 4000");
    g_autofree char *page =
        ask_log(f, "/trace", "view=area&area_start=2500&area_end=4500&in=0-1-1", 200);
    assert_has(page, "From 0.000002500 s to 0.000004500 s, 1 chosen lanes.");
    assert_has(page, "by=state");
    assert_has(page, "<input type=\"hidden\" name=\"in\" value=\"0-1-1\"");
    assert_has(page, "start=0&amp;end=9000&amp;cursor=1000"); /* to the longest, with a margin */
    g_autofree char *csv = ask_log(f, "/trace.csv", "view=area&in=0-1-1", 200);
    assert_has(csv, "group,thread,parse,1,4e-06,3e-06,4e-06,4e-06,");
    g_free(ask_log(f, "/trace.json", "view=area&by=colour", 400));
    g_free(ask_log(f, "/trace.json", "view=area&area_start=x", 400));
}

static void test_path(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *all = ask_log(f, "/trace.json", "view=path&in=0-1-1", 200);
    assert_has(all, "\"incomplete\": false, \"done\": true");
    assert_has(all, "\"lane\": \"0-1-1\", \"name\": \"thread 1\", \"problem\": null");
    assert_has(all, "{\"kind\": \"running\", \"lane\": \"0-1-1\", \"name\": \"thread 1\", "
                    "\"state\": null, \"count\": 1, \"time_ns\": 9001, ");
    assert_has(all, "\"pieces\": [[\"0-1-1\",0,9001,\"running\"]]");
    g_autofree char *part =
        ask_log(f, "/trace.json", "view=path&in=0-1-1&area_start=2000&area_end=3000", 200);
    assert_has(part, "\"pieces\": [[\"0-1-1\",2000,3000,\"running\"]]");
    g_autofree char *none = ask_log(f, "/trace.json", "view=path", 200);
    assert_has(none, "\"problem\": \"Choose a thread.\"");
    g_autofree char *other = ask_log(f, "/trace.json", "view=path&in=0-1-99", 200);
    assert_has(other, "\"problem\": \"there is no lane of that number\"");
    g_autofree char *page = ask_log(f, "/trace", "view=path", 200);
    assert_has(page, "Choose a thread.");
    assert_has(page, "view=path&amp;in=0-1-2");
    g_autofree char *chosen = ask_log(f, "/trace", "view=path&in=0-1-1", 200);
    assert_has(chosen, "Why thread 1 took from 0.000000000 s to 0.000009001 s:");
}

static void test_stacks(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *all = ask_log(f, "/trace.json", "view=area&by=stack&in=0-1-1", 200);
    assert_has(all, "\"by\": \"stack\"");
    assert_has(all, "\"rows\": []");
    assert_has(all, "\"nodes\": [[0,null,0,1,4000,0],[0,\"parse\",");
    assert_has(all, ",1,4000,3000],[1,\"lex\",");
    assert_has(all, ",1,1000,1000]]");
    g_autofree char *part =
        ask_log(f, "/trace.json", "view=area&by=stack&area_start=2500&area_end=4500&in=0-1-1", 200);
    assert_has(part, ",1,2000,1500],[1,\"lex\",");
    g_autofree char *page = ask_log(f, "/trace", "view=area&by=stack&in=0-1-1", 200);
    assert_has(page, "\xE2\x80\x83lex"); /* below parse */
    assert_has(page, "by=state");        /* the other choices */
    g_autofree char *csv = ask_log(f, "/trace.csv", "view=area&by=stack&in=0-1-1", 200);
    assert_has(csv, "parse,1,4e-06,3e-06");
}

static void test_details(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *parse = ask_log(f, "/trace.json", "view=details&selected=0-1-1:1000:0", 200);
    assert_has(parse, "\"incomplete\": false, \"done\": true");
    assert_has(parse, "\"found\": true, \"lane\": \"0-1-1\", \"lane_name\": \"thread 1\", "
                      "\"kind\": \"thread\"");
    assert_has(parse, "\"name\": \"parse\", \"state\": \"span\", \"level\": 0, "
                      "\"segment_start_ns\": 1000, \"segment_end_ns\": 5000, \"open\": false, "
                      "\"self_ns\": 3000");
    assert_has(parse, "\"around\": [");
    assert_has(parse, "{\"name\": \"lex\", \"count\": 1, \"total_ns\": 1000, \"longest_ns\": "
                      "1000, \"longest_at_ns\": 2000}");
    assert_has(parse, "\"time_ns\": 1000, \"trace\": 0, \"lane\": 0");
    assert_has(parse, "\"name\": \"SpanBegin\"");
    assert_has(parse, "\"name\": \"SpanEnd\"");
    g_autofree char *lex = ask_log(f, "/trace.json", "view=details&selected=0-1-1:2400", 200);
    assert_has(lex, "\"name\": \"lex\", \"state\": \"span\", \"level\": 1");
    assert_has(lex, "\"around\": [{\"name\": \"parse\", \"state\": \"span\", \"level\": 0, "
                    "\"segment_start_ns\": 1000");
    static const struct {
        const char *selected, *problem;
    } none[] = {{"", "Select a box."},
                {"&selected=0-1-1", "expected LANE:BEGIN:LEVEL"},
                {"&selected=0-1-1:x", "expected LANE:BEGIN:LEVEL"},
                {"&selected=3-1-1:0:0", "expected LANE:BEGIN:LEVEL"},
                {"&selected=0-1-99:0:0", "there is no lane of that number"},
                {"&selected=0-1-1:2000:5", "there is no such segment"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(none); i++) {
        g_autofree char *query = g_strdup_printf("view=details%s", none[i].selected);
        g_autofree char *body = ask_log(f, "/trace.json", query, 200);
        assert_has(body, none[i].problem);
        assert_has(body, "\"found\": false");
    }
    g_autofree char *page = ask_log(f, "/trace", "view=details&selected=0-1-1:2000:1", 200);
    assert_has(page, "On thread 1:");
    assert_has(page, "selected=0-1-1%3A1000%3A0"); /* what it lies in */
    assert_has(page, "SpanBegin");
}

/* How many arrows those of that member stand for. */
static uint64_t count_arrows(const char *body, const char *member)
{
    g_autofree char *before = g_strdup_printf("\"%s\": [", member);
    const char *at = strstr(body, before);
    g_assert_nonnull(at);
    uint64_t sum = 0, count;
    int size;
    for (at += strlen(before);
         sscanf(at, " [%*u, %*u, %*u, %*u, %" SCNu64 "]%n", &count, &size) == 1;) {
        sum += count;
        at += size + (at[size] == ',');
    }
    return sum;
}

/* A window with many events has its arrows joined, when somebody has asked for them. */
static void test_arrows(struct fixture *f, gconstpointer user)
{
    enum { TURNS = 20000, TURNS_READ = 200 };
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "wakeups.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write_wakeups(bytes, TURNS);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    g_autofree char *few =
        g_strdup_printf("file=%s&view=timeline&width=600&start=0&end=201us", path);
    g_autofree char *read = ask(f, "/trace.json", few, 200);
    assert_has(read, "\"exact\": true");
    assert_has(read, "\"arrows_known\": true");
    g_assert_cmpuint(count_arrows(read, "arrows"), ==, TURNS_READ);
    g_autofree char *all = g_strdup_printf("file=%s&view=timeline&width=600", path);
    g_autofree char *unasked = ask(f, "/trace.json", all, 200);
    assert_has(unasked, "\"exact\": false");
    assert_has(unasked, "\"arrows_known\": false");
    g_assert_cmpuint(count_arrows(unasked, "arrows"), ==, 0);
    g_autofree char *asked = g_strdup_printf("%s&arrows=1", all);
    g_autofree char *joined = ask(f, "/trace.json", asked, 200);
    for (unsigned i = 0; i < 1000 && strstr(joined, "\"arrows_known\": true") == NULL; i++) {
        g_free(joined);
        joined = ask(f, "/trace.json", asked, 200);
    }
    assert_has(joined, "\"arrows_known\": true");
    g_assert_cmpuint(count_arrows(joined, "arrows"), ==, TURNS);
    g_assert_cmpuint(count(joined, "\"id\""), >, 2);
    g_autofree char *one = g_strdup_printf("%s&find=thread+1", all); /* the other is hidden */
    g_autofree char *hidden = ask(f, "/trace.json", one, 200);
    g_assert_cmpuint(count_arrows(hidden, "arrows") + count_arrows(hidden, "arrows_elsewhere"), ==,
                     0);
    g_autofree char *slice = g_strdup_printf("%s&find=thread&lanes=1", all);
    g_autofree char *elsewhere = ask(f, "/trace.json", slice, 200);
    g_assert_cmpuint(count_arrows(elsewhere, "arrows"), ==, 0);
    g_assert_cmpuint(count_arrows(elsewhere, "arrows_elsewhere"), ==, TURNS);
}

/* The names of the lanes, in order. */
static char *lanes_of(struct fixture *f, const char *query)
{
    g_autofree char *text = g_strdup_printf("view=timeline&%s", query);
    g_autofree char *body = ask_log(f, "/trace.json", text, 200);
    assert_has(body, "\"done\": true");
    GString *names = g_string_new(NULL);
    for (const char *at = strstr(body, "\"id\": "); at != NULL; at = strstr(at + 1, "\"id\": ")) {
        g_autofree char *name = between(at, "\"name\": \"", "\"");
        g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", name);
    }
    return g_string_free(names, FALSE);
}

static void test_lanes(struct fixture *f, gconstpointer user)
{
    static const struct {
        const char *query, *lanes;
    } cases[] = {
        {"", "process 77, thread 1, thread 2"},
        {"fold=0-0-77", "process 77"},
        {"fold=0-0-77&pin=0-1-2", "thread 2, process 77"},
        {"pin=0-1-2", "thread 2, process 77, thread 1"},
        {"order=name&pin=0-1-1", "thread 1, process 77, thread 2"},
        {"order=number", "process 77, thread 1, thread 2"},
        {"order=busy&start=5us&end=8us", "thread 2, process 77, thread 1"},
        {"order=busy&start=0&end=3us", "thread 1, process 77, thread 2"},
        {"busy=1&start=1us&end=3us", "thread 1"},
        {"busy=1&start=1us&end=3us&pin=0-1-2", "thread 2, thread 1"},
        {"busy=1&order=busy", "thread 1, thread 2"},
        {"lanes=1", "process 77"},
        {"lanes=1&reveal=0-1-2", "thread 2"},
        {"lanes=2&reveal=0-1-1", "process 77, thread 1"},
        {"lanes=1&reveal=0-1-99", "process 77"},
    };
    (void)user;
    g_autofree char *process = ask_log(f, "/trace.json", "view=timeline&find=process", 200);
    g_autofree char *id = between(process, "\"id\": \"", "\"");
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_auto(GStrv) parts = g_strsplit(cases[i].query, "0-0-77", -1);
        g_autofree char *query = g_strjoinv(id, parts);
        g_autofree char *lanes = lanes_of(f, query);
        g_assert_cmpstr(lanes, ==, cases[i].lanes);
    }
    g_free(ask_log(f, "/trace.json", "view=timeline&order=colour", 400));
    g_autofree char *busy =
        ask_log(f, "/trace.json", "view=timeline&order=busy&start=1us&end=3us", 200);
    assert_has(busy, "\"has_own\": true");
    assert_has(busy, "\"busy_ns\": 2000");
}

/* A filter dims what does not pass: 16 in the last number of a box. */
static void test_dimmed(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *parse =
        ask_log(f, "/trace.json", "view=timeline&dim=segment.name+%3D+parse", 200);
    assert_has(parse, "[0, 1000, 5000, 0, 1, 1, 0, 1, 0], [1, 2000, 3000, 1, 1, 1, 0, 1, 16]");
    assert_has(parse, "[0, 4000, 8000, 2, 1, 1, 0, 1, 16]");
    g_autofree char *lane =
        ask_log(f, "/trace.json", "view=timeline&dim=lane.name+%3D+%22*+2%22", 200);
    assert_has(lane, "[0, 1000, 5000, 0, 1, 1, 0, 1, 16]");
    assert_has(lane, "[0, 4000, 8000, 2, 1, 1, 0, 1, 0]");
    g_autofree char *wrong = ask_log(f, "/trace.json", "view=timeline&dim=event.name+%3D+x", 400);
    assert_has(wrong, "a field of segments");
    g_free(ask_log(f, "/trace.json", "view=timeline&dim=segment.self+%3E+1us", 400));
}

static void test_query(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *all =
        ask_log(f, "/trace.json", "view=query&query=lane.kind%3Dthread|group+by+segment.name", 200);
    assert_has(all, "\"incomplete\": false, \"done\": true");
    assert_has(all, "\"problem\": null, \"of\": \"segments\"");
    assert_has(all, "{\"title\": \"segment.name\", \"key\": true, \"time\": false}");
    assert_has(all, "{\"title\": \"p99(segment.duration)\", \"key\": false, \"time\": true}");
    assert_has(all, "\"trace\": 0, \"counted\": 3, \"groups\": 3, \"lost\": 0");
    assert_has(all, "[\"parse\", 1, 4000, 4000, 4000, 4000, 4000, 4000, 4000]");
    assert_has(all, "{\"lane\": \"0-1-1\", \"level\": 1, \"start_ns\": 2000, \"end_ns\": 3000}");
    g_autofree char *part = ask_log(f, "/trace.json",
                                    "view=query&area_start=2500&area_end=2600&in=0-1-1&query="
                                    "group+by+segment.name|show+sum(segment.self)",
                                    200);
    assert_has(part, "[\"parse\", 3000]");
    assert_has(part, "[\"lex\", 1000]");
    g_autofree char *events =
        ask_log(f, "/trace.json", "view=query&query=event.name%3DSpan*|group+by+event.name", 200);
    assert_has(events, "\"of\": \"events\"");
    assert_has(events, "[\"SpanBegin\", 3]");
    g_autofree char *window =
        ask_log(f, "/trace.json", "view=query&start=1500&end=2500&query=event.name%3DSpan*", 200);
    assert_has(window, "\"counted\": 1,");
    g_autofree char *wrong = ask_log(f, "/trace.json", "view=query&query=group+by+colour", 200);
    assert_has(wrong, "'colour' is not a field of segments");
    g_autofree char *none = ask_log(f, "/trace.json", "view=query", 200);
    assert_has(none, "\"problem\": \"Type a query.\", \"of\": null");
    g_autofree char *page = ask_log(f, "/trace", "view=query&query=group+by+segment.name", 200);
    assert_has(page, "parse");
    assert_has(page, "start=0&amp;end=9000&amp;cursor=1000"); /* to the longest */
    g_autofree char *empty = ask_log(f, "/trace", "view=query", 200);
    assert_has(empty, "query=events"); /* an example */
    g_autofree char *csv =
        ask_log(f, "/trace.csv", "view=query&query=lane.kind%3Dthread|group+by+segment.name", 200);
    assert_has(csv, "parse,1,4e-06,");
}

static void test_step(struct fixture *f, gconstpointer user)
{
    static const struct {
        const char *query, *found;
    } steps[] = {
        {"step=next-name&like=lex&cursor=0",
         "\"lane\": \"0-1-1\", \"lane_name\": \"thread 1\", "
         "\"name\": \"lex\", \"state\": \"span\", \"depth\": 1, "
         "\"segment_start_ns\": 2000, \"segment_end_ns\": 3000"},
        {"step=next-lane&in=0-1-1&cursor=1000", "\"segment_start_ns\": 2000"},
        {"step=previous-lane&in=0-1-1&cursor=2000", "\"name\": \"parse\""},
        {"step=next-state&like=span&cursor=2000", "\"lane\": \"0-1-2\""},
        {"step=previous-state&like=span&cursor=9000", "\"lane\": \"0-1-2\""},
        {"step=previous-name&like=parse&cursor=1000", "\"found\": false"},
        {"step=next-lane&in=0-1-99&cursor=0", "\"found\": false"},
    };
    (void)user;
    for (unsigned i = 0; i < G_N_ELEMENTS(steps); i++) {
        g_autofree char *query = g_strdup_printf("view=step&%s", steps[i].query);
        g_autofree char *body = ask_log(f, "/trace.json", query, 200);
        assert_has(body, "\"done\": true");
        assert_has(body, steps[i].found);
    }
    g_free(ask_log(f, "/trace.json", "view=step&step=away", 400));
    g_autofree char *page = ask_log(f, "/trace", "view=step&step=next-name&like=lex&cursor=0", 200);
    assert_has(page, "lex");
}

int main(int argc, char **argv)
{
    static const struct traces_test tests[] = {
        {"area", test_area},       {"stacks", test_stacks}, {"path", test_path},
        {"details", test_details}, {"arrows", test_arrows}, {"lanes", test_lanes},
        {"dimmed", test_dimmed},   {"query", test_query},   {"step", test_step},
    };
    return traces_run(argc, argv, tests, G_N_ELEMENTS(tests));
}

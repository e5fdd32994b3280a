/* SPDX-License-Identifier: Apache-2.0 */
/* States of C programs: every transition by what the observers are told. */
#include <glib/gstdio.h>

#include "eventlog/reader/eventlog.h"
#include "event_trace.h"

#define U(x) ((uint64_t)(x))
enum { PARSE = 1, LEX = 2, QUEUE = 3, LOCK = 4, SITE = 5 };

static void define(struct event_list *list, uint64_t time, const char *text, uint64_t id)
{
    event_add(list, time, -1, 42, "s4", text, id);
}

/* Process 77, its names, and two threads: 1 in lane 0, 2 in lane 1. */
static struct event_list *begin_program(void)
{
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    event_add(list, 0, -1, 30, "4zz", U(0), "/usr/bin/prog", "-x");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    define(list, 0, "parse", PARSE);
    define(list, 0, "lex", LEX);
    define(list, 0, "queue", QUEUE);
    define(list, 0, "db lock", LOCK);
    define(list, 0, "cache", SITE);
    for (unsigned lane = 0; lane < 2; lane++) {
        event_add(list, 1, -1, 45, "2", U(lane));
        event_add(list, 1, -1, 55, "828", U(1000 + lane), U(lane), U(1000 + lane));
        event_add(list, 2, (int)lane, 0, "4", U(lane + 1));
        event_add(list, 2, (int)lane, 1, "4", U(lane + 1));
    }
    return list;
}

#define BEGIN_LINES        \
    "+ process \"prog\"\n" \
    "+ thread 1\n+ thread 2\n"

/* Lines that follow those of begin_program, and the number of inconsistencies. */
static void check(struct event_list *list, const char *lines, uint64_t inconsistent)
{
    struct fm_trace *trace = event_list_trace(list);
    struct recorder recorder;
    recorder_init(&recorder, trace);
    struct fm_state *state = read_state(trace, &recorder);
    char *expected = g_strconcat(BEGIN_LINES, lines, NULL);
    g_assert_cmpstr(recorder.lines->str, ==, expected);
    g_assert_cmpuint(fm_state_inconsistent(state), ==, inconsistent);
    g_free(expected);
    fm_state_free(state);
    recorder_clear(&recorder);
    fm_trace_free(trace);
    event_list_free(list);
}

#define T1 "thread \"thread 1 (1000)\""
#define T2 "thread \"thread 2 (1001)\""

static void test_spans_nest(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 512, "4", U(PARSE));
    event_add(list, 12, 0, 512, "4", U(LEX));
    event_add(list, 13, 1, 512, "4", U(LEX));
    event_add(list, 15, 0, 513, "4", U(LEX));
    event_add(list, 20, 0, 513, "4", U(PARSE));
    event_add(list, 21, 1, 513, "4", U(LEX));
    check(list, T1 ":1 lex 12-15\n" T1 ":0 parse 10-20\n" T2 ":0 lex 13-21\n", 0);
}

static void test_spans_unmatched(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 513, "4", U(LEX)); /* never begun */
    event_add(list, 11, 0, 512, "4", U(PARSE));
    event_add(list, 12, 0, 512, "4", U(LEX)); /* never ended: closed by the one around it */
    event_add(list, 20, 0, 513, "4", U(PARSE));
    check(list, T1 ":1 lex 12-20\n" T1 ":0 parse 11-20\n", 2);
}

static void test_functions_share_the_stack(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 512, "4", U(PARSE));
    event_add(list, 11, 0, 521, "88", U(0x4010), U(0x4000));
    event_add(list, 14, 0, 522, "8", U(0x4010));
    event_add(list, 15, 0, 513, "4", U(PARSE));
    check(list, T1 ":1 0x4010 11-14\n" T1 ":0 parse 10-15\n", 0);
}

static void test_names_unknown(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 512, "4", U(99));
    event_add(list, 11, 0, 513, "4", U(99));
    event_add(list, 12, 0, 512, "4", U(4000000000));
    event_add(list, 13, 0, 513, "4", U(4000000000));
    check(list, T1 ":0 name 99 10-11\n" T1 ":0 name 4000000000 12-13\n", 0);
}

static void test_locks(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 519, "8", U(0xa0));
    event_add(list, 11, -1, 525, "84", U(0xa0), U(LOCK));
    event_add(list, 12, 1, 518, "8", U(0xa0)); /* 2 waits while 1 holds it */
    event_add(list, 20, 0, 520, "8", U(0xa0));
    event_add(list, 21, 1, 519, "8", U(0xa0)); /* handed over */
    event_add(list, 30, 1, 520, "8", U(0xa0));
    event_add(list, 40, 1, 519, "8", U(0xa0)); /* free: no wait, no arrow */
    event_add(list, 41, 1, 520, "8", U(0xa0));
    check(list,
          "+ lock 0xa0\nlock \"db lock\":0 held 10-20\n" T2 ":0 waiting for db lock 12-21\n" T1
          " @20 -> " T2 " @21\nlock \"db lock\":0 held 21-30\nlock \"db lock\":0 held 40-41\n",
          0);
}

static void test_locks_shared(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 519, "8", U(0xb0)); /* two readers */
    event_add(list, 11, 1, 519, "8", U(0xb0));
    event_add(list, 15, 0, 520, "8", U(0xb0)); /* the outer one leaves first */
    event_add(list, 18, 1, 520, "8", U(0xb0));
    event_add(list, 19, 1, 520, "8", U(0xb0)); /* not held */
    check(list,
          "+ lock 0xb0\nlock 0xb0:1 held 11-15\nlock 0xb0:0 held 10-15\nlock 0xb0:0 held 15-18\n",
          1);
}

static void test_numbers_and_marks(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 515, "48", U(QUEUE), U(3));
    event_add(list, 11, 1, 515, "48", U(QUEUE), U((uint64_t)-2));
    event_add(list, 12, 0, 514, "4", U(PARSE));
    event_add(list, 13, 0, 528, "48", U(LEX), U(5));
    event_add(list, 14, 1, 19, "s", "hello");
    event_add(list, 15, -1, 58, "s", "phase two");
    event_add(list, 16, 0, 527, "884", U(12), U(300), U(1));
    event_add(list, 17, 0, 49, "48", U(0), U(1000));
    event_add(list, 18, 1, 49, "48", U(0), U(1500)); /* of the whole program, whoever says it */
    event_add(list, 19, 0, 50, "48", U(0), U(4096));
    event_add(list, 20, 0, 51, "48", U(0), U(512));
    event_add(list, 21, 0, 529, "48", U(QUEUE), U(0x4004000000000000)); /* 2.5 */
    event_add(list, 22, 0, 529, "48", U(QUEUE), U(0x7FF8000000000000)); /* not a number: no value */
    event_add(list, 23, 1, 530, "48", U(LEX), U(0x3FF8000000000000));
    event_add(list, 24, 1, 640, "z8", "/index", U(200)); /* declared by the program */
    event_add(list, 25, 0, 895, "");
    check(list,
          "+ counter \"queue\"\ncounter \"queue\" = 3 @10\ncounter \"queue\" = -2 @11\n"
          "! " T1 " parse @12\n! " T1 " lex @13\n! " T2 " hello @14\n"
          "! process \"prog\" phase two @15\n! process \"prog\" missing events @16\n"
          "+ counter \"missing events\"\ncounter \"missing events\" = 12 @16\n"
          "+ heap \"allocated\"\nheap \"allocated\" = 1000 @17\nheap \"allocated\" = 1500 @18\n"
          "+ heap \"heap size\"\nheap \"heap size\" = 4096 @19\n"
          "+ heap \"live\"\nheap \"live\" = 512 @20\n"
          "counter \"queue\" = 2.5 @21\n! " T2 " lex @23\n"
          "! " T2 " request @24\n! " T1 " request @25\n",
          0);
}

static void test_asynchronous(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 523, "48", U(QUEUE), U(100));
    event_add(list, 11, 0, 523, "48", U(QUEUE), U(101));
    event_add(list, 12, 1, 524, "48", U(QUEUE), U(100)); /* ends on the other thread */
    event_add(list, 13, 0, 523, "48", U(QUEUE), U(102)); /* the lowest free row again */
    event_add(list, 14, 0, 523, "48", U(QUEUE), U(102)); /* twice */
    event_add(list, 15, 0, 524, "48", U(QUEUE), U(101));
    event_add(list, 16, 0, 524, "48", U(QUEUE), U(102));
    event_add(list, 17, 0, 524, "48", U(LEX), U(102)); /* never begun */
    check(list,
          "+ asynchronous \"queue\"\n+ asynchronous \"queue\"\n"
          "asynchronous \"queue\":0 queue 10-12\nasynchronous \"queue\":0 queue 11-15\n"
          "asynchronous \"queue\":0 queue 13-16\n",
          2);
}

static void test_allocation_samples(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 516, "4888", U(SITE), U(0x1000), U(16), U(512));
    event_add(list, 11, 0, 516, "4888", U(SITE), U(0x2000), U(16), U(256));
    event_add(list, 12, 1, 517, "8", U(0x1000));
    event_add(list, 13, 1, 517, "8", U(0x1000)); /* twice */
    check(list,
          "+ heap \"sampled, allocated\"\nheap \"sampled, allocated\" = 512 @10\n"
          "+ heap \"cache\"\nheap \"cache\" = 512 @10\n"
          "+ heap \"sampled, live\"\nheap \"sampled, live\" = 512 @10\n"
          "heap \"sampled, allocated\" = 768 @11\nheap \"cache\" = 768 @11\n"
          "heap \"sampled, live\" = 768 @11\n"
          "heap \"cache\" = 256 @12\nheap \"sampled, live\" = 256 @12\n",
          1);
}

static void test_lanes_used_again(void)
{
    struct event_list *list = begin_program();
    event_add(list, 5, 0, 44, "4s", U(1), "worker");
    event_add(list, 10, 0, 512, "4", U(PARSE));
    event_add(list, 20, 0, 2, "424", U(1), U(5), U(0)); /* ends with a span open */
    event_add(list, 20, -1, 57, "8", U(1000));
    event_add(list, 20, -1, 47, "2", U(0));
    event_add(list, 30, -1, 48, "2", U(0));
    event_add(list, 30, -1, 55, "828", U(1002), U(0), U(1002));
    event_add(list, 31, 0, 0, "4", U(3));
    event_add(list, 31, 0, 1, "4", U(3));
    event_add(list, 32, 0, 512, "4", U(LEX));
    event_add(list, 33, 0, 513, "4", U(LEX));
    check(list,
          "thread \"worker\":0 parse 10-20\n+ thread 3\nthread \"thread 3 (1002)\":0 lex 32-33\n",
          0);
}

static void test_own_scheduler(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 0, "4", U(9));
    event_add(list, 11, 0, 512, "4", U(PARSE)); /* spans are the real thread's */
    event_add(list, 12, 0, 1, "4", U(9));
    event_add(list, 15, 0, 2, "424", U(9), U(7), U(0));
    event_add(list, 16, 1, 3, "4", U(9));
    event_add(list, 17, 1, 1, "4", U(9));
    event_add(list, 18, 1, 2, "424", U(9), U(5), U(0));
    event_add(list, 19, 0, 513, "4", U(PARSE));
    check(
        list,
        "+ thread 9\nthread 9:0 created 10-12\nthread 9:0 running 12-15\n"
        "thread 9:0 blocked on MVar 15-16\nthread 9:0 runnable 16-17\nthread 9:0 running 17-18\n" T1
        ":0 parse 11-19\n",
        0);
}

/* A client that connects later is told of the threads in the global buffer. */
static void test_replay(void)
{
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    event_add(list, 0, -1, 30, "4z", U(0), "prog");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    event_add(list, 3, -1, 0, "4", U(1));
    event_add(list, 4, -1, 0, "4", U(2));
    event_add(list, 50, -1, 42, "s4", "lex", U(LEX));
    event_add(list, 50, -1, 45, "2", U(0));
    event_add(list, 50, -1, 55, "828", U(1000), U(0), U(1000));
    event_add(list, 50, -1, 44, "4s", U(1), "main");
    event_add(list, 50, -1, 4, "42", U(1), U(0));
    event_add(list, 50, -1, 1, "4", U(1));
    event_add(list, 50, -1, 4, "42", U(2), U(0)); /* of its own scheduler: runs in that lane */
    event_add(list, 50, -1, 1, "4", U(2));
    event_add(list, 60, 0, 512, "4", U(LEX));
    event_add(list, 61, 0, 513, "4", U(LEX));
    event_add(list, 62, 0, 2, "424", U(2), U(5), U(0));
    check(list, "thread \"main\":0 lex 60-61\nthread 2:0 running 50-62\n", 0);
}

static void test_short_payloads(void)
{
    struct event_list *list = begin_program();
    static const uint16_t numbers[] = {0,   1,   2,   3,   4,   45,  55,  512, 513,
                                       514, 515, 516, 517, 518, 519, 520, 521, 522,
                                       523, 524, 525, 526, 527, 528, 529, 530};
    for (unsigned i = 0; i < G_N_ELEMENTS(numbers); i++)
        event_add(list, 10 + i, 0, numbers[i], "1", U(1));
    event_add(list, 100, 0, 60000, "1", U(1)); /* not known: no matter */
    check(list, "", G_N_ELEMENTS(numbers));
}

static void test_time_goes_back(void)
{
    struct event_list *list = begin_program();
    event_add(list, 20, 0, 512, "4", U(PARSE));
    event_add(list, 15, 0, 512, "4", U(LEX));
    event_add(list, 12, 0, 513, "4", U(LEX));
    event_add(list, 11, 0, 513, "4", U(PARSE));
    check(list, T1 ":1 lex 20-20\n" T1 ":0 parse 20-20\n", 0);
}

static void test_depth_is_limited(void)
{
    enum { DEEP = 10000 };
    struct event_list *list = begin_program();
    for (unsigned i = 0; i < DEEP; i++)
        event_add(list, 10 + i, 0, 512, "4", U(PARSE));
    struct fm_trace *trace = event_list_trace(list);
    struct fm_state *state = read_state(trace, NULL);
    const struct fm_lane *lane = fm_state_find_lane(state, FM_LANE_THREAD, 1);
    g_assert_cmpuint(lane->depth, ==, FM_STATE_DEPTH_MAX);
    g_assert_cmpuint(lane->hidden, ==, DEEP - FM_STATE_DEPTH_MAX);
    g_assert_cmpuint(fm_state_hidden(state), ==, DEEP - FM_STATE_DEPTH_MAX);
    fm_state_free(state);
    for (unsigned i = 0; i < DEEP; i++)
        event_add(list, 20000 + i, 0, 513, "4", U(PARSE));
    fm_trace_free(trace);
    trace = event_list_trace(list);
    state = read_state(trace, NULL);
    lane = fm_state_find_lane(state, FM_LANE_THREAD, 1);
    g_assert_cmpuint(lane->depth, ==, 0);
    g_assert_cmpuint(lane->hidden, ==, 0);
    g_assert_cmpuint(fm_state_inconsistent(state), ==, 0);
    fm_state_free(state);
    fm_trace_free(trace);
    event_list_free(list);
}

static void test_a_million_lanes(void)
{
    enum { LANES = 1000000 };
    struct event_list *list = begin_program();
    for (unsigned i = 0; i < LANES; i++)
        event_add(list, 10 + i, 0, 519, "8", U(16 + i));
    for (unsigned i = 0; i < LANES; i++)
        event_add(list, 10 + LANES + i, 0, 520, "8", U(16 + i));
    struct fm_trace *trace = event_list_trace(list);
    struct fm_state *state = read_state(trace, NULL);
    g_assert_cmpuint(fm_state_lane_count(state), ==, LANES + 3);
    for (unsigned i = 0; i < LANES; i += 1000) {
        const struct fm_lane *lane = fm_state_find_lane(state, FM_LANE_LOCK, 16 + i);
        g_assert_nonnull(lane);
        g_assert_cmpuint(lane->key, ==, 16 + i);
        g_assert_cmpuint(lane->depth, ==, 0);
    }
    g_assert_cmpuint(fm_state_inconsistent(state), ==, 0);
    fm_state_free(state);
    fm_trace_free(trace);
    event_list_free(list);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/state/c/spans nest", test_spans_nest);
    g_test_add_func("/state/c/spans unmatched", test_spans_unmatched);
    g_test_add_func("/state/c/functions share the stack", test_functions_share_the_stack);
    g_test_add_func("/state/c/names unknown", test_names_unknown);
    g_test_add_func("/state/c/locks", test_locks);
    g_test_add_func("/state/c/locks shared", test_locks_shared);
    g_test_add_func("/state/c/numbers and marks", test_numbers_and_marks);
    g_test_add_func("/state/c/asynchronous", test_asynchronous);
    g_test_add_func("/state/c/allocation samples", test_allocation_samples);
    g_test_add_func("/state/c/lanes used again", test_lanes_used_again);
    g_test_add_func("/state/c/own scheduler", test_own_scheduler);
    g_test_add_func("/state/c/replay", test_replay);
    g_test_add_func("/state/c/short payloads", test_short_payloads);
    g_test_add_func("/state/c/time goes back", test_time_goes_back);
    g_test_add_func("/state/c/depth is limited", test_depth_is_limited);
    g_test_add_func("/state/c/a million lanes", test_a_million_lanes);
    return g_test_run();
}

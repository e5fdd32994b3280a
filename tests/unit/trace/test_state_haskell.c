/* SPDX-License-Identifier: Apache-2.0 */
/* States of Haskell programs: every transition by what the observers are told. */
#include "event_trace.h"

#define U(x) ((uint64_t)(x))
#define PROCESS "+ process \"main\"\n"
#define CAPABILITIES "+ capability 0\n+ capability 1\n"

static struct event_list *begin_program(void)
{
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "GHC-9.0.2 rts_thr_l");
    event_add(list, 0, -1, 30, "4z", U(0), "./main");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    event_add(list, 1, -1, 45, "2", U(0));
    event_add(list, 1, -1, 45, "2", U(1));
    return list;
}

static void check(struct event_list *list, const char *lines, uint64_t inconsistent)
{
    struct fm_trace *trace = event_list_trace(list);
    struct recorder recorder;
    recorder_init(&recorder, trace);
    struct fm_state *state = read_state(trace, &recorder);
    char *expected = g_strconcat(PROCESS CAPABILITIES, lines, NULL);
    g_assert_cmpstr(recorder.lines->str, ==, expected);
    g_assert_cmpuint(fm_state_inconsistent(state), ==, inconsistent);
    g_free(expected);
    fm_state_free(state);
    recorder_clear(&recorder);
    fm_trace_free(trace);
    event_list_free(list);
}

static void test_thread_life(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 0, "4", U(5));
    event_add(list, 11, 0, 44, "4s", U(5), "worker");
    event_add(list, 12, 0, 1, "4", U(5));
    event_add(list, 15, 0, 2, "424", U(5), U(3), U(0));
    event_add(list, 16, 0, 1, "4", U(5));
    event_add(list, 18, 0, 2, "424", U(5), U(7), U(0));
    event_add(list, 20, 0, 3, "4", U(5));
    event_add(list, 21, 0, 1, "4", U(5));
    event_add(list, 25, 0, 2, "424", U(5), U(6), U(0));
    event_add(list, 26, 0, 1, "4", U(5));
    event_add(list, 30, 0, 2, "424", U(5), U(5), U(0));
    event_add(list, 31, 0, 0, "4", U(5)); /* the number again: another thread */
    event_add(list, 32, 0, 1, "4", U(5));
    check(list,
          "+ thread 5\nthread \"worker\":0 created 10-12\ncapability 0:0 idle 1-12\n"
          "capability 0:0 running 12-15\nthread \"worker\":0 running 12-15\n"
          "thread \"worker\":0 yield 15-16\ncapability 0:0 idle 15-16\n"
          "capability 0:0 running 16-18\nthread \"worker\":0 running 16-18\n"
          "thread \"worker\":0 blocked on MVar 18-20\n"
          "thread \"worker\":0 runnable 20-21\ncapability 0:0 idle 18-21\n"
          "capability 0:0 running 21-25\nthread \"worker\":0 running 21-25\n"
          "thread \"worker\":0 foreign call 25-26\ncapability 0:0 idle 25-26\n"
          "capability 0:0 running 26-30\nthread \"worker\":0 running 26-30\n"
          "+ thread 5\nthread 5:0 created 31-32\ncapability 0:0 idle 30-32\n",
          0);
}

/* What a thread does in a foreign call is not recorded: it does not count as work. */
static void test_foreign_call(void)
{
    static const uint64_t statuses[] = {6, 14, 15};
    for (unsigned i = 0; i < G_N_ELEMENTS(statuses); i++) {
        struct event_list *list = begin_program();
        event_add(list, 10, 0, 0, "4", U(5));
        event_add(list, 10, 0, 1, "4", U(5));
        event_add(list, 25, 0, 2, "424", U(5), statuses[i], U(0));
        struct fm_trace *trace = event_list_trace(list);
        struct fm_state *state = read_state(trace, NULL);
        const struct fm_lane *thread = fm_state_lane_find(state, FM_LANE_THREAD, 5);
        g_assert_cmpuint(thread->depth, ==, 1);
        g_assert_cmpint(fm_trace_value_class(trace, thread->stack[0].value), ==, FM_STATE_WAITING);
        fm_state_free(state);
        fm_trace_free(trace);
        event_list_free(list);
    }
}

static void test_migration_and_wakeup(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 0, "4", U(1));
    event_add(list, 10, 0, 1, "4", U(1));
    event_add(list, 11, 0, 0, "4", U(2));
    event_add(list, 12, 0, 4, "42", U(2), U(1));
    event_add(list, 14, 1, 1, "4", U(2));
    event_add(list, 15, 1, 2, "424", U(2), U(12), U(0));
    event_add(list, 16, 0, 8, "42", U(2), U(1));
    event_add(list, 18, 1, 1, "4", U(2));
    check(list,
          "+ thread 1\nthread 1:0 created 10-10\ncapability 0:0 idle 1-10\n+ thread 2\n"
          "capability 0 @12 -> capability 1 @14\n"
          "thread 2:0 created 11-14\ncapability 1:0 idle 1-14\n"
          "capability 1:0 running 14-15\nthread 2:0 running 14-15\n"
          "thread 2:0 blocked on STM 15-16\nthread 1 @16 -> thread 2 @16\n"
          "thread 2:0 runnable 16-18\ncapability 1:0 idle 15-18\n",
          0);
}

static void test_collection(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 1, 12, "");
    event_add(list, 11, 0, 9, "");
    event_add(list, 12, 1, 9, "");
    event_add(list, 13, 1, 21, "");
    event_add(list, 15, 1, 20, "");
    event_add(list, 16, 1, 22, "");
    event_add(list, 18, 1, 10, "");
    event_add(list, 18, 1, 54, "");
    event_add(list, 19, 1, 53, "428884888", U(0), U(1), U(100), U(20), U(30), U(2), U(40), U(100),
              U(5));
    event_add(list, 20, 0, 10, "");
    check(list,
          "! capability 1 parallel collection asked for @10\n+ collector \"collector\"\n"
          "capability 0:0 idle 1-11\ncapability 1:0 idle 1-12\n"
          "capability 1:1 GC work 13-15\ncapability 1:1 GC idle 15-16\n"
          /* The pause is that of the capability that asked; the other one tells of its end late. */
          "capability 0:0 collection 11-18\ncapability 1:1 GC done 16-18\ncapability 1:0 "
          "collection 12-18\n"
          "! capability 1 all capabilities stopped @18\n"
          "! collector \"collector\" generation 1 @19\n"
          "+ heap \"copied\"\nheap \"copied\" = 100 @19\n+ heap \"slop\"\nheap \"slop\" = 20 @19\n"
          "+ heap \"fragmentation\"\nheap \"fragmentation\" = 30 @19\n"
          "collector \"collector\":1 generation 1 12-18\n"
          "collector \"collector\":0 collection 12-18\n",
          0);
}

/* Statistics before the end, as newer run-time systems write them; a capability that sleeps through
 * a collection and tells of its end in the next one; one that is asked for and comes to nothing. */
static void test_pauses(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 11, "");
    event_add(list, 11, 1, 9, "");
    event_add(list, 12, 0, 9, "");
    event_add(list, 19, 0, 53, "428884888", U(0), U(0), U(1), U(2), U(3), U(2), U(0), U(1), U(1));
    event_add(list, 20, 0, 10, "");
    event_add(list, 25, 1, 22, "");
    event_add(list, 30, 0, 12, "");
    event_add(list, 31, 0, 1, "4", U(1));
    event_add(list, 40, 1, 9, "");
    event_add(list, 50, 1, 10, "");
    event_add(list, 60, 0, 12, "");
    check(
        list,
        "! capability 0 sequential collection asked for @10\n+ collector \"collector\"\n"
        "capability 1:0 idle 1-11\ncapability 0:0 idle 1-12\n"
        "! collector \"collector\" generation 0 @19\n"
        "+ heap \"copied\"\nheap \"copied\" = 1 @19\n+ heap \"slop\"\nheap \"slop\" = 2 @19\n"
        "+ heap \"fragmentation\"\nheap \"fragmentation\" = 3 @19\n"
        "collector \"collector\":1 generation 0 12-20\ncollector \"collector\":0 collection 12-20\n"
        "capability 1:0 collection 11-20\ncapability 0:0 collection 12-20\n"
        "! capability 0 parallel collection asked for @30\n+ thread 1\n"
        "capability 0:0 idle 20-31\ncapability 1:0 idle 20-40\n"
        "capability 1:0 collection 40-50\n"
        "collector \"collector\":0 collection 40-50\n"
        "! capability 0 parallel collection asked for @60\n",
        0);
}

static void test_capabilities(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, -1, 47, "2", U(1));
    event_add(list, 20, -1, 48, "2", U(1));
    event_add(list, 30, -1, 46, "2", U(1));
    event_add(list, 40, -1, 45, "2", U(1)); /* another one of that number */
    event_add(list, 50, -1, 46, "2", U(1));
    check(list,
          "capability 1:0 idle 1-10\ncapability 1:0 disabled 10-20\ncapability 1:0 idle 20-30\n"
          "+ capability 1\ncapability 1:0 idle 40-50\n",
          0);
}

static void test_tasks(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, -1, 55, "828", U(0xabc), U(0), U(4711));
    event_add(list, 20, -1, 56, "822", U(0xabc), U(0), U(1));
    event_add(list, 30, -1, 57, "8", U(0xabc));
    event_add(list, 31, -1, 55, "828", U(0xabc), U(1), U(4712)); /* the id is used again */
    event_add(list, 40, -1, 57, "8", U(0xabc));
    event_add(list, 41, -1, 57, "8", U(0xdef));
    check(list,
          "+ task \"task 1 (thread 4711)\"\ntask \"task 1 (thread 4711)\":0 serving 10-20\n"
          "task \"task 1 (thread 4711)\":0 serving 20-30\n"
          "+ task \"task 2 (thread 4712)\"\ntask \"task 2 (thread 4712)\":0 serving 31-40\n",
          1);
}

static void test_sparks(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 34, "8888888", U(5), U(1), U(0), U(2), U(0), U(1), U(1));
    event_add(list, 11, 1, 34, "8888888", U(7), U(0), U(0), U(2), U(0), U(1), U(4));
    event_add(list, 12, 0, 34, "8888888", U(6), U(1), U(0), U(3), U(0), U(1), U(1));
    event_add(list, 13, 0, 35, "");
    event_add(list, 14, 1, 39, "2", U(0));
    event_add(list, 15, 0, 40, "");
    check(list,
          "+ sparks \"sparks created\"\nsparks \"sparks created\" = 5 @10\n"
          "+ sparks \"sparks dud\"\nsparks \"sparks dud\" = 1 @10\n"
          "+ sparks \"sparks overflowed\"\nsparks \"sparks overflowed\" = 0 @10\n"
          "+ sparks \"sparks converted\"\nsparks \"sparks converted\" = 2 @10\n"
          "+ sparks \"sparks collected\"\nsparks \"sparks collected\" = 0 @10\n"
          "+ sparks \"sparks fizzled\"\nsparks \"sparks fizzled\" = 1 @10\n"
          "+ sparks \"sparks remaining\"\nsparks \"sparks remaining\" = 1 @10\n"
          "+ sparks \"spark pool 0\"\nsparks \"spark pool 0\" = 1 @10\n"
          "sparks \"sparks created\" = 12 @11\nsparks \"sparks converted\" = 4 @11\n"
          "sparks \"sparks fizzled\" = 2 @11\nsparks \"sparks remaining\" = 5 @11\n"
          "+ sparks \"spark pool 1\"\nsparks \"spark pool 1\" = 4 @11\n"
          "sparks \"sparks created\" = 13 @12\nsparks \"sparks converted\" = 5 @12\n"
          "! sparks \"spark pool 0\" spark created @13\n"
          "! sparks \"spark pool 1\" spark stolen @14\ncapability 0 @14 -> capability 1 @14\n"
          "! sparks \"spark pool 0\" spark fizzled @15\n",
          0);
}

static void test_heap_profile(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 49, "48", U(0), U(100));
    event_add(list, 11, 1, 49, "48", U(0), U(50)); /* each capability for itself */
    event_add(list, 20, -1, 162, "8", U(0));
    event_add(list, 20, -1, 164, "18z", U(0), U(64), "THUNK");
    event_add(list, 20, -1, 164, "18z", U(0), U(32), "FUN");
    event_add(list, 20, -1, 165, "8", U(0));
    event_add(list, 30, -1, 162, "8", U(0));
    event_add(list, 30, -1, 164, "18z", U(0), U(16), "FUN");
    event_add(list, 30, -1, 164, "18z", U(0), U(8), "FUN"); /* in two parts */
    event_add(list, 31, -1, 162, "8", U(0)); /* the end is missing: older producers */
    event_add(list, 32, -1, 165, "8", U(0));
    check(list,
          "+ heap \"allocated\"\nheap \"allocated\" = 100 @10\nheap \"allocated\" = 150 @11\n"
          "+ heap \"THUNK\"\nheap \"THUNK\" = 64 @20\n+ heap \"FUN\"\nheap \"FUN\" = 32 @20\n"
          "heap \"FUN\" = 16 @30\nheap \"FUN\" = 24 @30\nheap \"THUNK\" = 0 @31\n"
          "heap \"FUN\" = 0 @32\n",
          0);
}

static void test_cost_centres(void)
{
    struct event_list *list = begin_program();
    event_add(list, 5, -1, 161, "4zzz1", U(7), "sum", "Main", "Main.hs:3", U(0));
    event_add(list, 5, -1, 161, "4zzz1", U(8), "main", "Main", "Main.hs:9", U(1));
    event_add(list, 20, -1, 162, "8", U(0));
    event_add(list, 20, -1, 163, "18144", U(0), U(640), U(2), U(7), U(8));
    event_add(list, 20, -1, 163, "181", U(0), U(3), U(0));        /* depth 0: the main stack */
    event_add(list, 20, -1, 163, "1814", U(0), U(3), U(2), U(7)); /* its stack is cut */
    event_add(list, 20, -1, 165, "8", U(0));
    event_add(list, 21, -1, 167, "48144", U(1), U(1), U(2), U(7), U(9));
    check(list,
          "+ heap \"Main.sum < Main.main\"\nheap \"Main.sum < Main.main\" = 640 @20\n"
          "+ heap \"MAIN\"\nheap \"MAIN\" = 3 @20\n"
          "! capability 1 Main.sum < cost centre 9 @21\n",
          1);
}

static void test_non_moving_collector(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 200, "");
    event_add(list, 11, 0, 202, "");
    event_add(list, 12, 0, 203, "");
    event_add(list, 13, 0, 201, "4", U(9));
    event_add(list, 14, 0, 204, "");
    event_add(list, 15, 0, 205, "");
    check(list,
          "+ collector \"non-moving collector\"\n"
          "collector \"non-moving collector\":1 concurrent sync 11-12\n"
          "collector \"non-moving collector\":0 concurrent mark 10-13\n"
          "collector \"non-moving collector\":0 concurrent sweep 14-15\n",
          0);
}

static void test_messages(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 19, "s", "no thread");
    event_add(list, 11, 0, 0, "4", U(1));
    event_add(list, 12, 0, 1, "4", U(1));
    event_add(list, 13, 0, 19, "s", "");
    event_add(list, 14, 0, 58, "s", "phase \xff two");
    event_add(list, 15, 0, 181, "4", U(0));
    check(list,
          "! capability 0 no thread @10\n+ thread 1\nthread 1:0 created 11-12\n"
          "capability 0:0 idle 1-12\n! thread 1  @13\n! thread 1 phase \xef\xbf\xbd two @14\n"
          "! thread 1 message @15\n",
          0);
}

static void test_missing_ends(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 1, "4", U(1));               /* never created */
    event_add(list, 20, 0, 1, "4", U(2));               /* 1 never stopped */
    event_add(list, 25, 0, 2, "424", U(3), U(5), U(0)); /* not known */
    event_add(list, 26, 0, 10, "");                     /* no collection */
    event_add(list, 27, 0, 21, "");
    event_add(list, 30, 0, 9, "");
    event_add(list, 31, 0, 9, "");                       /* begins twice */
    event_add(list, 40, 0, 1, "4", U(2));                /* and never ends */
    event_add(list, 50, 1, 2, "424", U(2), U(99), U(0)); /* stops where it does not run */
    check(list,
          "+ thread 1\ncapability 0:0 idle 1-10\n+ thread 2\nthread 1:0 running 10-20\n"
          "capability 0:0 running 10-20\n+ collector \"collector\"\n"
          "capability 0:0 running 20-30\ncapability 0:0 collection 30-31\n"
          "collector \"collector\":0 collection 30-40\nthread 2:0 running 20-40\n"
          "capability 0:0 collection 31-40\nthread 2:0 running 40-50\n",
          7);
}

/* Reading begins in the middle: what ends must have begun before. */
static void test_from_the_middle(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 0, "4", U(1));
    event_add(list, 11, 0, 1, "4", U(1));
    event_add(list, 30, 0, 2, "424", U(1), U(3), U(0));
    struct fm_trace *trace = event_list_trace(list);
    struct recorder recorder;
    recorder_init(&recorder, trace);
    struct fm_state *state = fm_state_new(trace);
    fm_state_add_observer(state, &recorder.observer);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    fm_state_clear(state, 20);
    g_assert_cmpuint(fm_trace_each_event(trace, 20, FM_TIME_INF, hooks), ==, 1);
    g_assert_cmpstr(recorder.lines->str, ==,
                    "+ thread 1\n+ capability 0\n"
                    "capability 0:0 running 20-30\nthread 1:0 running 20-30\n");
    g_assert_false(fm_state_is_complete(state));
    g_assert_cmpuint(fm_state_origin(state), ==, 20);
    fm_state_free(state);
    recorder_clear(&recorder);
    fm_trace_free(trace);
    event_list_free(list);
}

static void test_flush(void)
{
    struct event_list *list = begin_program();
    event_add(list, 10, 0, 9, "");
    event_add(list, 12, 0, 21, "");
    struct fm_trace *trace = event_list_trace(list);
    struct recorder recorder;
    recorder_init(&recorder, trace);
    struct fm_state *state = read_state(trace, NULL);
    fm_state_flush(state, 40, &recorder.observer);
    g_assert_cmpstr(recorder.lines->str, ==,
                    "capability 0:1 GC work 12-40\ncapability 0:0 collection 10-40\n"
                    "capability 1:0 idle 1-40\ncollector \"collector\":0 collection 10-40\n");
    fm_state_free(state);
    recorder_clear(&recorder);
    fm_trace_free(trace);
    event_list_free(list);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/state/haskell/thread life", test_thread_life);
    g_test_add_func("/haskell/foreign calls", test_foreign_call);
    g_test_add_func("/state/haskell/migration and wakeup", test_migration_and_wakeup);
    g_test_add_func("/state/haskell/collection", test_collection);
    g_test_add_func("/state/haskell/pauses", test_pauses);
    g_test_add_func("/state/haskell/capabilities", test_capabilities);
    g_test_add_func("/state/haskell/tasks", test_tasks);
    g_test_add_func("/state/haskell/sparks", test_sparks);
    g_test_add_func("/state/haskell/heap profile", test_heap_profile);
    g_test_add_func("/state/haskell/cost centres", test_cost_centres);
    g_test_add_func("/state/haskell/non-moving collector", test_non_moving_collector);
    g_test_add_func("/state/haskell/messages", test_messages);
    g_test_add_func("/state/haskell/missing ends", test_missing_ends);
    g_test_add_func("/state/haskell/from the middle", test_from_the_middle);
    g_test_add_func("/state/haskell/flush", test_flush);
    return g_test_run();
}

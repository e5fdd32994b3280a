/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/statistics/statistics_internal.h"

#include "event_trace.h"
#include "trace/format/open.h"

#define U(x) ((uint64_t)(x))
enum { PARSE = 1, LEX = 2, QUEUE = 3 };

/* Thread 1 in lane 0: parse 10-50 with lex 12-20 and 22-25 in it, then lex 60-; a counter. */
static struct event_list *make_program(void)
{
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    event_add(list, 0, -1, 32, "44", U(0), U(77));
    event_add(list, 0, -1, 42, "s4", "parse", U(PARSE));
    event_add(list, 0, -1, 42, "s4", "lex", U(LEX));
    event_add(list, 0, -1, 42, "s4", "queue", U(QUEUE));
    event_add(list, 1, 0, 0, "4", U(1));
    event_add(list, 1, 0, 1, "4", U(1));
    event_add(list, 2, 0, 44, "4s", U(1), "worker");
    event_add(list, 10, 0, 512, "4", U(PARSE));
    event_add(list, 12, 0, 512, "4", U(LEX));
    event_add(list, 20, 0, 513, "4", U(LEX));
    event_add(list, 22, 0, 512, "4", U(LEX));
    event_add(list, 23, 0, 514, "4", U(QUEUE));
    event_add(list, 25, 0, 513, "4", U(LEX));
    event_add(list, 30, 0, 515, "48", U(QUEUE), U(4));
    event_add(list, 40, 0, 515, "48", U(QUEUE), U(1));
    event_add(list, 50, 0, 513, "4", U(PARSE));
    event_add(list, 60, 0, 512, "4", U(LEX));
    event_add(list, 70, 0, 515, "48", U(QUEUE), U(9));
    event_add(list, 80, 0, 19, "s", "bye");
    return list;
}

struct run {
    struct fm_trace *trace;
    struct fm_state *state;
    struct fm_statistics *statistics;
};

static void run_with(struct run *run, struct fm_trace *trace, uint64_t start, uint64_t end,
                     uint32_t nodes_max)
{
    run->trace = trace;
    run->state = fm_state_new(trace);
    run->statistics = fm_statistics_new(run->state);
    run->statistics->nodes_max = nodes_max;
    fm_statistics_set_interval(run->statistics, start, end);
    fm_state_add_observer(run->state, fm_statistics_observer(run->statistics));
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, run->state, FM_HOOK_STATE);
    fm_hooks_add(hooks, fm_statistics_hook, run->statistics, FM_HOOK_DEFAULT);
    fm_trace_each_event(trace, 0, end, hooks);
    fm_state_flush(run->state, MIN(end, trace->end_time), fm_statistics_observer(run->statistics));
}

static void run(struct run *run, struct fm_trace *trace, uint64_t start, uint64_t end)
{
    run_with(run, trace, start, end, NODES_MAX);
}

static void run_end(struct run *run)
{
    fm_statistics_free(run->statistics);
    fm_state_free(run->state);
    fm_trace_free(run->trace);
}

static void assert_node(const struct fm_statistics_node *node, uint64_t count, uint64_t time,
                        uint64_t self_time, uint64_t longest, uint64_t longest_at, uint64_t events)
{
    g_assert_nonnull(node);
    g_assert_cmpuint(node->count, ==, count);
    g_assert_cmpuint(node->time, ==, time);
    g_assert_cmpuint(node->self_time, ==, self_time);
    g_assert_cmpuint(node->longest, ==, longest);
    g_assert_cmpuint(node->longest_at, ==, longest_at);
    g_assert_cmpuint(node->events, ==, events);
}

static void test_tree(void)
{
    struct event_list *list = make_program();
    struct run it;
    run(&it, event_list_trace(list), 0, FM_TIME_INF);
    const struct fm_statistics_node *root = fm_statistics_root(it.statistics);
    const struct fm_statistics_node *lane = fm_statistics_find(root, "thread", "worker", NULL);
    g_assert_nonnull(lane);
    g_assert_cmpuint(lane->count, ==, 2);
    g_assert_cmpuint(lane->time, ==, 60);
    g_assert_cmpuint(lane->all_events, ==, 15);
    const struct fm_statistics_node *parse = fm_statistics_find(lane, "parse", NULL);
    /* its begin, the ends of both lex, two counters */
    assert_node(parse, 1, 40, 29, 40, 10, 5);
    assert_node(fm_statistics_find(parse, "lex", NULL), 2, 11, 11, 8, 12, 3);
    assert_node(fm_statistics_find(lane, "lex", NULL), 1, 20, 20, 20, 60, 3); /* still open */
    g_assert_cmpuint(fm_statistics_find(lane, "marks", "queue", NULL)->count, ==, 1);
    g_assert_cmpuint(fm_statistics_find(lane, "marks", "bye", NULL)->count, ==, 1);
    g_assert_cmpuint(fm_statistics_find(lane, "marks", NULL)->count, ==, 2);
    g_assert_true(g_ptr_array_index(lane->children, 0) == parse); /* most time first */
    g_assert_true(parse->parent == lane);
    const struct fm_statistics_node *types = fm_statistics_find(root, "event types", NULL);
    g_assert_cmpuint(types->count, ==, event_list_count(list));
    g_assert_cmpuint(fm_statistics_find(types, "event 512", NULL)->count, ==, 4);
    g_assert_cmpuint(root->all_events, ==, event_list_count(list));
    const struct fm_statistics_node *counter = fm_statistics_find(root, "counter", "queue", NULL);
    g_assert_cmpuint(counter->numbers, ==, 3);
    g_assert_cmpfloat(counter->least, ==, 1);
    g_assert_cmpfloat(counter->greatest, ==, 9);
    g_assert_cmpfloat(counter->last, ==, 9);
    /* 4 for 10 ns, 1 for 30 ns, 9 for 10 ns */
    g_assert_cmpfloat(counter->mean, ==, (40.0 + 30 + 90) / 50);
    run_end(&it);
    event_list_free(list);
}

/* More lanes than are told apart: the further ones share a node of its own name, and the sums are
 * exact. */
static void assert_same(const struct fm_statistics_node *a, const struct fm_statistics_node *b)
{
    g_assert_cmpstr(a->name, ==, b->name);
    assert_node(a, b->count, b->time, b->self_time, b->longest, b->longest_at, b->events);
    g_assert_cmpuint(a->all_events, ==, b->all_events);
    guint count = a->children == NULL ? 0 : a->children->len;
    g_assert_cmpuint(count, ==, b->children == NULL ? 0 : b->children->len);
    for (guint i = 0; i < count; i++)
        assert_same(g_ptr_array_index(a->children, i), g_ptr_array_index(b->children, i));
}

/* Where there are many nodes an entry's is looked for when the next thing happens on its lane.
 * Asked at any time, it is as if it had been looked for at once. */
static void test_nodes_looked_for_later(void)
{
    for (uint64_t end = 1; end <= 90; end++) {
        struct event_list *list = make_program();
        struct fm_trace *trace = event_list_trace(list);
        struct run runs[2];
        struct fm_hooks *hooks = fm_hooks_new();
        for (unsigned i = 0; i < 2; i++) {
            runs[i] = (struct run){.trace = trace, .state = fm_state_new(trace)};
            runs[i].statistics = fm_statistics_new(runs[i].state);
            runs[i].statistics->ahead_nodes = i == 0 ? 0 : UINT32_MAX;
            fm_state_add_observer(runs[i].state, fm_statistics_observer(runs[i].statistics));
            fm_hooks_add(hooks, fm_state_hook, runs[i].state, FM_HOOK_STATE);
            fm_hooks_add(hooks, fm_statistics_hook, runs[i].statistics, FM_HOOK_DEFAULT);
        }
        fm_trace_each_event(trace, 0, end, hooks);
        for (unsigned asked = 0; asked < 2; asked++) {
            const struct fm_statistics_node *root = fm_statistics_root(runs[0].statistics);
            assert_same(root, fm_statistics_root(runs[1].statistics));
            g_assert_cmpuint(root->all_events, ==, runs[0].statistics->events);
            for (unsigned i = 0; i < 2; i++)
                fm_state_flush(runs[i].state, MIN(end, trace->end_time),
                               fm_statistics_observer(runs[i].statistics));
        }
        for (unsigned i = 0; i < 2; i++) {
            fm_statistics_free(runs[i].statistics);
            fm_state_free(runs[i].state);
        }
        fm_trace_free(trace);
        event_list_free(list);
    }
}

static void test_many_lanes(void)
{
    enum { TOLD_APART = 65536, MORE = 50, LANES = TOLD_APART + MORE, SPAN = 10 };
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    event_add(list, 0, -1, 42, "s4", "parse", U(PARSE));
    for (uint64_t i = 1; i <= LANES; i++) {
        event_add(list, 100 * i, 0, 0, "4", i);
        event_add(list, 100 * i, 0, 1, "4", i);
        event_add(list, 100 * i, 0, 44, "4s", i, i == 1 ? "first" : "worker");
        event_add(list, 100 * i, 0, 512, "4", U(PARSE));
        event_add(list, 100 * i + SPAN, 0, 513, "4", U(PARSE));
        event_add(list, 100 * i + SPAN, 0, 2, "424", i, U(5), U(0)); /* its lane is free again */
    }
    struct run it;
    run(&it, event_list_trace(list), 0, FM_TIME_INF);
    const struct fm_statistics_node *root = fm_statistics_root(it.statistics);
    const struct fm_statistics_node *threads = fm_statistics_find(root, "thread", NULL);
    uint64_t time = 0, events = 0;
    g_assert_cmpuint(threads->children->len, ==, TOLD_APART + 1);
    for (guint i = 0; i < threads->children->len; i++) {
        const struct fm_statistics_node *lane = g_ptr_array_index(threads->children, i);
        bool others = g_str_equal(lane->name, "others");
        const struct fm_statistics_node *parse = fm_statistics_find(lane, "parse", NULL);
        g_assert_cmpuint(parse->time, ==, others ? MORE * SPAN : SPAN);
        time += parse->time;
        events += lane->all_events;
    }
    g_assert_cmpuint(time, ==, LANES * SPAN);
    g_assert_cmpuint(events, ==, 6 * LANES);
    const struct fm_statistics_node *others = fm_statistics_find(threads, "others", NULL);
    assert_node(fm_statistics_find(others, "parse", NULL), MORE, MORE * SPAN, MORE * SPAN, SPAN,
                100 * (TOLD_APART + 1), MORE);
    run_end(&it);
    event_list_free(list);
}

/* More states than have entries of their own: what each lane spent in them, and how often, is
 * whole. */
static void test_many_states(void)
{
    enum { STATES = 40, ROUNDS = 3 };
    struct event_list *list = event_list_new();
    event_add(list, 0, -1, 29, "4s", U(0), "fathom-0.1.0 C event log");
    for (uint64_t i = 1; i <= STATES; i++) {
        g_autofree char *name = g_strdup_printf("state %" G_GUINT64_FORMAT, i);
        event_add(list, 0, -1, 42, "s4", name, i);
    }
    event_add(list, 1, 0, 0, "4", U(1));
    event_add(list, 1, 0, 1, "4", U(1));
    uint64_t time = 10, spent = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 1; i <= STATES; i++) {
            event_add(list, time, 0, 512, "4", i);
            event_add(list, time + 2, 0, 512, "4", i % STATES + 1);
            event_add(list, time + 5, 0, 513, "4", i % STATES + 1);
            event_add(list, time + 10 + i, 0, 513, "4", i);
            event_add(list, time + 10 + i, 0, 514, "4", i);
            spent += 10 + i;
            time += 100;
        }
    }
    struct run it;
    run_with(&it, event_list_trace(list), 0, FM_TIME_INF, 20);
    const struct fm_statistics_node *root = fm_statistics_root(it.statistics);
    const struct fm_statistics_node *threads = fm_statistics_find(root, "thread", NULL);
    const struct fm_statistics_node *lane = threads->children->pdata[0];
    const struct fm_statistics_node *others = fm_statistics_find(lane, "others", NULL);
    g_assert_nonnull(others);
    g_assert_cmpuint(lane->children->len, <, 22);
    uint64_t count = 0, all = 0, self = 0;
    for (guint i = 0; i < lane->children->len; i++) {
        const struct fm_statistics_node *state = lane->children->pdata[i];
        if (g_str_equal(state->name, "marks")) {
            g_assert_cmpuint(state->count, ==, ROUNDS * STATES);
            continue;
        }
        count += state->count;
        all += state->time;
        self += state->self_time;
        for (guint k = 0; state->children != NULL && k < state->children->len; k++)
            self += ((const struct fm_statistics_node *)state->children->pdata[k])->self_time;
    }
    g_assert_cmpuint(count, ==, ROUNDS * STATES);
    g_assert_cmpuint(all, ==, spent);
    g_assert_cmpuint(self, ==, spent);
    g_assert_cmpuint(lane->time, ==, spent);
    g_assert_cmpuint(threads->time, ==, spent);
    run_end(&it);
    event_list_free(list);
}

static void test_interval(void)
{
    struct event_list *list = make_program();
    struct run it;
    run(&it, event_list_trace(list), 15, 45);
    const struct fm_statistics_node *root = fm_statistics_root(it.statistics);
    const struct fm_statistics_node *lane = fm_statistics_find(root, "thread", "worker", NULL);
    const struct fm_statistics_node *parse = fm_statistics_find(lane, "parse", NULL);
    assert_node(parse, 1, 30, 22, 30, 15, 4);
    assert_node(fm_statistics_find(parse, "lex", NULL), 2, 8, 8, 5, 15, 2);
    g_assert_null(fm_statistics_find(lane, "lex", NULL));
    g_assert_cmpuint(root->all_events, ==, 6);
    const struct fm_statistics_node *counter = fm_statistics_find(root, "counter", "queue", NULL);
    g_assert_cmpuint(counter->numbers, ==, 2);
    g_assert_cmpfloat(counter->greatest, ==, 4);
    run_end(&it);
    event_list_free(list);
}

/* A counter keeps the value it had when the interval begins. */
static void test_interval_of_counter(void)
{
    struct event_list *list = make_program();
    struct run it;
    run(&it, event_list_trace(list), 35, 75);
    const struct fm_statistics_node *counter =
        fm_statistics_find(fm_statistics_root(it.statistics), "counter", "queue", NULL);
    g_assert_cmpuint(counter->numbers, ==, 3);
    g_assert_cmpfloat(counter->greatest, ==, 9);
    g_assert_cmpfloat(counter->mean, ==, (4 * 5 + 1 * 30) / 35.0);
    run_end(&it);
    event_list_free(list);
}

static void test_sum(void)
{
    struct event_list *list = make_program();
    struct run a, b;
    run(&a, event_list_trace(list), 0, FM_TIME_INF);
    run(&b, event_list_trace(list), 0, FM_TIME_INF);
    fm_statistics_add(a.statistics, b.statistics);
    run_end(&b);
    const struct fm_statistics_node *root = fm_statistics_root(a.statistics);
    g_assert_cmpuint(root->all_events, ==, 2 * event_list_count(list));
    const struct fm_statistics_node *lane = fm_statistics_find(root, "thread", "worker", NULL);
    g_assert_cmpuint(lane->time, ==, 120);
    assert_node(fm_statistics_find(lane, "parse", NULL), 2, 80, 58, 40, 10, 10);
    g_assert_cmpuint(fm_statistics_find(root, "event types", "event 513", NULL)->count, ==, 6);
    run_end(&a);
    event_list_free(list);
}

static uint64_t sum_events(const struct fm_statistics_node *node)
{
    uint64_t sum = node->events;
    for (guint i = 0; node->children != NULL && i < node->children->len; i++)
        sum += sum_events(g_ptr_array_index(node->children, i));
    g_assert_cmpuint(sum, ==, node->all_events);
    return sum;
}

/* Time = self + children; nothing longer than the trace. */
static void check_times(const struct fm_statistics_node *node, uint64_t length, unsigned level)
{
    uint64_t below = 0;
    for (guint i = 0; node->children != NULL && i < node->children->len; i++) {
        const struct fm_statistics_node *child = g_ptr_array_index(node->children, i);
        check_times(child, length, level + 1);
        below += child->time;
    }
    if (level >= 2)
        g_assert_cmpuint(node->time, <=, length);
    g_assert_cmpuint(node->self_time + below, ==, node->time);
    g_assert_cmpuint(node->longest, <=, MAX(node->time, 1));
}

static void check_sample(const char *name, uint64_t events)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    char *path = g_build_filename(folder, "eventlog", name, NULL);
    GError *error = NULL;
    char *identity = fm_trace_identity(path, &error);
    g_assert_no_error(error);
    struct fm_trace *trace = fm_trace_open(path, identity, &error);
    g_assert_no_error(error);
    struct run it;
    run(&it, trace, 0, FM_TIME_INF);
    const struct fm_statistics_node *root = fm_statistics_root(it.statistics);
    const struct fm_statistics_node *types = fm_statistics_find(root, "event types", NULL);
    g_assert_cmpuint(types->count, ==, events);
    g_assert_cmpuint(root->all_events, ==, events);
    uint64_t sum = root->events;
    for (guint i = 0; i < root->children->len; i++) {
        const struct fm_statistics_node *kind = g_ptr_array_index(root->children, i);
        if (kind != types) {
            sum += sum_events(kind);
            check_times(kind, trace->end_time - trace->start_time, 1);
        }
    }
    g_assert_cmpuint(sum, ==, events);
    g_test_message("%s: %" G_GUINT64_FORMAT " inconsistent", name, fm_state_inconsistent(it.state));
    g_free(identity);
    g_free(path);
    run_end(&it);
}

static void test_samples(void)
{
    if (g_getenv("FATHOM_SAMPLE_DATA") == NULL) {
        g_test_skip("FATHOM_SAMPLE_DATA is not set");
        return;
    }
    check_sample("conc.eventlog", 53292);
    check_sample("marks.eventlog", 21033);
    check_sample("sparks.eventlog", 113901);
    check_sample("profhc.eventlog", 18808);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/statistics/tree", test_tree);
    g_test_add_func("/statistics/nodes looked for later", test_nodes_looked_for_later);
    g_test_add_func("/statistics/many lanes", test_many_lanes);
    g_test_add_func("/statistics/many states", test_many_states);
    g_test_add_func("/statistics/interval", test_interval);
    g_test_add_func("/statistics/interval of a counter", test_interval_of_counter);
    g_test_add_func("/statistics/sum", test_sum);
    g_test_add_func("/statistics/samples", test_samples);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken from a tape, beside or not, is what an observer sees. */
#include "trace/state/tape.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "random_program.h"
#include "trace/statistics/statistics_internal.h"
#include "trace/summary/summary.h"

enum { LONG_S = 60 };

enum way { OBSERVED, TAPED, TAPED_BESIDE };

struct found {
    struct fm_trace *trace;
    struct fm_state *state;
    struct fm_statistics *statistics;
    struct fm_summary *summary;
};

/* The summary is told of each thing by itself. */
static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    const struct fm_tape_change change = {.kind = FM_TAPE_ENDED,
                                          .lane = lane->index,
                                          .depth = (uint16_t)depth,
                                          .value = entry->value,
                                          .since = entry->since,
                                          .end = end,
                                          .detail = entry->detail};
    fm_summary_take(user, &(struct fm_tape_batch){NULL, &change, 0, 1});
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct fm_tape_change change = {.kind = FM_TAPE_NUMBER, .lane = lane->index, .end = time};
    memcpy(&change.since, &value, sizeof value);
    fm_summary_take(user, &(struct fm_tape_batch){NULL, &change, 0, 1});
}

static bool on_event(void *user, void *call_data)
{
    const struct fm_tracefile_context *at = call_data;
    const struct fm_tape_event event = {.time = at->event.time, .id = at->event.id};
    fm_summary_take(user, &(struct fm_tape_batch){&event, NULL, 1, 0});
    return false;
}

static void observe(struct found *found)
{
    const struct fm_state_observer observer = {
        .user = found->summary, .segment = on_segment, .number = on_number};
    struct fm_hooks *hooks = fm_hooks_new();
    fm_state_add_observer(found->state, fm_statistics_observer(found->statistics));
    fm_state_add_observer(found->state, &observer);
    fm_hooks_add(hooks, fm_state_hook, found->state, FM_HOOK_STATE);
    fm_hooks_add(hooks, fm_statistics_hook, found->statistics, FM_HOOK_DEFAULT);
    fm_hooks_add(hooks, on_event, found->summary, FM_HOOK_LAST);
    g_assert_cmpuint(fm_trace_each_event(found->trace, 0, FM_TIME_INF, hooks), >, 0);
    fm_state_flush(found->state, found->trace->end_time, fm_statistics_observer(found->statistics));
    fm_state_flush(found->state, found->trace->end_time, &observer);
    fm_state_remove_observer(found->state, &observer);
}

/* Steps until so many events have been read, or all. */
static void read_up_to(struct fm_trace *trace, struct fm_hooks *hooks, uint64_t end,
                       uint64_t *ret_events)
{
    const struct fm_chunk_hooks chunk = {.event = hooks};
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    fm_context_begin(context, &chunk, -1);
    uint64_t more;
    for (*ret_events = 0; *ret_events < end; *ret_events += more) {
        more = fm_context_middle(context, FM_TIME_INF, end - *ret_events, NULL);
        if (more == 0)
            break;
    }
    fm_context_detach(context, &chunk, -1);
    fm_context_free(context);
    fm_hooks_free(hooks);
}

static void take(struct found *found, bool beside)
{
    struct fm_tape *tape = fm_tape_new(found->state, beside);
    fm_tape_add(tape, fm_statistics_take, found->statistics);
    fm_tape_add(tape, fm_summary_take, found->summary);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, found->state, FM_HOOK_STATE);
    fm_hooks_add(hooks, fm_tape_hook, tape, FM_HOOK_DEFAULT);
    uint64_t events;
    read_up_to(found->trace, hooks, UINT64_MAX, &events);
    g_assert_cmpuint(events, >, 0);
    fm_tape_end(tape, found->trace->end_time);
    fm_tape_end(tape, found->trace->end_time); /* another's end of the pass: nothing ends twice */
    fm_tape_free(tape);
}

static void find(struct found *found, struct event_list *list, enum way way, uint32_t nodes_max)
{
    found->trace = event_list_trace(list);
    found->state = fm_state_new(found->trace);
    found->statistics = fm_statistics_new(found->state);
    found->statistics->nodes_max = nodes_max;
    found->statistics->ahead_nodes = 20;
    found->summary = fm_summary_new(found->trace, 0);
    if (way == OBSERVED)
        observe(found);
    else
        take(found, way == TAPED_BESIDE);
    fm_summary_end(found->summary, found->trace->end_time);
}

static void clear(struct found *found)
{
    fm_statistics_free(found->statistics);
    fm_summary_free(found->summary);
    fm_state_free(found->state);
    fm_trace_free(found->trace);
}

static void assert_same_node(const struct fm_statistics_node *a, const struct fm_statistics_node *b)
{
    g_assert_cmpstr(a->name, ==, b->name);
    g_assert_cmpuint(a->count, ==, b->count);
    g_assert_cmpuint(a->time, ==, b->time);
    g_assert_cmpuint(a->self_time, ==, b->self_time);
    g_assert_cmpuint(a->longest, ==, b->longest);
    g_assert_cmpuint(a->longest_at, ==, b->longest_at);
    g_assert_cmpuint(a->events, ==, b->events);
    g_assert_cmpuint(a->all_events, ==, b->all_events);
    g_assert_cmpuint(a->numbers, ==, b->numbers);
    if (a->numbers > 0) {
        g_assert_cmpfloat(a->least, ==, b->least);
        g_assert_cmpfloat(a->greatest, ==, b->greatest);
        g_assert_cmpfloat(a->last, ==, b->last);
        g_assert_cmpfloat(a->mean, ==, b->mean);
    }
    guint count = a->children == NULL ? 0 : a->children->len;
    g_assert_cmpuint(count, ==, b->children == NULL ? 0 : b->children->len);
    for (guint i = 0; i < count; i++)
        assert_same_node(g_ptr_array_index(a->children, i), g_ptr_array_index(b->children, i));
}

static void assert_same_array(const GArray *a, const GArray *b, size_t size)
{
    g_assert_cmpuint(a->len, ==, b->len);
    g_assert_true(a->len == 0 || memcmp(a->data, b->data, a->len * size) == 0);
}

static void assert_same_summary(const struct found *a, const struct found *b)
{
    g_assert_cmpuint(fm_summary_memory(a->summary), ==, fm_summary_memory(b->summary));
    g_assert_cmpuint(fm_summary_resolution(a->summary), ==, fm_summary_resolution(b->summary));
    g_assert_cmpuint(fm_summary_known_until(a->summary), ==, fm_summary_known_until(b->summary));
    uint64_t begin = a->trace->start_time, span = a->trace->end_time + 1 - begin;
    for (unsigned part = 1; part <= 64; part *= 4) {
        for (unsigned i = 0; i < part; i++) {
            uint64_t start = begin + span / part * i, end = start + span / part;
            g_assert_cmpuint(fm_summary_events(a->summary, start, end), ==,
                             fm_summary_events(b->summary, start, end));
            struct fm_picture left = {.start = start, .end = end, .columns = 200}, right = left;
            fm_summary_draw(a->summary, NULL, 0, &left, 5000);
            fm_summary_draw(b->summary, NULL, 0, &right, 5000);
            assert_same_array(left.boxes, right.boxes, sizeof(struct fm_box));
            assert_same_array(left.events, right.events, sizeof(uint32_t));
            g_assert_true(part > 1 || left.boxes->len > 0);
            fm_picture_done(&left);
            fm_picture_done(&right);
        }
    }
}

static void test_same(void)
{
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct event_list *list =
            seed % 2 == 0 ? random_program_c(seed) : random_program_haskell(seed);
        struct found found[3];
        for (enum way way = OBSERVED; way <= TAPED_BESIDE; way++)
            find(&found[way], list, way, seed <= 2 ? 30 : NODES_MAX);
        for (enum way way = TAPED; way <= TAPED_BESIDE; way++) {
            assert_same_node(fm_statistics_root(found[OBSERVED].statistics),
                             fm_statistics_root(found[way].statistics));
            assert_same_summary(&found[OBSERVED], &found[way]);
        }
        for (enum way way = OBSERVED; way <= TAPED_BESIDE; way++)
            clear(&found[way]);
        event_list_free(list);
    }
}

/* Takes nothing beside before it may. */
struct slow {
    GThread *reader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool begun, may;
    uint64_t events, last;
};

static void take_slowly(void *user, const struct fm_tape_batch *batch)
{
    struct slow *slow = user;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LONG_S;
    pthread_mutex_lock(&slow->lock);
    slow->begun |= g_thread_self() != slow->reader;
    pthread_cond_broadcast(&slow->changed);
    while (g_thread_self() != slow->reader && !slow->may)
        g_assert_cmpint(pthread_cond_clockwait(&slow->changed, &slow->lock, CLOCK_MONOTONIC, &end),
                        ==, 0);
    pthread_mutex_unlock(&slow->lock);
    for (uint32_t i = 0; i < batch->event_count; i++) {
        g_assert_cmpuint(batch->events[i].time, >=, slow->last);
        slow->last = batch->events[i].time;
    }
    slow->events += batch->event_count;
}

struct reading {
    struct slow *slow;
    uint64_t events;
};

/* The reader goes on when the thread beside has something to do. */
static bool let_begin(void *user, void *at)
{
    struct reading *reading = user;
    struct slow *slow = reading->slow;
    (void)at;
    if (++reading->events != 5000)
        return false;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += LONG_S;
    pthread_mutex_lock(&slow->lock);
    while (!slow->begun)
        g_assert_cmpint(pthread_cond_clockwait(&slow->changed, &slow->lock, CLOCK_MONOTONIC, &end),
                        ==, 0);
    pthread_mutex_unlock(&slow->lock);
    return false;
}

/* When there is no room the step ends, so that whoever reads can do other things; nothing is lost.
 */
static void test_no_room(void)
{
    struct event_list *list = random_program_c(7);
    struct fm_trace *trace = event_list_trace(list);
    struct fm_state *state = fm_state_new(trace);
    struct fm_tape *tape = fm_tape_new(state, true);
    struct slow slow = {.reader = g_thread_self(),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
    struct reading reading = {.slow = &slow};
    fm_tape_add(tape, take_slowly, &slow);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    fm_hooks_add(hooks, fm_tape_hook, tape, FM_HOOK_DEFAULT);
    fm_hooks_add(hooks, let_begin, &reading, FM_HOOK_LAST);
    const struct fm_chunk_hooks chunk = {.event = hooks};
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    fm_context_begin(context, &chunk, -1);
    uint64_t all = event_list_count(list);
    uint64_t before = fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL);
    g_assert_cmpuint(before, >, 5000);
    g_assert_cmpuint(before, <, all);
    /* There is still none: one event a step. */
    g_assert_cmpuint(fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL), ==, 1);
    pthread_mutex_lock(&slow.lock);
    slow.may = true;
    pthread_cond_broadcast(&slow.changed);
    pthread_mutex_unlock(&slow.lock);
    while (fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL) > 0)
        continue;
    fm_tape_end(tape, trace->end_time);
    g_assert_cmpuint(slow.events, ==, all);
    g_assert_cmpuint(slow.last, ==, trace->end_time);
    fm_context_detach(context, &chunk, -1);
    fm_context_free(context);
    fm_hooks_free(hooks);
    fm_tape_free(tape);
    fm_state_free(state);
    fm_trace_free(trace);
    event_list_free(list);
}

/* Given up or ended at any time: all that was read has been taken, or nothing is used that is no
 * longer there. */
static void test_in_between(void)
{
    struct event_list *list = random_program_haskell(8);
    for (uint64_t end = 1; end < event_list_count(list); end = end * 3 + 1) {
        struct fm_trace *trace = event_list_trace(list);
        struct fm_state *state = fm_state_new(trace);
        struct fm_statistics *statistics = fm_statistics_new(state);
        struct fm_tape *tape = fm_tape_new(state, true);
        fm_tape_add(tape, fm_statistics_take, statistics);
        struct fm_hooks *hooks = fm_hooks_new();
        fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
        fm_hooks_add(hooks, fm_tape_hook, tape, FM_HOOK_DEFAULT);
        uint64_t events = 0;
        read_up_to(trace, hooks, end, &events);
        g_assert_cmpuint(events, ==, end);
        if (end % 2 == 1) {
            fm_tape_end(tape, trace->end_time);
            g_assert_cmpuint(fm_statistics_root(statistics)->all_events, ==, end);
        }
        fm_tape_free(tape);
        fm_statistics_free(statistics);
        fm_state_free(state);
        fm_trace_free(trace);
    }
    event_list_free(list);
    fm_tape_free(NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tape/same", test_same);
    g_test_add_func("/tape/no-room", test_no_room);
    g_test_add_func("/tape/in-between", test_in_between);
    return g_test_run();
}

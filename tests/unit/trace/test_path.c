/* SPDX-License-Identifier: Apache-2.0 */
/* Critical paths of programs that are made so that the path is known: each wait of a lane is made
 * with what ends it. */
#include "trace/segments/path.h"

#include "event_trace.h"

enum { BEGIN = 1000000, END = 3000000, DEPTH_MAX = 5 };

struct made {
    GRand *random;
    struct event_list *list;
    struct fm_trace *trace;
    GArray *changes;  /* struct fm_tape_change */
    GArray *expected; /* struct fm_path_piece */
    uint32_t lanes;
    uint32_t lock, ready, created, timer, work, idle; /* values */
    unsigned handed, interrupts, unknown, deepest;    /* how often each was made */
};

static uint32_t add_lane(struct made *made)
{
    const struct fm_tape_change change = {.kind = FM_TAPE_LANE,
                                          .depth = FM_LANE_THREAD,
                                          .lane = made->lanes,
                                          .since = FM_LANE_NONE,
                                          .end = made->lanes};
    g_array_append_val(made->changes, change);
    return made->lanes++;
}

static void add_segment(struct made *made, uint32_t lane, uint32_t value, uint64_t start,
                        uint64_t end)
{
    const struct fm_tape_change change = {
        .kind = FM_TAPE_ENDED, .lane = lane, .value = value, .since = start, .end = end};
    g_array_append_val(made->changes, change);
}

static void add_arrow(struct made *made, uint32_t from, uint64_t from_time, uint32_t to,
                      uint64_t to_time)
{
    const struct fm_tape_change change = {
        .kind = FM_TAPE_ARROW, .lane = from, .value = to, .since = from_time, .end = to_time};
    g_array_append_val(made->changes, change);
}

static void expect(struct made *made, enum fm_path_kind kind, uint32_t lane, uint32_t value,
                   uint64_t start, uint64_t end)
{
    if (start == end)
        return;
    if (made->expected->len > 0) {
        struct fm_path_piece *last =
            &g_array_index(made->expected, struct fm_path_piece, made->expected->len - 1);
        if (last->kind == kind && last->lane == lane && last->value == value) {
            last->end = end;
            return;
        }
    }
    const struct fm_path_piece piece = {start, end, lane, value, kind};
    g_array_append_val(made->expected, piece);
}

static uint64_t between(struct made *made, uint64_t least, uint64_t most)
{
    return least >= most
               ? least
               : least + (uint64_t)g_rand_int_range(made->random, 0, (gint32)(most - least + 1));
}

static void make_lane(struct made *made, uint32_t lane, uint64_t start, uint64_t end,
                      unsigned depth);

/* The lane waits; what ends that is on the path. */
static void make_wait(struct made *made, uint32_t lane, uint64_t start, uint64_t end,
                      unsigned depth)
{
    unsigned way = (unsigned)g_rand_int_range(made->random, 0, depth < DEPTH_MAX ? 6 : 3);
    uint32_t value = way == 0 ? made->ready : made->lock;
    add_segment(made, lane, value, start, end);
    if (way == 0) {
        expect(made, FM_PATH_READY, lane, value, start, end);
    } else if (way == 1) {
        made->unknown++;
        expect(made, FM_PATH_UNKNOWN, lane, value, start, end);
    } else if (way == 2) {
        uint32_t cpu = add_lane(made);
        made->interrupts++;
        add_segment(made, cpu, made->timer, end - 1, end + 1);
        add_arrow(made, cpu, end, lane, end);
        expect(made, FM_PATH_INTERRUPT, lane, made->timer, start, end);
    } else {
        uint32_t waker = add_lane(made);
        uint64_t from = between(made, start + (end - start) / 2 + 1, end);
        made->handed += from < end;
        add_arrow(made, waker, from, lane, end);
        add_segment(made, waker, made->lock, end + 5, end + 50); /* it is not on the path */
        make_lane(made, waker, start, from, depth + 1);
        expect(made, FM_PATH_HANDED, lane, value, from, end);
    }
}

/* The lane is on the path from start to end, where it runs. */
static void make_lane(struct made *made, uint32_t lane, uint64_t start, uint64_t end,
                      unsigned depth)
{
    uint64_t time = start, length = end - start;
    made->deepest = MAX(made->deepest, depth);
    if (depth > 0 && g_rand_boolean(made->random) && length > 20) {
        /* It was blocked when the wait began. */
        uint64_t until = start + length / 4;
        add_segment(made, lane, made->lock, start - 100, until);
        made->unknown++;
        expect(made, FM_PATH_UNKNOWN, lane, made->lock, start, until);
        time = until;
    }
    while (time < end) {
        uint64_t run = between(made, 1, length / 4 + 1), wait = between(made, 1, length / 3 + 1);
        if (time + run + wait >= end || length < 40)
            run = end - time;
        add_segment(made, lane, made->work, time, time + run);
        if (run > 2) /* tells nothing: the lane runs */
            add_arrow(made, 0, time + 1, lane, time + run / 2);
        expect(made, FM_PATH_RUNNING, lane, 0, time, time + run);
        time += run;
        if (time >= end)
            break;
        make_wait(made, lane, time, time + wait, depth);
        time += wait;
        add_segment(made, lane, made->work, time, time + 1);
    }
}

static int compare_changes(gconstpointer a, gconstpointer b)
{
    const struct fm_tape_change *left = a, *right = b;
    bool left_lane = left->kind == FM_TAPE_LANE, right_lane = right->kind == FM_TAPE_LANE;
    if (left_lane || right_lane)
        return left_lane && right_lane ? (left->lane > right->lane) - (left->lane < right->lane)
               : left_lane             ? -1
                                       : 1;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return (int)left->kind - (int)right->kind; /* a wait ends, then the arrow is told */
}

static void made_init(struct made *made, uint32_t seed)
{
    *made = (struct made){.random = g_rand_new_with_seed(seed),
                          .list = event_list_new(),
                          .changes = g_array_new(false, false, sizeof(struct fm_tape_change)),
                          .expected = g_array_new(false, false, sizeof(struct fm_path_piece))};
    event_add(made->list, 1, -1, 19, "s", "one event");
    made->trace = event_list_trace(made->list);
    made->lock = fm_trace_value(made->trace, "waiting for the lock", FM_STATE_WAITING);
    made->ready = fm_trace_value(made->trace, "ready", FM_STATE_READY);
    made->created = fm_trace_value(made->trace, "created", FM_STATE_CREATED);
    made->timer = fm_trace_value(made->trace, "timer", FM_STATE_INTERRUPT);
    made->work = fm_trace_value(made->trace, "work", FM_STATE_SPAN);
    made->idle = fm_trace_value(made->trace, "idle", FM_STATE_IDLE);
}

static void made_clear(struct made *made)
{
    g_rand_free(made->random);
    g_array_unref(made->changes);
    g_array_unref(made->expected);
    fm_trace_free(made->trace);
    event_list_free(made->list);
}

static struct fm_segments *segments_of(struct made *made, size_t memory)
{
    struct fm_segments *segments = fm_segments_new(made->trace, memory);
    g_array_sort(made->changes, compare_changes);
    const struct fm_tape_batch batch = {
        NULL, (const struct fm_tape_change *)(const void *)made->changes->data, 0,
        made->changes->len};
    fm_segments_take(segments, &batch);
    return segments;
}

static void check_path(struct made *made, struct fm_segments *segments, uint32_t lane,
                       uint64_t start, uint64_t end)
{
    struct fm_path *path = fm_path_new(segments, lane, start, end);
    while (fm_path_step(path, 7))
        continue;
    const GArray *pieces = fm_path_pieces(path);
    uint64_t time = start;
    for (guint i = 0; i < MIN(pieces->len, made->expected->len); i++) {
        const struct fm_path_piece *found = &g_array_index(pieces, struct fm_path_piece, i);
        const struct fm_path_piece *right = &g_array_index(made->expected, struct fm_path_piece, i);
        g_assert_cmpuint(found->start, ==, time);
        g_assert_cmpuint(found->start, ==, right->start);
        g_assert_cmpuint(found->lane, ==, right->lane);
        g_assert_cmpstr(fm_path_kind_name(found->kind), ==, fm_path_kind_name(right->kind));
        g_assert_cmpuint(found->value, ==, right->value);
        g_assert_cmpuint(found->end, ==, right->end);
        time = found->end;
    }
    g_assert_cmpuint(pieces->len, ==, made->expected->len);
    g_assert_cmpuint(time, ==, end);
    g_autoptr(GArray) parts = fm_path_parts(path);
    uint64_t sum = 0, before = UINT64_MAX;
    for (guint i = 0; i < parts->len; i++) {
        const struct fm_path_part *part = &g_array_index(parts, struct fm_path_part, i);
        g_assert_cmpuint(part->time, <=, before);
        g_assert_cmpuint(part->longest, <=, part->time);
        before = part->time;
        sum += part->time;
    }
    g_assert_cmpuint(sum, ==, end - start);
    fm_path_free(path);
}

static void test_made(void)
{
    unsigned handed = 0, interrupts = 0, unknown = 0, deepest = 0;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct made made;
        made_init(&made, seed);
        add_lane(&made); /* whose arrows tell nothing */
        uint32_t lane = add_lane(&made);
        make_lane(&made, lane, BEGIN, END, 0);
        struct fm_segments *segments = segments_of(&made, seed % 2 == 0 ? 0 : SIZE_MAX);
        check_path(&made, segments, lane, BEGIN, END);
        handed += made.handed;
        interrupts += made.interrupts;
        unknown += made.unknown;
        deepest = MAX(deepest, made.deepest);
        fm_segments_free(segments);
        made_clear(&made);
    }
    g_assert_cmpuint(handed, >, 10);
    g_assert_cmpuint(interrupts, >, 10);
    g_assert_cmpuint(unknown, >, 10);
    g_assert_cmpuint(deepest, ==, DEPTH_MAX);
}

/* A child waits for its first run; before that, the path is its parent's. */
static void test_fork(void)
{
    struct made made;
    made_init(&made, 1);
    uint32_t parent = add_lane(&made), child = add_lane(&made);
    add_segment(&made, parent, made.lock, 1200, 1500);
    add_arrow(&made, parent, 2000, child, 2000);
    add_segment(&made, child, made.created, 2000, 2300);
    add_segment(&made, child, made.work, 2300, 3000);
    expect(&made, FM_PATH_RUNNING, parent, 0, 1000, 1200);
    expect(&made, FM_PATH_UNKNOWN, parent, made.lock, 1200, 1500);
    expect(&made, FM_PATH_RUNNING, parent, 0, 1500, 2000);
    expect(&made, FM_PATH_READY, child, made.created, 2000, 2300);
    expect(&made, FM_PATH_RUNNING, child, 0, 2300, 2900);
    struct fm_segments *segments = segments_of(&made, SIZE_MAX);
    check_path(&made, segments, child, 1000, 2900);
    fm_segments_free(segments);
    made_clear(&made);
}

/* While garbage is collected nobody runs: the time is not that of other threads. */
static void test_collection(void)
{
    struct made made;
    made_init(&made, 1);
    uint32_t lane = add_lane(&made), collector = add_lane(&made);
    g_array_index(made.changes, struct fm_tape_change, collector).depth = FM_LANE_COLLECTOR;
    uint32_t value = fm_trace_value(made.trace, "collection", FM_STATE_COLLECTING);
    add_segment(&made, lane, made.ready, 1000, 3000);
    add_segment(&made, collector, value, 900, 1600);
    add_segment(&made, collector, value, 2000, 2500);
    add_segment(&made, lane, made.ready, 3500, 4000);
    add_segment(&made, collector, value, 3600, 4500);
    expect(&made, FM_PATH_COLLECTION, lane, made.ready, 1100, 1600);
    expect(&made, FM_PATH_READY, lane, made.ready, 1600, 2000);
    expect(&made, FM_PATH_COLLECTION, lane, made.ready, 2000, 2500);
    expect(&made, FM_PATH_READY, lane, made.ready, 2500, 3000);
    expect(&made, FM_PATH_RUNNING, lane, 0, 3000, 3500);
    expect(&made, FM_PATH_READY, lane, made.ready, 3500, 3600);
    expect(&made, FM_PATH_COLLECTION, lane, made.ready, 3600, 3900);
    struct fm_segments *segments = segments_of(&made, SIZE_MAX);
    check_path(&made, segments, lane, 1100, 3900);
    fm_segments_free(segments);
    made_clear(&made);
}

/* Who is said to wake was idle itself; the end lies within a wait that goes on; nothing at all. */
static void test_odd(void)
{
    struct made made;
    made_init(&made, 1);
    uint32_t lane = add_lane(&made), idle = add_lane(&made), other = add_lane(&made);
    add_segment(&made, idle, made.idle, 1000, 4000);
    add_segment(&made, lane, made.lock, 1500, 2000);
    add_arrow(&made, idle, 2000, lane, 2000);
    add_segment(&made, lane, made.lock, 2500, 4000);
    expect(&made, FM_PATH_RUNNING, lane, 0, 1000, 1500);
    expect(&made, FM_PATH_UNKNOWN, lane, made.lock, 1500, 2000);
    expect(&made, FM_PATH_RUNNING, lane, 0, 2000, 2500);
    expect(&made, FM_PATH_UNKNOWN, lane, made.lock, 2500, 3000);
    struct fm_segments *segments = segments_of(&made, SIZE_MAX);
    check_path(&made, segments, lane, 1000, 3000);
    g_array_set_size(made.expected, 0);
    expect(&made, FM_PATH_RUNNING, other, 0, 1, 5000);
    check_path(&made, segments, other, 1, 5000);
    fm_segments_free(segments);
    made_clear(&made);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/path/made", test_made);
    g_test_add_func("/path/fork", test_fork);
    g_test_add_func("/path/collection", test_collection);
    g_test_add_func("/path/odd", test_odd);
    return g_test_run();
}

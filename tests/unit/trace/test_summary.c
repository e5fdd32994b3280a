/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries and painted pictures against sums over all segments. */
#include <math.h>
#include <string.h>

#include "trace/summary/summary.h"

enum { LANES = 4, DEPTHS = 3, VALUES = 3 };

struct segment {
    uint32_t lane, depth, value;
    uint64_t start, end;
};

struct world {
    struct fm_trace *trace;
    struct fm_state *state;
    struct fm_lane lanes[LANES + 1]; /* the last is a counter */
    GArray *segments;
    uint64_t end;
};

static void world_init(struct world *world)
{
    *world = (struct world){.trace = fm_trace_new("made", "made:1")};
    world->trace->state_model = &fm_state_model_eventlog;
    world->state = fm_state_new(world->trace);
    world->segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
    for (uint32_t i = 0; i <= LANES; i++)
        world->lanes[i] = (struct fm_lane){.index = i, .kind = FM_LANE_THREAD, .key = i};
}

static void world_clear(struct world *world)
{
    fm_state_free(world->state);
    fm_trace_free(world->trace);
    g_array_unref(world->segments);
}

/* Segments of each lane and depth follow each other with gaps between; long and short by turns. */
static void world_fill(struct world *world, unsigned count, unsigned seed)
{
    GRand *random = g_rand_new_with_seed(seed);
    uint64_t now[LANES][DEPTHS] = {0};
    for (unsigned i = 0; i < count; i++) {
        struct segment segment = {.lane = (uint32_t)g_rand_int_range(random, 0, LANES),
                                  .depth = (uint32_t)g_rand_int_range(random, 0, DEPTHS),
                                  .value = 10 + (uint32_t)g_rand_int_range(random, 0, VALUES)};
        uint64_t *at = &now[segment.lane][segment.depth];
        int greatest = g_rand_int_range(random, 0, 50) == 0 ? 100000 : 300;
        segment.start = *at + (uint64_t)g_rand_int_range(random, 0, 50);
        segment.end = segment.start + (uint64_t)g_rand_int_range(random, 0, greatest);
        *at = segment.end;
        world->end = MAX(world->end, segment.end);
        g_array_append_val(world->segments, segment);
    }
    g_rand_free(random);
    world->trace->end_time = world->end;
}

/* What happens, and an event after it. */
static void take(struct fm_summary *summary, const struct fm_tape_change *change, uint64_t time)
{
    const struct fm_tape_event event = {.time = time, .lane = change->lane};
    fm_summary_take(summary, &(struct fm_tape_batch){&event, change, 1, 1});
}

static uint64_t time_at(const struct world *world, guint i)
{
    return (uint64_t)((double)world->end * i / world->segments->len);
}

static void tell(const struct world *world, struct fm_summary *summary)
{
    for (guint i = 0; i < world->segments->len; i++) {
        const struct segment *segment = &g_array_index(world->segments, struct segment, i);
        take(summary,
             &(struct fm_tape_change){.kind = FM_TAPE_ENDED,
                                      .lane = segment->lane,
                                      .depth = (uint16_t)segment->depth,
                                      .value = segment->value,
                                      .since = segment->start,
                                      .end = segment->end},
             time_at(world, i));
    }
    fm_summary_end(summary, world->end);
}

static void tell_painter(const struct world *world, const struct fm_state_observer *observer)
{
    for (guint i = 0; i < world->segments->len; i++) {
        const struct segment *segment = &g_array_index(world->segments, struct segment, i);
        struct fm_state_entry entry = {.value = segment->value, .since = segment->start};
        observer->segment(observer->user, &world->lanes[segment->lane], segment->depth, &entry,
                          segment->end);
    }
}

static uint64_t time_of(const struct world *world, uint32_t lane, uint32_t depth, uint32_t value,
                        uint64_t start, uint64_t end)
{
    uint64_t sum = 0;
    for (guint i = 0; i < world->segments->len; i++) {
        const struct segment *segment = &g_array_index(world->segments, struct segment, i);
        uint64_t from = MAX(segment->start, start), to = MIN(segment->end, end);
        if (segment->lane == lane && segment->depth == depth && segment->value == value &&
            to > from)
            sum += to - from;
    }
    return sum;
}

static double summed(const struct fm_summary *summary, uint32_t lane, uint32_t depth,
                     uint32_t value, uint64_t start, uint64_t end)
{
    g_autoptr(GArray) values = fm_summary_values(summary, lane, depth, start, end);
    for (guint i = 0; i < values->len; i++) {
        const struct fm_value_time *at = &g_array_index(values, struct fm_value_time, i);
        if (at->value == value)
            return at->time;
    }
    return 0;
}

/* Windows: all of it, and random ones. tolerance: ns at each end of a window. */
static void check_values(const struct world *world, const struct fm_summary *summary,
                         double tolerance, unsigned seed)
{
    GRand *random = g_rand_new_with_seed(seed);
    for (unsigned round = 0; round < 40; round++) {
        uint64_t a = (uint64_t)(g_rand_double(random) * (double)world->end);
        uint64_t b = (uint64_t)(g_rand_double(random) * (double)world->end);
        uint64_t start = round == 0 ? 0 : MIN(a, b), end = round == 0 ? world->end : MAX(a, b);
        uint32_t lane = (uint32_t)g_rand_int_range(random, 0, LANES);
        uint32_t depth = (uint32_t)g_rand_int_range(random, 0, DEPTHS);
        for (uint32_t value = 10; value < 10 + VALUES; value++) {
            double expected = (double)time_of(world, lane, depth, value, start, end);
            double found = summed(summary, lane, depth, value, start, end);
            g_assert_cmpfloat(fabs(found - expected), <=,
                              (round == 0 ? 0 : 2 * tolerance) + 1e-6 * expected + 1e-3);
        }
    }
    g_rand_free(random);
}

static void test_small_summaries_are_exact(void)
{
    struct world world;
    world_init(&world);
    world_fill(&world, 3000, 1);
    struct fm_summary *summary = fm_summary_new(world.trace, 64 << 20);
    tell(&world, summary);
    g_assert_cmpuint(fm_summary_resolution(summary), ==, 0);
    check_values(&world, summary, 0, 2);
    g_assert_cmpuint(fm_summary_known_until(summary), ==, world.end);
    fm_summary_free(summary);
    world_clear(&world);
}

static void test_within_the_budget_sums_hold(void)
{
    struct world world;
    world_init(&world);
    world_fill(&world, 120000, 3);
    struct fm_summary *summary = fm_summary_new(world.trace, 1 << 20);
    tell(&world, summary);
    g_assert_cmpuint(fm_summary_resolution(summary), >, 0);
    g_assert_cmpuint(fm_summary_memory(summary), <=, (1 << 20) + (1 << 18));
    check_values(&world, summary, 2 * (double)fm_summary_resolution(summary), 4);
    fm_summary_free(summary);
    world_clear(&world);
}

/* The boxes of a picture: ordered, apart, inside, and what they say about their time is so. */
static void check_picture(const struct world *world, const struct fm_picture *picture,
                          unsigned max_boxes, bool exact, double tolerance)
{
    const struct fm_box *before = NULL;
    g_assert_cmpuint(picture->boxes->len, <=, max_boxes);
    g_assert_cmpuint(picture->boxes->len, >, 0);
    for (guint i = 0; i < picture->boxes->len; i++) {
        const struct fm_box *box = &g_array_index(picture->boxes, struct fm_box, i);
        g_assert_cmpuint(box->start, <=, box->end);
        g_assert_cmpuint(box->end, >=, picture->start);
        g_assert_cmpuint(box->start, <, picture->end);
        g_assert_cmpint((box->cut & FM_BOX_BEGINS_BEFORE) != 0, ==, box->start < picture->start);
        g_assert_cmpint((box->cut & FM_BOX_ENDS_AFTER) != 0, ==, box->end > picture->end);
        if (before != NULL && before->lane == box->lane && before->depth == box->depth)
            g_assert_cmpuint(before->end, <=, box->start);
        else if (before != NULL)
            g_assert_true(before->lane < box->lane ||
                          (before->lane == box->lane && before->depth < box->depth));
        double length = (double)(box->end - box->start);
        double in_value =
            (double)time_of(world, box->lane, box->depth, box->value, box->start, box->end);
        if (i % 7 == 0 || exact)
            g_assert_cmpfloat(fabs(in_value - (double)box->share * length), <=,
                              tolerance + 1e-5 * length + 1);
        if (exact)
            g_assert_cmpuint(box->count, ==, 1);
        before = box;
    }
}

static void test_pictures(void)
{
    struct world world;
    world_init(&world);
    world_fill(&world, 20000, 5);
    struct fm_summary *summary = fm_summary_new(world.trace, 64 << 20);
    tell(&world, summary);
    struct fm_picture picture = {.start = 0, .end = world.end, .columns = 300};
    fm_summary_draw(summary, NULL, 0, &picture, 5000);
    check_picture(&world, &picture, 5000, false, (double)world.end / 300);
    g_assert_false(picture.clipped);
    uint64_t events = 0;
    g_assert_cmpuint(picture.events->len, ==, 300);
    for (guint i = 0; i < picture.events->len; i++)
        events += g_array_index(picture.events, uint32_t, i);
    g_assert_cmpuint(events, ==, world.segments->len);
    fm_picture_done(&picture);
    /* Few boxes: columns are taken together. */
    picture = (struct fm_picture){.start = 0, .end = world.end, .columns = 1000};
    fm_summary_draw(summary, NULL, 0, &picture, 500);
    check_picture(&world, &picture, 500, false, (double)world.end / 10);
    g_assert_false(picture.clipped);
    fm_picture_done(&picture);
    /* So few that lanes are left out. */
    picture = (struct fm_picture){.start = 0, .end = world.end, .columns = 1000};
    fm_summary_draw(summary, NULL, 0, &picture, 10);
    g_assert_true(picture.clipped);
    g_assert_cmpuint(picture.boxes->len, <=, 10);
    fm_picture_done(&picture);
    /* A narrow window shows every segment as it is. */
    uint64_t middle = world.end / 2;
    picture = (struct fm_picture){.start = middle, .end = middle + 3000, .columns = 3000};
    const uint32_t lanes[] = {1, 3};
    fm_summary_draw(summary, lanes, 2, &picture, 5000);
    check_picture(&world, &picture, 5000, true, 1);
    for (guint i = 0; i < picture.boxes->len; i++)
        g_assert_true(g_array_index(picture.boxes, struct fm_box, i).lane % 2 == 1);
    fm_picture_done(&picture);
    fm_summary_free(summary);
    world_clear(&world);
}

/* Rounds of 500 ns: each waits for most of it and works in two states. */
static void test_boxes_show_what_was_at_work(void)
{
    enum { ROUNDS = 10, WAITS = 300, FIRST = 110, SECOND = 60, ROUND = 500 };
    struct world world;
    world_init(&world);
    const struct {
        uint32_t value;
        unsigned ns;
    } parts[] = {{fm_trace_value(world.trace, "waits", FM_STATE_WAITING), WAITS},
                 {fm_trace_value(world.trace, "first", FM_STATE_RUNNING), FIRST},
                 {fm_trace_value(world.trace, "second", FM_STATE_RUNNING), SECOND}};
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t at = round * (uint64_t)ROUND;
        for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
            struct segment segment = {
                .value = parts[i].value, .start = at, .end = at + parts[i].ns};
            at = segment.end;
            g_array_append_val(world.segments, segment);
        }
        struct segment idle = {.lane = 1,
                               .value = parts[0].value,
                               .start = round * (uint64_t)ROUND,
                               .end = round * (uint64_t)ROUND + WAITS};
        g_array_append_val(world.segments, idle);
    }
    world.end = world.trace->end_time = (uint64_t)ROUND * ROUNDS;
    struct fm_summary *summary = fm_summary_new(world.trace, 64 << 20);
    tell(&world, summary);
    struct fm_picture picture = {.start = 0, .end = world.end, .columns = 1};
    fm_summary_draw(summary, NULL, 0, &picture, 100);
    g_assert_cmpuint(picture.boxes->len, ==, 2);
    const struct fm_box *works = &g_array_index(picture.boxes, struct fm_box, 0);
    double length = (double)(works->end - works->start);
    g_assert_cmpuint(works->count, ==, ROUNDS * G_N_ELEMENTS(parts));
    g_assert_cmpuint(works->value, ==, parts[1].value);
    g_assert_cmpfloat_with_epsilon(works->share, ROUNDS * FIRST / length, 1e-6);
    g_assert_cmpfloat_with_epsilon(works->load, ROUNDS * (FIRST + SECOND) / length, 1e-6);
    /* Where nothing works that is what is shown. */
    const struct fm_box *waits = &g_array_index(picture.boxes, struct fm_box, 1);
    g_assert_cmpuint(waits->value, ==, parts[0].value);
    g_assert_cmpfloat_with_epsilon(waits->load,
                                   ROUNDS * WAITS / (double)(waits->end - waits->start), 1e-6);
    fm_picture_done(&picture);
    fm_summary_free(summary);
    world_clear(&world);
}

static void test_painted_pictures_are_those_of_the_summary(void)
{
    struct world world;
    world_init(&world);
    world_fill(&world, 20000, 6);
    struct fm_summary *summary = fm_summary_new(world.trace, 64 << 20);
    tell(&world, summary);
    for (unsigned zoom = 1; zoom < 2000; zoom *= 7) {
        uint64_t length = world.end / zoom, start = (world.end - length) / 2;
        struct fm_painter *painter = fm_painter_new(world.state, start, start + length, 200, 5000);
        tell_painter(&world, fm_painter_observer(painter));
        struct fm_picture painted, drawn = {.start = start, .end = start + length, .columns = 200};
        fm_painter_picture(painter, world.end, NULL, 0, &painted);
        fm_summary_draw(summary, NULL, 0, &drawn, 5000);
        check_picture(&world, &painted, 5000, false, (double)length / 200);
        /* Segments by count are the same in both, but for those at the window's edges. */
        uint64_t in_painted = 0, in_drawn = 0;
        for (guint i = 0; i < painted.boxes->len; i++)
            in_painted += g_array_index(painted.boxes, struct fm_box, i).count;
        for (guint i = 0; i < drawn.boxes->len; i++)
            in_drawn += g_array_index(drawn.boxes, struct fm_box, i).count;
        g_assert_cmpfloat(fabs((double)in_painted - (double)in_drawn), <=,
                          64.0 * 2 * LANES * DEPTHS);
        fm_picture_done(&painted);
        fm_picture_done(&drawn);
        fm_painter_free(painter);
    }
    fm_summary_free(summary);
    world_clear(&world);
}

static void test_events_and_lanes(void)
{
    struct world world;
    world_init(&world);
    world_fill(&world, 5000, 8);
    struct fm_summary *summary = fm_summary_new(world.trace, 64 << 20);
    tell(&world, summary);
    g_assert_cmpuint(fm_summary_events(summary, 0, world.end + 1), ==, 5000);
    g_assert_cmpuint(fm_summary_events(summary, world.end, world.end), ==, 0);
    for (unsigned i = 1; i < 10; i++) {
        uint64_t start = world.end / 20 * i, end = world.end / 10 * i;
        double expected = 5000.0 * (double)(end - start) / (double)world.end;
        double found = (double)fm_summary_events(summary, start, end);
        g_assert_cmpfloat(fabs(found - expected), <=, 2 * 128);
    }
    for (unsigned columns = 1; columns < 1000; columns += 37) { /* parts add up to the whole */
        uint64_t sum = 0, from = 0;
        for (unsigned i = 1; i <= columns; i++) {
            uint64_t to = (world.end + 1) * i / columns;
            sum += fm_summary_events(summary, from, to);
            from = to;
        }
        g_assert_cmpuint(sum, ==, 5000);
    }
    g_autoptr(GArray) lanes = fm_summary_lanes(summary, 0, world.end);
    g_assert_cmpuint(lanes->len, ==, LANES);
    g_autoptr(GArray) none = fm_summary_lanes(summary, world.end + 10, world.end + 20);
    g_assert_cmpuint(none->len, ==, 0);
    fm_summary_free(summary);
    world_clear(&world);
}

static void check_numbers(size_t budget, unsigned count)
{
    enum { COLUMNS = 50 };
    struct world world;
    world_init(&world);
    struct fm_summary *summary = fm_summary_new(world.trace, budget);
    GRand *random = g_rand_new_with_seed(9);
    g_autofree double *values = g_new(double, count);
    for (unsigned i = 0; i < count; i++) {
        values[i] = g_rand_int_range(random, 0, 1000);
        struct fm_tape_change number = {
            .kind = FM_TAPE_NUMBER, .lane = LANES, .end = 1000 + 100 * (uint64_t)i};
        memcpy(&number.since, &values[i], sizeof values[i]);
        take(summary, &number, number.end);
    }
    g_assert_cmpuint(fm_summary_memory(summary), <=, budget + (1 << 18));
    uint64_t end = 1000 + 100 * (uint64_t)count;
    fm_summary_end(summary, end);
    double found[3 * COLUMNS];
    fm_summary_numbers(summary, LANES, 0, 900, COLUMNS, found);
    g_assert_true(isnan(found[0]) && isnan(found[3 * COLUMNS - 1]));
    fm_summary_numbers(summary, LANES, 1000, end, COLUMNS, found);
    double width = (double)(end - 1000) / COLUMNS;
    uint64_t slack = fm_summary_resolution(summary) + 200 + (uint64_t)width / 8;
    for (unsigned c = 0; c < COLUMNS; c++) {
        double low = 1000 + width * c, high = 1000 + width * (c + 1);
        double least_in = INFINITY, greatest_in = -INFINITY;     /* surely in the column */
        double least_near = INFINITY, greatest_near = -INFINITY; /* perhaps */
        for (unsigned i = 0; i < count; i++) {
            double t = 1000 + 100.0 * i;
            if (t >= low + (double)slack && t < high - (double)slack) {
                least_in = MIN(least_in, values[i]);
                greatest_in = MAX(greatest_in, values[i]);
            }
            if (t >= low - (double)slack && t < high + (double)slack) {
                least_near = MIN(least_near, values[i]);
                greatest_near = MAX(greatest_near, values[i]);
            }
        }
        g_assert_cmpfloat(found[3 * c], <=, least_in);
        g_assert_cmpfloat(found[3 * c], >=, least_near);
        g_assert_cmpfloat(found[3 * c + 1], >=, greatest_in);
        g_assert_cmpfloat(found[3 * c + 1], <=, greatest_near);
    }
    g_assert_cmpfloat(found[3 * COLUMNS - 1], ==, values[count - 1]);
    /* Between two changes it stays what it was. */
    fm_summary_numbers(summary, LANES, end - 50, end, 2, found);
    g_assert_cmpfloat(found[0], ==, values[count - 1]);
    g_assert_cmpfloat(found[4], ==, values[count - 1]);
    g_rand_free(random);
    fm_summary_free(summary);
    world_clear(&world);
}

/* Against sums over the outermost segments; the deeper ones are left out. */
static void test_load_is_the_sum_of_segments(void)
{
    enum { COLUMNS = 7 };
    static const uint32_t lanes[] = {0, 2};
    struct world world;
    world_init(&world);
    world_fill(&world, 4000, 11);
    for (guint i = 0; i < world.segments->len; i++)
        g_array_index(world.segments, struct segment, i).depth = 0;
    struct fm_summary *summary = fm_summary_new(world.trace, 8 << 20);
    uint64_t now[LANES] = {0};
    struct fm_load load, wanted;
    uint64_t start = 1000, end = start + 700 * COLUMNS;
    fm_load_init(&load, start, end, COLUMNS);
    fm_load_init(&wanted, start, end, COLUMNS);
    for (guint i = 0; i < world.segments->len; i++) {
        const struct segment *segment = &g_array_index(world.segments, struct segment, i);
        uint64_t length = segment->end - segment->start, from = now[segment->lane];
        now[segment->lane] = from + length;
        take(summary,
             &(struct fm_tape_change){.kind = FM_TAPE_ENDED,
                                      .lane = segment->lane,
                                      .value = segment->value,
                                      .since = from,
                                      .end = from + length},
             from + length);
        for (unsigned column = 0; column < COLUMNS; column++) {
            uint64_t low = MAX(from, start + 700 * column);
            uint64_t high = MIN(from + length, start + 700 * (column + 1));
            if (high > low && (segment->lane == lanes[0] || segment->lane == lanes[1]))
                wanted.time[column * FM_STATE_CLASS_COUNT +
                            fm_trace_value_class(world.trace, segment->value)] +=
                    (double)(high - low);
        }
    }
    fm_summary_load(summary, lanes, G_N_ELEMENTS(lanes), &load);
    for (unsigned i = 0; i < COLUMNS * FM_STATE_CLASS_COUNT; i++)
        g_assert_cmpfloat_with_epsilon(load.time[i], wanted.time[i], 0.001);
    g_assert_cmpfloat(fm_load_time(&load, FM_STATE_UNKNOWN), >, 1400.0);
    fm_load_done(&load);
    fm_load_done(&wanted);
    fm_summary_free(summary);
    world_clear(&world);
}

/* Traces whose clocks begin decades apart: a double holds their times to hundreds of ns only. */
static void test_load_of_short_times_in_a_long_span(void)
{
    enum { COLUMNS = 7, STEPS = 1000 };
    struct fm_load load;
    uint64_t end = UINT64_C(1450000000000000000);
    fm_load_init(&load, 0, end, COLUMNS);
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t from = end / STEPS * i + 1;
        fm_load_add(&load, FM_STATE_RUNNING, from, from + 10, 10);
    }
    fm_load_add(&load, FM_STATE_IDLE, end - 1, end, 1);
    for (uint64_t column = 1; column < COLUMNS; column++)
        fm_load_add(&load, FM_STATE_WAITING, end / COLUMNS * column - 500,
                    end / COLUMNS * column + 500, 1000);
    g_assert_cmpfloat(fm_load_time(&load, FM_STATE_RUNNING), ==, 10.0 * STEPS);
    g_assert_cmpfloat(fm_load_time(&load, FM_STATE_IDLE), ==, 1);
    g_assert_cmpfloat(fm_load_time(&load, FM_STATE_WAITING), ==, 1000.0 * (COLUMNS - 1));
    fm_load_done(&load);
}

/* An interrupt of a CPU that is half idle is taken off what was no work; more than that, off the
 * rest; a collection comes first. */
static void test_load_of_nested_entries(void)
{
    struct fm_load below, above;
    fm_load_init(&below, 100, 300, 2);
    fm_load_init(&above, 100, 300, 2);
    fm_load_add(&below, FM_STATE_RUNNING, 50, 250, 200); /* 100 and 50 in the window */
    fm_load_add(&below, FM_STATE_IDLE, 250, 400, 150);   /* 50 */
    fm_load_add(&above, FM_STATE_INTERRUPT, 220, 290, 70);
    g_assert_cmpfloat(fm_load_at_work(&below, 0), ==, 100);
    g_assert_cmpfloat(fm_load_at_work(&below, 1), ==, 50);
    fm_load_take_off(&below, &above);
    g_assert_cmpfloat(fm_load_time(&below, FM_STATE_IDLE), ==, 0);
    g_assert_cmpfloat(fm_load_at_work(&below, 0), ==, 100);
    g_assert_cmpfloat(fm_load_at_work(&below, 1), ==, 30);
    fm_load_add_all(&below, &above);
    g_assert_cmpfloat(fm_load_at_work(&below, 1), ==, 100);
    fm_load_add(&below, FM_STATE_COLLECTING, 100, 200, 40);
    fm_load_reset(&above);
    fm_load_add(&above, FM_STATE_WAITING, 120, 150, 30);
    fm_load_take_off(&below, &above);
    g_assert_cmpfloat(fm_load_time(&below, FM_STATE_COLLECTING), ==, 10);
    fm_load_done(&below);
    fm_load_done(&above);
}

static void test_numbers(void)
{
    check_numbers(64 << 20, 5000);
    check_numbers(1 << 20, 100000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/summary/exact", test_small_summaries_are_exact);
    g_test_add_func("/summary/budget", test_within_the_budget_sums_hold);
    g_test_add_func("/summary/pictures", test_pictures);
    g_test_add_func("/summary/at-work", test_boxes_show_what_was_at_work);
    g_test_add_func("/summary/painter", test_painted_pictures_are_those_of_the_summary);
    g_test_add_func("/summary/events-lanes", test_events_and_lanes);
    g_test_add_func("/summary/load", test_load_is_the_sum_of_segments);
    g_test_add_func("/summary/load-in-a-long-span", test_load_of_short_times_in_a_long_span);
    g_test_add_func("/summary/load-nested", test_load_of_nested_entries);
    g_test_add_func("/summary/numbers", test_numbers);
    return g_test_run();
}

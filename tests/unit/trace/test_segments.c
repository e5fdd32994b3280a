/* SPDX-License-Identifier: Apache-2.0 */
/* Segments kept apart, their totals and durations, beside sums made one by one. */
#include "trace/segments/details.h"
#include "trace/segments/flame.h"
#include "trace/segments/search.h"
#include "trace/segments/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random_program.h"

struct seen {
    GArray *segments; /* struct fm_segment, as observers are told */
    GArray *arrows;   /* struct fm_arrow */
    bool closing;
};

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    struct seen *seen = user;
    const struct fm_segment segment = {entry->since,    end,          lane->index, entry->value,
                                       (uint16_t)depth, seen->closing};
    g_array_append_val(seen->segments, segment);
}

static void on_arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                     const struct fm_lane *to, uint64_t to_time)
{
    const struct fm_arrow arrow = {from_time, to_time, from->index, to->index};
    g_array_append_val(((struct seen *)user)->arrows, arrow);
}

struct world {
    struct event_list *list;
    struct fm_trace *trace;
    struct fm_state *state;
    struct fm_segments *segments;
    struct seen seen;
};

static void world_init(struct world *world, struct event_list *list, size_t memory)
{
    world->list = list;
    world->trace = event_list_trace(list);
    world->state = fm_state_new(world->trace);
    world->segments = fm_segments_new(world->trace, memory);
    world->seen = (struct seen){g_array_new(false, false, sizeof(struct fm_segment)),
                                g_array_new(false, false, sizeof(struct fm_arrow)), false};
    const struct fm_state_observer observer = {
        .user = &world->seen, .segment = on_segment, .arrow = on_arrow};
    fm_state_add_observer(world->state, &observer);
    struct fm_tape *tape = fm_tape_new(world->state, true);
    fm_tape_add(tape, fm_segments_take, world->segments);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_state_hook, world->state, FM_HOOK_STATE);
    fm_hooks_add(hooks, fm_tape_hook, tape, FM_HOOK_DEFAULT);
    /* The tape ends a step when those who take are behind: so until nothing more comes. */
    const struct fm_chunk_hooks chunk = {.event = hooks};
    struct fm_context *context = fm_context_new(&world->trace, 1);
    fm_context_seek_time(context, 0);
    fm_context_begin(context, &chunk, -1);
    while (fm_context_middle(context, FM_TIME_INF, UINT64_MAX, NULL) > 0)
        continue;
    fm_context_detach(context, &chunk, -1);
    fm_context_free(context);
    fm_hooks_free(hooks);
    world->seen.closing = true;
    fm_state_flush(world->state, world->trace->end_time, &observer);
    fm_state_remove_observer(world->state, &observer);
    fm_tape_end(tape, world->trace->end_time);
    fm_tape_free(tape);
}

static void world_clear(struct world *world)
{
    g_array_unref(world->seen.segments);
    g_array_unref(world->seen.arrows);
    fm_segments_free(world->segments);
    fm_state_free(world->state);
    fm_trace_free(world->trace);
    event_list_free(world->list);
}

static const struct fm_segment *seen_at(const struct world *world, guint i)
{
    return &g_array_index(world->seen.segments, struct fm_segment, i);
}

/* All are there, in order, whether blocks are in memory or in the file; spans are right. */
static void check_kept(struct world *world)
{
    struct fm_segments *segments = world->segments;
    struct fm_segments_view view;
    guint at = 0;
    fm_segments_view_init(&view, segments);
    g_assert_null(fm_segments_problem(segments));
    g_assert_cmpuint(fm_segments_count(segments), ==, world->seen.segments->len);
    for (uint32_t block = 0; block < fm_segments_blocks(&view); block++) {
        struct fm_segments_span span = fm_segments_span(&view, block);
        const struct fm_segment *kept = fm_segments_read(&view, block);
        uint64_t first = UINT64_MAX, last = 0;
        for (uint32_t i = 0; i < span.count; i++, at++) {
            const struct fm_segment *seen = seen_at(world, at);
            g_assert_cmpuint(kept[i].start, ==, seen->start);
            g_assert_cmpuint(kept[i].end, ==, seen->end);
            g_assert_cmpuint(kept[i].lane, ==, seen->lane);
            g_assert_cmpuint(kept[i].value, ==, seen->value);
            g_assert_cmpuint(kept[i].depth, ==, seen->depth);
            g_assert_cmpint(kept[i].open, ==, seen->open);
            first = MIN(first, kept[i].start);
            last = MAX(last, kept[i].end);
        }
        g_assert_cmpuint(span.first_start, ==, first);
        g_assert_cmpuint(span.last_end, ==, last);
    }
    g_assert_cmpuint(at, ==, world->seen.segments->len);
    guint arrows = 0;
    for (uint32_t block = 0; block < fm_segments_arrow_blocks(&view); block++) {
        const struct fm_arrow *kept = fm_segments_read_arrows(&view, block);
        uint32_t count = fm_segments_arrow_span(&view, block).count;
        for (uint32_t i = 0; i < count; i++, arrows++) {
            const struct fm_arrow *seen =
                &g_array_index(world->seen.arrows, struct fm_arrow, arrows);
            g_assert_cmpuint(kept[i].from, ==, seen->from);
            g_assert_cmpuint(kept[i].to, ==, seen->to);
            g_assert_cmpuint(kept[i].from_time, ==, seen->from_time);
            g_assert_cmpuint(kept[i].to_time, ==, seen->to_time);
        }
    }
    g_assert_cmpuint(arrows, ==, world->seen.arrows->len);
    g_assert_cmpuint(fm_segments_arrow_count(segments), ==, arrows);
    g_assert_cmpuint(fm_segments_lane_count(segments), ==, fm_state_lane_count(world->state));
    for (uint32_t i = 0; i < fm_segments_lane_count(segments); i++) {
        const struct fm_lane *lane = fm_state_lane(world->state, i);
        const struct fm_segments_lane *kept = fm_segments_lane(segments, i);
        g_assert_cmpint(kept->kind, ==, lane->kind);
        g_assert_cmpuint(kept->key, ==, lane->key);
        g_assert_cmpuint(kept->name, ==, lane->name_value);
        g_assert_cmpuint(kept->parent, ==, lane->parent);
    }
    fm_segments_view_clear(&view);
}

static void test_kept(void)
{
    for (uint32_t seed = 1; seed <= 4; seed++) {
        struct world world;
        world_init(&world, seed % 2 == 0 ? random_program_c(seed) : random_program_haskell(seed),
                   seed <= 2 ? SIZE_MAX : 0);
        g_assert_cmpuint(world.seen.segments->len, >, FM_SEGMENTS_BLOCK / 2);
        check_kept(&world);
        world_clear(&world);
    }
}

/* --- totals --- */

static uint64_t within(const struct fm_segment *segment, const struct fm_totals_area *area)
{
    uint64_t from = MAX(segment->start, area->start), to = MIN(segment->end, area->end);
    return to > from ? to - from : 0;
}

static bool is_in(const struct fm_segment *segment, const struct fm_totals_area *area)
{
    bool chosen = area->lanes == NULL || area->lanes->data[segment->lane] != 0;
    bool instant = segment->start == segment->end && segment->start >= area->start &&
                   segment->start < area->end;
    return chosen && (instant || within(segment, area) > 0);
}

/* Time of the segments that lie directly in it: those of its lane, one level deeper, that ended
 * before it and after the one before it of its depth or less. */
static uint64_t nested_in(const struct world *world, guint i, const struct fm_totals_area *area)
{
    const struct fm_segment *around = seen_at(world, i);
    uint64_t nested = 0;
    for (guint j = i; j-- > 0;) {
        const struct fm_segment *segment = seen_at(world, j);
        if (segment->lane != around->lane)
            continue;
        if (segment->depth <= around->depth)
            break;
        if (segment->depth == around->depth + 1)
            nested += within(segment, area);
    }
    return nested;
}

static uint32_t number_of(const struct world *world, const struct fm_segment *segment,
                          enum fm_totals_by by)
{
    return by == FM_TOTALS_BY_NAME    ? segment->value
           : by == FM_TOTALS_BY_STATE ? fm_trace_value_class(world->trace, segment->value)
           : by == FM_TOTALS_BY_LANE  ? segment->lane
                                      : 0;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void check_percentiles(const struct fm_totals_group *group, GArray *durations)
{
    static const double parts[] = {0, 0.01, 0.25, 0.5, 0.9, 0.99, 1};
    g_array_sort(durations, compare_numbers);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        uint64_t rank = MAX(1, (uint64_t)ceil(parts[i] * durations->len));
        double right = (double)g_array_index(durations, uint64_t, rank - 1);
        double found = (double)fm_totals_percentile(group, parts[i]);
        g_assert_cmpfloat(fabs(found - right), <=, right / 256);
    }
    unsigned count;
    g_autofree struct fm_histogram_bar *bars = fm_histogram_bars(&group->durations, &count);
    uint64_t in_bars = 0;
    for (unsigned i = 0; i < count; i++) {
        uint64_t right = 0;
        for (guint j = 0; j < durations->len; j++) {
            uint64_t duration = g_array_index(durations, uint64_t, j);
            right += duration >= bars[i].least && duration < bars[i].end;
        }
        g_assert_cmpuint(bars[i].count, ==, right);
        g_assert_true(i == 0 || bars[i].least == bars[i - 1].end);
        in_bars += right;
    }
    g_assert_cmpuint(in_bars, ==, durations->len);
}

static uint64_t check_group(const struct world *world, const struct fm_totals_area *area,
                            const struct fm_totals_group *group)
{
    struct fm_totals_group sum = {0};
    g_autoptr(GArray) durations = g_array_new(false, false, sizeof(uint64_t));
    for (guint i = 0; i < world->seen.segments->len; i++) {
        const struct fm_segment *segment = seen_at(world, i);
        uint64_t duration = segment->end - segment->start;
        if (!is_in(segment, area) || number_of(world, segment, area->by) != group->number ||
            fm_segments_lane(world->segments, segment->lane)->kind != group->kind ||
            duration < area->least || (area->most > 0 && duration > area->most))
            continue;
        sum.count++;
        sum.total += within(segment, area);
        sum.self += within(segment, area) - nested_in(world, i, area);
        if (segment->open)
            continue;
        g_array_append_val(durations, duration);
        sum.whole++;
        sum.longest = MAX(sum.longest, duration);
    }
    g_assert_cmpuint(group->count, ==, sum.count);
    g_assert_cmpuint(group->total, ==, sum.total);
    g_assert_cmpuint(group->self, ==, sum.self);
    g_assert_cmpuint(group->whole, ==, sum.whole);
    g_assert_cmpuint(group->longest, ==, sum.longest);
    if (group->whole > 0)
        check_percentiles(group, durations);
    return sum.count;
}

static void check_area(struct world *world, const struct fm_totals_area *area)
{
    struct fm_totals *totals = fm_totals_new(world->segments, area);
    while (fm_totals_step(totals, 1))
        continue;
    const GPtrArray *groups = fm_totals_groups(totals);
    uint64_t counted = 0, right = 0;
    for (guint i = 0; i < groups->len; i++)
        counted += check_group(world, area, groups->pdata[i]);
    for (guint i = 0; i < world->seen.segments->len; i++) {
        const struct fm_segment *segment = seen_at(world, i);
        uint64_t duration = segment->end - segment->start;
        right += is_in(segment, area) && duration >= area->least &&
                 (area->most == 0 || duration <= area->most);
    }
    g_assert_cmpuint(counted, ==, right);
    fm_totals_free(totals);
}

static void test_totals(void)
{
    for (uint32_t seed = 5; seed <= 6; seed++) {
        struct world world;
        world_init(&world, seed % 2 == 0 ? random_program_c(seed) : random_program_haskell(seed),
                   0);
        GRand *random = g_rand_new_with_seed(seed);
        uint64_t span = world.trace->end_time + 1 - world.trace->start_time;
        for (unsigned i = 0; i < 8; i++) {
            g_autoptr(GByteArray) lanes = g_byte_array_new();
            g_byte_array_set_size(lanes, fm_segments_lane_count(world.segments));
            for (guint lane = 0; lane < lanes->len; lane++)
                lanes->data[lane] = (uint8_t)g_rand_int_range(random, 0, 2);
            struct fm_totals_area area = {.start = 0, .end = UINT64_MAX, .by = i % 4};
            if (i >= 2) {
                area.start =
                    world.trace->start_time + (uint64_t)(g_rand_double(random) * (double)span / 2);
                area.end = area.start + 1 + (uint64_t)(g_rand_double(random) * (double)span / 50);
                area.lanes = i % 3 == 0 ? lanes : NULL;
                area.least = i % 2 == 0 ? 1000 : 0;
                area.most = i == 6 ? 100000 : 0;
            }
            check_area(&world, &area);
        }
        g_rand_free(random);
        world_clear(&world);
    }
}

/* --- a trace that grows --- */

static void take_some(struct fm_segments *segments, uint32_t lane, unsigned count)
{
    const struct fm_tape_change named = {
        .kind = FM_TAPE_LANE, .depth = FM_LANE_THREAD, .lane = lane, .since = FM_LANE_NONE};
    fm_segments_take(segments, &(struct fm_tape_batch){NULL, &named, 0, 1});
    for (unsigned i = 0; i < count; i++) {
        const struct fm_tape_change ended = {
            .kind = FM_TAPE_ENDED, .lane = lane, .since = 100 * i, .end = 100 * i + 50};
        fm_segments_take(segments, &(struct fm_tape_batch){NULL, &ended, 0, 1});
    }
}

/* Who has begun to look sees what was there then, though more comes, and a block is full and put
 * away. */
static void test_growing(void)
{
    struct event_list *list = random_program_c(1);
    struct fm_trace *trace = event_list_trace(list);
    struct fm_segments *segments = fm_segments_new(trace, 0);
    take_some(segments, 0, 10);
    const struct fm_totals_area area = {.end = UINT64_MAX, .by = FM_TOTALS_BY_LANE};
    struct fm_totals *before = fm_totals_new(segments, &area);
    take_some(segments, 1, FM_SEGMENTS_BLOCK + 10);
    struct fm_totals *after = fm_totals_new(segments, &area);
    while (fm_totals_step(before, 1) || fm_totals_step(after, 1))
        continue;
    g_assert_cmpuint(fm_totals_groups(before)->len, ==, 1);
    const struct fm_totals_group *group = g_ptr_array_index(fm_totals_groups(before), 0);
    g_assert_cmpuint(group->count, ==, 10);
    g_assert_cmpuint(fm_totals_groups(after)->len, ==, 2);
    group = g_ptr_array_index(fm_totals_groups(after), 0);
    g_assert_cmpuint(group->count, ==, FM_SEGMENTS_BLOCK + 10);
    fm_totals_free(before);
    fm_segments_free(segments); /* who looks at them has a share */
    g_assert_cmpuint(group->total, ==, 50 * (FM_SEGMENTS_BLOCK + 10));
    g_assert_cmpstr(fm_totals_by_name(FM_TOTALS_BY_LANE), ==, "lane");
    fm_totals_free(after);
    fm_trace_free(trace);
    event_list_free(list);
}

/* --- searching --- */

static const struct fm_segment *nearest(const struct world *world, const GByteArray *values,
                                        uint32_t lane, uint64_t time, bool forward)
{
    const struct fm_segment *best = NULL;
    for (guint i = 0; i < world->seen.segments->len; i++) {
        const struct fm_segment *segment = seen_at(world, i);
        if ((forward ? segment->start <= time : segment->start >= time) ||
            (lane != FM_LANE_NONE && segment->lane != lane) ||
            (values != NULL && values->data[segment->value] == 0))
            continue;
        if (best == NULL || (forward ? segment->start < best->start : segment->start > best->start))
            best = segment;
    }
    return best;
}

static void test_search(void)
{
    struct world world;
    world_init(&world, random_program_c(9), 0);
    GRand *random = g_rand_new_with_seed(9);
    uint64_t span = world.trace->end_time + 1 - world.trace->start_time;
    unsigned found_count = 0;
    for (unsigned i = 0; i < 400; i++) {
        g_autoptr(GByteArray) values = g_byte_array_new();
        g_byte_array_set_size(values, fm_trace_value_count(world.trace));
        memset(values->data, 0, values->len);
        values->data[g_rand_int_range(random, 0, (gint32)values->len)] = 1;
        uint32_t lane = i % 3 == 0 ? (uint32_t)g_rand_int_range(
                                         random, 0, (gint32)fm_segments_lane_count(world.segments))
                                   : FM_LANE_NONE;
        uint64_t time = world.trace->start_time + (uint64_t)(g_rand_double(random) * (double)span);
        const GByteArray *wanted = i % 3 == 0 && i % 2 == 0 ? NULL : values;
        struct fm_search *search = fm_search_new(world.segments, wanted, lane, time, i % 2 == 0);
        while (fm_search_step(search, 1))
            continue;
        const struct fm_segment *found = fm_search_found(search);
        const struct fm_segment *right = nearest(&world, wanted, lane, time, i % 2 == 0);
        g_assert_cmpint(found != NULL, ==, right != NULL);
        if (found != NULL) {
            found_count++;
            g_assert_cmpuint(found->start, ==, right->start);
            g_assert_true(lane == FM_LANE_NONE || found->lane == lane);
            g_assert_true(wanted == NULL || wanted->data[found->value] != 0);
        }
        fm_search_free(search);
    }
    g_assert_cmpuint(found_count, >, 40);
    g_rand_free(random);
    world_clear(&world);
}

/* --- what lies in what --- */

/* The segment that it lies in: the next one of its lane that ended, one level up; NULL of outermost
 * ones. */
static const struct fm_segment *around(const struct world *world, guint i, guint *ret_at)
{
    const struct fm_segment *inner = seen_at(world, i);
    for (guint j = i + 1; inner->depth > 0 && j < world->seen.segments->len; j++) {
        const struct fm_segment *segment = seen_at(world, j);
        if (segment->lane == inner->lane && segment->depth + 1 == inner->depth) {
            *ret_at = j;
            return segment;
        }
    }
    return NULL;
}

/* The values from the outermost one on: "3 7 7 ". */
static char *path_of(const struct world *world, guint i)
{
    GString *path = g_string_new(NULL);
    do {
        g_autofree char *value = g_strdup_printf("%u ", seen_at(world, i)->value);
        g_string_prepend(path, value);
    } while (around(world, i, &i) != NULL);
    return g_string_free(path, FALSE);
}

static void add_right(const struct world *world, const struct fm_totals_area *area,
                      GHashTable *totals, GHashTable *counts)
{
    for (guint i = 0; i < world->seen.segments->len; i++) {
        if (!is_in(seen_at(world, i), area))
            continue;
        char *path = path_of(world, i);
        uint64_t total = GPOINTER_TO_SIZE(g_hash_table_lookup(totals, path));
        uint64_t count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, path));
        total += within(seen_at(world, i), area);
        g_hash_table_insert(totals, g_strdup(path), GSIZE_TO_POINTER(total));
        g_hash_table_insert(counts, path, GSIZE_TO_POINTER(count + 1));
    }
}

static void check_flame(const struct world *world, const struct fm_totals_area *area)
{
    g_autoptr(GHashTable) totals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    struct fm_flame *flame = fm_flame_new(world->segments, area);
    while (fm_flame_step(flame, 1))
        continue;
    g_autoptr(GArray) nodes = fm_flame_nodes(flame);
    add_right(world, area, totals, counts);
    g_assert_cmpuint(nodes->len, ==, g_hash_table_size(counts) + 1);
    g_assert_cmpuint(fm_flame_lost(flame), ==, 0);
    uint64_t selves = 0;
    for (guint i = 0; i < nodes->len; i++) {
        const struct fm_flame_node *node = &g_array_index(nodes, struct fm_flame_node, i);
        const char *outer = i == 0 ? "" : paths->pdata[node->parent];
        char *path = i == 0 ? g_strdup("") : g_strdup_printf("%s%u ", outer, node->value);
        g_ptr_array_add(paths, path);
        selves += i == 0 ? 0 : node->self;
        if (i == 0)
            continue;
        g_assert_cmpuint(node->count, ==, GPOINTER_TO_SIZE(g_hash_table_lookup(counts, path)));
        g_assert_cmpuint(node->total, ==, GPOINTER_TO_SIZE(g_hash_table_lookup(totals, path)));
    }
    g_assert_cmpuint(selves, ==, g_array_index(nodes, struct fm_flame_node, 0).total);
    fm_flame_free(flame);
}

static void test_flame(void)
{
    struct world world;
    world_init(&world, random_program_c(11), 0);
    uint64_t start = world.trace->start_time, span = world.trace->end_time - start;
    g_autoptr(GByteArray) lanes = g_byte_array_new();
    g_byte_array_set_size(lanes, fm_segments_lane_count(world.segments));
    for (guint i = 0; i < lanes->len; i++)
        lanes->data[i] = i % 3 != 0;
    check_flame(&world, &(struct fm_totals_area){.end = UINT64_MAX});
    check_flame(&world, &(struct fm_totals_area){.end = UINT64_MAX, .lanes = lanes});
    check_flame(&world,
                &(struct fm_totals_area){.start = start + span / 3, .end = start + span / 2});
    world_clear(&world);
}

static void check_details(const struct world *world, guint i, uint64_t *ret_inside)
{
    const struct fm_segment *asked = seen_at(world, i);
    struct fm_details *details =
        fm_details_new(world->segments, asked->lane, asked->start, asked->depth);
    while (fm_details_step(details, 1))
        continue;
    const struct fm_segment *found = fm_details_found(details);
    g_assert_cmpuint(found->start, ==, asked->start);
    g_assert_cmpuint(found->end, ==, asked->end);
    g_assert_cmpuint(found->value, ==, asked->value);
    const GArray *outer = fm_details_around(details);
    g_assert_cmpuint(outer->len, ==, asked->depth);
    guint at = i;
    for (guint depth = outer->len; depth-- > 0;) {
        const struct fm_segment *right = around(world, at, &at);
        g_assert_cmpuint(g_array_index(outer, struct fm_segment, depth).start, ==, right->start);
    }
    const struct fm_totals_area all = {.end = UINT64_MAX};
    g_assert_cmpuint(fm_details_self(details), ==,
                     asked->end - asked->start - nested_in(world, i, &all));
    uint64_t count = 0, arrows[2] = {0};
    for (guint j = 0; j < fm_details_inside(details)->len; j++)
        count += g_array_index(fm_details_inside(details), struct fm_details_part, j).count;
    for (guint j = 0; j < world->seen.arrows->len; j++) {
        const struct fm_arrow *arrow = &g_array_index(world->seen.arrows, struct fm_arrow, j);
        arrows[0] += arrow->from == asked->lane && arrow->from_time >= asked->start &&
                     arrow->from_time <= asked->end;
        arrows[1] += arrow->to == asked->lane && arrow->to_time >= asked->start &&
                     arrow->to_time <= asked->end;
    }
    for (unsigned to = 0; to < 2; to++) {
        g_assert_cmpuint(fm_details_arrow_count(details, to), ==, arrows[to]);
        g_assert_cmpuint(fm_details_arrows(details, to)->len, ==,
                         MIN(arrows[to], FM_DETAILS_ARROWS_MAX));
    }
    *ret_inside += count;
    fm_details_free(details);
}

/* Only one segment of a lane and depth begins at a time, unless it is an instant. */
static void test_details(void)
{
    struct world world;
    uint64_t inside = 0;
    world_init(&world, random_program_c(12), 0);
    for (guint i = 0; i < world.seen.segments->len; i += 37) {
        const struct fm_segment *asked = seen_at(&world, i);
        if (asked->end > asked->start)
            check_details(&world, i, &inside);
    }
    g_assert_cmpuint(inside, >, 50);
    struct fm_details *none = fm_details_new(world.segments, 0, 0, 200);
    while (fm_details_step(none, 1))
        continue;
    g_assert_null(fm_details_found(none));
    g_assert_true(fm_details_segments(none) == world.segments);
    fm_details_free(none);
    world_clear(&world);
}

/* Every value is in a cell that holds it, at most 1/128 wide. */
static void test_histogram(void)
{
    for (unsigned bit = 0; bit < 64; bit++) {
        for (int near = -1; near <= 1; near++) {
            uint64_t value = (UINT64_C(1) << bit) + (uint64_t)(int64_t)near;
            struct fm_histogram histogram = {0};
            fm_histogram_add(&histogram, value);
            double found = (double)fm_histogram_percentile(&histogram, 0.5);
            g_assert_cmpfloat(fabs(found - (double)value), <=, (double)value / 256 + 0.5);
            fm_histogram_clear(&histogram);
        }
    }
    struct fm_histogram none = {0};
    unsigned count;
    g_free(fm_histogram_bars(&none, &count));
    g_assert_cmpuint(count, ==, 0);
    g_assert_cmpuint(fm_histogram_percentile(&none, 0.5), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/segments/kept", test_kept);
    g_test_add_func("/segments/totals", test_totals);
    g_test_add_func("/segments/growing", test_growing);
    g_test_add_func("/segments/search", test_search);
    g_test_add_func("/segments/flame", test_flame);
    g_test_add_func("/segments/details", test_details);
    g_test_add_func("/segments/histogram", test_histogram);
    return g_test_run();
}

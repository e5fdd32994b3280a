/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/summary/summary.h"

#include <math.h>
#include <string.h>

#include "trace/summary/boxes.h"
#include "trace/summary/picture.h"

enum {
    RUN_FIRST = 128,      /* events */
    RUNS_MAX = 256 << 10, /* then every second is dropped */
    BUDGET_LEAST = 1 << 20,
};

struct fm_summary {
    struct fm_trace *trace;
    struct fm_box_store store;
    /* runs[i] is the time of event number i * run. */
    uint64_t *runs;
    unsigned run_count, run_capacity;
    uint64_t run, events;
    unsigned until_next; /* events to the next run */
    uint64_t known_until;
    GArray *going_on; /* holds struct lane_depth: where the store has a box that goes on */
};

struct lane_depth {
    uint32_t lane, depth;
};

struct fm_summary *fm_summary_new(struct fm_trace *trace, size_t memory_budget)
{
    struct fm_summary *summary = g_new0(struct fm_summary, 1);
    summary->trace = trace;
    fm_box_store_init(&summary->store, MAX(memory_budget, BUDGET_LEAST), 0, 0);
    summary->run = RUN_FIRST;
    summary->known_until = trace->start_time;
    summary->going_on = g_array_new(false, false, sizeof(struct lane_depth));
    return summary;
}

void fm_summary_free(struct fm_summary *summary)
{
    if (summary == NULL)
        return;
    fm_box_store_done(&summary->store);
    g_free(summary->runs);
    g_array_unref(summary->going_on);
    g_free(summary);
}

size_t fm_summary_memory(const struct fm_summary *summary)
{
    return summary->store.memory + summary->run_capacity * sizeof *summary->runs;
}

static bool found_one(void *user, const struct fm_stored_box *box)
{
    (void)box;
    *(bool *)user = true;
    return false;
}

uint64_t fm_summary_resolution(const struct fm_summary *summary)
{
    return summary->store.resolution;
}

uint64_t fm_summary_known_until(const struct fm_summary *summary)
{
    return summary->known_until;
}

/* --- runs of events --- */

static void add_run(struct fm_summary *summary, uint64_t time)
{
    if (summary->run_count == RUNS_MAX) {
        for (unsigned i = 0; i < RUNS_MAX / 2; i++)
            summary->runs[i] = summary->runs[(size_t)2 * i];
        summary->run_count = RUNS_MAX / 2;
        summary->run *= 2;
    }
    if (summary->run_count == summary->run_capacity) {
        summary->run_capacity = MAX(64, 2 * summary->run_capacity);
        summary->runs = g_renew(uint64_t, summary->runs, summary->run_capacity);
    }
    summary->runs[summary->run_count++] = time;
}

/* Events of a batch, of which `from` have been counted: up to, but not with, number `to`. */
static void count_events(struct fm_summary *summary, const struct fm_tape_event *events,
                         uint32_t from, uint32_t to)
{
    summary->events += to - from;
    while (from < to) {
        if (summary->until_next > 0) {
            uint32_t passed = MIN(to - from, summary->until_next);
            summary->until_next -= passed;
            from += passed;
            continue;
        }
        add_run(summary, events[from++].time);
        summary->until_next = (unsigned)summary->run - 1;
        fm_box_store_tend(&summary->store);
    }
}

void fm_summary_take(void *user, const struct fm_tape_batch *batch)
{
    struct fm_summary *summary = user;
    struct fm_box_store *store = &summary->store;
    uint32_t counted = 0;
    for (uint32_t i = 0; i < batch->change_count; i++) {
        const struct fm_tape_change *change = &batch->changes[i];
        if (change->kind != FM_TAPE_ENDED && change->kind != FM_TAPE_NUMBER)
            continue;
        if (change->event - counted > summary->until_next) { /* a run begins in between */
            count_events(summary, batch->events, counted, change->event);
            counted = change->event;
        }
        if (change->kind == FM_TAPE_ENDED) {
            fm_box_store_add(store, change->lane, change->depth, change->since, change->end,
                             change->value, change->detail);
        } else {
            double number;
            memcpy(&number, &change->since, sizeof number);
            fm_box_store_number(store, change->lane, change->end, number);
        }
    }
    count_events(summary, batch->events, counted, batch->event_count);
    if (batch->event_count > 0)
        summary->known_until = batch->events[batch->event_count - 1].time;
}

void fm_summary_end(struct fm_summary *summary, uint64_t time)
{
    summary->known_until = MAX(summary->known_until, time);
}

void fm_summary_hide_open(struct fm_summary *summary)
{
    for (guint i = 0; i < summary->going_on->len; i++) {
        const struct lane_depth *at = &g_array_index(summary->going_on, struct lane_depth, i);
        fm_box_store_end_going_on(&summary->store, at->lane, at->depth);
    }
    g_array_set_size(summary->going_on, 0);
}

static void show_open(void *user, const struct fm_lane *lane, uint32_t depth,
                      const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_summary *summary = user;
    struct lane_depth at = {lane->index, depth};
    fm_box_store_set_going_on(&summary->store, lane->index, depth, entry->since, end, entry->value,
                              entry->detail);
    g_array_append_val(summary->going_on, at);
}

void fm_summary_show_open(struct fm_summary *summary, struct fm_state *state, uint64_t time)
{
    const struct fm_state_observer observer = {.user = summary, .segment = show_open};
    fm_summary_hide_open(summary);
    fm_state_flush(state, time, &observer);
    fm_summary_end(summary, time);
}

/* About how many events lie before time. */
static double events_before(const struct fm_summary *summary, uint64_t time)
{
    unsigned low = 0, high = summary->run_count;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (summary->runs[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    uint64_t from = summary->runs[low - 1];
    bool last = low == summary->run_count;
    uint64_t to = last ? summary->known_until : summary->runs[low];
    double in_run =
        last ? (double)(summary->events - (low - 1) * summary->run) : (double)summary->run;
    double part = to <= from ? 1 : (double)(time - from) / (double)(to - from);
    return (double)(low - 1) * (double)summary->run + in_run * MIN(part, 1.0);
}

/* The same as a number, so that parts add up to the whole. */
static uint64_t count_before(const struct fm_summary *summary, uint64_t time)
{
    if (time > summary->known_until)
        return summary->events;
    return time <= summary->trace->start_time ? 0 : (uint64_t)(events_before(summary, time) + 0.5);
}

uint64_t fm_summary_events(const struct fm_summary *summary, uint64_t start, uint64_t end)
{
    return end <= start ? 0 : count_before(summary, end) - count_before(summary, start);
}

/* --- lanes, values, numbers --- */

static bool is_active(const struct fm_box_lane *lane, uint64_t start, uint64_t end)
{
    if (lane->count == 0 || lane->first >= end)
        return false;
    if (lane->numbers)
        return true; /* a number stays what it is */
    bool found = lane->first >= start || (lane->last >= start && lane->last < end);
    for (uint32_t i = 0; i < lane->count && !found && lane->last >= start; i++)
        fm_box_track_visit(&lane->tracks[i], start, end, UINT64_MAX, found_one, &found);
    return found;
}

GArray *fm_summary_lanes(const struct fm_summary *summary, uint64_t start, uint64_t end)
{
    GArray *lanes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < summary->store.lane_count; i++) {
        if (is_active(&summary->store.lanes[i], start, end))
            g_array_append_val(lanes, i);
    }
    return lanes;
}

struct end_search {
    uint64_t start, end;
    bool found;
};

static bool is_segment(void *user, const struct fm_stored_box *box)
{
    struct end_search *search = user;
    if (box->start != search->start || box->count != 1)
        return true;
    search->found = true; /* the last one: those before it have no length */
    search->end = box->end;
    return true;
}

bool fm_summary_end_of(const struct fm_summary *summary, uint32_t lane_index, uint32_t depth,
                       uint64_t start, uint64_t *ret_end)
{
    const struct fm_box_store *store = &summary->store;
    const struct fm_box_lane *lane =
        lane_index < store->lane_count ? &store->lanes[lane_index] : NULL;
    struct end_search search = {.start = start};
    if (lane != NULL && !lane->numbers && depth < lane->count)
        fm_box_track_visit(&lane->tracks[depth], start, start + 1, 0, is_segment, &search);
    *ret_end = search.end;
    return search.found;
}

struct value_sums {
    uint64_t start, end;
    GArray *values; /* holds struct fm_value_time */
};

static void add_time(GArray *values, uint32_t value, double time, uint64_t count)
{
    for (guint i = 0; i < values->len; i++) {
        struct fm_value_time *sum = &g_array_index(values, struct fm_value_time, i);
        if (sum->value == value) {
            sum->time += time;
            sum->count += count;
            return;
        }
    }
    struct fm_value_time sum = {value, count, time};
    g_array_append_val(values, sum);
}

static bool sum_box(void *user, const struct fm_stored_box *box)
{
    struct value_sums *sums = user;
    uint64_t from = MAX(box->start, sums->start), to = MIN(box->end, sums->end);
    uint64_t length = box->end - box->start;
    double part = length == 0 ? 1 : (double)(to - from) / (double)length;
    for (unsigned i = 0; i < (box->count == 1 ? 1u : (unsigned)FM_BOX_VALUES); i++) {
        if (i == 0 || box->time[i] > 0)
            add_time(sums->values, box->value[i], (double)box->time[i] * part,
                     i == 0 ? box->count : 0);
    }
    return true;
}

static int by_time(gconstpointer a, gconstpointer b)
{
    const struct fm_value_time *x = a, *y = b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

GArray *fm_summary_values(const struct fm_summary *summary, uint32_t lane_index, uint32_t depth,
                          uint64_t start, uint64_t end)
{
    struct value_sums sums = {start, end, g_array_new(FALSE, FALSE, sizeof(struct fm_value_time))};
    const struct fm_box_store *store = &summary->store;
    const struct fm_box_lane *lane =
        lane_index < store->lane_count ? &store->lanes[lane_index] : NULL;
    if (lane != NULL && !lane->numbers && depth < lane->count)
        fm_box_track_visit(&lane->tracks[depth], start, end, 0, sum_box, &sums);
    g_array_sort(sums.values, by_time);
    return sums.values;
}

struct loading {
    const struct fm_trace *trace;
    struct fm_load *load;
};

static bool load_box(void *user, const struct fm_stored_box *box)
{
    const struct loading *loading = user;
    for (unsigned i = 0; i < (box->count == 1 ? 1u : (unsigned)FM_BOX_VALUES); i++) {
        if (box->time[i] > 0)
            fm_load_add(loading->load, fm_trace_value_class(loading->trace, box->value[i]),
                        box->start, box->end, (double)box->time[i]);
    }
    return true;
}

static bool load_long_box(void *user, const struct fm_stored_box *box)
{
    const struct loading *loading = user;
    for (unsigned i = 0; i < (box->count == 1 ? 1u : (unsigned)FM_BOX_VALUES); i++) {
        if (box->time[i] > 0)
            fm_load_add_long(loading->load, fm_trace_value_class(loading->trace, box->value[i]),
                             box->start, box->end, (double)box->time[i]);
    }
    return true;
}

static bool is_nested(const struct fm_box_lane *lane, const struct fm_load *load)
{
    bool found = false;
    if (lane->count > 1)
        fm_box_track_visit(&lane->tracks[1], load->start, load->end, UINT64_MAX, found_one, &found);
    return found;
}

static void load_lane(const struct fm_summary *summary, const struct fm_box_lane *lane,
                      struct fm_load *load, struct fm_load *scratch)
{
    uint64_t width = (load->end - load->start) / load->columns;
    if (!is_nested(lane, load)) { /* nothing to take off: most of many lanes */
        struct loading all = {summary->trace, load};
        fm_box_track_visit(&lane->tracks[0], load->start, load->end, width, load_long_box, &all);
        return;
    }
    struct fm_load *below = &scratch[0], *above = &scratch[1];
    for (uint32_t depth = 0; depth < lane->count; depth++) {
        struct loading loading = {summary->trace, above};
        fm_box_track_visit(&lane->tracks[depth], load->start, load->end, width, load_box, &loading);
        if (above->low == above->high)
            break; /* nothing stands deeper either */
        fm_load_take_off(below, above);
        fm_load_add_all(load, below);
        fm_load_reset(below);
        struct fm_load *done = below;
        below = above;
        above = done;
    }
    fm_load_add_all(load, below);
    fm_load_reset(below);
}

unsigned fm_summary_nested(const struct fm_summary *summary, const uint32_t *lanes,
                           unsigned lane_count)
{
    unsigned nested = 0;
    for (unsigned i = 0; i < lane_count; i++)
        nested += lanes[i] < summary->store.lane_count && summary->store.lanes[lanes[i]].count > 1;
    return nested;
}

void fm_summary_load(const struct fm_summary *summary, const uint32_t *lanes, unsigned lane_count,
                     struct fm_load *load)
{
    struct fm_load scratch[2];
    for (unsigned i = 0; i < 2; i++)
        fm_load_init(&scratch[i], load->start, load->end, load->columns);
    for (unsigned i = 0; i < lane_count; i++) {
        const struct fm_box_lane *lane =
            lanes[i] < summary->store.lane_count ? &summary->store.lanes[lanes[i]] : NULL;
        if (lane != NULL && lane->count > 0 && !lane->numbers && lane->first < load->end &&
            lane->last >= load->start)
            load_lane(summary, lane, load, scratch);
    }
    fm_load_settle(load);
    for (unsigned i = 0; i < 2; i++)
        fm_load_done(&scratch[i]);
}

struct number_columns {
    uint64_t start, end;
    unsigned columns, filled; /* columns before `filled` are done */
    double *ret;
    double last;
};

static unsigned column_at(const struct number_columns *at, uint64_t time)
{
    if (time <= at->start)
        return 0;
    double part = (double)(time - at->start) / (double)(at->end - at->start);
    return MIN((unsigned)(part * at->columns), at->columns - 1);
}

/* The value stays as it was up to that column. */
static void carry(struct number_columns *at, unsigned column)
{
    for (; at->filled < column; at->filled++) {
        for (unsigned i = 0; i < 3; i++)
            at->ret[3 * at->filled + i] = at->last;
    }
}

static void widen(double *of, double least, double greatest, double last)
{
    of[0] = isnan(of[0]) ? least : MIN(of[0], least);
    of[1] = isnan(of[1]) ? greatest : MAX(of[1], greatest);
    of[2] = last;
}

static bool take_number(void *user, const struct fm_stored_box *box)
{
    struct number_columns *at = user;
    if (box->end < at->start || box->start < at->start) {
        at->last = box->number[2];
        if (box->end < at->start)
            return true;
    }
    unsigned from = column_at(at, box->start), to = column_at(at, box->end);
    for (unsigned column = from; column <= to; column++) {
        double *of = &at->ret[(size_t)3 * column];
        if (column >= at->filled) {
            carry(at, column);
            if (!isnan(at->last))
                widen(of, at->last, at->last, at->last);
            at->filled = column + 1;
        }
        widen(of, box->number[0], box->number[1], box->number[2]);
    }
    at->last = box->number[2];
    return true;
}

void fm_summary_numbers(const struct fm_summary *summary, uint32_t lane_index, uint64_t start,
                        uint64_t end, unsigned columns, double *ret)
{
    const struct fm_box_store *store = &summary->store;
    for (unsigned i = 0; i < 3 * columns; i++)
        ret[i] = NAN;
    if (lane_index >= store->lane_count || end <= start || columns == 0)
        return;
    const struct fm_box_lane *lane = &store->lanes[lane_index];
    if (!lane->numbers || lane->count == 0)
        return;
    struct number_columns at = {start, end, columns, 0, ret, NAN};
    /* The value before the window: the last box there. */
    fm_box_track_last_before(&lane->tracks[0], start, &at.last);
    fm_box_track_visit(&lane->tracks[0], start, end, (end - start) / columns / 8, take_number, &at);
    unsigned known =
        summary->known_until >= end
            ? columns
            : (summary->known_until <= start ? 0 : column_at(&at, summary->known_until) + 1);
    carry(&at, known);
}

/* --- drawing --- */

static void count_columns(const struct fm_summary *summary, struct fm_picture *picture)
{
    double width = (double)(picture->end - picture->start) / picture->columns;
    double before = events_before(summary, picture->start);
    g_array_set_size(picture->events, picture->columns);
    for (unsigned i = 0; i < picture->columns; i++) {
        uint64_t end = picture->start + (uint64_t)(width * (i + 1));
        double upto =
            end > summary->known_until ? (double)summary->events : events_before(summary, end);
        double count = upto - before;
        g_array_index(picture->events, uint32_t, i) = (uint32_t)CLAMP(count + 0.5, 0, 4e9);
        before += floor(count + 0.5);
    }
}

void fm_summary_draw(const struct fm_summary *summary, const uint32_t *lanes, unsigned lane_count,
                     struct fm_picture *picture, unsigned max_boxes)
{
    if (picture->boxes == NULL)
        picture->boxes = g_array_new(FALSE, FALSE, sizeof(struct fm_box));
    if (picture->events == NULL)
        picture->events = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    if (picture->end <= picture->start || picture->columns == 0)
        return;
    fm_picture_draw(&summary->store, summary->trace, lanes, lane_count, picture, max_boxes);
    count_columns(summary, picture);
}

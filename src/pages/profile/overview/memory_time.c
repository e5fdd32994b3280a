/* SPDX-License-Identifier: Apache-2.0 */
/* Live memory over time, as a part of the pages of memory. */
#include <string.h>

#include "display/drawing.h"
#include "display/ranked.h"
#include "pages/profile/overview/overview.h"

#define DRAWING_ID "memory-over-time"
#define WIDTH 900u
#define HEIGHT 120u
#define TICKS 8
#define ROWS 16u
#define RUN_NS_MAX (FM_HEAP_SLOT_NS_MAX * FM_HEAP_SLOTS_MAX)

/* Slots behind the last that was noted are filled in: memory stood still up to the end. */
struct curve {
    uint64_t slot_ns, end_ns;
    uint32_t count;                    /* slots up to the end of the run */
    uint64_t least[FM_HEAP_SLOTS_MAX]; /* bytes */
    uint64_t most[FM_HEAP_SLOTS_MAX];
};

/* How many slots of the file make one here: a run may sleep for long behind the last note. */
static uint64_t slots_together(const struct fm_heap_curve *from, uint64_t run)
{
    uint64_t together = 1;
    while (from->slot_ns * together * FM_HEAP_SLOTS_MAX < run)
        together *= 2;
    return together;
}

static void fill(const struct fm_run_info *info, uint64_t end_bytes, struct curve *curve)
{
    const struct fm_heap_curve *from = &info->heap_info.curve;
    /* A program that runs, or was killed, has been recorded up to some moment. */
    uint64_t known = info->duration_ns > 0 ? info->duration_ns : info->extent.recorded_ns;
    uint64_t run = MAX(MIN(known, RUN_NS_MAX), from->count * from->slot_ns);
    uint64_t together = slots_together(from, run), slot_ns = from->slot_ns * together;
    uint32_t count = (uint32_t)((run + slot_ns - 1) / slot_ns);
    *curve = (struct curve){.slot_ns = slot_ns, .end_ns = run, .count = count};
    for (uint32_t i = 0; i < count; i++)
        curve->least[i] = curve->most[i] = end_bytes;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct fm_heap_slot *slot = &from->slots[i];
        uint64_t most = slot->most > 0 ? slot->most - 1 : slot->least;
        uint64_t at = i / together;
        /* Behind the last note the end is met, too. */
        bool first = i % together == 0 && i + together <= from->count;
        curve->least[at] = first ? slot->least : MIN(curve->least[at], slot->least);
        curve->most[at] = first ? most : MAX(curve->most[at], most);
    }
}

static struct fm_query link_to(struct fm_page *page, enum fm_query_memory side)
{
    struct fm_query query = fm_page_link(page, FM_CMD_MEMORY, 0);
    query.command.memory = side;
    return query;
}

/* Of the moments of which contexts are known. */
static void add_marks(struct fm_page *page, struct fm_drawing *drawing, uint64_t all_ns)
{
    const struct fm_run_info *info = &page->profile->run_info;
    uint64_t end_ns = info->duration_ns > 0 ? MIN(info->duration_ns, all_ns) : all_ns;
    struct fm_query peak = link_to(page, FM_QUERY_AT_PEAK), end = link_to(page, FM_QUERY_HELD);
    for (uint32_t i = 0; i < info->mark_count; i++) {
        const struct fm_mark *mark = &info->marks[i];
        g_autofree char *title = g_strdup_printf("Snapshot: %s", mark->name);
        if (mark->snapshot != 0)
            fm_drawing_mark(drawing, (double)mark->ns / (double)all_ns, title, NULL);
    }
    if (info->heap_info.whole.peak_ns > 0) {
        g_autofree char *text = fm_format_bytes_said((int64_t)info->peak_bytes);
        g_autofree char *title = g_strdup_printf("The peak: %s", text);
        fm_drawing_mark_page(drawing, (double)info->heap_info.whole.peak_ns / (double)all_ns, title,
                             &peak);
    }
    fm_drawing_mark_page(drawing, (double)end_ns / (double)all_ns, "The end", &end);
}

static void draw(struct fm_page *page, const struct curve *curve, uint64_t highest)
{
    const uint64_t all_ns = curve->count * curve->slot_ns;
    unsigned decimals;
    uint64_t step = fm_drawing_step((double)all_ns / TICKS, &decimals);
    g_autofree double *heights = g_new(double, curve->count);
    g_autofree char *most_text = fm_format_bytes((int64_t)highest);
    struct fm_drawing *drawing = fm_add_drawing(
        page->body, DRAWING_ID, "Live memory over time; the table has its figures", WIDTH);
    for (uint64_t at = 0; at < all_ns; at += step) {
        g_autofree char *label = g_strdup_printf("%.*f s", (int)decimals, (double)at / 1e9);
        fm_drawing_tick(drawing, (double)at / (double)all_ns, label);
    }
    for (uint32_t i = 0; i < curve->count; i++)
        heights[i] = (double)curve->most[i] / (double)highest;
    const struct fm_drawing_row row = {
        .label = "live memory", .note = most_text, .height = HEIGHT, .levels = 1};
    fm_drawing_row(drawing, &row);
    fm_drawing_bars(drawing, heights, curve->count);
    add_marks(page, drawing, all_ns);
}

static void add_column(struct fm_table *table, const char *title, const char *name)
{
    const struct fm_column_head head = {title, name, FM_COLUMN_NUMBER};
    fm_table_columns(table, &head, 1, FM_COLOUR_NEVER);
    fm_column_priority(table, 1);
}

static void add_table(struct fm_page *page, const struct curve *curve, uint64_t highest)
{
    uint32_t rows = MIN(curve->count, ROWS);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "memory_over_time");
    fm_table_ranked(table, NULL);
    add_column(table, "From", "begin_seconds");
    add_column(table, "To", "end_seconds");
    add_column(table, "Most", "most_bytes");
    add_column(table, "Least", "least_bytes");
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t first = row * curve->count / rows, end = (row + 1) * curve->count / rows;
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t i = first; i < end; i++) {
            least = MIN(least, curve->least[i]);
            most = MAX(most, curve->most[i]);
        }
        double share = (double)most / (double)highest;
        fm_table_row(table, "part", false);
        fm_cell_time(table, (double)(first * curve->slot_ns) / 1e9);
        fm_cell_time(table, (double)MIN(end * curve->slot_ns, curve->end_ns) / 1e9);
        fm_cell_bytes(table, (int64_t)most);
        fm_cell_bar(table, share, share);
        fm_cell_bytes(table, (int64_t)least);
    }
}

/* bytes: -1 = not known here. */
static void add_moment(struct fm_table *table, uint64_t ns, int64_t bytes,
                       const struct fm_query *query, const char *name)
{
    const struct fm_path_part part = {name, query, 0};
    fm_table_row(table, "moment", false);
    fm_cell_time(table, (double)ns / 1e9);
    if (bytes >= 0)
        fm_cell_bytes(table, bytes);
    else
        fm_cell_unknown(table);
    fm_cell_path(table, &part, 1, 0);
}

/* The moments of which it is known which contexts held what, with the way to their tables. */
static void add_moments(struct fm_page *page, const struct curve *curve, uint64_t end_bytes)
{
    const struct fm_run_info *info = &page->profile->run_info;
    struct fm_query peak = link_to(page, FM_QUERY_AT_PEAK), end = link_to(page, FM_QUERY_HELD);
    const char *file = page->recording->name;
    int stem = (int)(strlen(file) - (g_str_has_suffix(file, ".data") ? strlen(".data") : 0));
    fm_add_text(page->body,
                "Which contexts held it is known at these moments. Another needs a snapshot then: "
                "`fathom ctl NAME.rec snapshot LABEL`, or fathom_snapshot(\"LABEL\") in the "
                "program.");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "memory_moments");
    fm_table_ranked(table, NULL);
    add_column(table, "Time", "at_seconds");
    add_column(table, "Live", "live_bytes");
    const struct fm_column_head moment = {"Moment", "path", FM_COLUMN_PROC};
    fm_table_columns(table, &moment, 1, FM_COLOUR_NEVER);
    fm_column_priority(table, 1);
    if (info->heap_info.whole.peak_ns > 0)
        add_moment(table, info->heap_info.whole.peak_ns, (int64_t)info->peak_bytes, &peak,
                   "the peak");
    for (uint32_t i = 0; i < info->mark_count; i++) {
        const struct fm_mark *mark = &info->marks[i];
        if (mark->snapshot == 0)
            continue;
        g_autofree char *name = g_strdup_printf("snapshot %s: fathom finish %.*s.snap%u.rec",
                                                mark->name, stem, file, mark->snapshot);
        add_moment(table, mark->ns, -1, NULL, name);
    }
    add_moment(table, info->duration_ns > 0 ? info->duration_ns : curve->end_ns, (int64_t)end_bytes,
               &end, "the end");
}

void fm_add_memory_over_time(struct fm_page *page)
{
    const struct fm_run_info *info = &page->profile->run_info;
    unsigned live = fm_profile_measure(page->profile, FM_LIVE_BYTES);
    bool recorded = info->heap_info.curve.slot_ns > 0 && info->heap_info.curve.count > 0;
    fm_display_fact_bool(page->display, "memory_over_time_recorded", recorded);
    if (live == 0)
        return; /* the page says that nothing of this is recorded */
    fm_add_heading(page->body, "Live memory over time");
    if (!recorded) {
        fm_add_text(page->body,
                    "Not recorded: that is known of one process in a whole run, not of sums and "
                    "phases, nor by earlier versions.");
        return;
    }
    g_autofree struct curve *curve = g_new(struct curve, 1);
    uint64_t highest = MAX(info->peak_bytes, 1);
    uint64_t end_bytes = (uint64_t)MAX(fm_cost_total(&page->analysis->root_total, live), 0);
    fill(info, end_bytes, curve);
    for (uint32_t i = 0; i < curve->count; i++)
        highest = MAX(highest, curve->most[i]);
    draw(page, curve, highest);
    fm_add_text(page->body, "Noted at ticks, and whenever a thread's live memory has changed by "
                            "more than 16 KiB: smaller blocks that were allocated and freed in "
                            "between are not in it.");
    add_moments(page, curve, end_bytes);
    add_table(page, curve, highest);
}

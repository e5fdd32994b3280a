/* SPDX-License-Identifier: Apache-2.0 */
/* Live memory over time, as a part of the pages of memory. */
#include "display/drawing.h"
#include "pages/profile/overview/overview.h"

#define DRAWING_ID "memory-over-time"
#define WIDTH 900u
#define HEIGHT 120u
#define TICKS 8
#define ROWS 16u

/* Slots behind the last that was noted are filled in: memory stood still up to the end. */
struct curve {
    uint64_t slot_ns, end_ns;
    uint32_t count;                    /* slots up to the end of the run */
    uint64_t least[FM_HEAP_SLOTS_MAX]; /* bytes */
    uint64_t most[FM_HEAP_SLOTS_MAX];
};

static void fill(const struct fm_run_info *info, uint64_t end_bytes, struct curve *curve)
{
    const struct fm_heap_curve *from = &info->heap_info.curve;
    uint64_t run = MAX(info->duration_ns, from->count * from->slot_ns), before = 0;
    uint64_t slots = (run + from->slot_ns - 1) / from->slot_ns;
    *curve = (struct curve){
        .slot_ns = from->slot_ns, .end_ns = run, .count = (uint32_t)MIN(slots, FM_HEAP_SLOTS_MAX)};
    for (uint32_t i = 0; i < curve->count; i++) {
        bool met = i < from->count && from->slots[i].most != 0;
        curve->most[i] = met ? from->slots[i].most - 1 : i < from->count ? before : end_bytes;
        curve->least[i] = met ? from->slots[i].least : curve->most[i];
        before = curve->most[i];
    }
}

static void draw(struct fm_page *page, const struct curve *curve, uint64_t highest)
{
    const struct fm_run_info *info = &page->profile->run_info;
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
    if (info->heap_info.whole.peak_ns > 0) {
        g_autofree char *peak = fm_format_bytes_said((int64_t)info->peak_bytes);
        g_autofree char *title = g_strdup_printf("The peak: %s", peak);
        fm_drawing_mark(drawing, (double)info->heap_info.whole.peak_ns / (double)all_ns, title,
                        NULL);
    }
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
    fill(info, (uint64_t)MAX(fm_cost_total(&page->analysis->root_total, live), 0), curve);
    for (uint32_t i = 0; i < curve->count; i++)
        highest = MAX(highest, curve->most[i]);
    draw(page, curve, highest);
    fm_add_text(page->body, "Noted at ticks, and whenever a thread's live memory has changed by "
                            "more than 16 KiB: smaller blocks that were allocated and freed in "
                            "between are not in it.");
    add_table(page, curve, highest);
}

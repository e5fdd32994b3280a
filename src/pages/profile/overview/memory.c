/* SPDX-License-Identifier: Apache-2.0 */
/* memory/SIDE: where memory is allocated and where it is freed. */
#include "pages/profile/overview/overview.h"

#include <stdlib.h>

#include "profile/digest/run/held.h"
#include "profile/digest/processes/roles.h"
#include "pages/profile/bodies/hot_lines.h"
#include "pages/profile/measured/hot_tables.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"

#define PATHS_SHOWN 20u
#define FUNCTIONS_SHOWN 100u
#define LINES_SHOWN 10u
#define LINES_A_PAGE 100u

struct freeing {
    uint32_t ps;
    int64_t bytes;
};

static int compare_freeing(const void *a, const void *b)
{
    const struct freeing *fa = a, *fb = b;
    if (fa->bytes != fb->bytes)
        return fa->bytes > fb->bytes ? -1 : 1;
    return fa->ps < fb->ps ? -1 : fa->ps > fb->ps;
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
}

static void add_freeing_row(struct fm_page *page, struct fm_table *table, uint32_t ps,
                            enum fm_measure_id bytes, bool with_frees, enum fm_measure_id frees)
{
    g_assert(ps >= 1 && ps <= page->profile->ps_count);
    const struct fm_ps *proc = &page->profile->ps[ps];
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, ps);
    g_autofree char *place = fm_name_place(page, proc->file, 0);
    struct fm_cost cost;
    fm_analysis_ps_cost(page->analysis, ps, &cost);
    double whole = (double)MAX(fm_cost_total(&page->analysis->root_total, bytes), 1);
    double share = (double)cost.own[bytes] / whole;
    fm_table_row(table, "function", false);
    fm_cell_bytes(table, cost.own[bytes]);
    fm_cell_bar(table, share, share);
    fm_cell_share(table, share);
    if (with_frees)
        fm_cell_int(table, cost.own[frees]);
    else
        fm_cell_empty(table);
    fm_calls_cell(table, page->profile, cost.calls, cost.inlined);
    const struct fm_path_part parts[] = {
        {fm_shown_name(page, ps), &link, 0, fm_full_name_ps(page, ps)},
        {place, NULL, FM_PART_NOTE}};
    fm_cell_path(table, parts, place[0] ? 2 : 1, 0);
}

static void add_freed(struct fm_page *page)
{
    enum fm_measure_id bytes = fm_profile_measure(page->profile, FM_FREED_BYTES);
    enum fm_measure_id frees = fm_profile_measure(page->profile, FM_FREES);
    bool with_frees = frees != 0;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct freeing));
    if (bytes == 0) {
        fm_add_text(page->body, "Freed memory was not recorded.");
        return;
    }
    for (uint32_t ps = 1; ps <= page->profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(page->analysis, ps, &cost);
        const struct freeing it = {ps, cost.own[bytes]};
        if (it.bytes > 0)
            g_array_append_val(all, it);
    }
    if (all->len == 0) {
        fm_add_text(page->body, "Nothing was freed by functions that were recorded.");
        return;
    }
    qsort(all->data, all->len, sizeof(struct freeing), compare_freeing);
    fm_add_text(page->body, "Bytes freed by each function, wherever they were allocated.");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "freed");
    fm_table_ranked(table, NULL);
    add_column(table, "Freed", "freed_bytes", 1, FM_COLUMN_NUMBER);
    add_column(table, "%", "freed_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "Blocks", "frees_count", 2, FM_COLUMN_NUMBER);
    add_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    add_column(table, page->terms->proc_title, "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(all->len, FUNCTIONS_SHOWN); i++)
        add_freeing_row(page, table, g_array_index(all, struct freeing, i).ps, bytes, with_frees,
                        frees);
}

static void add_pictures(struct fm_page *page, enum fm_query_measure measure, const char *of)
{
    struct fm_query flame = fm_page_link(page, FM_CMD_FLAME, 0);
    struct fm_query tree = fm_page_link(page, FM_CMD_TREE, 0);
    flame.command.measure = tree.command.measure = measure;
    flame.command.name = tree.command.name = (char *)(uintptr_t) "all";
    tree.command.depth = 3;
    g_autofree char *flame_text = g_strdup_printf("Flame graph of %s", of);
    g_autofree char *tree_text = g_strdup_printf("Tree of %s", of);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_link(list, &flame, flame_text);
    fm_add_link(list, &tree, tree_text);
}

/* A section of lines, with a link to more of them. */
static void add_lines(struct fm_page *page, enum fm_query_measure by)
{
    if (page->profile->flavour != FM_FLAVOUR_C || !fm_measure_is_recorded(page->recording, by))
        return;
    fm_add_heading(page->body, "By line");
    fm_add_allocating_lines(page, by, LINES_SHOWN);
    struct fm_query more = fm_page_link(page, FM_CMD_LINES, 0);
    more.command.measure = by;
    more.command.last = LINES_A_PAGE;
    fm_add_link(page->body, &more, "More lines");
}

static void add_allocated(struct fm_page *page)
{
    if (!fm_measure_is_recorded(page->recording, FM_QUERY_BY_BYTES)) {
        fm_add_text(page->body, fm_profile_knows(page->profile, FM_WORDS)
                                    ? "Nothing was allocated by functions that were recorded."
                                    : "Allocated memory was not recorded.");
        return;
    }
    fm_add_hot_allocators(page, PATHS_SHOWN);
    add_pictures(page, FM_QUERY_BY_BYTES, "bytes");
    add_lines(page, FM_QUERY_BY_BYTES);
    fm_add_temporary(page, PATHS_SHOWN);
}

static int64_t total_of(const struct fm_page *page, enum fm_further_measure further)
{
    unsigned measure = fm_profile_measure(page->profile, further);
    return measure == 0 ? 0
                        : fm_cost_total(&page->analysis->root_total, (enum fm_measure_id)measure);
}

/* Time of the peak, and its accuracy. */
static void add_peak(struct fm_page *page)
{
    const struct fm_run_info *info = &page->profile->run_info;
    const struct fm_heap_whole *whole = &info->heap_info.whole;
    int64_t peak = (int64_t)MIN(info->peak_bytes, (uint64_t)INT64_MAX);
    g_autofree char *peak_text = fm_format_bytes_said(peak);
    bool is_sum = fm_run_processes(page->profile) > 1;
    g_autoptr(GString) said = g_string_new(NULL);
    g_string_printf(said, "The peak%s was %s", is_sum ? " in one process" : "", peak_text);
    fm_display_fact_int(page->display, "peak_heap_bytes", peak);
    if (info->heap_info.recorded && whole->peak_ns > 0) {
        double seconds = (double)whole->peak_ns / 1e9;
        g_string_append_printf(said, ", %.3f s after the start", seconds);
        fm_display_fact_double(page->display, "peak_seconds", seconds);
    }
    if (info->heap_info.recorded) {
        g_autofree char *error_text =
            fm_format_bytes_said((int64_t)MIN(whole->peak_error, (uint64_t)INT64_MAX));
        if (is_sum)
            g_string_append(said, "; each context has the sum over the peaks of its processes, "
                                  "which were at different moments");
        else if (whole->peak_error == 0)
            g_string_append(said, ": exact to the byte, and so are its contexts");
        else
            g_string_append_printf(said,
                                   ": too low by at most %s, as threads report allocations in "
                                   "steps, and contexts may be off by that",
                                   error_text);
        fm_display_fact_int(page->display, "peak_error_bytes",
                            (int64_t)MIN(whole->peak_error, (uint64_t)INT64_MAX));
    }
    g_string_append_c(said, '.');
    fm_add_text(page->body, said->str);
}

/* Allocated, freed and peak memory of the whole program. */
static void add_balance(struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    if (fm_profile_measure(profile, FM_FREED_BYTES) == 0)
        return;
    int64_t taken = fm_cost_total(&page->analysis->root_total, FM_WORDS);
    /* Those of no context, too: stacks that are unwound are not when a block is freed. */
    int64_t back =
        total_of(page, FM_FREED_BYTES) + (int64_t)profile->run_info.heap_info.whole.unseen_bytes;
    g_autofree char *taken_text = fm_format_bytes_said(taken);
    g_autofree char *back_text = fm_format_bytes_said(back);
    g_autofree char *text =
        g_strdup_printf("In all, %s were allocated and %s freed.", taken_text, back_text);
    fm_add_text(page->body, text);
    fm_display_fact_int(page->display, "allocated_bytes", taken);
    fm_display_fact_int(page->display, "freed_bytes", back);
    if (profile->run_info.peak_bytes > 0)
        add_peak(page);
}

static void add_held(struct fm_page *page)
{
    if (fm_profile_measure(page->profile, FM_LIVE_BYTES) == 0) {
        fm_add_text(
            page->body,
            "Live blocks at the end, and the contexts that allocated them, are not recorded.");
        add_balance(page);
        return;
    }
    int64_t bytes = total_of(page, FM_LIVE_BYTES), blocks = total_of(page, FM_LIVE_BLOCKS);
    fm_display_fact_int(page->display, "held_bytes", bytes);
    fm_display_fact_int(page->display, "held_blocks", blocks);
    const struct fm_held_words *words = fm_held_words(page->profile);
    if (blocks == 0) {
        fm_add_text(page->body, fm_cost_total(&page->analysis->root_total, FM_ALLOCS) > 0
                                    ? words->none
                                    : "Nothing was allocated by functions that were recorded.");
    } else {
        g_autofree char *bytes_text = fm_format_bytes_said(bytes);
        g_autofree char *blocks_text = fm_format_int(blocks);
        g_autofree char *text =
            g_strdup_printf("%s in %s block%s %s. %s", bytes_text, blocks_text,
                            blocks == 1 ? "" : "s", words->lead, words->further);
        fm_add_text(page->body, text);
    }
    add_balance(page);
    fm_add_memory_over_time(page);
    fm_add_hot_holders(page, PATHS_SHOWN);
    if (bytes > 0)
        add_pictures(page, FM_QUERY_BY_LIVE, "live memory at the end");
    add_lines(page, FM_QUERY_BY_LIVE);
    struct fm_query leaks = fm_page_link(page, FM_CMD_LEAKS, 0);
    fm_add_link(page->body, &leaks, "By context, and which contexts free the blocks of others");
}

static void add_at_peak(struct fm_page *page)
{
    if (fm_profile_measure(page->profile, FM_PEAK_BYTES) == 0)
        fm_add_text(
            page->body,
            "Live blocks at the peak, and the contexts that allocated them, are not recorded.");
    add_balance(page);
    fm_add_memory_over_time(page);
    fm_add_hot_at_peak(page, PATHS_SHOWN);
    if (fm_measure_is_recorded(page->recording, FM_QUERY_BY_PEAK))
        add_pictures(page, FM_QUERY_BY_PEAK, "live memory at the peak");
    add_lines(page, FM_QUERY_BY_PEAK);
}

bool fm_page_memory(struct fm_page *page, GError **error)
{
    static const char *const labels[] = {"Allocated", "Live at the end", "Freed",
                                         "Live at the peak"};
    static const char *const words[] = {"allocated", "held", "freed", "peak"};
    static const enum fm_query_memory order[] = {FM_QUERY_ALLOCATED, FM_QUERY_HELD,
                                                 FM_QUERY_AT_PEAK, FM_QUERY_FREED};
    enum fm_query_memory side = page->query.command.memory;
    (void)error;
    fm_page_begin(page, "memory", g_strdup_printf("Memory: %s", words[side]));
    fm_display_fact_string(page->display, "side", words[side]);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(order); i++) {
        struct fm_query other = fm_page_link(page, FM_CMD_MEMORY, 0);
        other.command.memory = order[i];
        if (order[i] == side)
            fm_add_text(list, labels[side]);
        else
            fm_add_link(list, &other, labels[order[i]]);
    }
    if (side == FM_QUERY_ALLOCATED)
        add_allocated(page);
    else if (side == FM_QUERY_FREED)
        add_freed(page);
    else if (side == FM_QUERY_AT_PEAK)
        add_at_peak(page);
    else
        add_held(page);
    fm_controls_general(page);
    return true;
}

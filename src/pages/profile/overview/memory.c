/* SPDX-License-Identifier: Apache-2.0 */
/* memory/SIDE: where memory is allocated and where it is given back. waits: that waiting is not in
 * the file. */
#include "pages/profile/overview/overview.h"

#include <stdlib.h>
#include <string.h>

#include "pages/profile/measured/hot_tables.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"

#define PATHS_SHOWN 20u
#define FUNCTIONS_SHOWN 100u

struct freeing {
    uint32_t ps;
    int64_t bytes;
};

static bool find_measure(const struct fm_profile *profile, const char *name,
                         enum fm_measure_id *ret)
{
    for (unsigned i = FM_MEASURES_MERCURY; i < profile->measure_count; i++) {
        if (strcmp(profile->measures[i].name, name) == 0) {
            *ret = (enum fm_measure_id)i;
            return true;
        }
    }
    return false;
}

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
    fm_table_group(table, title, column_class, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, name, NULL);
    fm_column_priority(table, priority);
}

static void add_freeing_row(struct fm_page *page, struct fm_table *table, uint32_t ps,
                            enum fm_measure_id bytes, bool with_frees, enum fm_measure_id frees)
{
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
    fm_calls_cell(table, cost.calls, cost.inlined);
    const struct fm_path_part parts[] = {{proc->unqualified_name, &link, 0},
                                         {place, NULL, FM_PART_NOTE}};
    fm_cell_path(table, parts, place[0] ? 2 : 1, 0);
}

static void add_freed(struct fm_page *page)
{
    enum fm_measure_id bytes, frees = FM_EXITS;
    bool with_frees = find_measure(page->profile, "frees", &frees);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct freeing));
    if (!find_measure(page->profile, "freed_bytes", &bytes)) {
        fm_add_text(page->body, "What was freed was not recorded.");
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
    fm_add_text(page->body, "Bytes given back by each function, wherever they came from.");
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

static void add_allocated(struct fm_page *page)
{
    struct fm_query flame = fm_page_link(page, FM_CMD_FLAME, 0);
    struct fm_query tree = fm_page_link(page, FM_CMD_TREE, 0);
    if (!fm_measure_is_recorded(page->recording, FM_QUERY_BY_BYTES)) {
        fm_add_text(page->body, "Nothing was allocated by functions that were recorded.");
        return;
    }
    fm_add_hot_allocators(page, PATHS_SHOWN);
    flame.command.measure = tree.command.measure = FM_QUERY_BY_BYTES;
    flame.command.name = tree.command.name = (char *)(uintptr_t) "all";
    tree.command.depth = 3;
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_link(list, &flame, "Flame graph of bytes");
    fm_add_link(list, &tree, "Tree of bytes");
}

/* What can be told of the whole program alone. */
static void add_held(struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    enum fm_measure_id freed;
    fm_add_text(page->body, "Which blocks were still held at the end, and who had allocated them, "
                            "is not recorded.");
    if (!find_measure(profile, "freed_bytes", &freed))
        return;
    int64_t taken = fm_cost_total(&page->analysis->root_total, FM_WORDS);
    int64_t back = fm_cost_total(&page->analysis->root_total, freed);
    g_autofree char *taken_text = fm_format_bytes(taken);
    g_autofree char *back_text = fm_format_bytes(back);
    g_autofree char *text =
        g_strdup_printf("In all, %s were allocated and %s given back.", taken_text, back_text);
    fm_add_text(page->body, text);
    fm_display_fact_int(page->display, "allocated_bytes", taken);
    fm_display_fact_int(page->display, "freed_bytes", back);
    if (profile->run_info.peak_bytes > 0) {
        int64_t peak = (int64_t)MIN(profile->run_info.peak_bytes, (uint64_t)INT64_MAX);
        g_autofree char *peak_text = fm_format_bytes(peak);
        g_autofree char *said = g_strdup_printf("The most at one moment was %s.", peak_text);
        fm_add_text(page->body, said);
        fm_display_fact_int(page->display, "peak_heap_bytes", peak);
    }
}

bool fm_report_memory(struct fm_page *page, GError **error)
{
    static const char *const labels[] = {"Allocated", "Held at the end", "Freed"};
    static const char *const words[] = {"allocated", "held", "freed"};
    enum fm_query_memory side = page->query.command.memory;
    (void)error;
    fm_page_begin(page, "memory", g_strdup_printf("Memory: %s", words[side]));
    fm_display_fact_string(page->display, "side", words[side]);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(labels); i++) {
        struct fm_query other = fm_page_link(page, FM_CMD_MEMORY, 0);
        other.command.memory = (enum fm_query_memory)i;
        if (i == side)
            fm_add_text(list, labels[i]);
        else
            fm_add_link(list, &other, labels[i]);
    }
    if (side == FM_QUERY_ALLOCATED)
        add_allocated(page);
    else if (side == FM_QUERY_FREED)
        add_freed(page);
    else
        add_held(page);
    fm_controls_general(page);
    return true;
}

bool fm_report_waits(struct fm_page *page, GError **error)
{
    (void)error;
    fm_page_begin(page, "waits", g_strdup("Waiting"));
    fm_display_fact_bool(page->display, "recorded", false);
    fm_add_text(page->body,
                "Waiting is not recorded in this file: times are of the processor alone.");
    if (page->profile->run_info.duration_ns > 0 && page->profile->ticks_per_second > 0) {
        double used = (double)page->profile->user_quanta / (double)page->profile->ticks_per_second;
        double all = (double)page->profile->run_info.duration_ns / 1e9;
        g_autofree char *used_text = fm_format_float(used, 2);
        g_autofree char *all_text = fm_format_float(all, 2);
        g_autofree char *text =
            g_strdup_printf("All threads together used %s s of processor time in the %s s from "
                            "start to end.",
                            used_text, all_text);
        fm_add_text(page->body, text);
    }
    fm_controls_general(page);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary blocks, as a part of the page of allocated memory. */
#include "pages/profile/measured/path_text.h"
#include "pages/profile/overview/overview.h"
#include "pages/profile/parts/names.h"
#include "profile/digest/run/temporary.h"

#define STEPS_SHOWN 6
#define SHARE_ADVISED 0.01 /* a buffer for fewer of all blocks would not save much */

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
}

static void add_row(struct fm_page *page, struct fm_table *table, const struct fm_temporary *row,
                    int64_t all, bool grown)
{
    bool timed = page->profile->run_info.heap_info.lifetimes.count > 0;
    double share = all > 0 ? (double)row->blocks / (double)all : 0;
    struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, row->clique);
    g_autofree char *path = fm_clique_path(page, row->clique, STEPS_SHOWN);
    fm_table_row(table, "context", false);
    fm_cell_int(table, (int64_t)row->blocks);
    fm_cell_bar(table, share, share);
    fm_cell_share(table, share);
    fm_cell_int(table, (int64_t)row->allocs);
    fm_cell_bytes(table, (int64_t)row->bytes);
    if (grown)
        fm_cell_int(table, (int64_t)row->reallocs);
    if (timed)
        fm_cell_time_short(table, (double)row->held_ns / (double)MAX(row->blocks, 1) / 1e9);
    const struct fm_path_part parts[] = {
        {path[0] != '\0' ? path : fm_shown_name(page, row->ps), &link, FM_PART_STRONG}};
    fm_cell_path(table, parts, 1, 0);
}

static void add_table(struct fm_page *page, const struct fm_temporary *rows, uint32_t count,
                      int64_t all)
{
    bool grown = false;
    for (uint32_t i = 0; i < count; i++)
        grown = grown || rows[i].reallocs > 0;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "temporary");
    fm_table_ranked(table, NULL);
    add_column(table, "Temporary", "temporary_blocks", 1, FM_COLUMN_NUMBER);
    fm_column_help(table, "Blocks that were allocated and freed there");
    add_column(table, "%", "temporary_percent", 3, FM_COLUMN_NUMBER);
    fm_column_help(table, "Of all blocks that the program allocated");
    add_column(table, "Allocated", "allocated_blocks", 2, FM_COLUMN_NUMBER);
    fm_column_help(table, "All blocks that it allocated there");
    add_column(table, "Bytes", "temporary_bytes", 2, FM_COLUMN_NUMBER);
    if (grown) {
        add_column(table, "By realloc", "reallocs_count", 2, FM_COLUMN_NUMBER);
        fm_column_help(table, "Blocks that realloc replaced there: a block that grows counts anew "
                              "each time");
    }
    if (page->profile->run_info.heap_info.lifetimes.count > 0)
        add_column(table, "Mean lifetime", "mean_seconds", 2, FM_COLUMN_NUMBER);
    add_column(table, "Allocated and freed in", "path", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < count; i++)
        add_row(page, table, &rows[i], all, grown);
}

void fm_add_temporary(struct fm_page *page, uint32_t rows)
{
    const struct fm_heap_info *info = &page->profile->run_info.heap_info;
    int64_t all = fm_cost_total(&page->analysis->root_total, FM_ALLOCS);
    /* Unwound stacks are not walked when a block is freed. */
    bool recorded = info->recorded && (info->flow_count > 0 || info->whole.unseen_blocks == 0);
    fm_display_fact_bool(page->display, "temporary_recorded", recorded);
    if (all <= 0)
        return;
    fm_add_heading(page->body, "Temporary blocks");
    if (!recorded) {
        fm_add_text(page->body, "Where blocks were freed is not recorded in this file, or not in "
                                "all parts of a sum.");
        return;
    }
    g_autofree struct fm_temporary *found = NULL;
    uint32_t count = fm_temporaries(page->analysis, page->recording->hot, &found);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < count; i++)
        blocks += found[i].blocks;
    fm_display_fact_int(page->display, "temporary_blocks", (int64_t)blocks);
    if (count == 0) {
        fm_add_text(page->body, "No function freed blocks that it had allocated itself.");
        return;
    }
    g_autofree char *blocks_text = fm_format_int((int64_t)blocks);
    g_autofree char *all_text = fm_format_int(all);
    double share = (double)blocks / (double)all;
    g_autofree char *share_text = fm_format_share(share);
    g_autofree char *text = g_strdup_printf(
        "%s of %s blocks (%s %%) %s freed by the function that allocated "
        "them, or by one that it called to free them%s. A block that it kept from one call to the "
        "next counts, too.",
        blocks_text, all_text, share_text, blocks == 1 ? "was" : "were",
        share < SHARE_ADVISED ? "" : ": a buffer of its own, reused, would save that work");
    fm_add_text(page->body, text);
    add_table(page, found, MIN(count, rows), all);
}

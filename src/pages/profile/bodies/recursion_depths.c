/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded are the calls that close a recursion, by depth. The cost of a level is estimated: each
 * call counts as an average one of the clique. */
#include "pages/profile/bodies/recursion_depths.h"

#include <inttypes.h>

struct levels {
    struct fm_depths all; /* depths of the clique's proc dynamics together */
    bool recorded;
    uint64_t calls;   /* all calls of known depth, including those that enter the clique */
    double per_entry; /* seconds of the clique's own code per such call */
};

static void add_up(const struct fm_page *page, uint32_t clique, struct levels *levels)
{
    g_assert(clique >= 1 && clique <= page->analysis->clique_count);
    const struct fm_analysis *a = page->analysis;
    uint32_t parent = a->clique_parent[clique];
    int64_t quanta = 0;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        const struct fm_depths *depths = fm_profile_depths(page->profile, a->clique_pds[i]);
        quanta += fm_analysis_pd_own(a, a->clique_pds[i], FM_QUANTA);
        if (depths == NULL)
            continue;
        fm_depths_add(&levels->all, depths);
        levels->recorded = true;
    }
    int64_t entries = parent == 0 ? 1 : fm_profile_calls(page->profile, parent);
    levels->calls = entries > 0 ? (uint64_t)entries : 0;
    for (unsigned k = 0; k < FM_DEPTH_CLASSES; k++)
        levels->calls += levels->all.calls[k];
    uint64_t every = levels->calls + levels->all.unknown;
    if (page->profile->ticks_per_second != 0 && every > 0)
        levels->per_entry =
            (double)quanta / (double)page->profile->ticks_per_second / (double)every;
}

static void add_row(const struct fm_page *page, struct fm_table *table, const struct levels *levels,
                    uint64_t from, uint64_t to, uint64_t calls)
{
    g_autofree char *depth = from == to ? g_strdup_printf("%" PRIu64, from)
                                        : g_strdup_printf("%" PRIu64 " to %" PRIu64, from, to);
    fm_table_row(table, "depth", false);
    fm_cell_string(table, depth, FM_STYLE_PLAIN);
    fm_cell_int(table, (int64_t)calls);
    fm_cell_percent(table, (double)calls / (double)levels->calls);
    if (page->profile->ticks_per_second == 0)
        fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
    else
        fm_cell_time(table, (double)calls * levels->per_entry);
}

static void add_table(const struct fm_page *page, const struct levels *levels)
{
    uint64_t outside = levels->calls;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "depths");
    fm_table_group(table, "Depth", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "depth", NULL);
    fm_table_group(table, "Calls", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "calls_count", NULL);
    fm_table_group(table, "% of those of known depth", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "calls_percent", NULL);
    fm_table_group(table, "Self time, estimated", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "self_estimated_seconds", NULL);
    for (unsigned k = 1; k < FM_DEPTH_CLASSES; k++)
        outside -= levels->all.calls[k];
    add_row(page, table, levels, 1, 1, outside);
    for (unsigned k = 1; k < FM_DEPTH_CLASSES; k++) {
        uint64_t first = UINT64_C(1) << k, last = MIN(2 * first - 1, levels->all.greatest);
        if (levels->all.calls[k] != 0)
            add_row(page, table, levels, first, last, levels->all.calls[k]);
    }
}

void fm_add_recursion_depths(struct fm_page *page, uint32_t clique)
{
    g_return_if_fail(page != NULL && clique >= 1 && clique <= page->analysis->clique_count);
    struct levels levels = {0};
    add_up(page, clique, &levels);
    bool known = levels.recorded && levels.all.greatest > 0;
    if (levels.recorded)
        fm_display_fact_int(page->display, "unknown_depth_count", (int64_t)levels.all.unknown);
    if (!known) {
        fm_add_text(page->body, "The maximum depth is not recorded: programs built with fathom cc "
                                "--grade=deep record it.");
        return;
    }
    bool all = levels.all.unknown == 0;
    bool alone =
        page->analysis->clique_first[clique + 1] - page->analysis->clique_first[clique] == 1;
    fm_display_fact_int(page->display, "greatest_depth", (int64_t)levels.all.greatest);
    g_autofree char *greatest = g_strdup_printf(
        "Maximum depth: %s%" PRIu64 ". %s", all ? "" : "at least ", levels.all.greatest,
        alone ? "This is the number of its calls that were open at once."
              : "Each call that leads back to the path of its caller adds one.");
    fm_add_text(page->body, greatest);
    add_table(page, &levels);
    if (!all) {
        g_autofree char *unknown = g_strdup_printf(
            "The depth of %" PRIu64 " recursive calls is not recorded.", levels.all.unknown);
        fm_add_text(page->body, unknown);
    }
    fm_add_text(page->body, "Calls by depth are counted. Times of a level are not measured, but "
                            "estimated: each call is taken for an average one.");
}

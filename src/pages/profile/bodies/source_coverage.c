/* SPDX-License-Identifier: Apache-2.0 */
/* proc_static_coverage/PS and proc_dynamic_coverage/PD of C programs: the source with how often
 * each line ran, and the blocks that the compiler made of it. */
#include "pages/profile/bodies/bodies.h"

#include "base/error.h"
#include "pages/profile/bodies/source.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

static void add_points(struct fm_page *page, uint32_t ps, uint32_t pd)
{
    g_assert(ps <= page->profile->ps_count && pd <= page->profile->pd_count);
    const struct fm_profile *profile = page->profile;
    const struct fm_ps *proc = &profile->ps[ps];
    g_autofree uint64_t *counts = fm_analysis_point_counts(page->analysis, ps, pd);
    uint32_t never = 0;
    fm_add_heading(page->body, "Blocks of code");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "coverage_points");
    fm_table_group(table, "Block at", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "goal_path", NULL);
    fm_table_group(table, "Count", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "count", NULL);
    for (uint32_t i = 0; i < proc->point_count; i++) {
        fm_table_row(table, "coverage_point", false);
        fm_cell_string(table, profile->points[proc->point_first + i].goal_path, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)MIN(counts[i], (uint64_t)INT64_MAX));
        never += counts[i] == 0;
    }
    fm_display_fact_int(page->display, "point_count", proc->point_count);
    fm_display_fact_int(page->display, "point_never_count", never);
}

bool fm_page_source_coverage(struct fm_page *page, GError **error)
{
    const struct fm_profile *profile = page->profile;
    uint32_t number = page->query.command.number, ps = number, pd = 0;
    bool dynamic = page->query.command.id == FM_CMD_PROC_DYNAMIC_COVERAGE;
    if (!fm_page_check_id(page, dynamic ? "proc_dynamic" : "proc_static", number,
                          dynamic ? profile->pd_count : profile->ps_count, error))
        return false;
    if (dynamic) {
        pd = number;
        ps = profile->pd_ps[pd];
    }
    if (profile->ps[ps].point_count == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: there is no coverage of %s: it was not built with `fathom cc "
                    "--grade=coverage`",
                    page->recording->name, profile->ps[ps].qualified_name);
        return false;
    }
    page->module = profile->ps[ps].decl_module;
    fm_page_begin(page, dynamic ? "proc_dynamic_coverage" : "proc_static_coverage",
                  dynamic ? g_strdup_printf("Coverage of %s in context %" PRIu32,
                                            profile->ps[ps].qualified_name, pd)
                          : g_strdup_printf("Coverage of %s", profile->ps[ps].qualified_name));
    fm_display_fact_int(page->display, "ps", ps);
    if (dynamic)
        fm_display_fact_int(page->display, "pd", pd);
    fm_source_add(page, ps, pd);
    add_points(page, ps, pd);
    if (dynamic)
        fm_controls_clique_reports(page, page->analysis->pd_clique[pd]);
    fm_controls_proc_reports(page, ps);
    fm_controls_general(page);
    return true;
}

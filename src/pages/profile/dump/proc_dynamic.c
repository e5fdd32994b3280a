/* SPDX-License-Identifier: Apache-2.0 */
/* dump_proc_dynamic/PD: the node as in the file. */
#include "pages/profile/dump/dump.h"

#include "pages/profile/dump/fields.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/sites.h"

static void add_multi_slot(struct fm_page *page, struct fm_table *table, uint32_t pd, uint32_t slot,
                           const struct fm_css *css, struct fm_callees *callees)
{
    uint32_t count, from, end;
    const uint32_t *csds = fm_profile_slot(page->profile, pd, slot, &count);
    bool zeroed = css->kind == FM_SITE_HIGHER_ORDER || css->kind == FM_SITE_METHOD;
    g_autofree char *text =
        g_strdup_printf("multi, %" PRIu32 " csds (%s)", count, zeroed ? "zeroed" : "not_zeroed");
    fm_cell_string(table, text, FM_STYLE_PLAIN);
    fm_callees_next(callees, count, &from, &end);
    for (uint32_t i = from; i < end; i++) {
        fm_table_row(table, "csd", false);
        fm_cell_empty(table);
        fm_dump_id_cell(page, table, FM_CMD_DUMP_CALL_SITE_DYNAMIC, csds[i]);
    }
}

static void add_slots(struct fm_page *page, uint32_t pd, const struct fm_ps *ps)
{
    g_assert(pd >= 1 && pd <= page->profile->pd_count);
    fm_add_heading(page->body, "Call site dynamics:");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "call_site_dynamics");
    fm_table_group(table, "Call site", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "slot", NULL);
    fm_table_group(table, "Call site dynamic", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "csd", NULL);
    struct fm_callees callees = {0};
    fm_callees_begin(page, &callees);
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        const struct fm_css *css =
            &page->profile->css[page->profile->css_of_ps[ps->css_first + slot]];
        fm_table_row(table, "slot", false);
        fm_cell_int(table, (int64_t)slot + 1);
        if (css->kind != FM_SITE_NORMAL) {
            add_multi_slot(page, table, pd, slot, css, &callees);
            continue;
        }
        uint32_t count;
        const uint32_t *csd = fm_profile_slot(page->profile, pd, slot, &count);
        if (count > 0)
            fm_dump_id_cell(page, table, FM_CMD_DUMP_CALL_SITE_DYNAMIC, csd[0]);
        else
            fm_cell_string(table, "none", FM_STYLE_PLAIN);
    }
    fm_callees_end(page, &callees);
}

static void add_points(struct fm_page *page, uint32_t pd, const struct fm_ps *ps)
{
    const struct fm_profile *profile = page->profile;
    fm_add_heading(page->body, "Coverage points:");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "coverage_points");
    fm_table_group(table, "Goal Path", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "goal_path", NULL);
    fm_table_group(table, "Type", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "type", NULL);
    fm_table_group(table, "Count", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "count", NULL);
    for (uint32_t i = 0; i < ps->point_count; i++) {
        const struct fm_coverage_point *point = &profile->points[ps->point_first + i];
        uint64_t count = profile->pd_point_first
                             ? fm_column_get(&profile->pd_points, profile->pd_point_first[pd] + i)
                             : point->count;
        fm_table_row(table, "coverage_point", false);
        fm_cell_string(table, point->goal_path[0] ? point->goal_path : "root goal", FM_STYLE_PLAIN);
        fm_cell_string(table, point->type == FM_POINT_AFTER ? "coverage after" : "branch arm",
                       FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)MIN(count, (uint64_t)INT64_MAX));
    }
}

bool fm_page_dump_proc_dynamic(struct fm_page *page, GError **error)
{
    uint32_t pd = page->query.command.number;
    if (!fm_page_check_id(page, "proc_dynamic", pd, page->profile->pd_count, error))
        return false;
    uint32_t ps_id = page->profile->pd_ps[pd];
    const struct fm_ps *ps = &page->profile->ps[ps_id];
    uint32_t clique = page->analysis->pd_clique[pd];
    fm_page_begin(page, "dump_proc_dynamic", g_strdup_printf("Dump of proc_dynamic %" PRIu32, pd));
    struct fm_table *table = fm_dump_table(page, "proc_dynamic");
    fm_dump_int(page, table, "pd", NULL, pd);
    fm_dump_link(page, table, "ps", "Proc static:", FM_CMD_DUMP_PROC_STATIC, ps_id);
    fm_dump_string(page, table, "raw_name", "Raw name:", ps->raw_name);
    fm_dump_string(page, table, "module", "Module name:", ps->decl_module);
    fm_dump_string(page, table, "unqualified_name",
                   "Unqualified refined name:", ps->unqualified_name);
    fm_dump_string(page, table, "qualified_name", "Qualified refined name:", ps->qualified_name);
    fm_dump_link(page, table, "clique", "Clique:", FM_CMD_DUMP_RAW_CLIQUE, clique);
    add_slots(page, pd, ps);
    if (page->profile->coverage != FM_COVERAGE_NONE)
        add_points(page, pd, ps);
    struct fm_query coverage = fm_page_link(page, FM_CMD_PROC_DYNAMIC_COVERAGE, pd);
    if (page->profile->coverage == FM_COVERAGE_DYNAMIC && fm_body_has_coverage(page, ps_id))
        fm_add_link(page->body, &coverage, "Coverage annotated procedure representation");
    fm_controls_clique_reports(page, clique);
    fm_controls_proc_reports(page, ps_id);
    fm_controls_general(page);
    return true;
}

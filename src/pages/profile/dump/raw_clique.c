/* SPDX-License-Identifier: Apache-2.0 */
/* dump_raw_clique/N: the edge into a clique and its members. */
#include "pages/profile/dump/dump.h"

#include "pages/profile/dump/fields.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"

bool fm_page_dump_raw_clique(struct fm_page *page, GError **error)
{
    const struct fm_analysis *a = page->analysis;
    uint32_t clique = page->query.command.number;
    if (!fm_page_check_id(page, "clique", clique, a->clique_count, error))
        return false;
    fm_page_begin(page, "dump_raw_clique", g_strdup_printf("Dump of clique %" PRIu32, clique));
    struct fm_table *table = fm_dump_table(page, "clique");
    fm_dump_int(page, table, "clique", NULL, clique);
    if (a->clique_parent[clique]) {
        fm_dump_link(page, table, "caller_csd",
                     "Caller call site dynamic:", FM_CMD_DUMP_CALL_SITE_DYNAMIC,
                     a->clique_parent[clique]);
    } else {
        g_autofree char *none = g_strdup_printf("none: %s starts here", page->terms->runtime);
        fm_dump_string(page, table, "caller", "Caller call site dynamic:", none);
        fm_display_fact_null(page->display, "caller_csd");
    }
    fm_dump_int(page, table, "pd_count",
                "Number of proc dynamics:", a->clique_first[clique + 1] - a->clique_first[clique]);

    fm_add_heading(page->body, "Member proc dynamics:");
    struct fm_table *members = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "members");
    fm_table_group(members, "Proc dynamic", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(members, NULL, "pd", NULL);
    fm_table_group(members, page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(members, NULL, "proc", NULL);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i], ps = page->profile->pd_ps[pd];
        struct fm_query query = fm_page_link(page, FM_CMD_PROC, ps);
        fm_table_row(members, "pd", false);
        fm_dump_id_cell(page, members, FM_CMD_DUMP_PROC_DYNAMIC, pd);
        fm_cell_link(members, &query, fm_name_ps(page, ps), FM_STYLE_PLAIN);
    }
    fm_controls_clique_reports(page, clique);
    fm_controls_general(page);
    return true;
}

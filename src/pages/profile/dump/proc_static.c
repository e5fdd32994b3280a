/* SPDX-License-Identifier: Apache-2.0 */
/* dump_proc_static/PS: the node as in the file. */
#include "pages/profile/dump/dump.h"

#include "pages/profile/dump/fields.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

bool fm_page_dump_proc_static(struct fm_page *page, GError **error)
{
    uint32_t id = page->query.command.number;
    if (!fm_page_check_id(page, "proc_static", id, page->profile->ps_count, error))
        return false;
    const struct fm_ps *ps = &page->profile->ps[id];
    fm_page_begin(page, "dump_proc_static", g_strdup_printf("Dump of proc_static %" PRIu32, id));
    struct fm_table *table = fm_dump_table(page, "proc_static");
    fm_dump_int(page, table, "ps", NULL, id);
    fm_dump_string(page, table, "raw_name", "Raw name:", ps->raw_name);
    fm_dump_string(page, table, "unqualified_name",
                   "Unqualified refined name:", ps->unqualified_name);
    fm_dump_string(page, table, "qualified_name", "Qualified refined name:", ps->qualified_name);
    fm_dump_string(page, table, "module", NULL, ps->decl_module);
    fm_dump_string(page, table, "file", "File name:", ps->file);
    fm_dump_int(page, table, "line", "Line number:", ps->line);
    fm_dump_int(page, table, "call_site_count", "Number of call sites:", ps->css_count);
    fm_dump_int(page, table, "coverage_point_count", "Number of coverage points:", ps->point_count);
    if (ps->css_count > 0) {
        struct fm_table *sites = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "call_sites");
        fm_table_group(sites, "Call site", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
        fm_table_column(sites, NULL, "slot", NULL);
        fm_table_group(sites, "Call site static", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
        fm_table_column(sites, NULL, "css", NULL);
        for (uint32_t slot = 0; slot < ps->css_count; slot++) {
            fm_table_row(sites, "call_site", false);
            fm_cell_int(sites, (int64_t)slot + 1);
            fm_dump_id_cell(page, sites, FM_CMD_DUMP_CALL_SITE_STATIC,
                            page->profile->css_of_ps[ps->css_first + slot]);
        }
    }
    fm_controls_proc_reports(page, id);
    fm_controls_general(page);
    return true;
}

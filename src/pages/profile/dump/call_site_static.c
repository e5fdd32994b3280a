/* SPDX-License-Identifier: Apache-2.0 */
/* dump_call_site_static/CSS: the node as in the file. */
#include "pages/profile/dump/dump.h"

#include "pages/profile/dump/fields.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"

static void add_kind(struct fm_page *page, struct fm_table *table, const struct fm_css *css)
{
    static const char *const kinds[FM_SITE_KINDS] = {
        [FM_SITE_NORMAL] = "normal",
        [FM_SITE_SPECIAL] = "special_call",
        [FM_SITE_HIGHER_ORDER] = "higher_order_call",
        [FM_SITE_METHOD] = "method_call",
        [FM_SITE_CALLBACK] = "callback",
        [FM_SITE_UNKNOWN] = "unknown_calls",
    };
    if (css->kind != FM_SITE_NORMAL || css->callee_ps == 0) {
        fm_dump_string(page, table, "kind", "Call site kind:", kinds[css->kind]);
        return;
    }
    GString *text = g_string_new(NULL);
    g_string_printf(text, "normal, callee %" PRIu32, css->callee_ps);
    if (css->type_subst[0])
        g_string_append_printf(text, " typespec %s", css->type_subst);
    struct fm_query query = fm_page_link(page, FM_CMD_DUMP_PROC_STATIC, css->callee_ps);
    fm_table_row(table, "kind", false);
    fm_cell_string(table, "Call site kind:", FM_STYLE_PLAIN);
    fm_cell_link(table, &query, text->str, FM_STYLE_PLAIN);
    fm_display_fact_string(page->display, "kind", kinds[FM_SITE_NORMAL]);
    fm_display_fact_int(page->display, "callee_ps", css->callee_ps);
    g_string_free(text, TRUE);
}

bool fm_page_dump_call_site_static(struct fm_page *page, GError **error)
{
    uint32_t id = page->query.command.number;
    if (!fm_page_check_id(page, "call_site_static", id, page->profile->css_count, error))
        return false;
    const struct fm_css *css = &page->profile->css[id];
    fm_page_begin(page, "dump_call_site_static",
                  g_strdup_printf("Dump of call_site_static %" PRIu32, id));
    struct fm_table *table = fm_dump_table(page, "call_site_static");
    fm_dump_int(page, table, "css", NULL, id);
    fm_dump_link(page, table, "container_ps", "Containing proc static:", FM_CMD_DUMP_PROC_STATIC,
                 css->ps);
    fm_dump_int(page, table, "slot", "Slot number:", css->slot);
    fm_dump_string(page, table, "file", "File name:", fm_css_file(page->profile, id));
    fm_dump_int(page, table, "line", "Line number:", css->line);
    fm_dump_string(page, table, "goal_path", "Goal path:", css->goal_path);
    add_kind(page, table, css);
    fm_controls_proc_reports(page, css->ps);
    fm_controls_general(page);
    return true;
}

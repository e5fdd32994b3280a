/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/dump/fields.h"

#include "pages/profile/parts/page.h"

struct fm_table *fm_dump_table(struct fm_page *page, const char *name)
{
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, name);
    fm_table_column(table, NULL, "what", NULL);
    fm_table_column(table, NULL, "value", NULL);
    return table;
}

void fm_dump_string(struct fm_page *page, struct fm_table *table, const char *name,
                    const char *label, const char *value)
{
    fm_display_fact_string(page->display, name, value);
    if (!label)
        return;
    fm_table_row(table, name, false);
    fm_cell_string(table, label, FM_STYLE_PLAIN);
    fm_cell_string(table, value, FM_STYLE_PLAIN);
}

void fm_dump_int(struct fm_page *page, struct fm_table *table, const char *name, const char *label,
                 int64_t value)
{
    fm_display_fact_int(page->display, name, value);
    if (!label)
        return;
    fm_table_row(table, name, false);
    fm_cell_string(table, label, FM_STYLE_PLAIN);
    fm_cell_int(table, value);
}

void fm_dump_id_cell(struct fm_page *page, struct fm_table *table, enum fm_command_id dump,
                     uint32_t id)
{
    struct fm_query query = fm_page_link(page, dump, id);
    g_autofree char *label = g_strdup_printf("%" PRIu32, id);
    fm_cell_link(table, &query, label, FM_STYLE_PLAIN);
}

void fm_dump_link(struct fm_page *page, struct fm_table *table, const char *name, const char *label,
                  enum fm_command_id dump, uint32_t id)
{
    fm_display_fact_int(page->display, name, id);
    fm_table_row(table, name, false);
    fm_cell_string(table, label, FM_STYLE_PLAIN);
    fm_dump_id_cell(page, table, dump, id);
}

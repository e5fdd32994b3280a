/* SPDX-License-Identifier: Apache-2.0 */
/* module_getter_setters/NAME: procedures named STRUCTURE_get_FIELD and STRUCTURE_set_FIELD. */
#include "pages/profile/modules/modules.h"

#include <string.h>

#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"

struct accessors_view {
    struct fm_page *page;
    struct fm_perf perf;
    struct fm_table *table;
    struct fm_accessor *accessors;
    uint32_t count;
    int64_t rank;
};

static const struct fm_accessor *at(const struct accessors_view *view, guint index)
{
    return &view->accessors[index];
}

static void add_accessor(struct accessors_view *view, const struct fm_accessor *accessor,
                         bool ranked, bool name_procedure)
{
    struct fm_page *page = view->page;
    const char *role = accessor->setter ? "setter" : "getter";
    struct fm_query query = fm_page_link(page, FM_CMD_PROC, accessor->ps);
    g_autofree char *label = name_procedure ? g_strdup_printf("%s %s (%s)", accessor->field, role,
                                                              fm_name_ps(page, accessor->ps))
                                            : g_strdup_printf("%s %s", accessor->field, role);
    fm_table_row(view->table, role, false);
    if (ranked)
        fm_cell_int(view->table, ++view->rank);
    else
        fm_cell_empty(view->table);
    fm_cell_link(view->table, &query, label, FM_STYLE_PLAIN);
    fm_perf_cells(&view->perf, page, view->table, &accessor->cost);
}

/* One field: its accessors are first .. first + row->line - 1, see group_fields(). */
static void add_field(struct accessors_view *view, const struct fm_row *row)
{
    guint first = row->id, count = row->line;
    if (count == 1) {
        add_accessor(view, at(view, first), true, false);
        return;
    }
    g_autofree char *label = g_strconcat(row->name, " summary", NULL);
    fm_table_row(view->table, "field", false);
    fm_cell_int(view->table, ++view->rank);
    fm_cell_string(view->table, label, FM_STYLE_BOLD);
    fm_perf_cells(&view->perf, view->page, view->table, &row->cost);
    for (guint i = first; i < first + count; i++) {
        /* Several accessors of one kind: other modes, or a predicate and a function with the same
         * name. */
        bool several = (i > first && at(view, i - 1)->setter == at(view, i)->setter) ||
                       (i + 1 < first + count && at(view, i + 1)->setter == at(view, i)->setter);
        add_accessor(view, at(view, i), false, several);
    }
}

/* The fields of the structure that begins at index first; *ret_end = start of the next one. */
static GArray *group_fields(const struct accessors_view *view, guint first, guint *ret_end)
{
    GArray *fields = g_array_new(FALSE, FALSE, sizeof(struct fm_row));
    guint i = first;
    for (; i < view->count && strcmp(at(view, i)->structure, at(view, first)->structure) == 0;
         i++) {
        const char *name = at(view, i)->field;
        if (i == first || strcmp(at(view, i - 1)->field, name) != 0) {
            struct fm_row row = {.file = "", .name = name, .id = i};
            g_array_append_val(fields, row);
        }
        struct fm_row *row = &g_array_index(fields, struct fm_row, fields->len - 1);
        fm_cost_add(&row->cost, &at(view, i)->cost);
        row->line++;
    }
    *ret_end = i;
    return fields;
}

/* By field name unless by cost; equal costs alphabetically. */
static void sort_fields(struct fm_page *page, struct fm_row *rows, guint count)
{
    for (guint i = 0; i < count / 2; i++) { /* sorting by cost turns equal rows around */
        if (page->query.preferences.order != FM_ORDER_COST)
            return;
        struct fm_row row = rows[i];
        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = row;
    }
    if (page->query.preferences.order == FM_ORDER_COST)
        fm_rows_sort(page, rows, count, NULL);
}

static void add_table(struct accessors_view *view)
{
    struct fm_page *page = view->page;
    fm_perf_init(&view->perf, page, true);
    view->table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "accessors");
    struct fm_query by_name = fm_page_same(page);
    fm_preferences_set_order(&by_name.preferences, FM_ORDER_NAME, NULL);
    fm_table_group(view->table, "Rank", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
    fm_table_column(view->table, NULL, "rank", NULL);
    fm_table_group(view->table, "Field name", FM_COLUMN_FIELD_NAME, FM_COLOUR_NEVER);
    fm_table_column(view->table, NULL, "field", &by_name);
    fm_perf_header(&view->perf, page, view->table);
    for (guint first = 0, end; first < view->count; first = end) {
        g_autoptr(GArray) fields = group_fields(view, first, &end);
        struct fm_row *rows = (struct fm_row *)(void *)fields->data;
        sort_fields(page, rows, fields->len);
        if (first > 0)
            fm_table_separator(view->table);
        fm_table_section(view->table, at(view, first)->structure, true);
        for (guint i = 0; i < fields->len; i++)
            add_field(view, &rows[i]);
    }
}

bool fm_page_module_getter_setters(struct fm_page *page, GError **error)
{
    const struct fm_module *module;
    if (!fm_page_check_module(page, &module, error))
        return false;
    page->module = module->name;
    fm_page_begin(
        page, "module_getter_setters",
        g_strdup_printf("The getters and setters of %s %s", page->terms->module, module->name));
    struct accessors_view view = {.page = page};
    fm_analysis_accessors(page->analysis, module, &view.accessors, &view.count);
    fm_display_fact_string(page->display, "module", module->name);
    fm_display_fact_int(page->display, "accessors_count", view.count);
    if (view.count > 0) {
        add_table(&view);
    } else {
        g_autofree char *none =
            g_strdup_printf("This %s has no getters and setters.", page->terms->module);
        fm_add_text(page->body, none);
    }
    fm_accessors_free(view.accessors, view.count);

    struct fm_query all = fm_page_link(page, FM_CMD_MODULE, 0);
    all.command.module = page->query.command.module;
    g_autofree char *label =
        g_strdup_printf("Show all the %s of the %s", page->terms->procs, page->terms->module);
    fm_add_link(page->body, &all, label);
    fm_controls_qualify(page);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}

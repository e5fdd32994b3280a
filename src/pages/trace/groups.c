/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of a query as a table. */
#include "pages/trace/totals.h"

/* "sum(segment.duration)" -> "sum_segment_duration_seconds". Caller frees. */
static char *name_of(const struct fm_grouping *grouping, unsigned column)
{
    GString *name = g_string_new(NULL);
    for (const char *c = fm_grouping_title(grouping, column); *c != '\0'; c++) {
        bool fits = g_ascii_isalnum(*c);
        if (fits || (name->len > 0 && name->str[name->len - 1] != '_'))
            g_string_append_c(name, fits ? g_ascii_tolower(*c) : '_');
    }
    while (name->len > 0 && name->str[name->len - 1] == '_')
        g_string_truncate(name, name->len - 1);
    if (fm_grouping_type(grouping, column) == FM_FILTER_TIME)
        g_string_append(name, "_seconds");
    return g_string_free(name, FALSE);
}

static void add_cell(struct fm_table *table, const struct fm_groups_cell *cell, const char *url)
{
    g_autofree char *text = NULL;
    switch (cell->kind) {
    case FM_GROUPS_NOTHING:
        fm_cell_empty(table);
        break;
    case FM_GROUPS_TEXT:
        fm_cell_string(table, cell->text, FM_STYLE_PLAIN);
        break;
    case FM_GROUPS_NUMBER:
        fm_cell_int(table, (int64_t)MIN(cell->number, cell->negative ? UINT64_MAX : INT64_MAX));
        break;
    case FM_GROUPS_REAL:
        fm_cell_float(table, cell->real);
        break;
    case FM_GROUPS_TIME:
        text = g_strdup_printf("%.9g s", cell->real / 1e9);
        if (url != NULL)
            fm_cell_href(table, url, text, FM_STYLE_PLAIN);
        else
            fm_cell_time(table, cell->real / 1e9);
        break;
    }
}

/* The greatest of what is measured first leads to its segment. */
static bool has_link(const struct fm_grouping *grouping, unsigned column)
{
    if (column < grouping->keys->len)
        return false;
    const struct fm_grouping_shown *shown =
        &g_array_index(grouping->shown, struct fm_grouping_shown, column - grouping->keys->len);
    return shown->function == FM_GROUPING_MAX && shown->measured == 0;
}

void fm_trace_page_add_groups(struct fm_list *body, const struct fm_grouping *grouping,
                              struct fm_groups *groups, fm_trace_page_link *link, void *user)
{
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "groups");
    unsigned columns = fm_grouping_columns(grouping), rows = fm_groups_rows(groups);
    for (unsigned i = 0; i < columns; i++) {
        enum fm_filter_type type = fm_grouping_type(grouping, i);
        bool text = type == FM_FILTER_TEXT || type == FM_FILTER_WORD ||
                    (type == FM_FILTER_FIELD && i < grouping->keys->len);
        g_autofree char *name = name_of(grouping, i);
        fm_table_group(table, fm_grouping_title(grouping, i),
                       text                     ? FM_COLUMN_PROC
                       : type == FM_FILTER_TIME ? FM_COLUMN_TICKS_AND_TIMES
                                                : FM_COLUMN_NUMBER,
                       FM_COLOUR_NEVER);
        fm_table_column(table, NULL, name, NULL);
    }
    for (unsigned i = 0; i < rows; i++) {
        struct fm_segment greatest;
        bool leads = link != NULL && fm_groups_greatest(groups, i, &greatest);
        g_autofree char *url =
            leads ? link(greatest.start, MAX(greatest.end, greatest.start + 1), user) : NULL;
        fm_table_row(table, "group", false);
        for (unsigned j = 0; j < columns; j++) {
            struct fm_groups_cell cell;
            fm_groups_cell(groups, i, j, &cell);
            add_cell(table, &cell, has_link(grouping, j) ? url : NULL);
        }
    }
    uint64_t lost = fm_groups_lost(groups);
    g_autofree char *more =
        g_strdup_printf("and %u more groups; limit shows more", fm_groups_all(groups) - rows);
    g_autofree char *told = g_strdup_printf("There are over %d groups: %" G_GUINT64_FORMAT
                                            " found no room and are in none.",
                                            FM_GROUPS_MAX, lost);
    if (fm_groups_all(groups) > rows)
        fm_add_text(body, more);
    if (lost > 0)
        fm_add_text(body, told);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as CSV (RFC 4180): lines end in CR LF, a first line of field names, numbers plain.
 * Columns "section" and "role" stand in front when the table has any. Texts: base/text/csv.h. */
#include <math.h>
#include <string.h>

#include "base/text/csv.h"
#include "display/display_internal.h"

struct csv {
    GString *out;
    bool developer;
    bool any; /* a table was written: the next one is set off by a blank line */
};

static void begin_table(struct csv *csv)
{
    if (csv->any)
        g_string_append(csv->out, "\r\n");
    csv->any = true;
}

static void append_header(GString *out, const struct fm_table *table)
{
    GString *name = g_string_new(NULL);

    if (table->has_section)
        g_string_append(out, "section,");
    if (table->role_count)
        g_string_append(out, "role,");
    for (unsigned i = 0; i < table->width; i++) {
        if (i)
            g_string_append_c(out, ',');
        g_string_truncate(name, 0);
        fm_column_append_name(name, table, i);
        fm_csv_append_text(out, name->str);
    }
    g_string_append(out, "\r\n");
    g_string_free(name, TRUE);
}

static void append_cell(GString *out, const struct cell *cell)
{
    switch ((enum cell_kind)cell->kind) {
    case CELL_EMPTY:
        break;
    case CELL_INT:
        fm_append_plain_int(out, cell->integer);
        break;
    case CELL_PERCENT:
        fm_append_plain_double(out, 100 * cell->number);
        break;
    case CELL_FLOAT:
    case CELL_TIME:
    case CELL_MEMORY:
        fm_append_plain_double(out, cell->number);
        break;
    case CELL_STRING:
        fm_csv_append_text(out, cell->text);
        break;
    case CELL_LINK:
        fm_csv_append_text(out, cell->link->label);
        break;
    case CELL_PATH:
    case CELL_FOLDED: {
        g_autoptr(GString) path = g_string_new(NULL);
        if (cell->kind == CELL_PATH)
            fm_append_path(path, cell->path, 0);
        else
            fm_append_folded(path, cell->path);
        fm_csv_append_text(out, path->str);
        break;
    }
    }
}

static void append_row(GString *out, const struct fm_table *table, const struct row *row,
                       const char *section)
{
    const struct cell *cells = fm_row_cells(table, row);
    unsigned column = 0;

    if (table->has_section) {
        fm_csv_append_text(out, section);
        g_string_append_c(out, ',');
    }
    if (table->role_count) {
        fm_csv_append_text(out, row->role ? table->roles[row->role - 1] : "");
        g_string_append_c(out, ',');
    }
    for (uint32_t i = 0; i < row->cell_count; i++) {
        if (i)
            g_string_append_c(out, ',');
        append_cell(out, &cells[i]);
        for (unsigned covered = 1; covered < cells[i].span; covered++)
            g_string_append_c(out, ',');
        column += cells[i].span;
    }
    for (column = MAX(column, 1); column < table->width; column++)
        g_string_append_c(out, ',');
    g_string_append(out, "\r\n");
}

static void append_table(struct csv *csv, const struct fm_table *table)
{
    const char *section = "";

    begin_table(csv);
    append_header(csv->out, table);
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];

        if (row->kind == FM_ROW_SECTION)
            section = row->text;
        else if (row->kind == FM_ROW_DATA && fm_row_is_shown(row, csv->developer))
            append_row(csv->out, table, row, section);
    }
}

static void append_share(GString *out, double percent)
{
    g_string_append_c(out, ',');
    if (percent >= 0)
        fm_append_plain_double(out, percent);
}

static void append_source(struct csv *csv, const struct source *source)
{
    GString *out = csv->out;

    begin_table(csv);
    g_string_append_printf(out, "file,line,%scalls_count,self_percent,total_percent,%s%stext\r\n",
                           source->has_runs ? "runs_count," : "",
                           source->has_times ? "line_seconds," : "",
                           source->has_bytes ? "bytes," : "");
    for (uint32_t i = 0; i < source->count; i++) {
        const struct fm_source_line *line = &source->lines[i];

        fm_csv_append_text(out, source->file ? source->file : "");
        g_string_append_printf(out, ",%u,", line->line);
        if (line->runs_known)
            g_string_append_printf(out, "%" G_GUINT64_FORMAT, (guint64)line->runs);
        if (source->has_runs)
            g_string_append_c(out, ',');
        if (line->calls >= 0)
            fm_append_plain_int(out, line->calls);
        append_share(out, line->self_percent);
        append_share(out, line->total_percent);
        if (source->has_times)
            append_share(out, line->time_known ? line->line_seconds : -1);
        if (source->has_bytes)
            append_share(out, line->bytes_known ? (double)line->bytes : -1);
        g_string_append_c(out, ',');
        fm_csv_append_text(out, line->text ? line->text : "");
        g_string_append(out, "\r\n");
    }
}

static void append_list(struct csv *csv, const struct fm_list *list)
{
    for (const struct item *item = list->first; item; item = item->next) {
        if (!fm_item_is_shown(item, csv->developer))
            continue;
        if (item->kind == ITEM_LIST)
            append_list(csv, item->list);
        else if (item->kind == ITEM_TABLE)
            append_table(csv, item->table);
        else if (item->kind == ITEM_SOURCE)
            append_source(csv, &item->source);
    }
}

void fm_csv_write(const struct fm_display *display, const struct fm_preferences *preferences,
                  GString *out)
{
    g_return_if_fail(display != NULL && out != NULL);
    struct csv csv = {.out = out, .developer = preferences && preferences->developer};

    append_list(&csv, &display->body);
}

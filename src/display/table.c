/* SPDX-License-Identifier: Apache-2.0 */
/* Building tables: header groups, columns, rows, cells. */
#include <string.h>

#include "display/display_internal.h"

void fm_table_group(struct fm_table *table, const char *title, enum fm_column_class column_class,
                    enum fm_colour colour)
{
    table->groups = g_renew(struct group, table->groups, table->group_count + 1);
    table->groups[table->group_count++] = (struct group){
        .title = title ? fm_arena_copy(&table->display->arena, title, strlen(title)) : NULL,
        .column_class = column_class,
        .colour = colour,
        .first = table->column_count,
    };
    table->has_header = table->has_header || (title && *title);
}

static bool name_is_taken(const struct fm_table *table, const char *name)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Field names must be there and differ, or JSON would lose cells. */
static const char *column_name(const struct fm_table *table, const char *name)
{
    GString *text = table->display->scratch;

    g_string_assign(text, name ? name : "");
    if (!name || !*name)
        g_string_printf(text, "column_%u", table->column_count + 1);
    size_t size = text->len;
    for (unsigned n = 2; name_is_taken(table, text->str); n++) {
        g_string_truncate(text, size);
        g_string_append_printf(text, "_%u", n);
    }
    return fm_arena_copy(&table->display->arena, text->str, text->len);
}

void fm_table_column(struct fm_table *table, const char *title, const char *name,
                     const struct fm_query *query)
{
    struct column column = {.name = column_name(table, name)};

    if (table->group_count == 0)
        fm_table_group(table, NULL, FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    column.group = table->group_count - 1;
    if (title && *title) {
        column.title = fm_arena_copy(&table->display->arena, title, strlen(title));
        table->has_header = true;
    }
    if (query) {
        struct link *link = fm_arena_alloc(&table->display->arena, sizeof *link);

        fm_display_link(table->display, query, title, link);
        column.link = link;
    }
    table->columns = g_renew(struct column, table->columns, table->column_count + 1);
    table->columns[table->column_count++] = column;
    table->groups[column.group].count++;
    table->width = MAX(table->width, table->column_count);
}

void fm_table_columns(struct fm_table *table, const struct fm_column_head *columns, size_t count,
                      enum fm_colour colour)
{
    g_return_if_fail(table != NULL && columns != NULL && count > 0);
    for (size_t i = 0; i < count; i++) {
        fm_table_group(table, columns[i].title, columns[i].column_class, colour);
        fm_table_column(table, NULL, columns[i].name, NULL);
    }
}

static struct row *add_row(struct fm_table *table, enum fm_row_kind kind)
{
    if (table->row_count == table->row_capacity) {
        table->row_capacity = MAX(64, 2 * table->row_capacity);
        table->rows = g_renew(struct row, table->rows, table->row_capacity);
    }
    struct row *row = &table->rows[table->row_count++];
    *row = (struct row){.first_cell = table->cell_count, .kind = (uint8_t)kind};
    table->row_width = 0;
    return row;
}

/* The index of a role, whose 0 is "none". Tables have a handful of roles. */
static uint16_t role_index(struct fm_table *table, const char *role)
{
    if (!role)
        return 0;
    for (unsigned i = table->role_count; i > 0; i--) {
        if (strcmp(table->roles[i - 1], role) == 0)
            return (uint16_t)i;
    }
    if (table->role_count == UINT16_MAX)
        return 0;
    table->roles = g_renew(const char *, table->roles, table->role_count + 1);
    table->roles[table->role_count++] = fm_arena_copy(&table->display->arena, role, strlen(role));
    return (uint16_t)table->role_count;
}

void fm_table_row(struct fm_table *table, const char *role, bool developer)
{
    g_return_if_fail(table != NULL);
    struct row *row = add_row(table, FM_ROW_DATA);

    row->role = role_index(table, role);
    row->developer = developer;
}

void fm_table_separator(struct fm_table *table)
{
    add_row(table, FM_ROW_SEPARATOR);
}

void fm_table_section(struct fm_table *table, const char *text, bool bold)
{
    struct row *row = add_row(table, FM_ROW_SECTION);

    row->text = fm_arena_copy(&table->display->arena, text ? text : "", text ? strlen(text) : 0);
    row->bold = bold;
    table->has_section = true;
}

struct cell *fm_table_add_cell(struct fm_table *table, enum cell_kind kind)
{
    if (table->row_count == 0 || table->rows[table->row_count - 1].kind != FM_ROW_DATA)
        fm_table_row(table, NULL, false);
    if (table->cell_count == table->cell_capacity) {
        table->cell_capacity = MAX(256, 2 * table->cell_capacity);
        table->cells = g_renew(struct cell, table->cells, table->cell_capacity);
    }
    struct cell *cell = &table->cells[table->cell_count++];
    *cell = (struct cell){.kind = (uint8_t)kind, .span = 1};
    table->rows[table->row_count - 1].cell_count++;
    table->row_width++;
    table->width = MAX(table->width, table->row_width);
    return cell;
}

void fm_cell_empty(struct fm_table *table)
{
    fm_table_add_cell(table, CELL_EMPTY);
}

void fm_cell_int(struct fm_table *table, int64_t value)
{
    fm_table_add_cell(table, CELL_INT)->integer = value;
}

void fm_cell_int_and(struct fm_table *table, int64_t value, const char *more)
{
    g_autoptr(GString) text = g_string_new(NULL);

    fm_append_int(text, value);
    g_string_append_printf(text, " + %s", more);
    fm_cell_string(table, text->str, FM_STYLE_PLAIN);
}

void fm_cell_float(struct fm_table *table, double value)
{
    fm_table_add_cell(table, CELL_FLOAT)->number = value;
}

void fm_cell_percent(struct fm_table *table, double fraction)
{
    fm_table_add_cell(table, CELL_PERCENT)->number = fraction;
}

void fm_cell_time(struct fm_table *table, double seconds)
{
    fm_table_add_cell(table, CELL_TIME)->number = seconds;
}

void fm_cell_memory(struct fm_table *table, double words, unsigned word_size,
                    enum fm_memory_unit unit, unsigned decimals)
{
    struct cell *cell = fm_table_add_cell(table, CELL_MEMORY);

    cell->number = unit == FM_UNIT_BYTES ? words * word_size : words;
    cell->decimals = (uint8_t)MIN(decimals, 9);
}

void fm_cell_string(struct fm_table *table, const char *text, unsigned style)
{
    struct cell *cell = fm_table_add_cell(table, CELL_STRING);

    cell->text = fm_arena_copy(&table->display->arena, text ? text : "", text ? strlen(text) : 0);
    cell->style = (uint8_t)style;
}

void fm_cell_link(struct fm_table *table, const struct fm_query *query, const char *label,
                  unsigned style)
{
    g_return_if_fail(query != NULL);
    struct link *link = fm_arena_alloc(&table->display->arena, sizeof *link);
    struct cell *cell = fm_table_add_cell(table, CELL_LINK);

    fm_display_link(table->display, query, label, link);
    cell->link = link;
    cell->style = (uint8_t)style;
}

void fm_cell_href(struct fm_table *table, const char *url, const char *label, unsigned style)
{
    g_return_if_fail(url != NULL);
    struct link *link = fm_arena_alloc(&table->display->arena, sizeof *link);
    struct cell *cell = fm_table_add_cell(table, CELL_LINK);

    fm_display_href(table->display, url, label, link);
    cell->link = link;
    cell->style = (uint8_t)style;
}

void fm_cell_folded(struct fm_table *table, const char *title, const struct fm_href *links,
                    unsigned count)
{
    g_return_if_fail(title != NULL && links != NULL && count > 0);
    struct arena *arena = &table->display->arena;
    struct path *path = fm_arena_alloc(arena, sizeof *path);

    path->title = fm_arena_copy(arena, title, strlen(title));
    path->parts = fm_arena_alloc(arena, count * sizeof *path->parts);
    path->count = count;
    for (unsigned i = 0; i < count; i++)
        fm_display_href(table->display, links[i].url, links[i].label, &path->parts[i].link);
    fm_table_add_cell(table, CELL_FOLDED)->path = path;
}

void fm_append_folded(GString *out, const struct path *links)
{
    for (unsigned i = 0; i < links->count; i++) {
        g_string_append(out, i > 0 ? ", " : "");
        g_string_append(out, links->parts[i].link.label);
    }
}

void fm_cell_full(struct fm_table *table, const char *text)
{
    if (text == NULL || table->row_count == 0 || table->rows[table->row_count - 1].cell_count == 0)
        return;
    table->cells[table->cell_count - 1].full =
        fm_arena_copy(&table->display->arena, text, strlen(text));
}

void fm_cell_at_most(struct fm_table *table, const struct fm_query *query, const char *why)
{
    g_return_if_fail(why != NULL);
    if (table->row_count == 0 || table->rows[table->row_count - 1].cell_count == 0)
        return;
    struct link *link = fm_arena_alloc(&table->display->arena, sizeof *link);

    *link = (struct link){.label = FM_AT_MOST};
    if (query != NULL)
        fm_display_link(table->display, query, FM_AT_MOST, link);
    table->cells[table->cell_count - 1].most = link;
    fm_cell_full(table, why);
}

void fm_cell_span(struct fm_table *table, unsigned columns)
{
    if (table->row_count == 0 || table->rows[table->row_count - 1].cell_count == 0)
        return;
    struct cell *cell = &table->cells[table->cell_count - 1];
    unsigned span = CLAMP(columns, 1, 1000);

    table->row_width += span - cell->span;
    table->width = MAX(table->width, table->row_width);
    cell->span = (uint16_t)span;
}

bool fm_column_class_is_right(enum fm_column_class column_class)
{
    switch (column_class) {
    case FM_COLUMN_ALLOCATIONS:
    case FM_COLUMN_CALLSEQS:
    case FM_COLUMN_CLIQUE:
    case FM_COLUMN_MEMORY:
    case FM_COLUMN_NUMBER:
    case FM_COLUMN_ORDINAL_RANK:
    case FM_COLUMN_PORT_COUNTS:
    case FM_COLUMN_TICKS_AND_TIMES:
        return true;
    case FM_COLUMN_DEFAULT:
    case FM_COLUMN_FIELD_NAME:
    case FM_COLUMN_MODULE_NAME:
    case FM_COLUMN_PROC:
    case FM_COLUMN_SOURCE_CONTEXT:
        return false;
    }
    return false;
}

void fm_column_append_name(GString *out, const struct fm_table *table, unsigned column)
{
    if (column < table->column_count)
        g_string_append(out, table->columns[column].name);
    else
        g_string_append_printf(out, "column_%u", column + 1);
}

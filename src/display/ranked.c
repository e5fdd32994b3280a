/* SPDX-License-Identifier: Apache-2.0 */
#include "display/ranked.h"

#include <string.h>

#include "display/display_internal.h"

void fm_table_ranked(struct fm_table *table, const char *caption)
{
    table->ranked = table->display->fits = true;
    table->caption =
        caption ? fm_arena_copy(&table->display->arena, caption, strlen(caption)) : NULL;
}

void fm_column_priority(struct fm_table *table, unsigned priority)
{
    g_return_if_fail(table->column_count > 0);
    table->columns[table->column_count - 1].priority = (uint8_t)CLAMP(priority, 1, 4);
}

void fm_column_help(struct fm_table *table, const char *help)
{
    g_return_if_fail(table->column_count > 0);
    table->columns[table->column_count - 1].help =
        fm_arena_copy(&table->display->arena, help, strlen(help));
}

void fm_row_soft(struct fm_table *table)
{
    g_return_if_fail(table->row_count > 0);
    table->rows[table->row_count - 1].soft = true;
}

void fm_cell_time_in(struct fm_table *table, double seconds, enum fm_time_unit unit)
{
    static const uint8_t forms[] = {
        [FM_TIME_UNIT_S] = TIME_S, [FM_TIME_UNIT_MS] = TIME_MS, [FM_TIME_UNIT_US] = TIME_US};
    struct cell *cell = fm_table_add_cell(table, CELL_TIME);
    cell->number = seconds;
    cell->form = forms[unit];
}

void fm_cell_time_short(struct fm_table *table, double seconds)
{
    struct cell *cell = fm_table_add_cell(table, CELL_TIME);
    cell->number = seconds;
    cell->form = TIME_SHORT;
}

void fm_cell_share(struct fm_table *table, double fraction)
{
    struct cell *cell = fm_table_add_cell(table, CELL_PERCENT);
    cell->number = fraction;
    cell->form = PERCENT_SHARE;
}

void fm_cell_ratio(struct fm_table *table, double value)
{
    struct cell *cell = fm_table_add_cell(table, CELL_FLOAT);
    cell->number = value;
    cell->form = FLOAT_SHORT;
}

void fm_cell_bytes(struct fm_table *table, int64_t bytes)
{
    struct cell *cell = fm_table_add_cell(table, CELL_INT);
    cell->integer = bytes;
    cell->form = INT_BYTES;
}

void fm_cell_few(struct fm_table *table)
{
    fm_table_add_cell(table, CELL_EMPTY)->form = EMPTY_FEW;
}

void fm_cell_unknown(struct fm_table *table)
{
    fm_table_add_cell(table, CELL_EMPTY)->form = EMPTY_UNKNOWN;
}

static uint8_t bar_part(double fraction)
{
    return (uint8_t)(CLAMP(fraction, 0, 1) * 100 + 1.5);
}

void fm_cell_bar(struct fm_table *table, double own, double total)
{
    g_return_if_fail(table->cell_count > 0);
    struct cell *cell = &table->cells[table->cell_count - 1];
    cell->bar_own = bar_part(own);
    cell->bar_total = bar_part(MAX(own, total));
}

void fm_cell_path(struct fm_table *table, const struct fm_path_part *parts, unsigned count,
                  unsigned depth)
{
    g_return_if_fail(count == 0 || parts != NULL);
    struct arena *arena = &table->display->arena;
    struct path *path = fm_arena_alloc(arena, sizeof *path);
    path->parts = fm_arena_alloc(arena, MAX(count, 1u) * sizeof *path->parts);
    path->count = count;
    for (unsigned i = 0; i < count; i++) {
        path->parts[i].flags = parts[i].flags;
        path->parts[i].full = parts[i].full == NULL
                                  ? NULL
                                  : fm_arena_copy(arena, parts[i].full, strlen(parts[i].full));
        if (parts[i].query)
            fm_display_link(table->display, parts[i].query, parts[i].label, &path->parts[i].link);
        else
            path->parts[i].link.label =
                fm_arena_copy(arena, parts[i].label, strlen(parts[i].label));
    }
    struct cell *cell = fm_table_add_cell(table, CELL_PATH);
    cell->path = path;
    cell->form = (uint8_t)MIN(depth, 255);
}

void fm_append_path(GString *out, const struct path *path, unsigned depth)
{
    bool first = true;
    for (unsigned i = 0; i < 2 * depth; i++)
        g_string_append_c(out, ' ');
    for (unsigned i = 0; i < path->count; i++) {
        if (path->parts[i].flags & FM_PART_MARK)
            continue;
        if (!first)
            g_string_append(out, path->parts[i].flags & FM_PART_NOTE ? "  " : " \u203a ");
        first = false;
        g_string_append(out, path->parts[i].link.label);
    }
}

static char *formatted(const struct cell *cell)
{
    GString *out = g_string_new(NULL);
    fm_append_cell_number(out, cell);
    return g_string_free(out, FALSE);
}

char *fm_format_bytes(int64_t bytes)
{
    return formatted(&(struct cell){.kind = CELL_INT, .form = INT_BYTES, .integer = bytes});
}

char *fm_format_bytes_said(int64_t bytes)
{
    g_autofree char *text = fm_format_bytes(bytes);
    bool plain = g_ascii_isdigit(text[strlen(text) - 1]);
    return plain ? g_strdup_printf("%s byte%s", text, bytes == 1 ? "" : "s")
                 : g_steal_pointer(&text);
}

char *fm_format_share(double fraction)
{
    return formatted(
        &(struct cell){.kind = CELL_PERCENT, .form = PERCENT_SHARE, .number = fraction});
}

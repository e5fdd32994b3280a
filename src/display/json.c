/* SPDX-License-Identifier: Apache-2.0 */
/* A page as one JSON object; the shape is described in docs/json.md. One row, link or control a
 * line, so that two answers can be compared line by line. */
#include <math.h>
#include <string.h>

#include "base/text/json.h"
#include "display/display_internal.h"
#include "display/flame_internal.h"
#include "display/ranked.h"

struct writer {
    struct fm_json json;
    bool developer;
};

static void write_query(struct fm_json *json, const char *name, const struct link *link)
{
    g_autoptr(GString) text = g_string_new(NULL);

    fm_link_append_query(text, link);
    fm_json_text(json, name, text->str);
}

/* Ends what has an item on each line: its bracket stands on a line of its own too. */
static void end_lines(struct fm_json *json, bool any, unsigned indent)
{
    if (any)
        fm_json_line(json, indent);
    fm_json_end(json);
}

static void write_facts(struct fm_json *json, const struct fm_display *display)
{
    fm_json_line(json, 2);
    fm_json_object(json, "facts");
    for (const struct fact *fact = display->first_fact; fact; fact = fact->next) {
        fm_json_line(json, 4);
        switch (fact->kind) {
        case FACT_INT:
            fm_json_int(json, fact->name, fact->integer);
            break;
        case FACT_DOUBLE:
            fm_json_double(json, fact->name, fact->number);
            break;
        case FACT_STRING:
            fm_json_text(json, fact->name, fact->text);
            break;
        case FACT_BOOL:
            fm_json_bool(json, fact->name, fact->flag);
            break;
        case FACT_NULL:
            fm_json_null(json, fact->name);
            break;
        }
    }
    end_lines(json, display->first_fact != NULL, 2);
}

/* The unit of a column is the end of its name. */
static const char *column_unit(const char *name)
{
    static const char *const units[] = {"count", "percent", "seconds", "bytes",
                                        "words", "ticks",   "rank",    "lines"};
    const char *end = strrchr(name, '_');

    end = end ? end + 1 : name;
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(end, units[i]) == 0)
            return units[i];
    }
    return NULL;
}

/* The steps of a path, or folded links, each with its query. */
static void write_path(struct fm_json *json, const char *name, const struct path *path)
{
    fm_json_array(json, name);
    for (unsigned i = 0; i < path->count; i++) {
        const struct path_part *part = &path->parts[i];

        if (part->flags & (FM_PART_NOTE | FM_PART_MARK))
            continue;
        fm_json_object(json, NULL);
        fm_json_text(json, "name", part->link.label);
        if (part->link.command || part->link.url)
            write_query(json, "query", &part->link);
        else
            fm_json_null(json, "query");
        if (part->full)
            fm_json_text(json, "full", part->full);
        fm_json_end(json);
    }
    fm_json_end(json);
}

static void write_columns(struct fm_json *json, const struct fm_table *table)
{
    g_autoptr(GString) name = g_string_new(NULL);

    fm_json_line(json, 6);
    fm_json_array(json, "columns");
    for (unsigned i = 0; i < table->width; i++) {
        const struct column *column = i < table->column_count ? &table->columns[i] : NULL;
        const struct group *group = fm_table_group_of(table, i);

        g_string_truncate(name, 0);
        fm_column_append_name(name, table, i);
        fm_json_line(json, 8);
        fm_json_object(json, NULL);
        fm_json_text(json, "name", name->str);
        fm_json_text(json, "group", group ? group->title : NULL);
        fm_json_text(json, "title", column ? column->title : NULL);
        fm_json_text(json, "unit", column_unit(name->str));
        fm_json_end(json);
    }
    end_lines(json, table->width > 0, 6);
}

static void write_cell(struct fm_json *json, const char *name, const struct cell *cell)
{
    switch ((enum cell_kind)cell->kind) {
    case CELL_EMPTY:
        fm_json_null(json, name);
        break;
    case CELL_INT:
        fm_json_int(json, name, cell->integer);
        break;
    case CELL_PERCENT:
        fm_json_double(json, name, 100 * cell->number);
        break;
    case CELL_FLOAT:
    case CELL_TIME:
        fm_json_real(json, name, cell->number);
        break;
    case CELL_MEMORY:
        fm_json_double(json, name, cell->number);
        break;
    case CELL_STRING:
        fm_json_text(json, name, cell->text);
        break;
    case CELL_LINK:
        fm_json_text(json, name, cell->link->label);
        break;
    case CELL_PATH:
    case CELL_FOLDED:
        write_path(json, name, cell->path);
        break;
    }
}

/* Field names of a table's column: of its cell, and of what more a cell may tell. */
struct field_names {
    char *value, *query, *depth, *full, *most;
};

static struct field_names *field_names_new(const struct fm_table *table)
{
    struct field_names *names = g_new0(struct field_names, table->width + 1);
    g_autoptr(GString) name = g_string_new(NULL);

    for (unsigned i = 0; i < table->width; i++) {
        g_string_truncate(name, 0);
        fm_column_append_name(name, table, i);
        names[i].value = g_strdup(name->str);
        names[i].query = g_strconcat(name->str, "_query", NULL);
        names[i].depth = g_strconcat(name->str, "_depth", NULL);
        names[i].full = g_strconcat(name->str, "_full", NULL);
        names[i].most = g_strconcat(name->str, "_at_most", NULL);
    }
    return names;
}

static void field_names_free(struct field_names *names, unsigned width)
{
    for (unsigned i = 0; i < width; i++) {
        g_free(names[i].value);
        g_free(names[i].query);
        g_free(names[i].depth);
        g_free(names[i].full);
        g_free(names[i].most);
    }
    g_free(names);
}

static void write_cells(struct fm_json *json, const struct fm_table *table, const struct row *row,
                        const struct field_names *names)
{
    const struct cell *cells = fm_row_cells(table, row);
    unsigned column = 0;

    for (uint32_t i = 0; i < row->cell_count; i++) {
        g_assert(column < table->width);
        write_cell(json, names[column].value, &cells[i]);
        if (cells[i].kind == CELL_LINK)
            write_query(json, names[column].query, cells[i].link);
        if (cells[i].kind == CELL_PATH)
            fm_json_uint(json, names[column].depth, cells[i].form);
        if (cells[i].most && cells[i].most->command == NULL)
            fm_json_bool(json, names[column].most, true);
        else if (cells[i].most)
            write_query(json, names[column].most, cells[i].most);
        else if (cells[i].full)
            fm_json_text(json, names[column].full, cells[i].full);
        for (unsigned end = column++ + cells[i].span; column < end; column++)
            fm_json_null(json, names[column].value);
    }
    for (; column < table->width; column++)
        fm_json_null(json, names[column].value);
}

static void write_rows(struct writer *writer, const struct fm_table *table)
{
    struct fm_json *json = &writer->json;
    struct field_names *names = field_names_new(table);
    const char *section = NULL;
    bool any = false;

    fm_json_line(json, 6);
    fm_json_array(json, "rows");
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];

        if (row->kind == FM_ROW_SECTION)
            section = row->text;
        if (row->kind != FM_ROW_DATA || !fm_row_is_shown(row, writer->developer))
            continue;
        fm_json_line(json, 8);
        fm_json_object(json, NULL);
        fm_json_text(json, "role", row->role ? table->roles[row->role - 1] : NULL);
        fm_json_text(json, "section", section);
        fm_json_object(json, "cells");
        write_cells(json, table, row, names);
        fm_json_end(json);
        fm_json_end(json);
        any = true;
    }
    end_lines(json, any, 6);
    field_names_free(names, table->width);
}

static void write_table(struct writer *writer, const struct fm_table *table)
{
    struct fm_json *json = &writer->json;

    fm_json_object(json, NULL);
    fm_json_line(json, 6);
    fm_json_text(json, "name", table->name);
    write_columns(json, table);
    write_rows(writer, table);
    end_lines(json, true, 4);
}

static void write_callees(struct writer *writer, const struct link *links, unsigned count)
{
    if (count == 0)
        return;
    fm_json_array(&writer->json, "callees");
    for (unsigned i = 0; i < count; i++) {
        fm_json_object(&writer->json, NULL);
        fm_json_text(&writer->json, "name", links[i].label);
        write_query(&writer->json, "query", &links[i]);
        fm_json_end(&writer->json);
    }
    fm_json_end(&writer->json);
}

static void write_source_line(struct writer *writer, const struct source *source, uint32_t index)
{
    struct fm_json *json = &writer->json;
    const struct fm_source_line *line = &source->lines[index];
    bool has_runs = source->has_runs;
    fm_json_object(json, NULL);
    fm_json_uint(json, "line", line->line);
    if (has_runs && line->runs_known)
        fm_json_uint(json, "runs_count", line->runs);
    else if (has_runs)
        fm_json_null(json, "runs_count");
    if (line->calls < 0)
        fm_json_null(json, "calls_count");
    else
        fm_json_int(json, "calls_count", line->calls);
    fm_json_double(json, "self_percent", line->self_percent < 0 ? (double)NAN : line->self_percent);
    fm_json_double(json, "total_percent",
                   line->total_percent < 0 ? (double)NAN : line->total_percent);
    if (source->has_times)
        fm_json_double(json, "line_seconds", line->time_known ? line->line_seconds : (double)NAN);
    if (source->has_bytes && line->bytes_known)
        fm_json_int(json, "bytes", line->bytes);
    else if (source->has_bytes)
        fm_json_null(json, "bytes");
    fm_json_text(json, "text", line->text);
    write_callees(writer, source->callees[index], line->callee_count);
    fm_json_end(json);
}

static void write_source(struct writer *writer, const struct source *source)
{
    struct fm_json *json = &writer->json;
    fm_json_object(json, NULL);
    fm_json_line(json, 6);
    fm_json_text(json, "file", source->file);
    fm_json_line(json, 6);
    fm_json_array(json, "lines");
    for (uint32_t i = 0; i < source->count; i++) {
        fm_json_line(json, 8);
        write_source_line(writer, source, i);
    }
    end_lines(json, source->count > 0, 6);
    end_lines(json, true, 4);
}

enum part { PART_TEXT, PART_TABLES, PART_SOURCES, PART_LINKS, PART_CONTROLS };

static bool item_is_of(const struct item *item, enum part part)
{
    switch (item->kind) {
    case ITEM_HEADING:
    case ITEM_TEXT:
    case ITEM_VERBATIM:
        return part == PART_TEXT;
    case ITEM_TABLE:
        return part == PART_TABLES;
    case ITEM_SOURCE:
        return part == PART_SOURCES;
    case ITEM_LINK:
        return part == PART_LINKS;
    case ITEM_CONTROL:
        return part == PART_CONTROLS;
    case ITEM_LIST:
    case ITEM_BREAK:
    case ITEM_DRAWING:
    case ITEM_FORM:
    case ITEM_FLAME:
    case ITEM_GRAPH:
    case ITEM_CHART:
        return false;
    }
    return false;
}

static void write_text(struct fm_json *json, const char *kind, const char *text)
{
    fm_json_object(json, NULL);
    fm_json_text(json, "kind", kind);
    fm_json_text(json, "text", text);
    fm_json_end(json);
}

static void write_link(struct fm_json *json, const struct item *item, const char *list_title)
{
    fm_json_object(json, NULL);
    if (item->kind == ITEM_CONTROL)
        fm_json_text(json, "id", item->id);
    fm_json_text(json, "list", list_title);
    fm_json_text(json, "text", item->link.label);
    write_query(json, "query", &item->link);
    fm_json_end(json);
}

static void write_item(struct writer *writer, const struct item *item, const char *list_title)
{
    struct fm_json *json = &writer->json;

    switch (item->kind) {
    case ITEM_HEADING:
        write_text(json, "heading", item->text);
        break;
    case ITEM_TEXT:
        write_text(json, "text", item->text);
        break;
    case ITEM_VERBATIM:
        write_text(json, "verbatim", item->text);
        break;
    case ITEM_TABLE:
        write_table(writer, item->table);
        break;
    case ITEM_SOURCE:
        write_source(writer, &item->source);
        break;
    case ITEM_LINK:
    case ITEM_CONTROL:
        write_link(json, item, list_title);
        break;
    case ITEM_LIST:
    case ITEM_BREAK:
    case ITEM_DRAWING:
    case ITEM_FORM:
    case ITEM_FLAME:
    case ITEM_GRAPH:
    case ITEM_CHART:
        g_assert_not_reached(); /* item_is_of() leaves them out */
    }
}

/* All items of one kind below a list, in order; title: of the nearest list that has one. Whether
 * there were some. */
static bool write_list(struct writer *writer, const struct fm_list *list, enum part part,
                       const char *title)
{
    bool any = false;

    title = list->title ? list->title : title;
    for (const struct item *item = list->first; item; item = item->next) {
        if (!fm_item_is_shown(item, writer->developer))
            continue;
        if (item->kind == ITEM_LIST) {
            any |= write_list(writer, item->list, part, title);
        } else if (item_is_of(item, part)) {
            fm_json_line(&writer->json, 4);
            write_item(writer, item, title);
            any = true;
        }
    }
    return any;
}

/* Only pages with one have the key. */
static bool write_flame(struct fm_json *json, const struct fm_list *list)
{
    for (const struct item *item = list->first; item; item = item->next) {
        if (item->kind == ITEM_LIST && write_flame(json, item->list))
            return true;
        if (item->kind == ITEM_FLAME && !item->flame->upwards) {
            fm_json_line(json, 2);
            fm_flame_write_json(item->flame, json, "flame");
            return true;
        }
    }
    return false;
}

static void write_head(struct fm_json *json, const struct fm_display *display)
{
    fm_json_line(json, 2);
    fm_json_text(json, "page", display->name);
    fm_json_line(json, 2);
    fm_json_text(json, "title", display->title);
    if (display->notice) {
        fm_json_line(json, 2);
        fm_json_text(json, "notice", display->notice);
    }
    fm_json_line(json, 2);
    fm_json_text(json, "incomplete", display->incomplete);
}

void fm_json_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   GString *out)
{
    static const char *const names[] = {"text", "tables", "sources", "links", "controls"};
    struct writer writer = {.developer = preferences && preferences->developer};
    struct fm_json *json = &writer.json;

    g_return_if_fail(display != NULL && out != NULL);
    fm_json_init(json, out);
    json->spaced = true;
    fm_json_object(json, NULL);
    write_head(json, display);
    write_facts(json, display);
    for (unsigned part = PART_TEXT; part <= PART_CONTROLS; part++) {
        fm_json_line(json, 2);
        fm_json_array(json, names[part]);
        end_lines(json, write_list(&writer, &display->body, (enum part)part, NULL), 2);
    }
    write_flame(json, &display->body);
    end_lines(json, true, 0);
    g_assert(json->depth == 0);
    g_string_append_c(out, '\n');
}

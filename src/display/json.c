/* SPDX-License-Identifier: Apache-2.0 */
/* A page as one JSON object; the shape is described in docs/json.md. One row, link or control a
 * line, so that two answers can be compared line by line. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "display/display_internal.h"
#include "display/flame_internal.h"
#include "display/ranked.h"

struct json {
    GString *out;
    bool developer;
};

void fm_json_append_text(GString *out, const char *text)
{
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_text(&json, NULL, text);
}

static void append_double(GString *out, double value)
{
    if (!fm_append_plain_double(out, value))
        g_string_append(out, "null");
}

static void append_query(GString *out, const struct link *link)
{
    GString *text = g_string_new(NULL);

    fm_link_append_query(text, link);
    fm_json_append_text(out, text->str);
    g_string_free(text, TRUE);
}

static void append_facts(GString *out, const struct fm_display *display)
{
    g_string_append(out, ",\n  \"facts\": {");
    for (const struct fact *fact = display->first_fact; fact; fact = fact->next) {
        g_string_append(out, fact == display->first_fact ? "\n    " : ",\n    ");
        fm_json_append_text(out, fact->name);
        g_string_append(out, ": ");
        switch (fact->kind) {
        case FACT_INT:
            fm_append_plain_int(out, fact->integer);
            break;
        case FACT_DOUBLE:
            append_double(out, fact->number);
            break;
        case FACT_STRING:
            fm_json_append_text(out, fact->text);
            break;
        case FACT_BOOL:
            g_string_append(out, fact->flag ? "true" : "false");
            break;
        case FACT_NULL:
            g_string_append(out, "null");
            break;
        }
    }
    g_string_append(out, display->first_fact ? "\n  }" : "}");
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

/* The steps of a path, each with its query. */
static void append_path(GString *out, const struct path *path)
{
    bool any = false;

    g_string_append_c(out, '[');
    for (unsigned i = 0; i < path->count; i++) {
        const struct path_part *part = &path->parts[i];

        if (part->flags & (FM_PART_NOTE | FM_PART_MARK))
            continue;
        g_string_append(out, any ? ", {\"name\": " : "{\"name\": ");
        fm_json_append_text(out, part->link.label);
        g_string_append(out, ", \"query\": ");
        if (part->link.command)
            append_query(out, &part->link);
        else
            g_string_append(out, "null");
        g_string_append_c(out, '}');
        any = true;
    }
    g_string_append_c(out, ']');
}

static void append_columns(GString *out, const struct fm_table *table)
{
    g_string_append(out, "      \"columns\": [");
    for (unsigned i = 0; i < table->width; i++) {
        const struct column *column = i < table->column_count ? &table->columns[i] : NULL;
        const struct group *group = fm_table_group_of(table, i);
        GString *name = g_string_new(NULL);

        fm_column_append_name(name, table, i);
        g_string_append(out, i ? ",\n        {\"name\": " : "\n        {\"name\": ");
        fm_json_append_text(out, name->str);
        g_string_append(out, ", \"group\": ");
        fm_json_append_text(out, group ? group->title : NULL);
        g_string_append(out, ", \"title\": ");
        fm_json_append_text(out, column ? column->title : NULL);
        g_string_append(out, ", \"unit\": ");
        fm_json_append_text(out, column_unit(name->str));
        g_string_append_c(out, '}');
        g_string_free(name, TRUE);
    }
    g_string_append(out, table->width ? "\n      ],\n" : "],\n");
}

static void append_cell(GString *out, const struct cell *cell)
{
    switch ((enum cell_kind)cell->kind) {
    case CELL_EMPTY:
        g_string_append(out, "null");
        break;
    case CELL_INT:
        fm_append_plain_int(out, cell->integer);
        break;
    case CELL_PERCENT:
        append_double(out, 100 * cell->number);
        break;
    case CELL_FLOAT:
    case CELL_TIME:
    case CELL_MEMORY:
        append_double(out, cell->number);
        break;
    case CELL_STRING:
        fm_json_append_text(out, cell->text);
        break;
    case CELL_LINK:
        fm_json_append_text(out, cell->link->label);
        break;
    case CELL_PATH:
        append_path(out, cell->path);
        break;
    }
}

/* Field names of the table's columns, quoted, ready to be written before each cell. */
static char **quoted_names(const struct fm_table *table)
{
    char **names = g_new0(char *, table->width + 1);
    GString *name = g_string_new(NULL);

    for (unsigned i = 0; i < table->width; i++) {
        GString *quoted = g_string_new(NULL);

        g_string_truncate(name, 0);
        fm_column_append_name(name, table, i);
        fm_json_append_text(quoted, name->str);
        names[i] = g_string_free(quoted, FALSE);
    }
    g_string_free(name, TRUE);
    return names;
}

static void append_cells(GString *out, const struct fm_table *table, const struct row *row,
                         char **names)
{
    const struct cell *cells = fm_row_cells(table, row);
    unsigned column = 0;

    for (uint32_t i = 0; i < row->cell_count; i++) {
        g_string_append(out, column ? ", " : "");
        g_string_append(out, names[column]);
        g_string_append(out, ": ");
        append_cell(out, &cells[i]);
        if (cells[i].kind == CELL_LINK) {
            g_string_append(out, ", ");
            g_string_append_len(out, names[column], (gssize)strlen(names[column]) - 1);
            g_string_append(out, "_query\": ");
            append_query(out, cells[i].link);
        }
        if (cells[i].kind == CELL_PATH) {
            g_string_append(out, ", ");
            g_string_append_len(out, names[column], (gssize)strlen(names[column]) - 1);
            g_string_append_printf(out, "_depth\": %u", cells[i].form);
        }
        if (cells[i].full) {
            g_string_append(out, ", ");
            g_string_append_len(out, names[column], (gssize)strlen(names[column]) - 1);
            g_string_append(out, "_full\": ");
            fm_json_append_text(out, cells[i].full);
        }
        for (unsigned end = column++ + cells[i].span; column < end; column++)
            g_string_append_printf(out, ", %s: null", names[column]);
    }
    for (; column < table->width; column++)
        g_string_append_printf(out, "%s%s: null", column ? ", " : "", names[column]);
}

static void append_rows(const struct json *json, const struct fm_table *table)
{
    GString *out = json->out;
    g_auto(GStrv) names = quoted_names(table);
    const char *section = NULL;
    bool any = false;

    g_string_append(out, "      \"rows\": [");
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];

        if (row->kind == FM_ROW_SECTION)
            section = row->text;
        if (row->kind != FM_ROW_DATA || !fm_row_is_shown(row, json->developer))
            continue;
        g_string_append(out, any ? ",\n        {\"role\": " : "\n        {\"role\": ");
        fm_json_append_text(out, row->role ? table->roles[row->role - 1] : NULL);
        g_string_append(out, ", \"section\": ");
        fm_json_append_text(out, section);
        g_string_append(out, ", \"cells\": {");
        append_cells(out, table, row, names);
        g_string_append(out, "}}");
        any = true;
    }
    g_string_append(out, any ? "\n      ]\n" : "]\n");
}

static void append_table(const struct json *json, const struct fm_table *table)
{
    g_string_append(json->out, "    {\n      \"name\": ");
    fm_json_append_text(json->out, table->name);
    g_string_append(json->out, ",\n");
    append_columns(json->out, table);
    append_rows(json, table);
    g_string_append(json->out, "    }");
}

static void append_source(GString *out, const struct source *source)
{
    g_string_append(out, "    {\n      \"file\": ");
    fm_json_append_text(out, source->file);
    g_string_append(out, ",\n      \"lines\": [");
    for (uint32_t i = 0; i < source->count; i++) {
        const struct fm_source_line *line = &source->lines[i];

        g_string_append_printf(out, "%s\n        {\"line\": %u, ", i ? "," : "", line->line);
        if (source->has_runs && line->runs_known)
            g_string_append_printf(out, "\"runs_count\": %" G_GUINT64_FORMAT ", ",
                                   (guint64)line->runs);
        else if (source->has_runs)
            g_string_append(out, "\"runs_count\": null, ");
        g_string_append(out, "\"calls_count\": ");
        if (line->calls < 0)
            g_string_append(out, "null");
        else
            fm_append_plain_int(out, line->calls);
        g_string_append(out, ", \"self_percent\": ");
        append_double(out, line->self_percent < 0 ? (double)NAN : line->self_percent);
        g_string_append(out, ", \"total_percent\": ");
        append_double(out, line->total_percent < 0 ? (double)NAN : line->total_percent);
        g_string_append(out, ", \"text\": ");
        fm_json_append_text(out, line->text);
        g_string_append_c(out, '}');
    }
    g_string_append(out, source->count ? "\n      ]\n    }" : "]\n    }");
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
        return false;
    }
    return false;
}

static void append_item(const struct json *json, const struct item *item, const char *list_title)
{
    GString *out = json->out;

    switch (item->kind) {
    case ITEM_HEADING:
    case ITEM_TEXT:
    case ITEM_VERBATIM:
        g_string_append_printf(out, "    {\"kind\": \"%s\", \"text\": ",
                               item->kind == ITEM_HEADING ? "heading"
                               : item->kind == ITEM_TEXT  ? "text"
                                                          : "verbatim");
        fm_json_append_text(out, item->text);
        g_string_append_c(out, '}');
        break;
    case ITEM_TABLE:
        append_table(json, item->table);
        break;
    case ITEM_SOURCE:
        append_source(out, &item->source);
        break;
    case ITEM_LINK:
    case ITEM_CONTROL:
        g_string_append(out, "    {");
        if (item->kind == ITEM_CONTROL) {
            g_string_append(out, "\"id\": ");
            fm_json_append_text(out, item->id);
            g_string_append(out, ", ");
        }
        g_string_append(out, "\"list\": ");
        fm_json_append_text(out, list_title);
        g_string_append(out, ", \"text\": ");
        fm_json_append_text(out, item->link.label);
        g_string_append(out, ", \"query\": ");
        append_query(out, &item->link);
        g_string_append_c(out, '}');
        break;
    case ITEM_LIST:
    case ITEM_BREAK:
    case ITEM_DRAWING:
    case ITEM_FORM:
    case ITEM_FLAME:
        break;
    }
}

/* All items of one kind below a list, in order; title: of the nearest list that has one. */
static void append_list(const struct json *json, const struct fm_list *list, enum part part,
                        const char *title, unsigned *count)
{
    title = list->title ? list->title : title;
    for (const struct item *item = list->first; item; item = item->next) {
        if (!fm_item_is_shown(item, json->developer))
            continue;
        if (item->kind == ITEM_LIST) {
            append_list(json, item->list, part, title, count);
        } else if (item_is_of(item, part)) {
            g_string_append(json->out, (*count)++ ? ",\n" : "\n");
            append_item(json, item, title);
        }
    }
}

/* Only pages with one have the key. */
static bool append_flame(GString *out, const struct fm_list *list)
{
    for (const struct item *item = list->first; item; item = item->next) {
        if (item->kind == ITEM_LIST && append_flame(out, item->list))
            return true;
        if (item->kind == ITEM_FLAME) {
            g_string_append(out, ",\n  \"flame\": ");
            fm_flame_append_json(item->flame, out);
            return true;
        }
    }
    return false;
}

void fm_json_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   GString *out)
{
    static const char *const names[] = {"text", "tables", "sources", "links", "controls"};
    struct json json = {out, preferences && preferences->developer};

    g_string_append(out, "{\n  \"page\": ");
    fm_json_append_text(out, display->name);
    g_string_append(out, ",\n  \"title\": ");
    fm_json_append_text(out, display->title);
    if (display->notice) {
        g_string_append(out, ",\n  \"notice\": ");
        fm_json_append_text(out, display->notice);
    }
    g_string_append(out, ",\n  \"incomplete\": ");
    fm_json_append_text(out, display->incomplete);
    append_facts(out, display);
    for (unsigned part = PART_TEXT; part <= PART_CONTROLS; part++) {
        unsigned count = 0;

        g_string_append_printf(out, ",\n  \"%s\": [", names[part]);
        append_list(&json, &display->body, (enum part)part, NULL, &count);
        g_string_append(out, count ? "\n  ]" : "]");
    }
    append_flame(out, &display->body);
    g_string_append(out, "\n}\n");
}

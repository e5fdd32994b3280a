/* SPDX-License-Identifier: Apache-2.0 */
/* A page small enough to write its output down, and the writers as functions that return text. */
#pragma once

#include "display/display.h"

#define HOSTILE "a<b>&\"'\xFF.c_d/e::f\x1B\n\xC2\x85\xE2\x80\xAE\xED\xA0\x80z"

static inline struct fm_query small_query(enum fm_command_id id, uint32_t number)
{
    return (struct fm_query){.command = {.id = id, .number = number}};
}

/* Two groups, three rows of which one is for developers, a section and a separator. */
static inline struct fm_display *small_page(enum fm_table_box box)
{
    struct fm_display *display = fm_display_new("Modules of <x>:");
    struct fm_list *body = fm_display_body(display);
    struct fm_table *table = fm_add_table(body, box, "top_modules");
    struct fm_query query = small_query(FM_CMD_CLIQUE, 3);

    fm_display_set_name(display, "program_modules");
    fm_table_group(table, "Module", FM_COLUMN_MODULE_NAME, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "module", NULL);
    fm_table_group(table, "Calls", FM_COLUMN_CALLSEQS, FM_COLOUR_ALWAYS);
    fm_table_column(table, "Self", "callseqs_self_count", &query);
    fm_table_column(table, "%", "callseqs_self_percent", NULL);
    fm_table_section(table, "Part one:", true);
    fm_table_separator(table);
    fm_table_row(table, "module", false);
    fm_cell_link(table, &query, "list.sort", FM_STYLE_BOLD);
    fm_cell_int(table, 1234567);
    fm_cell_percent(table, 0.255);
    fm_table_row(table, NULL, false);
    fm_cell_string(table, HOSTILE, FM_STYLE_PLAIN);
    fm_cell_span(table, 2);
    fm_cell_empty(table);
    fm_table_row(table, "secret", true);
    fm_cell_string(table, "dev", FM_STYLE_ITALIC | FM_STYLE_UNDERLINE);
    return display;
}

static inline char *as_html(const struct fm_display *display,
                            const struct fm_preferences *preferences,
                            const struct fm_html_options *options)
{
    GString *out = g_string_new(NULL);

    fm_html_write(display, preferences, options, out);
    return g_string_free(out, FALSE);
}

static inline char *as_text(const struct fm_display *display,
                            const struct fm_preferences *preferences, unsigned width, bool colour)
{
    GString *out = g_string_new(NULL);

    fm_text_write(display, preferences, &(struct fm_text_options){.width = width, .colour = colour},
                  out);
    return g_string_free(out, FALSE);
}

static inline char *as_json(const struct fm_display *display,
                            const struct fm_preferences *preferences)
{
    GString *out = g_string_new(NULL);

    fm_json_write(display, preferences, out);
    return g_string_free(out, FALSE);
}

static inline char *as_csv(const struct fm_display *display,
                           const struct fm_preferences *preferences)
{
    GString *out = g_string_new(NULL);

    fm_csv_write(display, preferences, out);
    return g_string_free(out, FALSE);
}

/* The part of text from the first start up to the next end after it; the caller frees. */
static inline char *between(const char *text, const char *start, const char *end)
{
    const char *from = strstr(text, start);
    const char *to = from ? strstr(from + strlen(start), end) : NULL;

    return to ? g_strndup(from, (gsize)(to - from)) : NULL;
}

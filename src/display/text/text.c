/* SPDX-License-Identifier: Apache-2.0 */
/* A page for the terminal: aligned tables, wrapped text. Links are shown by their names alone, and
 * controls not at all: there is nothing to click, and their settings are options of the command.
 * Nothing else is left out: what does not fit is wrapped, or sticks out at the right. */
#include <string.h>

#include "display/text/text_internal.h"

/* One blank line between blocks, none at the beginning. */
static void begin_block(const struct text *text)
{
    GString *out = text->out;

    if (out->len && !g_str_has_suffix(out->str, "\n\n"))
        g_string_append_c(out, '\n');
}

/* Lines of at most the page's width; all but the first are indented. */
static void append_wrapped(const struct text *text, const char *raw, const char *first,
                           unsigned indent, unsigned paint)
{
    GString *clean = g_string_new(NULL);
    unsigned columns = text->width > indent + 20 ? text->width - indent : text->width ? 20 : 0;
    const char *prefix = first;

    fm_text_clean(clean, raw);
    for (size_t at = 0; at < clean->len || prefix == first;) {
        size_t left = clean->len - at;
        size_t take = columns ? fm_text_take(clean->str + at, left, columns) : left;

        if (prefix)
            g_string_append(text->out, prefix);
        else
            fm_text_pad(text->out, indent);
        prefix = NULL;
        size_t shown = take;
        while (shown && clean->str[at + shown - 1] == ' ')
            shown--;
        fm_text_paint(text, paint);
        g_string_append_len(text->out, clean->str + at, (gssize)shown);
        fm_text_unpaint(text, paint);
        fm_text_end_line(text->out);
        at += take;
    }
    g_string_free(clean, TRUE);
}

static void append_rule(const struct text *text, const char *raw, char c)
{
    GString *clean = g_string_new(NULL);

    fm_text_clean(clean, raw);
    unsigned width = fm_text_width(clean->str, clean->len);
    if (text->width)
        width = MIN(width, text->width);
    for (unsigned i = 0; i < width; i++)
        g_string_append_c(text->out, c);
    g_string_append_c(text->out, '\n');
    g_string_free(clean, TRUE);
}

/* The lines as they are, each made clean; tabs become blanks. */
static void append_verbatim(const struct text *text, const char *raw)
{
    g_auto(GStrv) lines = g_strsplit(raw, "\n", -1);

    for (unsigned i = 0; lines[i] && (lines[i][0] || lines[i + 1]); i++) {
        g_auto(GStrv) cells = g_strsplit(lines[i], "\t", -1);
        size_t start = text->out->len;

        for (unsigned j = 0; cells[j]; j++) {
            if (j) {
                unsigned width = fm_text_width(text->out->str + start, text->out->len - start);
                fm_text_pad(text->out, 8 - width % 8);
            }
            fm_text_clean(text->out, cells[j]);
        }
        fm_text_end_line(text->out);
    }
}

static bool item_is_shown(const struct text *text, const struct item *item);

static bool list_is_shown(const struct text *text, const struct fm_list *list)
{
    if (list->developer && !text->developer)
        return false;
    for (const struct item *item = list->first; item; item = item->next) {
        if (item_is_shown(text, item))
            return true;
    }
    return false;
}

static bool item_is_shown(const struct text *text, const struct item *item)
{
    return item->kind == ITEM_LIST ? list_is_shown(text, item->list) : item->kind != ITEM_CONTROL;
}

static void append_items(const struct text *text, const struct fm_list *list, unsigned depth);

/* The links and texts of a list on one line, separated by commas. */
static void collect_line(const struct text *text, const struct fm_list *list, GString *line,
                         unsigned *count)
{
    for (const struct item *item = list->first; item; item = item->next) {
        if (!item_is_shown(text, item))
            continue;
        if (item->kind == ITEM_LIST) {
            collect_line(text, item->list, line, count);
        } else if (item->kind == ITEM_LINK || item->kind == ITEM_TEXT ||
                   item->kind == ITEM_HEADING) {
            if ((*count)++)
                g_string_append(line, ", ");
            g_string_append(line, item->kind == ITEM_LINK ? item->link.label : item->text);
        }
    }
}

/* Whether the list can stand on one line. */
static bool is_line(const struct text *text, const struct fm_list *list)
{
    if (list->list_class != FM_LIST_HORIZONTAL &&
        list->list_class != FM_LIST_HORIZONTAL_EXCEPT_TITLE)
        return false;
    for (const struct item *item = list->first; item; item = item->next) {
        if (item_is_shown(text, item) && item->kind >= ITEM_SOURCE)
            return false;
        if (item->kind == ITEM_VERBATIM || (item->kind == ITEM_LIST && !is_line(text, item->list)))
            return false;
    }
    return true;
}

static void append_line_list(const struct text *text, const struct fm_list *list)
{
    GString *line = g_string_new(NULL);
    unsigned count = 0;

    if (list->title && list->list_class == FM_LIST_HORIZONTAL)
        g_string_append_printf(line, "%s ", list->title);
    else if (list->title)
        append_wrapped(text, list->title, "", 0, PAINT_BOLD);
    collect_line(text, list, line, &count);
    append_wrapped(text, line->str, "", 4, PAINT_NONE);
    g_string_free(line, TRUE);
}

static void append_list(const struct text *text, const struct fm_list *list, unsigned depth)
{
    if (depth == 0)
        begin_block(text);
    if (is_line(text, list)) {
        append_line_list(text, list);
        return;
    }
    if (list->title)
        append_wrapped(text, list->title, "", 0, PAINT_BOLD);
    append_items(text, list, depth + 1);
}

static void append_item(const struct text *text, const struct item *item,
                        const struct fm_list *list, unsigned depth)
{
    bool bullet = list->list_class == FM_LIST_BULLETS;
    const char *first = depth == 0 ? "" : bullet ? "  * " : "  ";

    switch (item->kind) {
    case ITEM_LIST:
        append_list(text, item->list, depth);
        break;
    case ITEM_HEADING:
        begin_block(text);
        append_wrapped(text, item->text, "", 0, PAINT_BOLD);
        append_rule(text, item->text, '-');
        break;
    case ITEM_TEXT:
        append_wrapped(text, item->text, first, (unsigned)strlen(first), PAINT_NONE);
        break;
    case ITEM_BREAK:
        begin_block(text);
        break;
    case ITEM_VERBATIM:
        begin_block(text);
        append_verbatim(text, item->text);
        break;
    case ITEM_LINK:
        append_wrapped(text, item->link.label, first, (unsigned)strlen(first), PAINT_NONE);
        break;
    case ITEM_CONTROL:
    case ITEM_DRAWING:
    case ITEM_FORM:
    case ITEM_FLAME:
    case ITEM_GRAPH:
    case ITEM_CHART:
        break;
    case ITEM_SOURCE:
        begin_block(text);
        fm_text_source(text, &item->source);
        break;
    case ITEM_TABLE:
        begin_block(text);
        fm_text_table(text, item->table);
        break;
    }
}

static void append_items(const struct text *text, const struct fm_list *list, unsigned depth)
{
    for (const struct item *item = list->first; item; item = item->next) {
        if (!item_is_shown(text, item))
            continue;
        if (item->kind == ITEM_LIST &&
            (item->list->developer || item->list->list_class >= FM_LIST_COLUMNS))
            append_items(text, item->list, depth);
        else
            append_item(text, item, list, depth);
    }
}

void fm_text_write(const struct fm_display *display, const struct fm_preferences *preferences,
                   const struct fm_text_options *options, GString *out)
{
    g_return_if_fail(display != NULL && out != NULL);
    GString *page = g_string_sized_new(4096);
    struct text text = {
        .out = page,
        .width = options ? options->width : 0,
        .colour = options && options->colour,
        .developer = preferences && preferences->developer,
        .box = !preferences || preferences->box,
    };

    if (display->title) {
        append_wrapped(&text, display->title, "", 0, PAINT_BOLD);
        append_rule(&text, display->title, '=');
        g_string_append_c(page, '\n');
    }
    if (display->notice) {
        append_wrapped(&text, display->notice, "Note: ", 4, PAINT_WARM);
        g_string_append_c(page, '\n');
    }
    if (display->incomplete) {
        append_wrapped(&text, display->incomplete, "Incomplete: ", 4, PAINT_WARM);
        g_string_append_c(page, '\n');
    }
    append_items(&text, &display->body, 0);
    g_string_append_len(out, page->str, (gssize)page->len);
    g_string_free(page, TRUE);
}

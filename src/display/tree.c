/* SPDX-License-Identifier: Apache-2.0 */
/* Building a page: items, lists, links, facts. Tables are in table.c. */
#include <string.h>

#include "display/display_internal.h"

#define KNOWN_LOOKED_AT 8

static const char *copy(struct fm_display *display, const char *text)
{
    return text ? fm_arena_copy(&display->arena, text, strlen(text)) : NULL;
}

struct fm_display *fm_display_new(const char *title)
{
    struct fm_display *display = g_new0(struct fm_display, 1);

    display->title = copy(display, title);
    display->body.display = display;
    display->crumbs.display = display;
    display->crumbs.list_class = FM_LIST_HORIZONTAL;
    display->known = g_array_new(FALSE, FALSE, sizeof(struct known_preferences));
    display->scratch = g_string_sized_new(128);
    return display;
}

void fm_display_free(struct fm_display *display)
{
    if (!display)
        return;
    for (struct fm_table *table = display->tables; table; table = table->next) {
        g_free(table->groups);
        g_free(table->columns);
        g_free(table->roles);
        g_free(table->rows);
        g_free(table->cells);
    }
    g_array_unref(display->known);
    g_string_free(display->scratch, TRUE);
    fm_arena_done(&display->arena);
    g_free(display);
}

struct fm_list *fm_display_body(struct fm_display *display)
{
    return &display->body;
}

struct fm_list *fm_display_crumbs(struct fm_display *display)
{
    return &display->crumbs;
}

void fm_display_set_name(struct fm_display *display, const char *name)
{
    display->name = copy(display, name);
}

void fm_display_set_notice(struct fm_display *display, const char *text)
{
    display->notice = copy(display, text);
}

void fm_display_set_namer(struct fm_display *display, fm_display_namer namer, const void *user)
{
    display->namer = namer;
    display->namer_user = user;
}

void fm_display_set_incomplete(struct fm_display *display, const char *what)
{
    g_return_if_fail(what != NULL);
    display->incomplete = copy(display, what);
}

static struct fact *add_fact(struct fm_display *display, const char *name, enum fact_kind kind)
{
    struct fact *fact = fm_arena_alloc(&display->arena, sizeof *fact);

    fact->name = copy(display, name);
    fact->kind = kind;
    if (display->last_fact)
        display->last_fact->next = fact;
    else
        display->first_fact = fact;
    display->last_fact = fact;
    return fact;
}

void fm_display_fact_int(struct fm_display *display, const char *name, int64_t value)
{
    add_fact(display, name, FACT_INT)->integer = value;
}

void fm_display_fact_double(struct fm_display *display, const char *name, double value)
{
    add_fact(display, name, FACT_DOUBLE)->number = value;
}

void fm_display_fact_string(struct fm_display *display, const char *name, const char *value)
{
    g_return_if_fail(name != NULL);
    add_fact(display, name, FACT_STRING)->text = copy(display, value);
}

void fm_display_fact_bool(struct fm_display *display, const char *name, bool value)
{
    add_fact(display, name, FACT_BOOL)->flag = value;
}

void fm_display_fact_null(struct fm_display *display, const char *name)
{
    add_fact(display, name, FACT_NULL);
}

struct item *fm_list_add_item(struct fm_list *to, enum item_kind kind)
{
    g_return_val_if_fail(to != NULL && to->display != NULL, NULL);
    struct item *item = fm_arena_alloc(&to->display->arena, sizeof *item);

    item->kind = kind;
    if (to->last)
        to->last->next = item;
    else
        to->first = item;
    to->last = item;
    return item;
}

struct fm_list *fm_add_list(struct fm_list *to, enum fm_list_class list_class, const char *title)
{
    struct fm_list *list = fm_arena_alloc(&to->display->arena, sizeof *list);

    list->display = to->display;
    list->list_class = list_class;
    list->title = copy(to->display, title);
    fm_list_add_item(to, ITEM_LIST)->list = list;
    return list;
}

struct fm_list *fm_add_developer(struct fm_list *to)
{
    struct fm_list *list = fm_add_list(to, to->list_class, NULL);

    list->developer = true;
    return list;
}

void fm_list_set_id(struct fm_list *list, const char *id)
{
    list->id = copy(list->display, id);
}

void fm_list_fold(struct fm_list *list)
{
    g_return_if_fail(list->title != NULL);
    list->folded = true;
}

void fm_add_heading(struct fm_list *to, const char *text)
{
    fm_list_add_item(to, ITEM_HEADING)->text = copy(to->display, text);
}

void fm_add_text(struct fm_list *to, const char *text)
{
    fm_list_add_item(to, ITEM_TEXT)->text = copy(to->display, text);
}

void fm_add_paragraph_break(struct fm_list *to)
{
    fm_list_add_item(to, ITEM_BREAK);
}

void fm_add_verbatim(struct fm_list *to, const char *text)
{
    fm_list_add_item(to, ITEM_VERBATIM)->text = copy(to->display, text);
}

/* The text of the preferences, shared by the links that have the same ones. */
static const char *preferences_text(struct fm_display *display,
                                    const struct fm_preferences *preferences)
{
    guint count = display->known->len;
    guint stop = count > KNOWN_LOOKED_AT ? count - KNOWN_LOOKED_AT : 0;

    for (guint i = count; i > stop; i--) {
        const struct known_preferences *known =
            &g_array_index(display->known, struct known_preferences, i - 1);
        if (fm_preferences_equal(&known->preferences, preferences))
            return known->text;
    }
    g_string_truncate(display->scratch, 0);
    fm_preferences_append(display->scratch, preferences);
    struct known_preferences known = {
        *preferences, fm_arena_copy(&display->arena, display->scratch->str, display->scratch->len)};
    g_array_append_val(display->known, known);
    return known.text;
}

void fm_display_link(struct fm_display *display, const struct fm_query *query, const char *label,
                     struct link *ret)
{
    ret->label = copy(display, label ? label : "");
    char buffer[FM_DISPLAY_NAME_BYTES];
    struct fm_command command = query->command;
    if (display->namer != NULL)
        display->namer(display->namer_user, &command, buffer);
    g_string_truncate(display->scratch, 0);
    fm_command_append(display->scratch, &command);
    ret->command = fm_arena_copy(&display->arena, display->scratch->str, display->scratch->len);
    ret->line = query->line;
    ret->preferences =
        query->has_preferences ? preferences_text(display, &query->preferences) : NULL;
}

void fm_add_link(struct fm_list *to, const struct fm_query *query, const char *label)
{
    g_return_if_fail(query != NULL);
    fm_display_link(to->display, query, label, &fm_list_add_item(to, ITEM_LINK)->link);
}

void fm_display_href(struct fm_display *display, const char *url, const char *label,
                     struct link *ret)
{
    *ret = (struct link){.label = copy(display, label ? label : ""), .url = copy(display, url)};
}

void fm_add_href(struct fm_list *to, const char *url, const char *label)
{
    fm_display_href(to->display, url, label, &fm_list_add_item(to, ITEM_LINK)->link);
}

void fm_add_control(struct fm_list *to, const struct fm_query *query, const char *label,
                    const char *id)
{
    g_return_if_fail(query != NULL && label != NULL);
    struct item *item = fm_list_add_item(to, ITEM_CONTROL);

    item->id = copy(to->display, id);
    fm_display_link(to->display, query, label, &item->link);
}

void fm_add_source(struct fm_list *to, const char *file, const struct fm_source_line *lines,
                   uint32_t count)
{
    g_return_if_fail(count == 0 || lines != NULL);
    struct fm_display *display = to->display;
    struct fm_source_line *own = fm_arena_alloc(&display->arena, count * sizeof *own);

    struct link **callees = fm_arena_alloc(&display->arena, count * sizeof *callees);
    struct source source = {.file = copy(display, file),
                            .lines = own,
                            .count = count,
                            .callees = (const struct link *const *)callees};
    for (uint32_t i = 0; i < count; i++) {
        own[i] = lines[i];
        own[i].text = copy(display, lines[i].text);
        own[i].callees = NULL; /* they are in links now */
        callees[i] = fm_arena_alloc(&display->arena, lines[i].callee_count * sizeof *callees[i]);
        for (unsigned c = 0; c < lines[i].callee_count; c++)
            fm_display_link(display, &lines[i].callees[c].query, lines[i].callees[c].name,
                            &callees[i][c]);
        source.has_runs |= lines[i].runs_known;
        source.has_times |= lines[i].time_known;
        source.has_bytes |= lines[i].bytes_known && lines[i].bytes > 0;
    }
    fm_list_add_item(to, ITEM_SOURCE)->source = source;
}

struct fm_table *fm_add_table(struct fm_list *to, enum fm_table_box box, const char *name)
{
    struct fm_display *display = to->display;
    struct fm_table *table = fm_arena_alloc(&display->arena, sizeof *table);

    table->display = display;
    table->box = box;
    table->name = copy(display, name);
    table->next = display->tables;
    display->tables = table;
    fm_list_add_item(to, ITEM_TABLE)->table = table;
    return table;
}

static bool list_is_shown(const struct fm_list *list, bool developer);

bool fm_item_is_shown(const struct item *item, bool developer)
{
    return item->kind != ITEM_LIST || list_is_shown(item->list, developer);
}

/* Whether anything of the list is shown: it has an item that is not for developers only. */
static bool list_is_shown(const struct fm_list *list, bool developer)
{
    if (list->developer && !developer)
        return false;
    for (const struct item *item = list->first; item; item = item->next) {
        if (fm_item_is_shown(item, developer))
            return true;
    }
    return false;
}

bool fm_list_is_controls(const struct fm_list *list, bool developer)
{
    bool any = false;

    for (const struct item *item = list->first; item; item = item->next) {
        if (!fm_item_is_shown(item, developer))
            continue;
        any = true;
        if (item->kind != ITEM_CONTROL &&
            !(item->kind == ITEM_LIST && fm_list_is_controls(item->list, developer)))
            return false;
    }
    return any;
}

void fm_link_append_query(GString *out, const struct link *link)
{
    if (link->url) {
        g_string_append(out, link->url);
        return;
    }
    g_string_append(out, link->command);
    if (link->preferences || strchr(link->command, '&'))
        g_string_append_c(out, '&');
    if (link->preferences)
        g_string_append(out, link->preferences);
}

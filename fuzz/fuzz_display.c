/* SPDX-License-Identifier: Apache-2.0 */
/* Any page: the bytes are a program that builds one out of arbitrary names and numbers, then all
 * writers write it. HTML, text and JSON must be valid UTF-8; the tags that HTML has must be ours,
 * and text must have no control characters. */
#include <string.h>

#include "display/display.h"

#define STEPS_MAX 400
#define DEPTH_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *at, *end;
};

static unsigned take_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* Up to 15 bytes without NUL; the caller frees. */
static char *take_text(struct input *input)
{
    size_t wanted = take_byte(input) % 16;
    size_t size = MIN(wanted, (size_t)(input->end - input->at));
    char *text = g_strndup((const char *)input->at, size);

    input->at += size;
    return text;
}

static double take_double(struct input *input)
{
    double value = 0;
    size_t size = MIN(sizeof value, (size_t)(input->end - input->at));

    memcpy(&value, input->at, size);
    input->at += size;
    return value;
}

static void take_query(struct input *input, struct fm_query *ret)
{
    *ret = (struct fm_query){.command = {.id = FM_CMD_MODULE, .module = take_text(input)}};
    ret->has_preferences = take_byte(input) % 2;
    fm_preferences_default(&ret->preferences, true, take_byte(input) % 2);
}

static void add_cell(struct input *input, struct fm_table *table)
{
    unsigned kind = take_byte(input);
    char *text = take_text(input);
    struct fm_query query;

    switch (kind % 8) {
    case 0:
        fm_cell_empty(table);
        break;
    case 1:
        fm_cell_int(table, (int64_t)(take_double(input) > 0 ? INT64_MAX : INT64_MIN));
        break;
    case 2:
        fm_cell_float(table, take_double(input));
        break;
    case 3:
        fm_cell_percent(table, take_double(input));
        break;
    case 4:
        fm_cell_time(table, take_double(input));
        break;
    case 5:
        fm_cell_memory(table, take_double(input), 8, kind & 8 ? FM_UNIT_WORDS : FM_UNIT_BYTES,
                       kind >> 4);
        break;
    case 6:
        fm_cell_string(table, text, kind >> 3);
        break;
    default:
        take_query(input, &query);
        fm_cell_link(table, &query, text, kind >> 3);
        fm_query_done(&query);
        break;
    }
    if (kind > 200)
        fm_cell_span(table, take_byte(input) % 8);
    g_free(text);
}

static void add_to_table(struct input *input, struct fm_table *table, unsigned step)
{
    char *text = take_text(input);
    struct fm_query query;

    switch (step % 6) {
    case 0:
        fm_table_group(table, text, (enum fm_column_class)(take_byte(input) % 13),
                       (enum fm_colour)(take_byte(input) % 3));
        break;
    case 1:
        take_query(input, &query);
        fm_table_column(table, text, step & 8 ? text : NULL, step & 16 ? &query : NULL);
        fm_query_done(&query);
        break;
    case 2:
        fm_table_row(table, step & 8 ? text : NULL, step & 16);
        break;
    case 3:
        fm_table_separator(table);
        break;
    case 4:
        fm_table_section(table, text, step & 8);
        break;
    default:
        add_cell(input, table);
        break;
    }
    g_free(text);
}

static void add_item(struct input *input, struct fm_list *list, unsigned step)
{
    char *text = take_text(input);
    struct fm_source_line lines[2] = {{1, text, 3, take_double(input), take_double(input)},
                                      {UINT32_MAX, NULL, -1, -1, -1}};
    struct fm_query query;

    take_query(input, &query);
    switch (step % 7) {
    case 0:
        fm_add_heading(list, text);
        break;
    case 1:
        fm_add_text(list, text);
        break;
    case 2:
        fm_add_paragraph_break(list);
        break;
    case 3:
        fm_add_verbatim(list, text);
        break;
    case 4:
        if (step & 8)
            fm_add_href(list, text, text);
        else
            fm_add_link(list, &query, text);
        break;
    case 5:
        fm_add_control(list, &query, text, step & 8 ? text : NULL);
        break;
    default:
        fm_add_source(list, text, lines, 2);
        break;
    }
    fm_query_done(&query);
    g_free(text);
}

static void build(struct input *input, struct fm_display *display)
{
    struct fm_list *lists[DEPTH_MAX] = {fm_display_body(display)};
    struct fm_table *table = NULL;
    unsigned depth = 0;

    for (unsigned i = 0; i < STEPS_MAX && input->at < input->end; i++) {
        unsigned step = take_byte(input);
        char *text = take_text(input);

        if (step < 20 && depth + 1 < DEPTH_MAX) {
            lists[depth + 1] =
                fm_add_list(lists[depth], (enum fm_list_class)(step % 4), step & 4 ? text : NULL);
            depth++;
        } else if (step < 26 && depth + 1 < DEPTH_MAX) {
            lists[depth + 1] = fm_add_developer(lists[depth]);
            depth++;
        } else if (step < 40 && depth > 0) {
            depth--;
        } else if (step < 60) {
            table = fm_add_table(lists[depth], (enum fm_table_box)(step % 3), text);
        } else if (step < 70) {
            fm_display_fact_double(display, text, take_double(input));
        } else if (step < 100) {
            add_item(input, lists[depth], step);
        } else if (table) {
            add_to_table(input, table, step);
        }
        g_free(text);
    }
}

static void check_utf8(const GString *out, const char *format)
{
    if (strlen(out->str) != out->len || !g_utf8_validate(out->str, (gssize)out->len, NULL))
        g_error("%s is not valid UTF-8", format);
}

/* Whatever the names are, each "<" begins a tag that the writer knows. */
static void check_tags(const char *html)
{
    static const char *const known[] = {
        "!DOCTYPE", "html",  "head",  "meta",  "title",   "body",     "a",   "header", "footer",
        "span",     "nav",   "ul",    "li",    "main",    "h1",       "h2",  "h3",     "h4",
        "h5",       "h6",    "p",     "div",   "pre",     "code",     "wbr", "b",      "i",
        "u",        "table", "thead", "tbody", "caption", "colgroup", "tr",  "th",     "td"};

    for (const char *at = strchr(html, '<'); at; at = strchr(at + 1, '<')) {
        const char *name = at[1] == '/' ? at + 2 : at + 1;
        size_t size = strcspn(name, " >\n");
        bool good = false;

        for (unsigned i = 0; i < G_N_ELEMENTS(known) && !good; i++)
            good = strlen(known[i]) == size && strncmp(known[i], name, size) == 0;
        if (!good)
            g_error("a tag that is not ours: %.20s", at);
    }
}

static void check_text(const GString *out)
{
    check_utf8(out, "text");
    for (const char *c = out->str; *c; c++) {
        if (g_ascii_iscntrl(*c) && *c != '\n')
            g_error("control character %d in text", *c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, data + size};
    struct fm_preferences preferences;
    char *title = take_text(&input);
    struct fm_display *display = fm_display_new(size % 3 ? title : NULL);
    struct fm_html_options html = {.recording_name = title, .url_prefix = title};
    struct fm_text_options text = {.width = take_byte(&input)};
    GString *out = g_string_new(NULL);

    fm_preferences_default(&preferences, true, false);
    preferences.developer = take_byte(&input) % 2;
    preferences.box = take_byte(&input) % 2;
    if (preferences.box)
        fm_display_set_notice(display, title);
    build(&input, display);
    fm_html_write(display, &preferences, &html, out);
    check_utf8(out, "HTML");
    check_tags(out->str);
    g_string_truncate(out, 0);
    fm_text_write(display, &preferences, &text, out);
    check_text(out);
    g_string_truncate(out, 0);
    fm_json_write(display, &preferences, out);
    check_utf8(out, "JSON");
    g_string_truncate(out, 0);
    fm_csv_write(display, &preferences, out);
    g_string_free(out, TRUE);
    fm_display_free(display);
    g_free(title);
    return 0;
}

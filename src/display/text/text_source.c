/* SPDX-License-Identifier: Apache-2.0 */
/* Source listings for the terminal. Code is not wrapped. */
#include <string.h>

#include "display/text/text_internal.h"

#define CALLS_COLUMNS 13
#define SHARE_COLUMNS 6
#define TIME_COLUMNS 9
#define BYTES_COLUMNS 14
#define TAB_COLUMNS 8

/* The text at the right end of so many columns, or past them when it is longer. */
static void append_right(GString *out, const GString *text, unsigned columns)
{
    fm_text_pad(out, columns > text->len ? columns - (unsigned)text->len : 0);
    g_string_append_len(out, text->str, (gssize)text->len);
}

static void append_share(const struct text *text, double percent)
{
    GString *number = g_string_new(NULL);
    unsigned paint = percent >= 25 ? PAINT_HOT : percent >= 5 ? PAINT_WARM : PAINT_NONE;

    if (percent >= 0)
        fm_append_percent(number, percent / 100);
    g_string_append(text->out, "  ");
    fm_text_paint(text, paint);
    append_right(text->out, number, SHARE_COLUMNS);
    fm_text_unpaint(text, paint);
    g_string_free(number, TRUE);
}

static void append_code(GString *out, const char *code)
{
    size_t start = out->len;

    while (*code) {
        size_t run = strcspn(code, "\t");
        g_autofree char *part = g_strndup(code, run);

        fm_text_clean(out, part);
        code += run;
        if (*code == '\t') {
            unsigned width = fm_text_width(out->str + start, out->len - start);
            fm_text_pad(out, TAB_COLUMNS - width % TAB_COLUMNS);
            code++;
        }
    }
}

static void append_runs(GString *out, const struct fm_source_line *line, GString *number)
{
    g_string_truncate(number, 0);
    if (line->runs_known && line->runs == 0)
        g_string_append(number, "never");
    else if (line->runs_known)
        fm_append_int(number, (int64_t)MIN(line->runs, (uint64_t)INT64_MAX));
    append_right(out, number, CALLS_COLUMNS);
}

/* Whole milliseconds of the line's own code; blank where there is no time. */
static void append_time(const struct text *text, const struct fm_source_line *line, GString *number)
{
    unsigned paint = line->heat >= 4 ? PAINT_HOT : line->heat >= 2 ? PAINT_WARM : PAINT_NONE;

    g_string_truncate(number, 0);
    if (line->line_seconds > 0)
        fm_append_int(number, (int64_t)(line->line_seconds * 1e3 + 0.5));
    fm_text_paint(text, paint);
    append_right(text->out, number, TIME_COLUMNS);
    fm_text_unpaint(text, paint);
}

static void append_bytes(GString *out, const struct fm_source_line *line, GString *number)
{
    g_string_truncate(number, 0);
    if (line->bytes > 0)
        fm_append_int(number, line->bytes);
    g_string_append(out, "  ");
    append_right(out, number, BYTES_COLUMNS);
}

void fm_text_source(const struct text *text, const struct source *source)
{
    GString *out = text->out;
    GString *number = g_string_new(NULL);

    if (source->file) {
        fm_text_paint(text, PAINT_BOLD);
        fm_text_clean(out, source->file);
        fm_text_unpaint(text, PAINT_BOLD);
        fm_text_end_line(out);
    }
    g_string_append_printf(
        out, "   Line  %s%s        Calls  %s%s  Source\n", source->has_runs ? "         Runs" : "",
        source->has_times ? "  Self ms" : "", source->has_times ? "Below%" : "Self %  Total%",
        source->has_bytes ? "         Bytes" : "");
    for (uint32_t i = 0; i < source->count; i++) {
        const struct fm_source_line *line = &source->lines[i];

        g_string_append_printf(out, "%7u  ", line->line);
        if (source->has_runs)
            append_runs(out, line, number);
        if (source->has_times)
            append_time(text, line, number);
        g_string_truncate(number, 0);
        if (line->calls >= 0)
            fm_append_int(number, line->calls);
        append_right(out, number, CALLS_COLUMNS);
        if (!source->has_times)
            append_share(text, line->self_percent);
        append_share(text, line->total_percent);
        if (source->has_bytes)
            append_bytes(out, line, number);
        g_string_append(out, "  ");
        append_code(out, line->text ? line->text : "");
        fm_text_end_line(out);
    }
    g_string_free(number, TRUE);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a terminal: clean text, its width, where it may be broken, its colours. */
#include <string.h>

#include "display/text/text_internal.h"

#define BREAK_AFTER " ._/:-,"

void fm_text_clean(GString *out, const char *text)
{
    fm_utf8_append_clean(out, text);
}

static unsigned character_width(const char *text, unsigned size)
{
    if (size == 1)
        return 1;
    gunichar character = fm_utf8_decode(text, size);
    return g_unichar_iszerowidth(character) ? 0 : g_unichar_iswide(character) ? 2 : 1;
}

unsigned fm_text_width(const char *text, size_t size)
{
    unsigned width = 0;

    for (const char *end = text + size; text < end;) {
        unsigned bytes = fm_utf8_size(text);

        width += character_width(text, bytes);
        text += bytes;
    }
    return width;
}

size_t fm_text_take(const char *text, size_t size, unsigned columns)
{
    size_t at = 0, good = 0;
    unsigned width = 0;

    while (at < size) {
        unsigned bytes = fm_utf8_size(text + at);
        unsigned more = character_width(text + at, bytes);

        /* A blank may hang over the end of the line. */
        if (width + more > columns && at > 0 && text[at] != ' ')
            return good ? good : at;
        g_assert(bytes > 0 && at + bytes <= size);
        width += more;
        at += bytes;
        if (strchr(BREAK_AFTER, text[at - 1]))
            good = at;
    }
    return size;
}

void fm_text_paint(const struct text *text, unsigned paint)
{
    static const struct {
        unsigned bit;
        const char *code;
    } codes[] = {{PAINT_BOLD, "\033[1m"},  {PAINT_ITALIC, "\033[3m"}, {PAINT_UNDERLINE, "\033[4m"},
                 {PAINT_FAINT, "\033[2m"}, {PAINT_WARM, "\033[33m"},  {PAINT_HOT, "\033[31m"}};

    for (unsigned i = 0; text->colour && i < G_N_ELEMENTS(codes); i++) {
        if (paint & codes[i].bit)
            g_string_append(text->out, codes[i].code);
    }
}

void fm_text_unpaint(const struct text *text, unsigned paint)
{
    if (text->colour && paint)
        g_string_append(text->out, "\033[0m");
}

void fm_text_pad(GString *out, unsigned columns)
{
    static const char blanks[] = "                                ";

    while (columns) {
        unsigned some = MIN(columns, (unsigned)sizeof blanks - 1);

        g_string_append_len(out, blanks, some);
        columns -= some;
    }
}

void fm_text_end_line(GString *out)
{
    while (out->len && out->str[out->len - 1] == ' ')
        g_string_truncate(out, out->len - 1);
    g_string_append_c(out, '\n');
}

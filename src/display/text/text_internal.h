/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the text writer. */
#pragma once

#include "display/display_internal.h"

struct text {
    GString *out;
    unsigned width; /* 0 = unlimited */
    bool colour, developer, box;
};

enum text_paint {
    PAINT_NONE = 0,
    PAINT_BOLD = 1,
    PAINT_ITALIC = 2,
    PAINT_UNDERLINE = 4,
    PAINT_FAINT = 8,
    PAINT_WARM = 16,
    PAINT_HOT = 32,
};

/* Appends valid UTF-8 without control characters, tabs and line breaks among them; each bad byte
 * is U+FFFD. */
void fm_text_clean(GString *out, const char *text);
/* Columns of a terminal that the text takes; the text is clean. */
unsigned fm_text_width(const char *text, size_t size);
/* How many bytes of the clean text to put on a line of so many columns: at least one character,
 * to after a break place if there is one. Blanks at the end are counted in, for the caller to
 * drop. */
size_t fm_text_take(const char *text, size_t size, unsigned columns);
void fm_text_paint(const struct text *text, unsigned paint);
void fm_text_unpaint(const struct text *text, unsigned paint);
void fm_text_pad(GString *out, unsigned columns);
/* Drops the blanks at the end of the line being written, and ends it. */
void fm_text_end_line(GString *out);

void fm_text_table(const struct text *text, const struct fm_table *table);
void fm_text_source(const struct text *text, const struct source *source);

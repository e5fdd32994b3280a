/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings as SVG, forms as forms. Colours are classes, as the pages' policy allows no style
 * attributes. */
#include <math.h>
#include <string.h>

#include "display/drawing_internal.h"
#include "display/html/html_internal.h"

#define LABEL_WIDTH 220.0
#define AXIS_HEIGHT 20.0
#define RIGHT_MARGIN 8.0
#define LETTER_WIDTH 6.6 /* about, of 11 pixels' text */
#define INDENT_WIDTH 12.0
#define BOX_WIDTH_LEAST 0.6

struct place {
    struct html *html;
    const struct fm_drawing *drawing;
    double top; /* top of the first row */
};

static void append_number(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_assert(isfinite(value));
    double rounded = round(value * 100) / 100;
    g_string_append(out, g_ascii_formatd(text, sizeof text, "%.6g", rounded));
}

static void append_attribute(GString *out, const char *name, double value)
{
    g_string_append_printf(out, " %s=\"", name);
    append_number(out, value);
    g_string_append_c(out, '"');
}

static double x_of(const struct place *place, double fraction)
{
    g_assert(!isnan(fraction) && place->drawing->width > 0);
    return LABEL_WIDTH + CLAMP(fraction, 0.0, 1.0) * place->drawing->width;
}

static void append_title(const struct place *place, const char *title)
{
    if (title == NULL)
        return;
    g_string_append(place->html->out, "<title>");
    fm_html_escape(place->html->out, title, HTML_TEXT);
    g_string_append(place->html->out, "</title>");
}

/* Text that fits into a width; what does not is cut off with dots. */
static void append_fitting(const struct place *place, const char *text, double width)
{
    size_t letters = width < 0 ? 0 : (size_t)(width / LETTER_WIDTH);
    const char *end = text;
    size_t count = 0;
    while (*end != '\0' && count < letters) {
        unsigned size = fm_utf8_size(end);
        end += size == 0 ? 1 : size;
        count++;
    }
    if (*end == '\0') {
        fm_html_escape(place->html->out, text, HTML_TEXT);
        return;
    }
    g_autoptr(GString) cut = g_string_new(NULL);
    const char *at = text;
    for (size_t i = 0; i + 1 < letters && *at != '\0'; i++) {
        unsigned size = fm_utf8_size(at);
        size = size == 0 ? 1 : size;
        g_string_append_len(cut, at, size);
        at += size;
    }
    fm_html_escape(place->html->out, cut->str, HTML_TEXT);
    g_string_append(place->html->out, "\xE2\x80\xA6");
}

static void begin_link(const struct place *place, const char *url)
{
    if (url == NULL)
        return;
    g_string_append(place->html->out, "<a href=\"");
    fm_html_escape(place->html->out, url, HTML_TEXT);
    g_string_append(place->html->out, "\">");
}

static void end_link(const struct place *place, const char *url)
{
    if (url != NULL)
        g_string_append(place->html->out, "</a>");
}

static void append_row(const struct place *place, const struct drawing_row *row)
{
    GString *out = place->html->out;
    double height = row->row.height * row->row.levels, top = place->top + row->top;
    double note = row->row.note == NULL ? 0 : (double)strlen(row->row.note) * LETTER_WIDTH + 8;
    double indent = row->row.indent * INDENT_WIDTH;

    g_string_append(out, "<rect class=\"lane\"");
    append_attribute(out, "x", LABEL_WIDTH);
    append_attribute(out, "y", top);
    append_attribute(out, "width", place->drawing->width);
    append_attribute(out, "height", height);
    g_string_append(out, "/>");
    begin_link(place, row->row.url);
    g_string_append(out, "<text class=\"label\"");
    append_attribute(out, "x", indent + 2);
    append_attribute(out, "y", top + MIN(height, 18) / 2 + 4);
    g_string_append_c(out, '>');
    append_title(place, row->row.title);
    append_fitting(place, row->row.label, LABEL_WIDTH - indent - note - 8);
    g_string_append(out, "</text>");
    end_link(place, row->row.url);
    if (row->row.note != NULL) {
        g_string_append(out, "<text class=\"note\" text-anchor=\"end\"");
        append_attribute(out, "x", LABEL_WIDTH - 6);
        append_attribute(out, "y", top + MIN(height, 18) / 2 + 4);
        g_string_append_c(out, '>');
        fm_html_escape(out, row->row.note, HTML_TEXT);
        g_string_append(out, "</text>");
    }
    g_string_append_c(out, '\n');
}

static void append_box(const struct place *place, const struct drawing_part *part)
{
    GString *out = place->html->out;
    double x = x_of(place, part->from), height = part->row->row.height;
    double width = MAX(x_of(place, part->to) - x, BOX_WIDTH_LEAST);
    g_assert(part->level < part->row->row.levels);
    double top = place->top + part->row->top + part->level * height;

    begin_link(place, part->url);
    g_string_append_printf(out, "<rect class=\"k%u", part->colour);
    if (part->mixed)
        g_string_append_printf(out, " mixed l%u", part->shade);
    g_string_append_c(out, '"');
    append_attribute(out, "x", x);
    append_attribute(out, "y", top);
    append_attribute(out, "width", width);
    append_attribute(out, "height", height - (part->row->row.levels > 1 ? 1 : 0));
    if (part->title != NULL) {
        g_string_append_c(out, '>');
        append_title(place, part->title);
        g_string_append(out, "</rect>");
    } else {
        g_string_append(out, "/>");
    }
    if (part->text != NULL && width > 4 * LETTER_WIDTH && height >= 11) {
        g_string_append_printf(out, "<text class=\"in k%ut\"", part->colour);
        append_attribute(out, "x", x + 3);
        append_attribute(out, "y", top + height / 2 + 4);
        g_string_append_c(out, '>');
        append_fitting(place, part->text, width - 6);
        g_string_append(out, "</text>");
    }
    end_link(place, part->url);
    g_string_append_c(out, '\n');
}

static void append_mark(const struct place *place, const struct drawing_part *part)
{
    GString *out = place->html->out;
    double x = x_of(place, part->from), top = place->top + part->row->top;

    if (part->link != NULL) {
        g_string_append(out, "<a");
        fm_html_href(place->html, part->link);
        g_string_append(out, " aria-label=\"");
        fm_html_escape(out, part->title, HTML_TEXT);
        g_string_append(out, "\">");
    }
    begin_link(place, part->url);
    g_string_append(out, "<path class=\"mark\" d=\"M");
    append_number(out, x);
    g_string_append_c(out, ' ');
    append_number(out, top + 6);
    g_string_append(out, "l-3.5 -6h7z\">");
    append_title(place, part->title);
    g_string_append(out, part->link != NULL ? "</path></a>" : "</path>");
    end_link(place, part->url);
    g_string_append_c(out, '\n');
}

static void append_bars(const struct place *place, const struct drawing_part *part)
{
    GString *out = place->html->out;
    double height = part->row->row.height * part->row->row.levels;
    double bottom = place->top + part->row->top + height;
    double width = place->drawing->width / (double)MAX(part->count, 1);

    g_string_append(out, "<path class=\"bars\" d=\"");
    for (unsigned i = 0; i < part->count; i++) {
        if (!(part->heights[i] > 0))
            continue;
        g_string_append_c(out, 'M');
        append_number(out, LABEL_WIDTH + i * width);
        g_string_append_c(out, ' ');
        append_number(out, bottom);
        g_string_append_c(out, 'v');
        append_number(out, -MAX(part->heights[i] * height, 1));
        g_string_append_c(out, 'h');
        append_number(out, width);
        g_string_append_c(out, 'V');
        append_number(out, bottom);
        g_string_append_c(out, 'z');
    }
    g_string_append(out, "\"/>\n");
}

/* Columns side by side of the same bottom and top are one rectangle. */
static void append_layer(const struct place *place, const struct drawing_part *part)
{
    GString *out = place->html->out;
    double height = part->row->row.height * part->row->row.levels;
    double base = place->top + part->row->top + height;
    double width = place->drawing->width / (double)MAX(part->count, 1);

    g_string_append_printf(out, "<path class=\"k%u\" d=\"", part->colour);
    for (unsigned i = 0, next; i < part->count; i = next) {
        double bottom = CLAMP(part->bottoms[i], 0.0, 1.0), top = CLAMP(part->heights[i], 0.0, 1.0);
        for (next = i + 1; next < part->count && part->bottoms[next] == part->bottoms[i] &&
                           part->heights[next] == part->heights[i];)
            next++;
        if (!(top > bottom))
            continue;
        g_string_append_c(out, 'M');
        append_number(out, LABEL_WIDTH + i * width);
        g_string_append_c(out, ' ');
        append_number(out, base - bottom * height);
        g_string_append_c(out, 'V');
        append_number(out, base - top * height);
        g_string_append_c(out, 'h');
        append_number(out, (next - i) * width);
        g_string_append_c(out, 'V');
        append_number(out, base - bottom * height);
        g_string_append_c(out, 'z');
    }
    g_string_append(out, "\">");
    append_title(place, part->title);
    g_string_append(out, "</path>\n");
}

static void append_line(const struct place *place, const struct drawing_part *part)
{
    GString *out = place->html->out;
    double height = part->row->row.height * part->row->row.levels;
    double bottom = place->top + part->row->top + height;
    double width = place->drawing->width / (double)MAX(part->count, 1);
    bool open = false;

    g_string_append(out, "<path class=\"line\" d=\"");
    for (unsigned i = 0; i < part->count; i++) {
        if (isnan(part->heights[i])) {
            open = false;
            continue;
        }
        g_string_append_c(out, open ? 'L' : 'M');
        append_number(out, LABEL_WIDTH + i * width);
        g_string_append_c(out, ' ');
        append_number(out, bottom - CLAMP(part->heights[i], 0.0, 1.0) * (height - 2) - 1);
        g_string_append_c(out, 'h');
        append_number(out, width);
        open = true;
    }
    g_string_append(out, "\"/>\n");
}

static void append_arrow(const struct place *place, const struct drawing_part *part)
{
    GString *out = place->html->out;
    double from = place->top + part->row->top + part->row->row.height / 2.0;
    double to = place->top + part->to_row->top + part->to_row->row.height / 2.0;

    g_string_append(out, "<path class=\"arrow\" d=\"M");
    append_number(out, x_of(place, part->from));
    g_string_append_c(out, ' ');
    append_number(out, from);
    g_string_append_c(out, 'L');
    append_number(out, x_of(place, part->to));
    g_string_append_c(out, ' ');
    append_number(out, to);
    g_string_append(out, to > from ? "l-2.5 -5m2.5 5l2.5 -5\">" : "l-2.5 5m2.5 -5l2.5 5\">");
    append_title(place, part->title);
    g_string_append(out, "</path>\n");
}

static void append_vertical(const struct place *place, const char *class_, double at, double bottom)
{
    GString *out = place->html->out;
    g_string_append_printf(out, "<line class=\"%s\"", class_);
    append_attribute(out, "x1", x_of(place, at));
    append_attribute(out, "x2", x_of(place, at));
    append_attribute(out, "y1", place->top - 3);
    append_attribute(out, "y2", bottom);
}

static void append_tick(const struct place *place, const struct drawing_part *part, double bottom)
{
    GString *out = place->html->out;
    append_vertical(place, "tick", part->from, bottom);
    g_string_append(out, "/>");
    if ((1 - part->from) * place->drawing->width < 8 * LETTER_WIDTH)
        return; /* no room for its label */
    g_string_append(out, "<text class=\"tick\"");
    append_attribute(out, "x", x_of(place, part->from) + 3);
    append_attribute(out, "y", AXIS_HEIGHT - 8);
    g_string_append_c(out, '>');
    fm_html_escape(out, part->text == NULL ? "" : part->text, HTML_TEXT);
    g_string_append(out, "</text>\n");
}

static void append_part(const struct place *place, const struct drawing_part *part, double bottom)
{
    switch (part->kind) {
    case DRAWING_TICK:
        break; /* below all */
    case DRAWING_CURSOR:
        append_vertical(place, "cursor", part->from, bottom);
        g_string_append_c(place->html->out, '>');
        append_title(place, part->title);
        g_string_append(place->html->out, "</line>\n");
        break;
    case DRAWING_BOX:
        append_box(place, part);
        break;
    case DRAWING_MARK:
        append_mark(place, part);
        break;
    case DRAWING_BARS:
        append_bars(place, part);
        break;
    case DRAWING_LAYER:
        append_layer(place, part);
        break;
    case DRAWING_LINE:
        append_line(place, part);
        break;
    case DRAWING_ARROW:
        append_arrow(place, part);
        break;
    }
}

static void append_shade(const struct place *place, double from, double to, double bottom)
{
    GString *out = place->html->out;
    if (to <= from)
        return;
    g_string_append(out, "<rect class=\"shade\"");
    append_attribute(out, "x", x_of(place, from));
    append_attribute(out, "y", place->top - 2);
    append_attribute(out, "width", x_of(place, to) - x_of(place, from));
    append_attribute(out, "height", bottom - place->top + 2);
    g_string_append(out, "/>\n");
}

/* What is in an image is hidden from screen readers. */
static bool has_links(const struct fm_drawing *drawing)
{
    for (const struct drawing_part *part = drawing->first; part != NULL; part = part->next)
        if (part->link != NULL)
            return true;
    return false;
}

void fm_html_drawing(struct html *html, const struct item *item)
{
    const struct fm_drawing *drawing = item->drawing;
    GString *out = html->out;
    struct place place = {html, drawing, drawing->has_ticks ? AXIS_HEIGHT : 3};
    double bottom = place.top + drawing->height;
    double width = LABEL_WIDTH + drawing->width + RIGHT_MARGIN;

    g_string_append(out, "<div class=\"drawing\"");
    fm_html_id(html, item->id);
    g_string_append(out, has_links(drawing) ? " tabindex=\"0\"><svg role=\"group\" aria-label=\""
                                            : " tabindex=\"0\"><svg role=\"img\" aria-label=\"");
    fm_html_escape(out, drawing->label, HTML_TEXT);
    g_string_append_c(out, '"');
    append_attribute(out, "width", width);
    append_attribute(out, "height", bottom + 2);
    g_string_append_printf(out, " viewBox=\"0 0 %u %u\">\n", (unsigned)width, (unsigned)bottom + 2);
    for (const struct drawing_row *row = drawing->first_row; row != NULL; row = row->next)
        append_row(&place, row);
    for (const struct drawing_part *part = drawing->first; part != NULL; part = part->next) {
        if (part->kind == DRAWING_TICK)
            append_tick(&place, part, bottom);
    }
    for (const struct drawing_part *part = drawing->first; part != NULL; part = part->next)
        append_part(&place, part, bottom);
    append_shade(&place, 0, drawing->window_from, bottom);
    append_shade(&place, drawing->window_to, 1, bottom);
    g_string_append(out, "</svg></div>\n");
}

/* --- forms --- */

static void append_field(struct html *html, const struct form_field *field)
{
    GString *out = html->out;
    if (field->kind == FORM_SUBMIT) {
        g_string_append(out, "<button type=\"submit\">");
        fm_html_escape(out, field->label, HTML_TEXT);
        g_string_append(out, "</button>\n");
        return;
    }
    if (field->kind == FORM_TEXT) {
        g_string_append(out, "<label><span>");
        fm_html_escape(out, field->label, HTML_TEXT);
        g_string_append(out, "</span>");
    }
    g_string_append(out, field->kind == FORM_HIDDEN ? "<input type=\"hidden\" name=\""
                                                    : "<input type=\"text\" autocomplete=\"off\" "
                                                      "spellcheck=\"false\" name=\"");
    fm_html_escape(out, field->name, HTML_TEXT);
    g_string_append(out, "\" value=\"");
    fm_html_escape(out, field->value == NULL ? "" : field->value, HTML_TEXT);
    if (field->example != NULL) {
        g_string_append(out, "\" placeholder=\"");
        fm_html_escape(out, field->example, HTML_TEXT);
    }
    if (field->size > 0)
        g_string_append_printf(out, "\" size=\"%u", field->size);
    g_string_append(out, field->problem != NULL ? "\" aria-invalid=\"true\">" : "\">");
    if (field->problem != NULL) {
        g_string_append(out, "<strong class=\"problem\" role=\"alert\">");
        fm_html_escape(out, field->problem, HTML_TEXT);
        g_string_append(out, "</strong>");
    }
    g_string_append(out, field->kind == FORM_TEXT ? "</label>\n" : "\n");
}

void fm_html_form(struct html *html, const struct item *item)
{
    GString *out = html->out;
    g_string_append(out, "<form method=\"get\"");
    fm_html_id(html, item->id);
    g_string_append(out, " aria-label=\"");
    fm_html_escape(out, item->form->label, HTML_TEXT);
    g_string_append(out, "\">\n");
    for (const struct form_field *field = item->form->first; field != NULL; field = field->next)
        append_field(html, field);
    g_string_append(out, "</form>\n");
}

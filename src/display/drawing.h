/* SPDX-License-Identifier: Apache-2.0 */
/* A drawing over an axis, as an item of a page: rows with a label each, and in them boxes, bars or
 * a line. HTML shows it as SVG; the other formats leave it out, as the numbers are in tables or
 * have a form of their own. Places along the axis are fractions of its length, 0 to 1.
 *
 * Texts are copied. Nothing here fails. */
#pragma once

#include "display/display.h"

struct fm_drawing;

/* id: in HTML, also for scripts; label: alternative text for screen readers. */
struct fm_drawing *fm_add_drawing(struct fm_list *to, const char *id, const char *label,
                                  unsigned width);
void fm_drawing_tick(struct fm_drawing *drawing, double at, const char *label);
/* Between two ticks of an axis of time: the least of 1, 2, 5 times a power of ten, in ns, that is
 * not below, and the decimals of its seconds. */
uint64_t fm_drawing_step(double least_ns, unsigned *ret_decimals);
/* All but this part of the axis is shaded. */
void fm_drawing_window(struct fm_drawing *drawing, double from, double to);
/* A line over all rows. */
void fm_drawing_cursor(struct fm_drawing *drawing, double at, const char *title);

struct fm_drawing_row {
    const char *label, *note; /* note: small, at the label's right; may be NULL */
    const char *url;          /* link of the label; may be NULL */
    const char *title;        /* more about it; may be NULL */
    unsigned indent;
    unsigned height; /* pixels of one level */
    unsigned levels; /* at least 1 */
};
/* Begins a row: later calls add to it. */
void fm_drawing_row(struct fm_drawing *drawing, const struct fm_drawing_row *row);

#define FM_DRAWING_COLOURS 28u
struct fm_drawing_box {
    double from, to;
    unsigned level;
    unsigned colour; /* below FM_DRAWING_COLOURS */
    bool mixed;      /* represents several entries */
    double load;     /* then: the fraction that they filled, 0 to 1, shown as darkness */
    const char *text, *title, *url; /* each may be NULL */
};
void fm_drawing_box(struct fm_drawing *drawing, const struct fm_drawing_box *box);
/* A small sign on the row. */
void fm_drawing_mark(struct fm_drawing *drawing, double at, const char *title, const char *url);
/* One that leads to a page; title: what it says. */
void fm_drawing_mark_page(struct fm_drawing *drawing, double at, const char *title,
                          const struct fm_query *query);
/* Bars side by side over the whole axis; heights 0 to 1. */
void fm_drawing_bars(struct fm_drawing *drawing, const double *heights, unsigned count);
/* An area of one colour between two heights in each column: layers are stacked. */
void fm_drawing_layer(struct fm_drawing *drawing, unsigned colour, const double *bottoms,
                      const double *tops, unsigned count, const char *title);
/* Draws them as a line through steps; NaN = nothing there. */
void fm_drawing_line(struct fm_drawing *drawing, const double *heights, unsigned count);
/* Rows by their number, 0 = the first. */
void fm_drawing_arrow(struct fm_drawing *drawing, unsigned from_row, double from, unsigned to_row,
                      double to, const char *title);

/* --- forms: HTML only --- */

struct fm_form;

/* Sent with GET to the same page. */
struct fm_form *fm_add_form(struct fm_list *to, const char *id, const char *label);
/* A part of the address that the reader does not change. */
void fm_form_hidden(struct fm_form *form, const char *name, const char *value);
/* problem: what is wrong with the value; may be NULL. size: characters. */
void fm_form_text(struct fm_form *form, const char *name, const char *label, const char *value,
                  const char *example, unsigned size, const char *problem);
void fm_form_submit(struct fm_form *form, const char *label);

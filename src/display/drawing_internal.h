/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings and forms, as the writers see them. */
#pragma once

#include "display/display_internal.h"
#include "display/drawing.h"

#define DRAWING_ROW_GAP 3u

enum drawing_part_kind {
    DRAWING_TICK,
    DRAWING_CURSOR,
    DRAWING_BOX,
    DRAWING_MARK,
    DRAWING_BARS,
    DRAWING_LAYER,
    DRAWING_LINE,
    DRAWING_ARROW,
};

struct drawing_row {
    struct drawing_row *next;
    struct fm_drawing_row row;
    unsigned top; /* pixels below the drawing's first row */
};

struct drawing_part {
    struct drawing_part *next;
    enum drawing_part_kind kind;
    const struct drawing_row *row, *to_row;
    double from, to;
    unsigned level, colour;
    bool mixed;
    unsigned shade; /* tenths */
    const char *text, *title, *url;
    const struct link *link;         /* instead of url; NULL = none */
    const double *heights, *bottoms; /* bottoms: of a layer */
    unsigned count;
};

struct fm_drawing {
    struct fm_display *display;
    const char *label;
    unsigned width, height; /* pixels, without labels and axis */
    bool has_ticks;
    double window_from, window_to;
    struct drawing_row *first_row, *last_row;
    unsigned row_count;
    struct drawing_part *first, *last;
};

enum form_field_kind { FORM_HIDDEN, FORM_TEXT, FORM_SUBMIT };
struct form_field {
    struct form_field *next;
    enum form_field_kind kind;
    const char *name, *label, *value, *example, *problem;
    unsigned size;
};

struct fm_form {
    struct fm_display *display;
    const char *label;
    struct form_field *first, *last;
};

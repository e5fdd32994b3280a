/* SPDX-License-Identifier: Apache-2.0 */
#include "display/drawing_internal.h"

#include <string.h>

static const char *copy(struct fm_display *display, const char *text)
{
    return text == NULL ? NULL : fm_arena_copy(&display->arena, text, strlen(text));
}

struct fm_drawing *fm_add_drawing(struct fm_list *to, const char *id, const char *label,
                                  unsigned width)
{
    struct fm_drawing *drawing = fm_arena_alloc(&to->display->arena, sizeof *drawing);
    *drawing = (struct fm_drawing){
        .display = to->display,
        .label = copy(to->display, label),
        .width = width,
        .window_from = 0,
        .window_to = 1,
    };
    struct item *item = fm_list_add_item(to, ITEM_DRAWING);
    item->id = copy(to->display, id);
    item->drawing = drawing;
    return drawing;
}

/* Appends a part to the drawing, or to its last row. */
static struct drawing_part *add_part(struct fm_drawing *drawing, enum drawing_part_kind kind)
{
    struct drawing_part *part = fm_arena_alloc(&drawing->display->arena, sizeof *part);
    part->kind = kind;
    if (drawing->last != NULL)
        drawing->last->next = part;
    else
        drawing->first = part;
    drawing->last = part;
    return part;
}

uint64_t fm_drawing_step(double least_ns, unsigned *ret_decimals)
{
    uint64_t power = 1;
    unsigned digits = 9;
    while ((double)power * 10 <= least_ns) {
        power *= 10;
        digits -= digits > 0;
    }
    static const unsigned factors[] = {1, 2, 5, 10};
    for (unsigned i = 0; i < G_N_ELEMENTS(factors); i++) {
        if ((double)(factors[i] * power) >= least_ns) {
            *ret_decimals = factors[i] == 10 && digits > 0 ? digits - 1 : digits;
            return factors[i] * power;
        }
    }
    return power * 10;
}

void fm_drawing_tick(struct fm_drawing *drawing, double at, const char *label)
{
    struct drawing_part *part = add_part(drawing, DRAWING_TICK);
    part->from = at;
    part->text = copy(drawing->display, label);
    drawing->has_ticks = true;
}

void fm_drawing_window(struct fm_drawing *drawing, double from, double to)
{
    drawing->window_from = from;
    drawing->window_to = to;
}

void fm_drawing_cursor(struct fm_drawing *drawing, double at, const char *title)
{
    struct drawing_part *part = add_part(drawing, DRAWING_CURSOR);
    part->from = at;
    part->title = copy(drawing->display, title);
}

void fm_drawing_row(struct fm_drawing *drawing, const struct fm_drawing_row *row)
{
    struct drawing_row *added = fm_arena_alloc(&drawing->display->arena, sizeof *added);
    *added = (struct drawing_row){
        .row = {copy(drawing->display, row->label), copy(drawing->display, row->note),
                copy(drawing->display, row->url), copy(drawing->display, row->title), row->indent,
                row->height, MAX(row->levels, 1)},
        .top = drawing->height,
    };
    drawing->height += added->row.height * added->row.levels + DRAWING_ROW_GAP;
    if (drawing->last_row != NULL)
        drawing->last_row->next = added;
    else
        drawing->first_row = added;
    drawing->last_row = added;
    drawing->row_count++;
}

void fm_drawing_box(struct fm_drawing *drawing, const struct fm_drawing_box *box)
{
    g_return_if_fail(drawing->last_row != NULL);
    struct drawing_part *part = add_part(drawing, DRAWING_BOX);
    part->row = drawing->last_row;
    part->from = box->from;
    part->to = box->to;
    part->level = MIN(box->level, drawing->last_row->row.levels - 1);
    part->colour = MIN(box->colour, FM_DRAWING_COLOURS - 1);
    part->mixed = box->mixed;
    part->shade = (unsigned)(10 * CLAMP(box->load, 0.0, 1.0) + 0.5);
    part->text = copy(drawing->display, box->text);
    part->title = copy(drawing->display, box->title);
    part->url = copy(drawing->display, box->url);
}

void fm_drawing_mark(struct fm_drawing *drawing, double at, const char *title, const char *url)
{
    g_return_if_fail(drawing->last_row != NULL);
    struct drawing_part *part = add_part(drawing, DRAWING_MARK);
    part->row = drawing->last_row;
    part->from = at;
    part->title = copy(drawing->display, title);
    part->url = copy(drawing->display, url);
}

void fm_drawing_mark_page(struct fm_drawing *drawing, double at, const char *title,
                          const struct fm_query *query)
{
    fm_drawing_mark(drawing, at, title, NULL);
    struct link *link = fm_arena_alloc(&drawing->display->arena, sizeof *link);
    fm_display_link(drawing->display, query, title, link);
    drawing->last->link = link;
}

static const double *keep_heights(struct fm_drawing *drawing, const double *heights, unsigned count)
{
    double *kept = fm_arena_alloc(&drawing->display->arena, MAX(count, 1) * sizeof *kept);
    memcpy(kept, heights, count * sizeof *kept);
    return kept;
}

static struct drawing_part *add_heights(struct fm_drawing *drawing, enum drawing_part_kind kind,
                                        const double *heights, unsigned count)
{
    g_return_val_if_fail(drawing->last_row != NULL, NULL);
    struct drawing_part *part = add_part(drawing, kind);
    part->row = drawing->last_row;
    part->heights = keep_heights(drawing, heights, count);
    part->count = count;
    return part;
}

void fm_drawing_layer(struct fm_drawing *drawing, unsigned colour, const double *bottoms,
                      const double *tops, unsigned count, const char *title)
{
    g_return_if_fail(count == 0 || (bottoms != NULL && tops != NULL));
    struct drawing_part *part = add_heights(drawing, DRAWING_LAYER, tops, count);
    if (part == NULL)
        return;
    part->bottoms = keep_heights(drawing, bottoms, count);
    part->colour = MIN(colour, FM_DRAWING_COLOURS - 1);
    part->title = copy(drawing->display, title);
}

void fm_drawing_bars(struct fm_drawing *drawing, const double *heights, unsigned count)
{
    g_return_if_fail(count == 0 || heights != NULL);
    add_heights(drawing, DRAWING_BARS, heights, count);
}

void fm_drawing_line(struct fm_drawing *drawing, const double *heights, unsigned count)
{
    g_return_if_fail(count == 0 || heights != NULL);
    add_heights(drawing, DRAWING_LINE, heights, count);
}

static struct drawing_row *row_number(struct fm_drawing *drawing, unsigned number)
{
    struct drawing_row *row = drawing->first_row;
    while (row != NULL && number-- > 0)
        row = row->next;
    return row;
}

void fm_drawing_arrow(struct fm_drawing *drawing, unsigned from_row, double from, unsigned to_row,
                      double to, const char *title)
{
    struct drawing_row *start = row_number(drawing, from_row);
    struct drawing_row *end = row_number(drawing, to_row);
    g_return_if_fail(start != NULL && end != NULL);
    struct drawing_part *part = add_part(drawing, DRAWING_ARROW);
    part->row = start;
    part->to_row = end;
    part->from = from;
    part->to = to;
    part->title = copy(drawing->display, title);
}

/* --- forms --- */

struct fm_form *fm_add_form(struct fm_list *to, const char *id, const char *label)
{
    struct fm_form *form = fm_arena_alloc(&to->display->arena, sizeof *form);
    form->display = to->display;
    form->label = copy(to->display, label);
    struct item *item = fm_list_add_item(to, ITEM_FORM);
    item->id = copy(to->display, id);
    item->form = form;
    return form;
}

static struct form_field *add_field(struct fm_form *form, enum form_field_kind kind,
                                    const char *name, const char *label, const char *value)
{
    struct form_field *field = fm_arena_alloc(&form->display->arena, sizeof *field);
    *field = (struct form_field){.kind = kind,
                                 .name = copy(form->display, name),
                                 .label = copy(form->display, label),
                                 .value = copy(form->display, value)};
    if (form->last != NULL)
        form->last->next = field;
    else
        form->first = field;
    form->last = field;
    return field;
}

void fm_form_hidden(struct fm_form *form, const char *name, const char *value)
{
    add_field(form, FORM_HIDDEN, name, NULL, value);
}

void fm_form_text(struct fm_form *form, const char *name, const char *label, const char *value,
                  const char *example, unsigned size, const char *problem)
{
    struct form_field *field = add_field(form, FORM_TEXT, name, label, value);
    field->example = copy(form->display, example);
    field->size = size;
    field->problem = copy(form->display, problem);
}

void fm_form_submit(struct fm_form *form, const char *label)
{
    add_field(form, FORM_SUBMIT, NULL, label, NULL);
}

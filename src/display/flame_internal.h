/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs, as the writers see them. */
#pragma once

#include "base/text/json.h"
#include "display/display_internal.h"
#include "display/flame.h"

#define FLAME_LEGEND_MAX 12u

struct flame_box {
    struct flame_box *next;
    struct fm_flame_box box; /* query NULL: link has it */
    struct link link;        /* command NULL: none */
};

struct fm_flame {
    struct fm_display *display;
    const char *label;
    struct fm_flame_scale scale; /* query NULL: link has it; measure NULL: none was set */
    struct link link;
    struct flame_box *first, *last;
    unsigned rows, count;
    bool upwards; /* row 0 is the lowest */
    struct {
        unsigned colour;
        const char *label;
    } legend[FLAME_LEGEND_MAX];
    unsigned legend_count;
};

/* Scale, legend, rows, and boxes as [row, x, width, name, place, colour, flags, total, own, calls,
 * query, proc, spread, active]: x and width in millionths of the whole, name, place and query as
 * places in lists, -1 = none. */
void fm_flame_write_json(const struct fm_flame *flame, struct fm_json *json, const char *name);

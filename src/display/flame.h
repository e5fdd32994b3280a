/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as an item of a page: HTML shows it as SVG of any width whose boxes are links; JSON
 * has the boxes as numbers; text and CSV omit it, since a table has the same data. */
#pragma once

#include "display/display.h"

struct fm_flame;

enum fm_flame_box_flags {
    FM_BOX_RECURSION = 1, /* functions that call each other */
    FM_BOX_MEMBER = 2,    /* one of them, below it */
    FM_BOX_JOINED = 4,    /* represents several boxes too narrow to show */
    FM_BOX_NEW = 8,       /* only the second of two compared runs has it */
    FM_BOX_GONE = 16,     /* the first alone has it */
    FM_BOX_AT_MOST = 32,  /* active is an upper bound: the cost of its recursion */
};

#define FM_FLAME_COLOURS 7u /* 0: of no file in particular; 1 to 6: files */
#define FM_FLAME_HEATS 5u   /* own share, from 1 */
#define FM_FLAME_SAME 23    /* 20 to 26: of two runs, much less to much more in the second */

struct fm_flame_box {
    unsigned row;
    double x, width;              /* 0 to 1 */
    const char *label;            /* as short as can be */
    const char *full;             /* all of a name that label shortens; NULL = label is all */
    const char *title;            /* more about it, in lines */
    const struct fm_query *query; /* NULL = none */
    const char *url;              /* instead of a query, of another page; NULL = none */
    unsigned colour;              /* below FM_FLAME_COLOURS, or 10 + heat, or a difference */
    unsigned flags;
    int64_t own, total, calls;
    int64_t active;    /* its total; of a function of a recursion, total is its part of it */
    int64_t spread;    /* half the width of active's 95 % interval, if it was sampled; 0 = exact */
    const char *place; /* place of its source; NULL = not known */
    uint32_t proc;     /* the procedure whose page has details; 0 = none */
};

/* Data for scripts, to request more boxes and to write amounts. */
struct fm_flame_scale {
    const struct fm_query *query; /* the page that is this graph alone */
    const char *measure;          /* as addresses call it: "time" */
    double unit_seconds;          /* time of one unit of an amount; 0 = it is not a time */
    double sample;                /* units per sample; 0 = not sampled */
    int64_t whole;                /* total of the program, in the same unit */
};

/* id: in HTML; label: alternative text for screen readers. */
struct fm_flame *fm_add_flame(struct fm_list *to, const char *id, const char *label);
/* Once; the texts are copied. */
void fm_flame_set_scale(struct fm_flame *flame, const struct fm_flame_scale *scale);
/* Row 0 is at the bottom: for callers, above their callees. */
void fm_flame_set_upwards(struct fm_flame *flame);
/* Boxes in any order. */
void fm_flame_add_box(struct fm_flame *flame, const struct fm_flame_box *box);
/* Adds the meaning of a colour. */
void fm_flame_add_legend(struct fm_flame *flame, unsigned colour, const char *label);

/* The display's first flame graph as an SVG file of its own, with its colours in it; false when it
 * has none. */
bool fm_flame_write_svg(const struct fm_display *display, const struct fm_html_options *options,
                        GString *out);

/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of ranked rows: numbers at the left, names last, as a path whose parts are links. Each
 * column has one unit, given in the heading; narrow windows hide columns by priority. Other formats
 * have all columns, and exact values. */
#pragma once

#include "display/display.h"

/* caption: shown above the rows, such as the beginning that all paths share; may be NULL. */
void fm_table_ranked(struct fm_table *table, const char *caption);
/* Priority of the column just added. 1: always shown, 2: from 45rem on, 3: from 62rem, 4: from
 * 110rem. */
void fm_column_priority(struct fm_table *table, unsigned priority);
/* Explains the heading in one line. */
void fm_column_help(struct fm_table *table, const char *help);
/* The row just begun rests on few samples. */
void fm_row_soft(struct fm_table *table);

enum fm_time_unit { FM_TIME_UNIT_S, FM_TIME_UNIT_MS, FM_TIME_UNIT_US };
/* Whole ms or µs, or seconds with two decimals. */
void fm_cell_time_in(struct fm_table *table, double seconds, enum fm_time_unit unit);
/* Three digits and a unit: "2.95 µs". */
void fm_cell_time_short(struct fm_table *table, double seconds);
/* One decimal; "<0.1" for what is less and not 0. */
void fm_cell_share(struct fm_table *table, double fraction);
/* Three digits: "2.35", "241"; "1" for 1. */
void fm_cell_ratio(struct fm_table *table, double value);
/* "96.0 MiB"; below 10 KiB plain bytes. */
void fm_cell_bytes(struct fm_table *table, int64_t bytes);
/* Too few samples for a number: "few"; null for programs. */
void fm_cell_few(struct fm_table *table);
/* It was not recorded: a dash; null for programs. */
void fm_cell_unknown(struct fm_table *table);

/* Adds a bar before the number just added, dark as far as own (0 to 1), light as far as total. */
void fm_cell_bar(struct fm_table *table, double own, double total);

enum fm_path_flags {
    FM_PART_STRONG = 1, /* the subject of the row */
    FM_PART_NOTE = 2,   /* said of the part before it, as its file; no step of the path */
    FM_PART_MARK = 4,   /* opens or closes a row; for pages only */
};
struct fm_path_part {
    const char *label;
    const struct fm_query *query; /* NULL = no link */
    unsigned flags;
    const char
        *full; /* all of a name that label shortens: HTML shows it on hover; NULL = nothing */
};
/* depth: levels below the first rows, of a tree. JSON: the steps as a list of names and queries. */
void fm_cell_path(struct fm_table *table, const struct fm_path_part *parts, unsigned count,
                  unsigned depth);

/* As the cells show them; caller frees. */
char *fm_format_bytes(int64_t bytes);
char *fm_format_bytes_said(int64_t bytes); /* in a sentence: "1,224 bytes", "23.6 KiB" */
char *fm_format_share(double fraction);

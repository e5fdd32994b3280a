/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the columns of fathom's exports in one line of text, for formats with a place that
 * other readers ignore. Without it an import has to guess which column is time, how long a
 * quantum is, and how many samples it is based on.
 *
 *   figures: calls=1 known=113 natures=0 heap_period=0 samples=200,200000000
 *            quanta=cpu,quanta,quanta,1000,1000000 column=live_bytes,live_bytes,bytes,1
 *
 * quanta: column, measure, unit, size of a quantum in the column's unit, ticks per second; skip:
 * a column that repeats another in other units. */
#pragma once

#include "exchange/nodes.h"

#define FM_FIGURES_MARK "figures: "
#define FM_FIGURES_KEY \
    "fathom.figures" /* the attribute that has it, of OpenTelemetry's resources */
/* In callgrind files: the calls on the next line were not counted, and the 1 there is a
 * placeholder. */
#define FM_FIGURES_UNCOUNTED "# fathom: not counted"
#define FM_FIGURES_NAME_MAX 33u /* bytes, with the NUL */

struct fm_figures_column {
    char column[FM_FIGURES_NAME_MAX], measure[FM_FIGURES_NAME_MAX], unit[FM_FIGURES_NAME_MAX];
    double scale;
};

struct fm_figures {
    bool told;        /* there is such a line */
    bool calls;       /* how often functions were called was counted */
    uint32_t known;   /* bits for the first eight measures */
    uint32_t natures; /* fm_run_info.nature, without FM_NATURE_ARCS */
    uint64_t heap_period, sample_count, sample_squares;
    struct fm_figures_column quanta; /* "" for a column: there is none */
    uint64_t in_column;              /* size of a quantum in the column's unit, at least 1 */
    uint64_t ticks_per_second;       /* 0: quanta are no time */
    char skip[FM_FIGURES_NAME_MAX];
    unsigned count; /* further measures, in their order */
    struct fm_figures_column columns[FM_MEASURES_MAX];
};

/* The line without its mark's place; g_free. */
char *fm_figures_text(const struct fm_exchange_nodes *nodes);
/* text: from the mark on, need not be terminated. What stands in it may be anything: false when it
 * is none of our lines, and then *ret says so, too. */
bool fm_figures_parse(const char *text, size_t size, struct fm_figures *ret);

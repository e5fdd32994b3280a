/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by file, and how often their lines ran, for formats about coverage. */
#pragma once

#include "exchange/export/internal.h"

struct fm_export_coverage {
    const struct fm_analysis *a;     /* borrowed */
    const struct fm_source_map *map; /* borrowed */
    struct fm_exchange_names names;
    GArray *list;      /* uint32_t ps, by file */
    uint32_t left_out; /* functions whose place is not known */
};
struct fm_line_count {
    uint32_t line;
    uint64_t count;
};

/* Errors: FM_ERROR_UNAVAILABLE, nothing to clear then. */
FM_MUST_USE bool fm_export_coverage_init(struct fm_export_coverage *coverage,
                                         const struct fm_analysis *a,
                                         const struct fm_export_options *options, GError **error);
void fm_export_coverage_done(struct fm_export_coverage *coverage);
/* One file after the other, from *at = 0: the functions of the next, [count]; NULL at the end. */
const uint32_t *fm_export_coverage_file(const struct fm_export_coverage *coverage, uint32_t *at,
                                        uint32_t *ret_count);
/* struct fm_line_count, ascending, each line once: of which it is known how often they ran. A line
 * of a header or a template has code in several functions: their counts add up. g_array_unref. */
GArray *fm_export_coverage_lines(const struct fm_export_coverage *coverage, const uint32_t *ps,
                                 uint32_t count);
int64_t fm_export_coverage_calls(const struct fm_export_coverage *coverage, uint32_t ps);
/* Adds notes on what is left out. */
void fm_export_coverage_note(const struct fm_export_coverage *coverage, GPtrArray *notes);

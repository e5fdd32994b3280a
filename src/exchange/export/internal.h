/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exchange/exchange.h"
#include "exchange/names.h"
#include "exchange/nodes.h"

typedef bool fm_export_write(const struct fm_analysis *a, const struct fm_export_options *options,
                             struct fm_writer *out, GPtrArray *notes, GError **error);

fm_export_write fm_export_pprof, fm_export_callgrind, fm_export_speedscope, fm_export_firefox,
    fm_export_folded, fm_export_lcov, fm_export_gcov, fm_export_otlp;

/* Text of a format that is lines. */
void fm_export_put(struct fm_writer *out, const char *format, ...) G_GNUC_PRINTF(2, 3);

void fm_export_note(GPtrArray *notes, const char *format, ...) G_GNUC_PRINTF(2, 3);
void fm_export_note_folding(GPtrArray *notes, const struct fm_exchange_nodes *nodes);

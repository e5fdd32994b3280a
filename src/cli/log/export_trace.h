/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom export` of traces. */
#pragma once

#include "exchange/trace/trace_export.h"

/* Reads the trace at path and writes it to out, which the caller keeps and frees. What could not be
 * read is reported on standard error. Returns an exit status. */
int fm_export_trace(const struct fm_trace_export_format *format, const char *path,
                    struct fm_writer *out);

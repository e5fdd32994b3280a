/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in Chrome's format as a part of a profile. */
#pragma once

#include "exchange/import/browser/spans.h"
#include "exchange/import/internal.h"

/* Adds the spans of a file of clang's -ftime-trace as calls and quanta (nanoseconds), below a
 * function "File NAME". found: added up. Errors: FM_ERROR_FORMAT and _TRUNCATED with offset, and
 * nothing was added; _LIMIT. */
FM_MUST_USE bool fm_chrome_add_part(const struct fm_import_input *input, const char *name,
                                    struct fm_stacks *stacks, struct fm_spans_found *found,
                                    GError **error);
/* The note on what such files do not hold. */
void fm_chrome_tell_granularity(struct fm_build *build);

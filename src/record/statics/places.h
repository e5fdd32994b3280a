/* SPDX-License-Identifier: Apache-2.0 */
/* Source locations of a few code addresses of a file, looked up directly in the debug information,
 * because the statics have no table of all lines. */
#pragma once

#include "record/statics/statics.h"

struct fm_code_place {
    uint64_t address; /* in the file, not in the process */
    const char *file; /* in strings; "" = not known, as is line 0 */
    uint32_t line;
};

/* Code from low up to, but not with, high. */
struct fm_code_range {
    uint64_t low, high;
};

/* Fills in the places, sorted by address. opts as for fm_statics_extract(), with its errors;
 * without debug information nothing is known, which is not an error. */
FM_MUST_USE bool fm_statics_places(const char *path, const struct fm_statics_opts *opts,
                                   GStringChunk *strings, struct fm_code_place *places,
                                   uint32_t count, GError **error);
/* Appends to rows (struct fm_code_place), ascending, where within the ranges, which ascend and do
 * not meet, the line changes. Else as above. */
FM_MUST_USE bool fm_statics_rows(const char *path, const struct fm_statics_opts *opts,
                                 GStringChunk *strings, const struct fm_code_range *ranges,
                                 uint32_t count, GArray *rows, GError **error);

/* The data object at an address. */
struct fm_data_place {
    uint64_t address; /* in the file */
    const char *name; /* in strings, demangled; "" = not known */
    uint64_t offset;  /* offset of the address in it */
};

/* As above for data at some addresses, in any order: by the symbols only. */
FM_MUST_USE bool fm_statics_data_places(const char *path, const struct fm_statics_opts *opts,
                                        GStringChunk *strings, struct fm_data_place *places,
                                        uint32_t count, GError **error);

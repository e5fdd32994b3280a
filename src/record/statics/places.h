/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the source the code at some addresses of a file is from: asked of the debug information
 * itself, for few addresses, as the statics have no table of all lines. */
#pragma once

#include "record/statics/statics.h"

struct fm_code_place {
    uint64_t address; /* in the file, not of the process */
    const char *file; /* of strings; "" = not known, as is line 0 */
    uint32_t line;
};

/* Fills in the places, whose addresses ascend. opts as for fm_statics_extract(), whose errors these
 * are; without debug information nothing is known, which is no error. */
FM_MUST_USE bool fm_statics_places(const char *path, const struct fm_statics_opts *opts,
                                   GStringChunk *strings, struct fm_code_place *places,
                                   uint32_t count, GError **error);

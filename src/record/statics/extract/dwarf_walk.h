/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/extract/bodies.h"
#include "record/statics/extract/units.h"

/* Walks once over the debug information entries, all or those that opts ask for, and adds to units
 * and bodies. *ret_note: why there is no debug information, which is not an error; in elf's
 * strings, else NULL. Errors: FM_ERROR_LIMIT, FM_ERROR_UNAVAILABLE. */
FM_MUST_USE bool fm_dwarf_walk(const struct fm_elf *elf, const struct fm_statics_opts *opts,
                               struct fm_units *units, struct fm_bodies *bodies,
                               const char **ret_note, GError **error);

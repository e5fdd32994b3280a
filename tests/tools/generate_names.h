/* SPDX-License-Identifier: Apache-2.0 */
/* Names for made-up procedures. */
#pragma once

#include "profile/file/profile.h"

/* A number of [0, below), the same for the same seed and place. */
uint32_t pick_number(uint64_t seed, uint64_t place, uint32_t below);

/* The label, file and line of procedure `id` (> 1; 1 is the runtime) of `count`. Strings are
 * allocated; name_clear() frees them. */
void name_procedure(uint64_t seed, uint32_t id, uint32_t count, enum fm_flavour flavour,
                    struct fm_ps *ret);
void name_clear(struct fm_ps *ps);

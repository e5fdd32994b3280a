/* SPDX-License-Identifier: Apache-2.0 */
/* What tests ask of profiles of stacks. */
#pragma once

#include "profile/file/profile.h"

/* What of the context "main;parse" is its own; the names are unqualified. -1: there is none. */
int64_t own(const struct fm_profile *p, const char *path, enum fm_measure_id measure);

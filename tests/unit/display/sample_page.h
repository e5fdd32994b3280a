/* SPDX-License-Identifier: Apache-2.0 */
/* A page with everything on it, as a clique page would have it, for looking at and for checks. */
#pragma once

#include "display/display.h"

/* rows: call sites beside the few that are always there. */
struct fm_display *sample_page(const struct fm_preferences *preferences, unsigned rows);
void sample_preferences(struct fm_preferences *ret);

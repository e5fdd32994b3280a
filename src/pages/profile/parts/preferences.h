/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults of a page for preferences that the request does not give. */
#pragma once

#include "pages/report.h"

/* With few ticks the times say nothing: pages then lead with call sequence numbers, if these are
 * known. */
bool fm_times_tell(const struct fm_profile *profile);
/* Default order: total call sequence numbers. */
extern const struct fm_cost_order fm_default_cost_order;
void fm_preferences_set_order(struct fm_preferences *preferences, enum fm_order order,
                              const struct fm_cost_order *cost);
/* The page is for a window, of a C program, and has the columns that it has where none are chosen.
 */
bool fm_preferences_are_usual(const struct fm_open_profile *recording,
                              const struct fm_query *query);

/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and measures that a profile lacks. Both return a static sentence that says what was not
 * recorded; NULL: everything was. */
#pragma once

#include "profile/file/profile.h"
#include "query/query.h"

/* Pages in the order of time see to it themselves, so that lacks nothing. */
const char *fm_order_lacks(const struct fm_profile *profile, const struct fm_cost_order *order);
const char *fm_measure_lacks(const struct fm_profile *profile, enum fm_query_measure measure);

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the contexts of a profile in a sum that it is part of: per-part values by
 * the contexts of the sum (statistics over ranks) follows from that. */
#pragma once

#include "runs/merge/merge.h"

struct fm_locate;
/* options: those that the sum was made with. sum is borrowed. FM_ERROR_UNAVAILABLE: no sum of such.
 */
FM_MUST_USE bool fm_locate_new(const struct fm_merge_options *options, const struct fm_profile *sum,
                               struct fm_locate **ret, GError **error);
void fm_locate_free(struct fm_locate *locate); /* NULL is allowed */

struct fm_located {
    const uint32_t *pds; /* pds of the sum, by pd of the profile; 0 = not reached from its root */
    /* Pds of the profile as they were reached: each behind one that calls it. */
    const uint32_t *order;
    uint32_t order_count;
};
/* *ret is valid until the next call. name is used in messages. FM_ERROR_UNAVAILABLE: a context of
 * the profile is not in the sum, so it was not added to it. */
FM_MUST_USE bool fm_locate(struct fm_locate *locate, const struct fm_profile *profile,
                           const char *name, struct fm_located *ret, GError **error);

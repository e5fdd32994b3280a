/* SPDX-License-Identifier: Apache-2.0 */
/* Cache of layouts that took long: the first page, and pages that are viewed again, need the same
 * ones. Threads may share a cache. */
#pragma once

#include "profile/digest/flame.h"

struct fm_flame_cache;
struct fm_flame_cache *fm_flame_cache_new(void);
void fm_flame_cache_free(struct fm_flame_cache *cache); /* NULL is allowed */
/* As fm_digest_flame_layout() of a tree of a by the measure; ret is the caller's, and not to be
 * changed: fm_digest_flame_done(). cache may be NULL. */
void fm_flame_cache_layout(struct fm_flame_cache *cache, const struct fm_analysis *a,
                           enum fm_measure_id measure, bool up, const struct fm_digest_focus *focus,
                           const struct fm_digest_flame_options *options,
                           struct fm_digest_flame *ret);

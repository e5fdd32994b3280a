/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segments/nests.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* times[d]: time of segments at depth d that lie in the present one of depth d - 1. */
struct nest {
    uint64_t *times;
    uint32_t depths;
};

struct fm_nests {
    GArray *lanes; /* holds struct nest */
};

struct fm_nests *fm_nests_new(void)
{
    struct fm_nests *nests = g_new0(struct fm_nests, 1);
    nests->lanes = g_array_new(false, true, sizeof(struct nest));
    return nests;
}

void fm_nests_free(struct fm_nests *nests)
{
    for (guint i = 0; i < nests->lanes->len; i++)
        g_free(g_array_index(nests->lanes, struct nest, i).times);
    g_array_unref(nests->lanes);
    g_free(nests);
}

uint64_t fm_nests_take(struct fm_nests *nests, uint32_t lane, uint32_t depth, uint64_t time)
{
    if (lane >= nests->lanes->len)
        g_array_set_size(nests->lanes, lane + 1);
    struct nest *nest = &g_array_index(nests->lanes, struct nest, lane);
    if (depth + 2 > nest->depths) {
        uint32_t depths = MAX(depth + 2, 2 * nest->depths);
        nest->times = g_renew(uint64_t, nest->times, depths);
        memset(nest->times + nest->depths, 0, (depths - nest->depths) * sizeof(uint64_t));
        nest->depths = depths;
    }
    uint64_t nested = nest->times[depth + 1];
    nest->times[depth + 1] = 0;
    nest->times[depth] += time;
    return nested;
}

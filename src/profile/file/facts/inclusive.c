/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/facts/inclusive.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/facts/facts.h"

void fm_inclusive_info_done(struct fm_inclusive_info *info)
{
    g_free(info->pds);
    g_free(info->values);
    *info = (struct fm_inclusive_info){0};
}

void fm_profile_set_inclusive(struct fm_profile *profile, struct fm_inclusive_info *info)
{
    g_return_if_fail(profile != NULL && info != NULL);
    fm_inclusive_info_done(&profile->run_info.inclusive);
    if (info->count > 0)
        profile->run_info.inclusive = *info;
    else
        fm_inclusive_info_done(info);
    *info = (struct fm_inclusive_info){0};
}

static int compare_pds(const void *key, const void *item)
{
    uint32_t pd = *(const uint32_t *)key, of = *(const uint32_t *)item;
    return pd < of ? -1 : pd > of;
}

const uint64_t *fm_inclusive_find(const struct fm_inclusive_info *info, uint32_t pd)
{
    if (info->count == 0)
        return NULL;
    const uint32_t *found = bsearch(&pd, info->pds, info->count, sizeof *info->pds, compare_pds);
    return found == NULL ? NULL : &info->values[(size_t)(found - info->pds) * info->width];
}

char *fm_inclusive_fault(const struct fm_profile *profile)
{
    const struct fm_inclusive_info *info = &profile->run_info.inclusive;
    if (info->count > 0 && (info->pds[0] == 0 || info->pds[info->count - 1] > profile->pd_count))
        return g_strdup_printf("total inside a recursion of proc dynamic %u, expected 1 to %u",
                               info->pds[0] == 0 ? 0 : info->pds[info->count - 1],
                               profile->pd_count);
    if (info->measures >> profile->measure_count != 0)
        return g_strdup_printf("totals inside recursions of measures %#x, expected %u of them",
                               info->measures, profile->measure_count);
    return NULL;
}

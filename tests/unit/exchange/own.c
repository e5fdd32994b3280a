/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

#include <string.h>

int64_t own(const struct fm_profile *p, const char *path, enum fm_measure_id measure)
{
    g_auto(GStrv) names = g_strsplit(path, ";", -1);
    uint32_t pd = p->root_pd, into = 0;
    for (char **name = names; *name != NULL; name++) {
        into = 0;
        for (uint32_t csd = 1; csd <= p->csd_count && into == 0; csd++) {
            if (p->csd_caller[csd] == pd &&
                strcmp(p->ps[p->pd_ps[p->csd_callee[csd]]].name, *name) == 0)
                into = csd;
        }
        if (into == 0)
            return -1;
        pd = p->csd_callee[into];
    }
    return (int64_t)fm_profile_own(p, into, measure);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/facts/unhooked.h"

#include <glib.h>

void fm_unhooked_info_add(struct fm_unhooked_info *info, const struct fm_unhooked *of)
{
    g_return_if_fail(of->csd != 0 && of->quanta != 0 && of->kind < FM_UNHOOKED_KINDS &&
                     of->object != NULL && of->function != NULL);
    if ((info->count & (info->count - 1)) == 0)
        info->of = g_renew(struct fm_unhooked, info->of, MAX(2 * (gsize)info->count, 1));
    info->of[info->count++] = *of;
}

void fm_unhooked_info_done(struct fm_unhooked_info *info)
{
    g_free(info->of);
    *info = (struct fm_unhooked_info){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the user excludes but the compiler could not: the objects contain the patterns
 * (runtime/front/choice.h). Their code then belongs to the bodies around it, as for functions
 * without hooks; their callees become their callers' callees, and their costs their callers'
 * own. */
#include "record/finish/left_out/leave_out.h"

static bool pd_left_out(const struct fm_images *images, uint32_t index)
{
    uint32_t image, proc;
    return fm_images_proc_of_pd(images, index, &image, &proc) &&
           fm_images_at(images, image)->statics->procs[proc].left_out;
}

/* The kept pd that a left-out one's code now belongs to, and how it was left: the return address of
 * the call that led into left-out code. */
static uint32_t home_of(const struct fm_raw_recording *recording, const bool *left,
                        const uint32_t *maker_caller, uint32_t pd, uint64_t *ret_via)
{
    for (uint32_t steps = 0; left[pd] && steps < recording->pd_count; steps++) {
        const struct fm_raw_csd *maker = &recording->csds[recording->pds[pd].maker];
        *ret_via = maker->site;
        pd = maker_caller[pd];
    }
    return pd;
}

bool *fm_leave_out(struct fm_raw_recording *recording, const struct fm_images *images)
{
    g_return_val_if_fail(images->recording == recording, NULL);
    g_autofree bool *left = g_new0(bool, recording->pd_count + 1);
    bool any = false;
    for (uint32_t i = 0; i < recording->pd_count; i++)
        any = (left[i] = pd_left_out(images, i)) || any;
    if (!any)
        return NULL;
    /* Edges are changed below; the way back is that of the recording. */
    g_autofree uint32_t *maker_caller = g_new0(uint32_t, recording->pd_count + 1);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        uint32_t maker = recording->pds[i].maker;
        maker_caller[i] = maker == FM_RAW_NONE ? i : recording->csds[maker].caller;
    }
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        uint64_t via = 0;
        if (csd->caller == FM_RAW_NONE)
            continue;
        if (left[csd->callee]) {
            uint32_t home = home_of(recording, left, maker_caller, csd->callee, &via);
            uint32_t maker = recording->pds[home].maker;
            if (maker == FM_RAW_NONE)
                maker = recording->threads[recording->pds[home].thread].root_csd;
            fm_raw_recording_move_costs(recording, &recording->csds[maker], csd);
            csd->caller = FM_RAW_NONE;
        } else if (left[csd->caller]) {
            csd->caller = home_of(recording, left, maker_caller, csd->caller, &via);
            csd->flags = (csd->flags & ~(uint32_t)FM_REC_CSD_INLINED) | FM_REC_CSD_CALLBACK;
            csd->via = via;
            if (csd->site == 0)
                csd->site = csd->hook_pc;
        }
    }
    return g_steal_pointer(&left);
}

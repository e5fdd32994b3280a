/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps only costs within calls of one function. */
#include "record/finish/left_out/only_below.h"

#include <string.h>

#include "base/error.h"
#include "base/text/demangle.h"

enum place { OUTSIDE = 0, ON_THE_WAY, BELOW };

static bool is_called(const struct fm_proc *proc, const char *function)
{
    if (strcmp(proc->name, function) == 0 || strcmp(proc->linkage, function) == 0)
        return true;
    if (!proc->cplusplus || strncmp(proc->linkage, "_Z", 2) != 0)
        return false;
    g_autofree char *plain = fm_demangle(proc->linkage);
    size_t length = strlen(function);
    return strncmp(plain, function, length) == 0 && (plain[length] == '\0' || plain[length] == '(');
}

static bool pd_is_of(const struct fm_images *images, uint32_t pd, const char *function)
{
    uint32_t image, proc;
    return fm_images_proc_of_pd(images, pd, &image, &proc) &&
           is_called(&fm_images_at(images, image)->statics->procs[proc], function);
}

/* Creators come before what they created, so a forward pass finds what is below, and a backward
 * pass what leads there. */
static uint32_t find_places(const struct fm_raw_recording *recording,
                            const struct fm_images *images, const char *function,
                            enum place *places)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        uint32_t maker = recording->pds[i].maker;
        uint32_t caller = maker == FM_RAW_NONE ? FM_RAW_NONE : recording->csds[maker].caller;
        bool inside = caller != FM_RAW_NONE && places[caller] == BELOW;
        bool begins = !inside && pd_is_of(images, i, function);
        found += begins;
        places[i] = inside || begins ? BELOW : OUTSIDE;
    }
    for (uint32_t i = recording->pd_count; i-- > 0;) {
        uint32_t maker = recording->pds[i].maker;
        uint32_t caller = maker == FM_RAW_NONE ? FM_RAW_NONE : recording->csds[maker].caller;
        if (places[i] != OUTSIDE && caller != FM_RAW_NONE && places[caller] == OUTSIDE)
            places[caller] = ON_THE_WAY;
    }
    return found;
}

static void take_costs(struct fm_raw_csd *csd)
{
    csd->calls = csd->excps = csd->quanta = 0;
    csd->open = csd->heap = csd->waits = 0;
}

static void keep_samples(struct fm_raw_recording *recording, const enum place *places)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recording->sample_count; i++) {
        const struct fm_raw_sample *sample = &recording->samples[i];
        if (places[recording->csds[sample->csd].callee] == BELOW)
            recording->samples[kept++] = *sample;
    }
    recording->sample_count = kept;
    kept = 0;
    for (uint32_t i = 0; i < recording->foreign_count; i++) {
        const struct fm_raw_foreign *foreign = &recording->foreigns[i];
        if (places[recording->csds[foreign->csd].callee] == BELOW)
            recording->foreigns[kept++] = *foreign;
    }
    recording->foreign_count = kept;
    fm_raw_recording_cut(recording);
}

static void leave_out_sleeps(struct fm_raw_recording *recording, const enum place *places)
{
    for (uint32_t i = 0; i < recording->sleep_count; i++) {
        struct fm_raw_sleep *sleep = &recording->sleeps[i];
        sleep->left_out = places[recording->csds[sleep->csd].callee] != BELOW;
    }
}

static void keep_flows(struct fm_raw_recording *recording)
{
    g_autofree bool *there = g_new0(bool, recording->heap_count + 1);
    for (uint32_t i = 0; i < recording->csd_count; i++)
        there[recording->csds[i].heap] = true;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recording->flow_count; i++) {
        struct fm_raw_flow flow = recording->flows[i];
        flow.from = there[flow.from] ? flow.from : 0;
        if (there[flow.to] && flow.to != 0)
            recording->flows[kept++] = flow;
    }
    recording->flow_count = kept;
    fm_raw_recording_cut(recording);
}

/* What the whole program held at any time is not known of a part of it. */
static void forget_peak(struct fm_raw_recording *recording)
{
    recording->header.peak_live_bytes = 0;
    recording->held.rising = 0;
    recording->held.peak_monotonic_ns = 0;
    recording->curve = (struct fm_rec_curve){0};
    for (uint32_t i = 0; i < recording->heap_count; i++)
        recording->heaps[i].peak_bytes = recording->heaps[i].peak_blocks = 0;
}

static void keep_points(struct fm_raw_recording *recording, const enum place *places)
{
    GArray *kept = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_point));
    for (uint32_t i = 0; i < recording->point_count; i++)
        if (places[recording->points[i].pd] == BELOW)
            g_array_append_val(kept, recording->points[i]);
    fm_raw_recording_take_points(recording, kept);
}

bool fm_only_below(struct fm_raw_recording *recording, const struct fm_images *images,
                   const char *function, bool **gone, GError **error)
{
    g_return_val_if_fail(images->recording == recording && function != NULL && gone != NULL, false);
    uint32_t count = recording->pd_count;
    g_autofree enum place *places = g_new0(enum place, count + 1);
    if (find_places(recording, images, function, places) == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: no call of the function \"%s\" was recorded", recording->path, function);
        return false;
    }
    keep_samples(recording, places);
    keep_points(recording, places);
    leave_out_sleeps(recording, places);
    if (*gone == NULL)
        *gone = g_new0(bool, count + 1);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        if (csd->caller == FM_RAW_NONE && (*gone)[csd->callee])
            continue; /* left out already */
        bool root = csd->caller == FM_RAW_NONE;
        bool into = places[csd->callee] == BELOW;
        if (!into || (!root && places[csd->caller] == OUTSIDE))
            take_costs(csd);
        if (!root && (places[csd->callee] == OUTSIDE || places[csd->caller] == OUTSIDE))
            csd->caller = FM_RAW_NONE;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct fm_raw_pd *pd = &recording->pds[i];
        if (places[i] == BELOW)
            continue;
        pd->depths = 0;
        pd->depths_unknown = 0;
        (*gone)[i] |= places[i] == OUTSIDE && pd->maker != FM_RAW_NONE && pd->fn != 0;
    }
    for (uint32_t i = 1; i < recording->blame_count; i++) {
        struct fm_raw_blame *blame = &recording->blames[i];
        if (blame->holder != FM_RAW_NONE && places[recording->csds[blame->holder].callee] != BELOW)
            blame->holder = FM_RAW_NONE;
    }
    keep_flows(recording);
    forget_peak(recording);
    recording->has_totals = false; /* they are of all stacks */
    return true;
}

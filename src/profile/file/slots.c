/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of a profile that is being built. */
#include <stdlib.h>

#include "base/memory.h"
#include "profile/file/build.h"
#include "profile/file/deep_internal.h"

void fm_build_fault(struct fm_build *build, const char *format, ...)
{
    if (build->fault)
        return;
    va_list arguments;
    va_start(arguments, format);
    build->fault = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

static bool no_memory(struct fm_build *build, uint64_t slots)
{
    fm_build_fault(build, "not enough memory for %" G_GUINT64_FORMAT " slots", (guint64)slots);
    return false;
}

/* Computes the begin of each pd's slots, and the number of csds in each slot (in ret_counts). */
static bool count_slots(struct fm_build *build, uint32_t **ret_counts)
{
    struct fm_profile *profile = build->profile;
    uint64_t slots = 0;
    profile->pd_slot_first = fm_memory_try_array(profile->pd_count + 2u, sizeof(uint32_t));
    if (profile->pd_slot_first == NULL)
        return no_memory(build, profile->pd_count);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        profile->pd_slot_first[pd] = (uint32_t)slots;
        slots += profile->ps[profile->pd_ps[pd]].css_count;
    }
    if (slots > UINT32_MAX) {
        fm_build_fault(build, "more than %u slots in all proc dynamics", UINT32_MAX);
        return false;
    }
    profile->pd_slot_first[profile->pd_count + 1] = (uint32_t)slots;
    uint32_t *counts = *ret_counts = fm_memory_try_array(slots + 1, sizeof(uint32_t));
    if (counts == NULL)
        return no_memory(build, slots);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t caller = profile->csd_caller[csd], slot = build->csd_slot.items[csd];
        if (caller == 0 || caller > profile->pd_count || profile->csd_callee[csd] == 0 ||
            profile->csd_callee[csd] > profile->pd_count) {
            fm_build_fault(
                build, "call site dynamic %u leads from proc dynamic %u to %u, expected 1 to %u",
                csd, caller, profile->csd_callee[csd], profile->pd_count);
            return false;
        }
        if (slot >= profile->ps[profile->pd_ps[caller]].css_count) {
            fm_build_fault(
                build, "call site dynamic %u is in slot %u of proc dynamic %u, expected below %u",
                csd, slot, caller, profile->ps[profile->pd_ps[caller]].css_count);
            return false;
        }
        counts[profile->pd_slot_first[caller] + slot]++;
    }
    return true;
}

static enum fm_site_kind kind_of_slot(const struct fm_profile *profile, uint32_t pd, uint32_t slot)
{
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    return profile->css[profile->css_of_ps[ps->css_first + slot]].kind;
}

G_STATIC_ASSERT(FM_SITE_KINDS <= 1u << (32 - FM_LIST_KIND_SHIFT));

/* Makes the lists of slots that are no normal site's: count 0 at first. */
static bool lay_lists(struct fm_build *build, const uint32_t *counts)
{
    struct fm_profile *profile = build->profile;
    size_t words = FM_SITE_KINDS, slots = profile->pd_slot_first[profile->pd_count + 1];
    for (size_t i = 0; i < slots; i++)
        words += counts[i] > 0 ? counts[i] + 1u : 0;
    profile->slots = fm_memory_try_array(slots + 1, sizeof(uint32_t));
    profile->multi = fm_memory_try_array(words, sizeof(uint32_t));
    if (profile->slots == NULL || profile->multi == NULL)
        return no_memory(build, slots);
    for (uint32_t kind = 0; kind < FM_SITE_KINDS; kind++)
        profile->multi[kind] = kind << FM_LIST_KIND_SHIFT;
    size_t at = FM_SITE_KINDS;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        uint32_t first = profile->pd_slot_first[pd];
        for (uint32_t slot = 0; slot < profile->pd_slot_first[pd + 1] - first; slot++) {
            uint32_t kind = kind_of_slot(profile, pd, slot);
            uint32_t count = counts[first + slot];
            if (kind == FM_SITE_NORMAL)
                continue;
            profile->slots[first + slot] = FM_SLOT_MULTI | (count > 0 ? (uint32_t)at : kind);
            if (count > 0)
                profile->multi[at] = kind << FM_LIST_KIND_SHIFT;
            at += count > 0 ? count + 1u : 0;
        }
    }
    if (at >= FM_SLOT_MULTI)
        fm_build_fault(build, "too many call site dynamics in lists");
    return !build->fault;
}

static void fill_slots(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count && !build->fault; csd++) {
        uint32_t caller = profile->csd_caller[csd], slot = build->csd_slot.items[csd];
        uint32_t *entry = &profile->slots[profile->pd_slot_first[caller] + slot];
        if (*entry & FM_SLOT_MULTI) {
            uint32_t *list = &profile->multi[*entry & ~FM_SLOT_MULTI];
            list[1 + (list[0]++ & FM_LIST_COUNT_MAX)] = csd;
        } else if (*entry != 0) {
            fm_build_fault(
                build,
                "slot %u of proc dynamic %u holds call site dynamics %u and %u, expected "
                "one, as its site is normal",
                slot, caller, *entry, csd);
        } else {
            *entry = csd;
        }
    }
}

bool fm_build_lay_slots(struct fm_build *build)
{
    g_autofree uint32_t *counts = NULL;
    if (!count_slots(build, &counts) || !lay_lists(build, counts))
        return false;
    fill_slots(build);
    return !build->fault;
}

/* --- folding --- */

struct crowd {
    uint32_t ps, pds, csds; /* contexts of the procedure, calls that it makes in them */
    uint64_t slots;
};

/* By the slots that stay empty, most first. */
static int by_empty_slots(const void *left, const void *right)
{
    const struct crowd *a = left, *b = right;
    int64_t one = (int64_t)a->slots - a->csds, other = (int64_t)b->slots - b->csds;
    return one != other ? (one > other ? -1 : 1) : a->ps < b->ps ? -1 : a->ps > b->ps;
}

/* By procedure. */
static struct crowd *count_crowds(const struct fm_build *build, uint64_t *ret_slots)
{
    const struct fm_profile *profile = build->profile;
    struct crowd *crowds = g_new0(struct crowd, profile->ps_count + 1u);
    const uint32_t *pd_ps = build->pd_ps.items, *callers = build->csd_caller.items;
    for (size_t pd = 1; pd < build->pd_ps.count; pd++)
        crowds[pd_ps[pd]].pds++;
    for (size_t csd = 1; csd < build->csd_caller.count; csd++)
        crowds[pd_ps[callers[csd]]].csds++;
    *ret_slots = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        crowds[ps].ps = ps;
        crowds[ps].slots = (uint64_t)crowds[ps].pds * profile->ps[ps].css_count;
        *ret_slots += crowds[ps].slots;
    }
    return crowds;
}

/* Keeps the first site of each folded procedure, for all. */
static void fold(struct fm_build *build, const bool *folded)
{
    struct fm_profile *profile = build->profile;
    uint32_t kept = 0;
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        struct fm_css site = profile->css[css];
        if (folded[site.ps] && site.slot > 0)
            continue;
        if (folded[site.ps])
            site = (struct fm_css){.kind = FM_SITE_UNKNOWN,
                                   .type_subst = "",
                                   .file = "",
                                   .goal_path = "",
                                   .ps = site.ps};
        profile->css[++kept] = site;
    }
    profile->css_count = kept;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        profile->ps[ps].css_count = folded[ps] ? 1 : profile->ps[ps].css_count;
    for (size_t csd = 1; csd < build->csd_slot.count; csd++) {
        if (folded[build->pd_ps.items[build->csd_caller.items[csd]]])
            build->csd_slot.items[csd] = 0;
    }
}

uint32_t fm_build_fold_sites(struct fm_build *build, uint64_t slots_max)
{
    g_return_val_if_fail(build->profile->flavour == FM_FLAVOUR_C, 0);
    const struct fm_profile *profile = build->profile;
    uint64_t slots;
    uint32_t count = 0;
    if (build->fault != NULL) /* finish says so */
        return 0;
    g_autofree struct crowd *crowds = count_crowds(build, &slots);
    if (slots <= slots_max)
        return 0;
    g_autofree bool *folded = g_new0(bool, profile->ps_count + 1u);
    qsort(crowds + 1, profile->ps_count, sizeof *crowds, by_empty_slots);
    for (uint32_t i = 1; i <= profile->ps_count && slots > slots_max; i++) {
        if (crowds[i].slots <= crowds[i].pds)
            continue;
        slots -= crowds[i].slots - crowds[i].pds;
        folded[crowds[i].ps] = true;
        count++;
    }
    fold(build, folded);
    return count;
}

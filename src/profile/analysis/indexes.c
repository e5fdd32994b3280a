/* SPDX-License-Identifier: Apache-2.0 */
/* Reverse indexes, all made by counting: first how many, then where each begins, then filled. */
#include "profile/analysis/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

typedef uint32_t key_function(const struct fm_profile *profile, uint32_t item);

/* The first two stages of an index over items 1..items with keys 1..keys - 1: counts are in
 * first[key + 2], then first[key + 1] is the begin of the key, and after filling (each put advances
 * first[key + 1]) first[key] is. True when done. */
static inline bool count_keys(struct fm_analysis_job *job, uint32_t *budget, uint32_t *first,
                              uint32_t keys, uint32_t items, key_function *key)
{
    const struct fm_profile *profile = job->analysis->profile;
    if (job->stage == 0) {
        for (; *budget > 0 && job->inner < items; --*budget)
            first[key(profile, ++job->inner) + 2]++;
        if (job->inner < items)
            return false;
        job->stage = 1;
        job->inner = 1;
    }
    if (job->stage == 1) {
        for (; *budget > 0 && job->inner < keys; --*budget, job->inner++)
            first[job->inner + 2] += first[job->inner + 1];
        if (job->inner < keys)
            return false;
        job->stage = 2;
    }
    return true;
}

static inline void put(uint32_t *first, uint32_t *items, uint32_t key, uint32_t item)
{
    items[first[key + 1]++] = item;
}

static bool alloc_index(struct fm_analysis_job *job, uint32_t keys, uint32_t items,
                        uint32_t **ret_first, uint32_t **ret_items)
{
    /* One more at the end, since counting uses key + 2. */
    *ret_first = fm_job_numbers(job, keys + 3u);
    *ret_items = fm_job_numbers(job, items);
    return !job->failed && !fm_job_must_touch(job);
}

static inline uint32_t callee_ps_of(const struct fm_profile *profile, uint32_t csd)
{
    return profile->pd_ps[profile->csd_callee[csd]];
}

static inline uint32_t css_of(const struct fm_profile *profile, uint32_t csd)
{
    return profile->csd_css[csd];
}

static inline uint32_t ps_of(const struct fm_profile *profile, uint32_t pd)
{
    return profile->pd_ps[pd];
}

/* Counts the csds of a pd: stores the csd itself, from the second one on FM_SLOT_MULTI | their
 * number. */
static inline void count_entry(struct fm_analysis_storage *storage, uint32_t pd, uint32_t csd)
{
    uint32_t *entry = &storage->pd_in[pd];
    if (FM_LIKELY(*entry == 0)) {
        *entry = csd;
        return;
    }
    bool second = (*entry & FM_SLOT_MULTI) == 0;
    *entry = second ? FM_SLOT_MULTI | 2 : *entry + 1;
    storage->pd_in_left += second ? 2 : 1;
}

/* Turns counts into start positions, which become end positions while the lists are filled. */
static inline void lay_entries(struct fm_analysis_storage *storage, uint32_t pd)
{
    uint32_t entry = storage->pd_in[pd];
    if ((entry & FM_SLOT_MULTI) == 0)
        return;
    storage->pd_in_left -= entry & ~FM_SLOT_MULTI;
    storage->pd_in[pd] = FM_SLOT_MULTI | storage->pd_in_left;
    storage->pd_in_lists[storage->pd_in_left] = FM_SLOT_MULTI; /* the first */
}

static inline void put_entry(struct fm_analysis_storage *storage, uint32_t pd, uint32_t csd)
{
    if (FM_UNLIKELY((storage->pd_in[pd] & FM_SLOT_MULTI) != 0))
        storage->pd_in_lists[storage->pd_in[pd]++ & ~FM_SLOT_MULTI] |= csd;
}

/* csds by callee pd: counts them, lays out lists for pds with several, fills them. */
bool fm_phase_entries(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis_storage *storage = job->analysis->storage;
    const struct fm_profile *profile = job->analysis->profile;
    if (storage->pd_in == NULL)
        storage->pd_in = fm_job_numbers(job, profile->pd_count + (size_t)1);
    if (job->failed || fm_job_must_touch(job))
        return false;
    for (; job->stage == 0 && budget > 0 && job->inner < profile->csd_count; budget--) {
        uint32_t csd = ++job->inner;
        count_entry(storage, profile->csd_callee[csd], csd);
    }
    if (job->stage == 0 && job->inner == profile->csd_count) {
        storage->pd_in_lists = fm_job_numbers(job, storage->pd_in_left);
        job->stage = 1;
        job->inner = 0;
    }
    if (job->stage == 0 || job->failed || fm_job_must_touch(job))
        return false;
    for (; budget > 0 && job->inner < profile->pd_count; budget--)
        lay_entries(storage, ++job->inner);
    if (job->inner < profile->pd_count)
        return false;
    for (; budget > 0 && job->cursor < profile->csd_count; budget--) {
        uint32_t csd = ++job->cursor;
        put_entry(storage, profile->csd_callee[csd], csd);
    }
    return job->cursor == profile->csd_count;
}

/* csds by the callee's ps, descending; also finds sites that call other procedures than they
 * name. */
bool fm_phase_callers(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    if (!a->ps_callers) {
        a->storage->css_irregular = g_new0(bool, profile->css_count + 1u);
        if (!alloc_index(job, profile->ps_count, profile->csd_count, &a->ps_caller_first,
                         &a->ps_callers))
            return false;
    }
    if (!count_keys(job, &budget, a->ps_caller_first, profile->ps_count + 1, profile->csd_count,
                    callee_ps_of))
        return false;
    for (; budget > 0 && job->cursor < profile->csd_count; budget--) {
        uint32_t csd = profile->csd_count - job->cursor++;
        uint32_t ps = profile->pd_ps[profile->csd_callee[csd]], css = profile->csd_css[csd];
        put(a->ps_caller_first, a->ps_callers, ps, csd);
        if (FM_UNLIKELY(profile->css[css].callee_ps != ps) &&
            profile->css[css].kind == FM_SITE_NORMAL)
            a->storage->css_irregular[css] = true;
    }
    return job->cursor == profile->csd_count;
}

/* When csds are numbered in the order of slots: adds those of the last remaining caller. */
static uint32_t put_caller(struct fm_analysis *a, uint32_t last)
{
    const struct fm_profile *profile = a->profile;
    uint32_t first = last;
    while (first > 1 && profile->csd_caller[first - 1] == profile->csd_caller[last])
        first--;
    for (uint32_t csd = first; csd <= last; csd++)
        put(a->css_csd_first, a->css_csds, profile->csd_css[csd], csd);
    return last - first + 1;
}

static uint32_t put_slots(struct fm_analysis *a, uint32_t pd)
{
    const struct fm_profile *profile = a->profile;
    uint32_t slots = fm_slot_count(profile, pd);
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++)
            put(a->css_csd_first, a->css_csds, profile->csd_css[csds[i]], csds[i]);
    }
    return 1;
}

/* csds by css, latest caller first, in a slot's order. */
bool fm_phase_sites(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    if (!a->css_csds &&
        !alloc_index(job, profile->css_count, profile->csd_count, &a->css_csd_first, &a->css_csds))
        return false;
    if (!count_keys(job, &budget, a->css_csd_first, profile->css_count + 1, profile->csd_count,
                    css_of))
        return false;
    uint32_t count = profile->csds_in_order ? profile->csd_count : profile->pd_count;
    while (budget > 0 && job->cursor < count) {
        uint32_t last = count - job->cursor;
        uint32_t done = profile->csds_in_order ? put_caller(a, last) : put_slots(a, last);
        job->cursor += done;
        budget -= MIN(budget, done);
    }
    return job->cursor == count;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return left < right ? -1 : left > right;
}

/* Sorts the csds of one site by callee ps; stable. */
static void sort_site(const struct fm_profile *profile, uint32_t *csds, uint32_t count)
{
    uint32_t sorted = 1;
    while (sorted < count && profile->pd_ps[profile->csd_callee[csds[sorted - 1]]] <=
                                 profile->pd_ps[profile->csd_callee[csds[sorted]]])
        sorted++;
    if (sorted >= count)
        return;
    uint64_t *keys = g_new(uint64_t, count);
    uint32_t *copy = g_new(uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)profile->pd_ps[profile->csd_callee[csds[i]]] << 32 | i;
    memcpy(copy, csds, count * sizeof(*copy));
    qsort(keys, count, sizeof(*keys), compare_keys);
    for (uint32_t i = 0; i < count; i++)
        csds[i] = copy[keys[i] & UINT32_MAX];
    g_free(keys);
    g_free(copy);
}

/* Sites whose csds all call the same callee need no sorting. */
bool fm_phase_sort_sites(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    struct fm_analysis_storage *storage = a->storage;
    if (storage->css_callee == NULL) {
        storage->css_callee = g_new0(uint32_t, a->profile->css_count + 1u);
        storage->css_arc_first = g_new0(uint32_t, a->profile->css_count + 2u);
        storage->site_arcs = g_array_new(FALSE, FALSE, sizeof(struct fm_site_arc));
    }
    while (budget > 0 && job->cursor < a->profile->css_count) {
        uint32_t css = ++job->cursor;
        uint32_t count = a->css_csd_first[css + 1] - a->css_csd_first[css];
        bool normal = a->profile->css[css].kind == FM_SITE_NORMAL;
        storage->css_arc_first[css] = storage->site_arcs->len;
        if (normal && !storage->css_irregular[css]) {
            storage->css_callee[css] = a->profile->css[css].callee_ps;
            count = 0;
        } else {
            sort_site(a->profile, a->css_csds + a->css_csd_first[css], count);
            if (!normal)
                fm_site_arcs_note(a, css);
        }
        budget -= MIN(budget, count + 1);
    }
    storage->css_arc_first[job->cursor + 1] = storage->site_arcs->len;
    return job->cursor == a->profile->css_count;
}

/* pds by ps, ascending; and which procedures are zeroed. */
bool fm_phase_procs(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    if (!a->ps_zeroed) {
        a->ps_zeroed = g_new0(bool, profile->ps_count + 1u);
        if (!alloc_index(job, profile->ps_count, profile->pd_count, &a->ps_pd_first, &a->ps_pds))
            return false;
    }
    if (!count_keys(job, &budget, a->ps_pd_first, profile->ps_count + 1, profile->pd_count, ps_of))
        return false;
    for (; budget > 0 && job->cursor < profile->pd_count; budget--) {
        uint32_t pd = ++job->cursor;
        put(a->ps_pd_first, a->ps_pds, profile->pd_ps[pd], pd);
    }
    if (job->stage == 2) {
        job->stage = 3;
        job->inner = 0;
    }
    for (; budget > 0 && job->inner < profile->css_count; budget--) {
        const struct fm_css *css = &profile->css[++job->inner];
        if ((css->kind == FM_SITE_HIGHER_ORDER || css->kind == FM_SITE_METHOD) &&
            a->ps_pd_first[css->ps + 1] > a->ps_pd_first[css->ps])
            a->ps_zeroed[css->ps] = true;
    }
    const struct fm_inclusive_info *info = &profile->run_info.inclusive;
    for (uint32_t i = 0; job->inner == profile->css_count && i < info->count; i++) {
        if (fm_bit_get(a->storage->pd_alone, info->pds[i]))
            a->ps_zeroed[profile->pd_ps[info->pds[i]]] = true;
    }
    return job->cursor == profile->pd_count && job->inner == profile->css_count;
}

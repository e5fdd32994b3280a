/* SPDX-License-Identifier: Apache-2.0 */
/* Cliques: strongly connected components of the graph of pds, callees numbered before callers.
 * One-pass low-link search (Tarjan 1972) with explicit stacks. */
#include "profile/analysis/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

struct frame {
    uint32_t pd;
    uint32_t low;     /* lowest index of an open pd that can be reached */
    uint32_t pending; /* index of its first callee in the stack of pending callees */
};

struct stack {
    uint32_t *items;
    uint32_t count, capacity;
};

struct fm_clique_search {
    uint32_t *index; /* [pd_count + 1] number in order of visit, from 1; 0 = not yet */
    uint32_t visited;
    uint32_t start; /* position of the outer loop */
    struct stack open, pending;
    struct frame *frames;
    uint32_t frame_count, frame_capacity;
};

static inline void push(struct stack *stack, uint32_t item)
{
    if (FM_UNLIKELY(stack->count == stack->capacity)) {
        stack->capacity = MAX(1024u, stack->capacity + stack->capacity / 2);
        stack->items = g_renew(uint32_t, stack->items, stack->capacity);
    }
    stack->items[stack->count++] = item;
}

void fm_clique_search_free(struct fm_clique_search *search)
{
    if (!search)
        return;
    g_free(search->index);
    g_free(search->open.items);
    g_free(search->pending.items);
    g_free(search->frames);
    g_free(search);
}

static int compare_descending(const void *a, const void *b)
{
    uint32_t left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return left < right ? 1 : left > right ? -1 : 0;
}

/* Largest first, so that the smallest is popped first. Few or sorted already, as a rule. */
static void sort_descending(uint32_t *items, uint32_t count)
{
    if (count > 24) {
        for (uint32_t i = 1; i < count; i++) {
            if (items[i - 1] < items[i]) {
                qsort(items, count, sizeof(*items), compare_descending);
                return;
            }
        }
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t item = items[i], at = i;
        for (; at > 0 && items[at - 1] < item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Pushes the callees of pd that no finished clique holds. */
static void push_callees(const struct fm_analysis *a, struct fm_clique_search *search, uint32_t pd)
{
    const struct fm_profile *profile = a->profile;
    uint32_t first = search->pending.count;
    for (uint32_t slot = fm_slot_count(profile, pd); slot-- > 0;) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t callee = profile->csd_callee[csds[i]];
            if (callee != pd && a->pd_clique[callee] == 0)
                push(&search->pending, callee);
        }
    }
    if (search->pending.count > first)
        sort_descending(search->pending.items + first, search->pending.count - first);
}

static void enter(const struct fm_analysis *a, struct fm_clique_search *search, uint32_t pd)
{
    if (search->frame_count == search->frame_capacity) {
        search->frame_capacity = MAX(1024u, search->frame_capacity + search->frame_capacity / 2);
        search->frames = g_renew(struct frame, search->frames, search->frame_capacity);
    }
    search->index[pd] = ++search->visited;
    search->frames[search->frame_count++] =
        (struct frame){.pd = pd, .low = search->visited, .pending = search->pending.count};
    push(&search->open, pd);
    push_callees(a, search, pd);
}

/* All callees of the topmost pd are done: closes its clique if it is the first pd of one. */
static void leave(struct fm_analysis *a, struct fm_clique_search *search)
{
    struct frame frame = search->frames[--search->frame_count];
    if (frame.low == search->index[frame.pd]) {
        uint32_t member;
        a->clique_count++;
        do {
            member = search->open.items[--search->open.count];
            a->pd_clique[member] = a->clique_count;
        } while (member != frame.pd);
    }
    if (search->frame_count > 0) {
        struct frame *caller = &search->frames[search->frame_count - 1];
        caller->low = MIN(caller->low, frame.low);
    }
}

static void step(struct fm_analysis *a, struct fm_clique_search *search)
{
    struct frame *frame = &search->frames[search->frame_count - 1];
    if (search->pending.count == frame->pending) {
        leave(a, search);
        return;
    }
    uint32_t callee = search->pending.items[--search->pending.count];
    if (search->index[callee] == 0)
        enter(a, search, callee);
    else if (a->pd_clique[callee] == 0)
        frame->low = MIN(frame->low, search->index[callee]);
}

bool fm_phase_cliques(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    uint32_t pds = a->profile->pd_count;
    if (!job->cliques) {
        job->cliques = g_new0(struct fm_clique_search, 1);
        job->cliques->index = fm_job_numbers(job, pds + 1u);
        a->pd_clique = fm_job_numbers(job, pds + 1u);
        if (job->failed || fm_job_must_touch(job))
            return false;
    }
    struct fm_clique_search *search = job->cliques;
    for (; budget > 0; budget--) {
        while (search->frame_count == 0) {
            if (search->start == pds) {
                g_clear_pointer(&job->cliques, fm_clique_search_free);
                return true;
            }
            if (search->index[++search->start] == 0)
                enter(a, search, search->start);
        }
        step(a, search);
    }
    job->cursor = search->visited;
    return false;
}

/* Members of each clique, by counting. */
bool fm_phase_members(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    uint32_t pds = a->profile->pd_count;
    if (!a->clique_pds) {
        a->clique_first = fm_job_numbers(job, a->clique_count + 2u);
        a->clique_pds = fm_job_numbers(job, pds);
        if (job->failed || fm_job_must_touch(job))
            return false;
    }
    /* clique_first[c + 1] runs from the start of clique c to its end while it is filled. */
    for (; job->stage == 0 && budget > 0 && job->inner < pds; budget--) {
        if (a->pd_clique[++job->inner] < a->clique_count)
            a->clique_first[a->pd_clique[job->inner] + 2]++;
    }
    if (job->stage == 0 && job->inner == pds) {
        job->stage = 1;
        job->inner = 1;
    }
    for (; job->stage == 1 && budget > 0 && job->inner <= a->clique_count; budget--) {
        job->inner++;
        a->clique_first[job->inner] += a->clique_first[job->inner - 1];
    }
    if (job->stage == 1 && job->inner > a->clique_count)
        job->stage = 2;
    for (; job->stage == 2 && budget > 0 && job->cursor < pds; budget--) {
        uint32_t pd = ++job->cursor;
        a->clique_pds[a->clique_first[a->pd_clique[pd] + 1]++] = pd;
    }
    return job->cursor == pds;
}

static void note_parent(struct fm_analysis *a, uint32_t pd, uint32_t csd)
{
    uint32_t clique = a->pd_clique[a->profile->csd_callee[csd]];
    if (clique == a->pd_clique[pd])
        return;
    if (a->clique_parent[clique] != 0) {
        a->clique_entries_extra++;
        if (!fm_profile_is(a->profile, FM_NATURE_ARCS))
            fm_bit_set(a->storage->csd_enters, a->clique_parent[clique], false);
    }
    fm_bit_set(a->storage->csd_enters, csd, true);
    a->clique_parent[clique] = csd;
}

/* Fast path: reads csds in the order of their numbers, without the slots. This works as long as no
 * clique is entered twice; otherwise everything is reset and job->stage becomes 1. True when
 * done. */
static bool note_csds_in_order(struct fm_analysis_job *job, uint32_t *budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    for (; *budget > 0 && job->inner < profile->csd_count && a->clique_entries_extra == 0;
         --*budget) {
        uint32_t csd = ++job->inner;
        note_parent(a, profile->csd_caller[csd], csd);
    }
    if (a->clique_entries_extra > 0) {
        memset(a->clique_parent, 0, (a->clique_count + (size_t)1) * sizeof(uint32_t));
        memset(a->storage->csd_enters, 0, (profile->csd_count / 32 + (size_t)1) * sizeof(uint32_t));
        a->clique_entries_extra = 0;
        job->stage = 1;
    }
    return job->stage == 0 && job->inner == profile->csd_count;
}

static void note_slots(struct fm_analysis *a, uint32_t pd)
{
    uint32_t slots = fm_slot_count(a->profile, pd);
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(a->profile, pd, slot, &count);
        while (count > 0)
            note_parent(a, pd, csds[--count]);
    }
}

/* Finds the csd that enters each clique; if there are several, the last one counts, in arc profiles
 * all. Also finds pds that are alone in their cliques. */
bool fm_phase_parents(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    const struct fm_profile *profile = a->profile;
    if (!a->clique_parent) {
        a->clique_parent = fm_job_numbers(job, a->clique_count + 1u);
        a->storage->csd_enters = fm_job_numbers(job, profile->csd_count / 32 + 1u);
        a->storage->pd_alone = fm_job_numbers(job, profile->pd_count / 32 + 1u);
        job->stage = profile->csds_in_order && !fm_profile_is(profile, FM_NATURE_ARCS) ? 0 : 1;
    }
    if (job->failed || fm_job_must_touch(job))
        return false;
    if (job->stage == 0 && !note_csds_in_order(job, &budget))
        return false;
    for (; budget > 0 && job->cursor < profile->pd_count; budget--) {
        uint32_t pd = ++job->cursor, clique = a->pd_clique[pd];
        fm_bit_set(a->storage->pd_alone, pd,
                   a->clique_first[clique + 1] - a->clique_first[clique] == 1);
        if (job->stage == 1)
            note_slots(a, pd);
    }
    return job->cursor == profile->pd_count;
}

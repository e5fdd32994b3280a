/* SPDX-License-Identifier: Apache-2.0 */
/* The checks that need all nodes: run once after reading or building. */
#include "profile/file/deep_internal.h"

#include <string.h>

#include "base/error.h"
#include "base/worker.h"

#define PDS_A_STRETCH 16384u /* that one thread resolves at a time */
#define PDS_BESIDE 20000u    /* a step of the second thread */
#define WAIT_US 1000         /* for it, in a step */

FM_PRINTF(5, 6)
static bool fail(struct fm_fault *fault, enum fm_node_token token, uint32_t id, int code,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    *fault = (struct fm_fault){
        .token = token, .id = id, .code = code, .text = g_strdup_vprintf(format, arguments)};
    va_end(arguments);
    return false;
}

static bool missing(struct fm_fault *fault, enum fm_node_token token, uint32_t id, uint32_t count)
{
    return fail(fault, FM_TOKEN_END, 0, FM_ERROR_TRUNCATED,
                "%s %u is missing, expected all from 1 to %u", fm_node_names[token], id, count);
}

static bool check_css(struct fm_profile *profile, uint32_t css, struct fm_fault *fault)
{
    return profile->css[css].goal_path || missing(fault, FM_TOKEN_CSS, css, profile->css_count);
}

static bool resolve_ps(struct fm_profile *profile, uint32_t ps, struct fm_fault *fault)
{
    const struct fm_ps *proc = &profile->ps[ps];
    if (!proc->name)
        return missing(fault, FM_TOKEN_PS, ps, profile->ps_count);
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        struct fm_css *css = &profile->css[profile->css_of_ps[proc->css_first + slot]];
        if (css->ps != 0)
            return fail(fault, FM_TOKEN_PS, ps, FM_ERROR_FORMAT,
                        "proc static %u has call site static %u, which already belongs to "
                        "proc static %u",
                        ps, profile->css_of_ps[proc->css_first + slot], css->ps);
        css->ps = ps;
        css->slot = slot;
    }
    return true;
}

static bool check_css_belongs(struct fm_profile *profile, uint32_t css, struct fm_fault *fault)
{
    return profile->css[css].ps != 0 || fail(fault, FM_TOKEN_CSS, css, FM_ERROR_FORMAT,
                                             "call site static %u belongs to no proc static", css);
}

static bool check_points(const struct fm_profile *profile, uint32_t pd, struct fm_fault *fault)
{
    uint64_t found = profile->pd_point_first[pd + 1] - profile->pd_point_first[pd];
    uint32_t ps = profile->pd_ps[pd];
    if (found == profile->ps[ps].point_count)
        return true;
    return fail(fault, FM_TOKEN_PD, pd, FM_ERROR_FORMAT,
                "proc dynamic %u has %" G_GUINT64_FORMAT
                " coverage counts, expected %u as proc static %u has coverage points",
                pd, found, profile->ps[ps].point_count, ps);
}

/* *last: the csd before those of the slot. */
static inline bool resolve_slot(struct fm_profile *profile, uint32_t pd, uint32_t slot,
                                uint32_t css, struct fm_resolved *part, uint32_t *last)
{
    uint32_t entry = profile->slots[profile->pd_slot_first[pd] + slot];
    enum fm_site_kind expected = profile->css[css].kind;
    enum fm_site_kind found = FM_SITE_NORMAL;
    const uint32_t *csds = &entry;
    uint32_t count = entry != 0;
    if (entry & FM_SLOT_MULTI) {
        uint32_t *list = &profile->multi[entry & ~FM_SLOT_MULTI];
        found = (enum fm_site_kind)(list[0] >> FM_LIST_KIND_SHIFT);
        count = list[0] & FM_LIST_COUNT_MAX;
        csds = list + 1;
        if (count > 0)
            list[0] = count; /* the kind above the count has served; a list has one slot */
    }
    if (found != expected)
        return fail(&part->fault, FM_TOKEN_PD, pd, FM_ERROR_FORMAT,
                    "slot %u of proc dynamic %u is of kind %u, expected %u as call site static %u",
                    slot, pd, found, expected, css);
    for (uint32_t i = 0; i < count; i++) {
        profile->csd_css[csds[i]] = css;
        part->disorder |= csds[i] < *last;
        *last = csds[i];
    }
    return true;
}

static bool resolve_pd(struct fm_profile *profile, uint32_t pd, struct fm_resolved *part)
{
    struct fm_fault *fault = &part->fault;
    uint32_t ps = profile->pd_ps[pd];
    if (ps == 0)
        return missing(fault, FM_TOKEN_PD, pd, profile->pd_count);
    uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
    const struct fm_ps *proc = &profile->ps[ps];
    if (slots != proc->css_count)
        return fail(fault, FM_TOKEN_PD, pd, FM_ERROR_FORMAT,
                    "proc dynamic %u has %u slots, expected %u as proc static %u has call sites",
                    pd, slots, proc->css_count, ps);
    if (profile->pd_point_first && !check_points(profile, pd, fault))
        return false;
    const uint32_t *sites = &profile->css_of_ps[proc->css_first];
    for (uint32_t slot = 0, last = 0; slot < slots; slot++) {
        if (!resolve_slot(profile, pd, slot, sites[slot], part, &last))
            return false;
    }
    return true;
}

/* Takes the next contexts that no thread has taken; false: there are none. */
static bool take_stretch(struct fm_resolving *resolving, struct fm_resolved *part)
{
    uint32_t count = resolving->profile->pd_count;
    uint32_t first = __atomic_load_n(&resolving->next_pd, __ATOMIC_RELAXED);
    do {
        if (first == count)
            return false;
        part->end = first + MIN(PDS_A_STRETCH, count - first);
    } while (!__atomic_compare_exchange_n(&resolving->next_pd, &first, part->end, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    part->at = first;
    return true;
}

/* Ranges are taken in order: when a thread finds an error, all contexts before it have been
 * checked, or are being checked by the other thread. True when this thread is done. */
static bool resolve_stretches(struct fm_resolving *resolving, struct fm_resolved *part,
                              uint32_t budget)
{
    /* local copy: the two are too close in memory to be written all the time */
    struct fm_resolved own = *part;
    bool done = false;
    for (; budget > 0 && !own.failed && !done; budget--) {
        if (own.at < own.end || take_stretch(resolving, &own))
            own.failed = !resolve_pd(resolving->profile, ++own.at, &own);
        else
            done = true;
    }
    *part = own;
    if (own.failed) /* later ones are of no interest */
        __atomic_store_n(&resolving->next_pd, resolving->profile->pd_count, __ATOMIC_RELAXED);
    return done || own.failed;
}

static bool resolve_beside(void *user)
{
    struct fm_resolving *resolving = user;
    return !resolve_stretches(resolving, &resolving->parts[1], PDS_BESIDE);
}

/* Checks all contexts, with or without a second thread: the error reported is the first one. */
static enum fm_job_state resolve_pds(struct fm_resolving *resolving, uint32_t budget,
                                     struct fm_fault *fault)
{
    struct fm_resolved *here = &resolving->parts[0], *beside = &resolving->parts[1];
    if (resolving->beside && resolving->worker == NULL)
        resolving->worker = fm_worker_new(resolve_beside, resolving);
    bool done = resolve_stretches(resolving, here, budget);
    resolving->cursor = __atomic_load_n(&resolving->next_pd, __ATOMIC_RELAXED);
    if (!done || (resolving->worker != NULL && !fm_worker_wait(resolving->worker, WAIT_US)))
        return FM_JOB_MORE;
    g_clear_pointer(&resolving->worker, fm_worker_free);
    resolving->beside = false;
    if (!here->failed && !beside->failed) {
        resolving->profile->csds_in_order = !here->disorder && !beside->disorder; /* so far */
        return FM_JOB_DONE;
    }
    bool first = here->failed && (!beside->failed || here->at < beside->at);
    *fault = first ? here->fault : beside->fault;
    (first ? here : beside)->fault.text = NULL;
    return FM_JOB_FAILED;
}

void fm_resolving_done(struct fm_resolving *resolving)
{
    fm_worker_free(resolving->worker);
    for (unsigned i = 0; i < G_N_ELEMENTS(resolving->parts); i++)
        g_free(resolving->parts[i].fault.text);
    *resolving = (struct fm_resolving){0};
}

static bool check_csd(struct fm_profile *profile, uint32_t csd, struct fm_fault *fault)
{
    profile->csds_in_order &= profile->csd_caller[csd - 1] <= profile->csd_caller[csd];
    if (profile->csd_callee[csd] == 0)
        return missing(fault, FM_TOKEN_CSD, csd, profile->csd_count);
    if (profile->csd_caller[csd] == 0)
        return fail(fault, FM_TOKEN_CSD, csd, FM_ERROR_FORMAT,
                    "call site dynamic %u stands in no slot of a proc dynamic", csd);
    return true;
}

/* In this order, since later checks rely on earlier ones. */
static const struct {
    bool (*run)(struct fm_profile *profile, uint32_t id, struct fm_fault *fault);
    size_t count_offset; /* offset of the count in struct fm_profile */
} stages[] = {
    {check_css, offsetof(struct fm_profile, css_count)},
    {resolve_ps, offsetof(struct fm_profile, ps_count)},
    {check_css_belongs, offsetof(struct fm_profile, css_count)},
    {NULL, offsetof(struct fm_profile, pd_count)}, /* resolve_pds() */
    {check_csd, offsetof(struct fm_profile, csd_count)},
};

static uint32_t stage_count(const struct fm_profile *profile, unsigned stage)
{
    uint32_t count;
    memcpy(&count, (const char *)profile + stages[stage].count_offset, sizeof count);
    return count;
}

enum fm_job_state fm_profile_resolve_step(struct fm_profile *profile,
                                          struct fm_resolving *resolving, uint32_t budget,
                                          struct fm_fault *fault)
{
    if (resolving->profile == NULL) /* once, because the second thread reads it */
        resolving->profile = profile;
    if (resolving->stage == 0 && resolving->cursor == 0 &&
        (profile->root_pd == 0 || profile->root_pd > profile->pd_count)) {
        fail(fault, FM_TOKEN_END, 0, FM_ERROR_FORMAT, "root is proc dynamic %u, expected 1 to %u",
             profile->root_pd, profile->pd_count);
        return FM_JOB_FAILED;
    }
    for (; resolving->stage < G_N_ELEMENTS(stages); resolving->stage++, resolving->cursor = 0) {
        uint32_t count = stage_count(profile, resolving->stage);
        if (stages[resolving->stage].run == NULL) {
            enum fm_job_state state = resolve_pds(resolving, budget, fault);
            if (state != FM_JOB_DONE)
                return state;
            continue;
        }
        for (; budget > 0 && resolving->cursor < count; budget--) {
            if (!stages[resolving->stage].run(profile, ++resolving->cursor, fault))
                return FM_JOB_FAILED;
        }
        if (resolving->cursor < count)
            return FM_JOB_MORE;
    }
    for (uint32_t kind = 0; kind < FM_SITE_KINDS; kind++)
        profile->multi[kind] = 0; /* the empty lists, which many slots share */
    fm_names_settle(profile);
    return FM_JOB_DONE;
}

double fm_profile_resolve_fraction(const struct fm_profile *profile,
                                   const struct fm_resolving *resolving)
{
    double done = 0, all = 0;
    for (unsigned stage = 0; stage < G_N_ELEMENTS(stages); stage++) {
        double count = stage_count(profile, stage);
        all += count;
        done += stage < resolving->stage    ? count
                : stage == resolving->stage ? resolving->cursor
                                            : 0;
    }
    return all == 0 ? 1 : done / all;
}

bool fm_profile_resolve(struct fm_profile *profile, struct fm_fault *fault)
{
    g_return_val_if_fail(profile != NULL && fault != NULL, false);
    struct fm_resolving resolving = {0};
    enum fm_job_state state = FM_JOB_MORE;
    while (state == FM_JOB_MORE)
        state = fm_profile_resolve_step(profile, &resolving, UINT32_MAX, fault);
    fm_resolving_done(&resolving);
    return state == FM_JOB_DONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of calls that were timed one by one: each is counted in one duration class, and is a
 * call. Blocks whose lifetimes are known: the same. */
#include "profile/analysis/analysis_internal.h"

#include <inttypes.h>

#include "profile/analysis/job.h"

/* When a program was killed, each context may have been within one call. */
static uint64_t tolerated(const struct fm_profile *profile)
{
    const struct fm_run_info *info = &profile->run_info;
    uint64_t runs = 0;
    for (uint32_t i = 0; i < info->part_count; i++)
        runs += info->parts[i].duration_ns == 0 ? info->parts[i].times : 0;
    return info->part_count == 0 && info->duration_ns == 0 ? 1 : runs;
}

/* At most `calls` were timed. */
static char *wrong_of(const struct fm_durations *d, int64_t calls, uint64_t tolerance)
{
    uint64_t in_steps = 0;
    for (uint32_t i = 0; i < d->step_count; i++)
        in_steps += d->steps[i].calls;
    uint64_t off = in_steps > d->timed ? in_steps - d->timed : d->timed - in_steps;
    bool between = d->timed == 0 || (d->shortest_ns <= d->longest_ns && d->longest_ns <= d->ns &&
                                     (double)d->ns <= (double)d->longest_ns * (double)d->timed);
    if (off <= tolerance && d->left <= d->timed && between && calls >= 0 &&
        d->timed <= (uint64_t)calls)
        return NULL;
    return g_strdup_printf("call site dynamic %" PRIu32 ": %" PRIu64 " timed in %" PRIu64
                           " ns, %" PRIu64 " by duration, %" PRIu64 " ended early, of %" PRId64,
                           d->csd, d->timed, d->ns, in_steps, d->left, calls);
}

void fm_invariants_of_durations(const struct fm_profile *profile, GArray *to)
{
    const struct fm_duration_info *info = &profile->run_info.durations;
    uint64_t tolerance = tolerated(profile), timed = 0;
    char *wrong = NULL;
    if (info->count == 0)
        return;
    for (uint32_t i = 0; i < info->count && wrong == NULL; i++) {
        wrong = wrong_of(&info->of[i], fm_profile_calls(profile, info->of[i].csd), tolerance);
        timed += info->of[i].timed;
    }
    struct fm_invariant invariant = {
        .name = "calls by duration = timed calls, at most the calls of the context",
        .holds = wrong == NULL,
        .detail = wrong != NULL ? wrong
                                : g_strdup_printf("%" PRIu64 " timed in %" PRIu32 " contexts",
                                                  timed, info->count)};
    g_array_append_val(to, invariant);
}

/* A flow that is timed has all its blocks timed, and each of them is of its context. */
static char *wrong_flow(const struct fm_flow *flow)
{
    if (flow->held_ns == 0 ||
        (flow->blocks > 0 &&
         (double)flow->held_ns <= (double)flow->longest_ns * (double)flow->blocks))
        return NULL;
    return g_strdup_printf("from call site dynamic %" PRIu32 " to %" PRIu32 ": %" PRIu64
                           " blocks, live for %" PRIu64 " ns, the longest for %" PRIu64,
                           flow->from, flow->to, flow->blocks, flow->held_ns, flow->longest_ns);
}

void fm_invariants_of_lifetimes(const struct fm_profile *profile, unsigned live_blocks, GArray *to)
{
    const struct fm_heap_info *info = &profile->run_info.heap_info;
    uint64_t tolerance = tolerated(profile), timed = 0;
    char *wrong = NULL;
    if (info->lifetimes.count == 0)
        return;
    for (uint32_t i = 0; i < info->lifetimes.count && wrong == NULL; i++) {
        const struct fm_durations *d = &info->lifetimes.of[i];
        uint64_t gone = fm_profile_own(profile, d->csd, FM_ALLOCS) -
                        fm_profile_own(profile, d->csd, live_blocks);
        wrong = wrong_of(d, (int64_t)(gone + tolerance), tolerance);
        timed += d->timed;
    }
    for (uint32_t i = 0; i < info->flow_count && wrong == NULL; i++)
        wrong = wrong_flow(&info->flows[i]);
    struct fm_invariant invariant = {
        .name = "blocks by lifetime = timed blocks, at most the freed blocks",
        .holds = wrong == NULL,
        .detail = wrong != NULL ? wrong
                                : g_strdup_printf("%" PRIu64 " blocks of %" PRIu32 " contexts",
                                                  timed, info->lifetimes.count)};
    g_array_append_val(to, invariant);
}

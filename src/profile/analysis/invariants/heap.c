/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of the heap: no more is live than was allocated, the contexts add up to the peak, and
 * bytes freed by another context are consistent on both sides. When a program was killed, each
 * thread may have been within one event. */
#include "profile/analysis/analysis_internal.h"

#include <inttypes.h>
#include <string.h>

#include "profile/analysis/job.h"

struct measures {
    unsigned frees, live_blocks, live_bytes, peak, usable;
};

/* Takes ownership of wrong (the violation, or NULL) and right (the invariant). */
static void add(GArray *to, const char *name, char *wrong, char *right)
{
    struct fm_invariant invariant = {
        .name = name, .holds = wrong == NULL, .detail = wrong == NULL ? right : wrong};
    if (wrong != NULL)
        g_free(right);
    g_array_append_val(to, invariant);
}

static void check_contexts(const struct fm_profile *profile, const struct measures *m, GArray *to)
{
    char *wrong = NULL;
    uint64_t blocks = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count && wrong == NULL; csd++) {
        uint64_t allocs = fm_profile_own(profile, csd, FM_ALLOCS);
        uint64_t bytes = fm_profile_own(profile, csd, FM_WORDS);
        uint64_t live = fm_profile_own(profile, csd, m->live_blocks);
        blocks += live;
        if (live > allocs || fm_profile_own(profile, csd, m->live_bytes) > bytes ||
            fm_profile_own(profile, csd, m->peak) > bytes ||
            fm_profile_own(profile, csd, m->usable) < bytes)
            wrong = g_strdup_printf(
                "call site dynamic %u: %" PRIu64 " blocks, %" PRIu64
                " bytes allocated, but %" PRIu64 " blocks, %" PRIu64 " bytes live",
                csd, allocs, bytes, live, fm_profile_own(profile, csd, m->live_bytes));
    }
    add(to, "no context has more live memory than it allocated", wrong,
        g_strdup_printf("%" PRIu64 " live blocks", blocks));
}

static void check_peak(const struct fm_profile *profile, const struct measures *m, GArray *to)
{
    uint64_t sum = 0, live = 0, peak = profile->run_info.peak_bytes;
    uint64_t error = profile->run_info.heap_info.whole.peak_error;
    if (peak == 0) /* a phase: not recorded */
        return;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        sum += fm_profile_own(profile, csd, m->peak);
        live += fm_profile_own(profile, csd, m->live_bytes);
    }
    bool holds = (sum > peak ? sum - peak : peak - sum) <= error && live <= peak + error;
    char *text = g_strdup_printf("%" PRIu64 " bytes in contexts, %" PRIu64 " in all, %" PRIu64
                                 " at the end; exact to %" PRIu64,
                                 sum, peak, live, error);
    add(to, "live memory of all contexts at the peak = the peak", holds ? NULL : text,
        holds ? text : NULL);
}

static void check_flows(const struct fm_profile *profile, const struct measures *m, GArray *to)
{
    const struct fm_heap_info *info = &profile->run_info.heap_info;
    g_autofree uint64_t *out = g_new0(uint64_t, profile->csd_count + 1u);
    g_autofree uint64_t *in = g_new0(uint64_t, profile->csd_count + 1u);
    uint64_t blocks = 0;
    char *wrong = NULL;
    for (uint32_t i = 0; i < info->flow_count; i++) {
        out[info->flows[i].from] += info->flows[i].blocks;
        in[info->flows[i].to] += info->flows[i].blocks;
        blocks += info->flows[i].blocks;
    }
    for (uint32_t csd = 1; csd <= profile->csd_count && wrong == NULL; csd++) {
        uint64_t gone =
            fm_profile_own(profile, csd, FM_ALLOCS) - fm_profile_own(profile, csd, m->live_blocks);
        uint64_t frees = fm_profile_own(profile, csd, m->frees);
        if (out[csd] > gone + 1 || in[csd] > frees)
            wrong = g_strdup_printf("call site dynamic %u: %" PRIu64
                                    " of its blocks were freed, %" PRIu64
                                    " with a place; it freed %" PRIu64 ", %" PRIu64 " with a place",
                                    csd, gone, out[csd], frees, in[csd]);
    }
    add(to, "blocks with a known place of free belong to both contexts", wrong,
        g_strdup_printf("%" PRIu64 " block%s in %u pair%s of contexts", blocks,
                        blocks == 1 ? "" : "s", info->flow_count,
                        info->flow_count == 1 ? "" : "s"));
}

/* In a program that was killed, or ended while other threads ran, each thread may have been within
 * one event. */
static uint64_t events_open(const struct fm_profile *profile)
{
    const struct fm_run_info *info = &profile->run_info;
    uint64_t runs = 1, threads = info->wait_info.thread_count;
    for (uint32_t i = 0; i < info->part_count; i++)
        runs += info->parts[i].times;
    return runs * MAX(threads, 8);
}

/* Frees are counted both at the allocating and at the freeing context. */
static void check_frees(const struct fm_profile *profile, const struct measures *m, GArray *to)
{
    const struct fm_heap_whole *whole = &profile->run_info.heap_info.whole;
    uint64_t frees = 0, gone = 0, most = events_open(profile);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        frees += fm_profile_own(profile, csd, m->frees);
        gone +=
            fm_profile_own(profile, csd, FM_ALLOCS) - fm_profile_own(profile, csd, m->live_blocks);
    }
    uint64_t given = frees + whole->unseen_blocks + whole->untold_blocks;
    uint64_t known = gone + whole->unknown_blocks + whole->inherited_blocks;
    bool holds = (given > known ? given - known : known - given) <= most;
    char *text = g_strdup_printf("%" PRIu64 " freed, %" PRIu64 " not live any more where they were "
                                 "allocated or of unknown origin",
                                 given, known);
    add(to, "blocks that contexts freed = blocks that are not live any more", holds ? NULL : text,
        holds ? text : NULL);
}

void fm_invariants_of_heap(const struct fm_profile *profile, GArray *to)
{
    const struct measures m = {.frees = fm_profile_measure(profile, FM_FREES),
                               .live_blocks = fm_profile_measure(profile, FM_LIVE_BLOCKS),
                               .live_bytes = fm_profile_measure(profile, FM_LIVE_BYTES),
                               .peak = fm_profile_measure(profile, FM_PEAK_BYTES),
                               .usable = fm_profile_measure(profile, FM_USABLE_BYTES)};
    if (m.live_blocks == 0 || m.live_bytes == 0 || m.peak == 0 || m.usable == 0 || m.frees == 0 ||
        !profile->run_info.heap_info.recorded) /* not recorded */
        return;
    check_contexts(profile, &m, to);
    if (profile->run_info.part_count == 0) /* in a sum each run had its own peak */
        check_peak(profile, &m, to);
    if (profile->run_info.peak_bytes != 0) /* in a phase, blocks may be older */
        check_frees(profile, &m, to);
    check_flows(profile, &m, to);
    fm_invariants_of_lifetimes(profile, m.live_blocks, to);
}

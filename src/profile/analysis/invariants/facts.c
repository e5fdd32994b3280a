/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of the facts after the nodes: recursion depths of cliques, parts of a sum. */
#include "profile/analysis/analysis_internal.h"

#include "profile/analysis/job.h"

static void add(GArray *to, const char *name, char *wrong, char *right)
{
    struct fm_invariant invariant = {
        .name = name, .holds = wrong == NULL, .detail = wrong != NULL ? wrong : right};
    if (wrong != NULL)
        g_free(right);
    g_array_append_val(to, invariant);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Calls that entered each proc dynamic, and whether one came from its own clique. */
struct entered {
    uint64_t *calls;
    bool *within;
};

static void look_at_calls(const struct fm_analysis *a, struct entered *entered)
{
    const struct fm_profile *profile = a->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd];
        entered->calls[callee] =
            sum(entered->calls[callee], fm_profile_own(profile, csd, FM_CALLSEQS));
        if (a->pd_clique[callee] == a->pd_clique[profile->csd_caller[csd]])
            entered->within[callee] = true;
    }
}

/* NULL: nothing is wrong. */
static char *fault_of_depths(const struct fm_depths *depths, const struct entered *entered)
{
    uint64_t calls = depths->unknown;
    unsigned classes = 0;
    for (unsigned k = 0; k < FM_DEPTH_CLASSES; k++) {
        calls = sum(calls, depths->calls[k]);
        classes = depths->calls[k] != 0 ? k + 1 : classes;
    }
    if (!entered->within[depths->pd])
        return g_strdup_printf(
            "proc dynamic %u has depths of recursion, but no call leads back to it", depths->pd);
    if (classes != (depths->greatest == 0 ? 0 : g_bit_storage(depths->greatest)))
        return g_strdup_printf("proc dynamic %u: maximum depth %" G_GUINT64_FORMAT
                               ", but its counts by depth end at %" G_GUINT64_FORMAT,
                               depths->pd, depths->greatest,
                               classes == 0 ? 0 : ((uint64_t)1 << classes) - 1);
    if (calls > entered->calls[depths->pd])
        return g_strdup_printf("proc dynamic %u: %" G_GUINT64_FORMAT
                               " calls by depth, %" G_GUINT64_FORMAT " entered it",
                               depths->pd, calls, entered->calls[depths->pd]);
    return NULL;
}

static void check_depths(const struct fm_analysis *a, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    const struct fm_run_info *run_info = &profile->run_info;
    if (run_info->depths_count == 0)
        return;
    struct entered entered = {g_new0(uint64_t, profile->pd_count + 1u),
                              g_new0(bool, profile->pd_count + 1u)};
    char *fault = NULL;
    look_at_calls(a, &entered);
    for (uint32_t i = 0; i < run_info->depths_count && fault == NULL; i++)
        fault = fault_of_depths(&run_info->depths[i], &entered);
    g_free(entered.calls);
    g_free(entered.within);
    add(to, "depths belong to recursive calls and end at the maximum depth", fault,
        g_strdup_printf("%u proc dynamic%s", run_info->depths_count,
                        run_info->depths_count == 1 ? "" : "s"));
}

static void check_unhooked(const struct fm_profile *profile, GArray *to)
{
    const struct fm_unhooked_info *info = &profile->run_info.unhooked;
    if (!info->recorded)
        return;
    uint64_t *quanta = g_new0(uint64_t, profile->csd_count + (gsize)1);
    uint64_t all = info->unknown_quanta;
    char *fault = NULL;
    for (uint32_t i = 0; i < info->count; i++) {
        quanta[info->of[i].csd] = sum(quanta[info->of[i].csd], info->of[i].quanta);
        all = sum(all, info->of[i].quanta);
    }
    for (uint32_t csd = 1; csd <= profile->csd_count && fault == NULL; csd++)
        if (quanta[csd] > fm_profile_own(profile, csd, FM_QUANTA))
            fault = g_strdup_printf("call site dynamic %u: %" G_GUINT64_FORMAT
                                    " quanta in code without hooks, but it has %" G_GUINT64_FORMAT,
                                    csd, quanta[csd], fm_profile_own(profile, csd, FM_QUANTA));
    if (fault == NULL && all > profile->user_quanta)
        fault = g_strdup_printf("%" G_GUINT64_FORMAT
                                " quanta in code without hooks or unknown code, but the program "
                                "has %" G_GUINT64_FORMAT,
                                all, profile->user_quanta);
    g_free(quanta);
    add(to, "time in code without hooks is part of its callers' own", fault,
        g_strdup_printf("%u places in contexts", info->count));
}

static void check_parts(const struct fm_profile *profile, GArray *to)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint64_t duration = 0, peak = 0, times = 0;
    if (run_info->part_count == 0)
        return;
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        duration = MAX(duration, run_info->parts[i].duration_ns);
        peak = MAX(peak, run_info->parts[i].peak_bytes);
        times = sum(times, run_info->parts[i].times);
    }
    char *fault = NULL;
    if (duration != run_info->duration_ns)
        fault = g_strdup_printf("the longest part lasted %" G_GUINT64_FORMAT
                                " ns, the sum says %" G_GUINT64_FORMAT,
                                duration, run_info->duration_ns);
    else if (peak != run_info->peak_bytes)
        fault = g_strdup_printf("the largest peak of a part is %" G_GUINT64_FORMAT
                                " bytes, the sum says %" G_GUINT64_FORMAT,
                                peak, run_info->peak_bytes);
    add(to, "duration and peak of a sum are the maxima of its parts", fault,
        g_strdup_printf("%" G_GUINT64_FORMAT " profiles added up", times));
}

/* Checks the statistics of a context and a measure; NULL: no error. */
static char *fault_of_ranks(const struct fm_analysis *a, uint32_t row, unsigned m)
{
    const struct fm_rank_info *info = &a->profile->run_info.rank_info;
    const struct fm_rank_moments *of = fm_rank_moments(info, row, m);
    uint32_t pd = info->pds[row], strip = fm_rank_info_strip(info, row);
    const char *name = a->profile->measures[info->measures[m]].name;
    uint64_t total = (uint64_t)fm_analysis_clique_total(a, a->pd_clique[pd],
                                                        (enum fm_measure_id)info->measures[m]);
    if (of->sum[1] == 0 && of->sum[0] != total) /* else the total is saturated */
        return g_strdup_printf("proc dynamic %u, %s: the ranks have %" G_GUINT64_FORMAT
                               ", the profile %" G_GUINT64_FORMAT,
                               pd, name, of->sum[0], total);
    if (!fm_rank_moments_hold(of, info->count))
        return g_strdup_printf("proc dynamic %u, %s: the mean is not between %" G_GUINT64_FORMAT
                               " and %" G_GUINT64_FORMAT ", or the squares are too small",
                               pd, name, of->least, of->greatest);
    if (strip != UINT32_MAX && fm_rank_strip(info, strip, m)[of->place] != of->greatest)
        return g_strdup_printf("proc dynamic %u, %s: the maximum is not the value of its rank", pd,
                               name);
    return NULL;
}

static void check_ranks(const struct fm_analysis *a, GArray *to)
{
    const struct fm_rank_info *info = &a->profile->run_info.rank_info;
    char *fault = NULL;
    for (uint32_t row = 0; row < info->row_count && fault == NULL; row++) {
        for (unsigned m = 0; m < info->measure_count && fault == NULL; m++)
            fault = fault_of_ranks(a, row, m);
    }
    if (info->count > 0)
        add(to, "values of the ranks add up to the profile, minimum <= mean <= maximum", fault,
            g_strdup_printf("%u contexts of %" G_GUINT64_FORMAT " ranks", info->row_count,
                            info->count));
}

void fm_invariants_of_facts(const struct fm_analysis *a, GArray *to)
{
    check_depths(a, to);
    check_unhooked(a->profile, to);
    check_parts(a->profile, to);
    check_ranks(a, to);
}

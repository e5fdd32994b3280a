/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of waits: the kinds of a context add up to its measures, and the time blamed on locks
 * is part of it. */
#include "profile/analysis/analysis_internal.h"

#include <math.h>
#include <string.h>

#include "profile/analysis/job.h"

/* Sums by csd: waits, then nanoseconds. */
static uint64_t *sums_by_csd(const struct fm_profile *profile)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    uint64_t *sums = g_new0(uint64_t, 2 * ((size_t)profile->csd_count + 1));
    for (uint32_t i = 0; i < info->waiting_count; i++) {
        uint64_t *sum = &sums[2 * (size_t)info->waiting[i].csd];
        sum[0] += info->waiting[i].waits;
        sum[1] += info->waiting[i].ns;
    }
    return sums;
}

static void add(GArray *to, const char *name, char *wrong, const char *right)
{
    struct fm_invariant invariant = {
        .name = name, .holds = wrong == NULL, .detail = wrong != NULL ? wrong : g_strdup(right)};
    g_array_append_val(to, invariant);
}

static void check_kinds(const struct fm_profile *profile, unsigned waits, unsigned ns, GArray *to)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    g_autofree uint64_t *sums = sums_by_csd(profile);
    g_autofree char *right = g_strdup_printf("%u kinds of wait in %u call site dynamics",
                                             info->waiting_count, profile->csd_count);
    char *wrong = NULL;
    for (uint32_t csd = 1; csd <= profile->csd_count && wrong == NULL; csd++) {
        uint64_t all = fm_profile_own(profile, csd, waits), time = fm_profile_own(profile, csd, ns);
        const uint64_t *sum = &sums[2 * (size_t)csd];
        if (sum[0] != all || sum[1] != time)
            wrong = g_strdup_printf("call site dynamic %u: %" G_GUINT64_FORMAT
                                    " waits of all kinds, %" G_GUINT64_FORMAT " in its measure",
                                    csd, sum[0], all);
    }
    add(to, "waits of all kinds = waits of each context", wrong, right);
}

static void check_longest(const struct fm_profile *profile, GArray *to)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    char *wrong = NULL;
    for (uint32_t i = 0; i < info->waiting_count && wrong == NULL; i++) {
        const struct fm_waiting *w = &info->waiting[i];
        /* Each is rounded to nanoseconds by itself. */
        bool holds = w->waits <= w->calls && w->longest_ns <= w->ns + 1 && w->left <= w->waits &&
                     (double)w->ns <= ((double)w->longest_ns + 1) * (double)w->waits + 1;
        if (!holds)
            wrong = g_strdup_printf("call site dynamic %u, %s: %" G_GUINT64_FORMAT
                                    " ns in %" G_GUINT64_FORMAT " waits of %" G_GUINT64_FORMAT
                                    " calls, the longest %" G_GUINT64_FORMAT,
                                    w->csd, w->kind, w->ns, w->waits, w->calls, w->longest_ns);
    }
    add(to, "no wait is longer than the longest or than all waits together", wrong,
        "of each kind in each context");
}

static void check_blames(const struct fm_profile *profile, GArray *to)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    g_autoptr(GHashTable) blamed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    char *wrong = NULL;
    for (uint32_t i = 0; i < info->blame_count; i++) {
        g_autofree char *key = g_strdup_printf("%u %s", info->blames[i].csd, info->blames[i].kind);
        uint64_t *waits = g_hash_table_lookup(blamed, key);
        if (waits == NULL) {
            waits = g_new0(uint64_t, 1);
            g_hash_table_insert(blamed, g_steal_pointer(&key), waits);
        }
        *waits += info->blames[i].waits;
    }
    for (uint32_t i = 0; i < info->waiting_count && wrong == NULL; i++) {
        g_autofree char *key =
            g_strdup_printf("%u %s", info->waiting[i].csd, info->waiting[i].kind);
        const uint64_t *waits = g_hash_table_lookup(blamed, key);
        if (waits != NULL && *waits > info->waiting[i].waits)
            wrong = g_strdup_printf("call site dynamic %u, %s: %" G_GUINT64_FORMAT
                                    " waits for locks of %" G_GUINT64_FORMAT,
                                    info->waiting[i].csd, info->waiting[i].kind, *waits,
                                    info->waiting[i].waits);
        g_hash_table_remove(blamed, key);
    }
    if (wrong == NULL && g_hash_table_size(blamed) > 0)
        wrong = g_strdup("waits for locks in a context that has no such waits");
    g_autofree char *right = g_strdup_printf("%u locks", info->lock_count);
    add(to, "waits for each lock are among those of their context", wrong, right);
}

static void check_threads(const struct fm_profile *profile, unsigned ns, GArray *to)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    uint64_t by_thread = 0, by_context = 0;
    for (uint32_t i = 0; i < info->thread_count; i++)
        by_thread += info->threads[i].wait_ns;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        by_context += fm_profile_own(profile, csd, ns);
    char *text = g_strdup_printf("%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " ns", by_thread,
                                 by_context);
    struct fm_invariant invariant = {.name = "waiting of all threads = waiting of all contexts",
                                     .holds = by_thread == by_context,
                                     .detail = text};
    g_array_append_val(to, invariant);
}

#define WORST_TICK_NS 1e7

/* The time of calls that wait is a processor's counter's. */
static double most_of(const struct fm_thread_time *thread)
{
    return 1.01 * (double)thread->wall_ns + WORST_TICK_NS;
}

/* How much of its CPU time fell into such calls is sampled. */
static double slack_of(const struct fm_thread_time *thread)
{
    return WORST_TICK_NS + 5 * WORST_TICK_NS * sqrt((double)thread->inside_ns / WORST_TICK_NS);
}

/* A thread waits, runs, or neither. In a phase that begins later, CPU time may belong to the time
 * before: it is known only as of the last tick, and ticks rarely hit short runs on a CPU. */
static void check_walls(const struct fm_profile *profile, GArray *to)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    char *wrong = NULL;
    for (uint32_t i = 0; i < info->thread_count && wrong == NULL; i++) {
        const struct fm_thread_time *thread = &info->threads[i];
        double most = most_of(thread);
        double busy = (double)thread->cpu_ns + (double)thread->wait_ns - (double)thread->inside_ns;
        bool too_busy = !profile->run_info.extent.later && busy > most + slack_of(thread);
        if ((double)thread->wait_ns > most || too_busy)
            wrong = g_strdup_printf(
                "%s: of %" G_GUINT64_FORMAT " ns it ran %" G_GUINT64_FORMAT
                " ns and waited %" G_GUINT64_FORMAT " ns, both at once %" G_GUINT64_FORMAT " ns",
                thread->name, thread->wall_ns, thread->cpu_ns, thread->wait_ns, thread->inside_ns);
    }
    g_autofree char *right = g_strdup_printf("%u threads", info->thread_count);
    add(to, "no thread waits and runs longer than it exists", wrong, right);
}

/* Upper limit of unrecorded sleep. A thread's CPU time may exceed its lifetime minus its waits: the
 * CPU time within waits is sampled, and that of a phase may belong to the time before. It did not
 * sleep then, but in a sum it would reduce the time of threads that did. So for a sum only waits
 * are subtracted. */
static uint64_t sleep_at_most(const struct fm_thread_time *thread, bool is_sum)
{
    if (!is_sum)
        return fm_thread_time_unseen(thread);
    double waited = (double)thread->wait_ns - (double)thread->inside_ns;
    return (uint64_t)MAX(most_of(thread) - MAX(waited, 0), 0);
}

/* Other sleep is sampled and must not exceed the threads' sleep. */
static void check_sleeps(const struct fm_profile *profile, GArray *to)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    uint64_t by_thread = 0, by_context = 0;
    for (uint32_t i = 0; i < info->thread_count; i++)
        by_thread += sleep_at_most(&info->threads[i], profile->run_info.part_count > 0);
    for (uint32_t i = 0; i < info->sleep_count; i++)
        by_context += info->sleeps[i].ns;
    char *text =
        g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " ns", by_context, by_thread);
    struct fm_invariant invariant = {.name = "sleep by context is part of the threads' other sleep",
                                     .holds = by_context <= by_thread,
                                     .detail = text};
    if (info->sleep_count > 0)
        g_array_append_val(to, invariant);
    else
        g_free(text);
}

void fm_invariants_of_waits(const struct fm_profile *profile, GArray *to)
{
    unsigned waits = fm_profile_measure(profile, FM_WAITS),
             ns = fm_profile_measure(profile, FM_WAIT_NS);
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    if (waits == 0 || ns == 0 || info->thread_count == 0) /* not recorded */
        return;
    check_kinds(profile, waits, ns, to);
    check_longest(profile, to);
    check_blames(profile, to);
    check_threads(profile, ns, to);
    check_walls(profile, to);
    check_sleeps(profile, to);
}

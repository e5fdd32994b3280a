/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/run/run.h"

#include "profile/digest/processes/roles.h"
#include "profile/digest/waiting.h"

#define STOPPED_SHARE 0.01 /* less is not worth saying */

/* The mark after number i that begins a phase, as snapshots do not; mark_count = none. */
static uint32_t next_phase(const struct fm_run_info *run_info, uint32_t i)
{
    while (i < run_info->mark_count && run_info->marks[i].snapshot != 0)
        i++;
    return i;
}

GArray *fm_run_phases(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    GArray *phases = g_array_new(FALSE, FALSE, sizeof(struct fm_phase));
    uint32_t i = next_phase(run_info, 0);
    struct fm_phase phase = {0};
    uint64_t quanta_before = 0;
    bool last = i == run_info->mark_count;
    while (!last) {
        last = i == run_info->mark_count;
        const struct fm_mark *end = last ? NULL : &run_info->marks[i];
        uint64_t quanta = last ? profile->user_quanta : end->quanta;
        phase.to_ns = last ? run_info->duration_ns : end->ns;
        /* Ticks of other threads may occur between a mark and the end. */
        phase.quanta = quanta > quanta_before ? quanta - quanta_before : 0;
        g_array_append_val(phases, phase);
        if (last)
            break;
        quanta_before = quanta;
        phase = (struct fm_phase){.name = end->name, .from_ns = end->ns};
        i = next_phase(run_info, i + 1);
    }
    g_assert(phases->len == 0 || phases->len >= 2);
    return phases;
}

/* Time that threads waited for a CPU, in seconds; 0 if it is too little to matter, or unknown for
 * some thread. */
static double without_processor(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint64_t queued = 0;
    for (uint32_t i = 0; i < run_info->wait_info.thread_count; i++) {
        const struct fm_thread_time *time = &run_info->wait_info.threads[i];
        if (!time->queue_known)
            return 0;
        queued += fm_thread_time_queued(time);
    }
    return queued * 100 < fm_profile_recorded_ns(profile) ? 0 : (double)queued / 1e9;
}

/* Time that threads slept outside of recorded waits, by samples, in seconds; 0 if it is too
 * little. */
static double other_sleep(const struct fm_profile *profile)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    uint64_t slept = 0;
    for (uint32_t i = 0; i < info->sleep_count; i++)
        slept += info->sleeps[i].ns;
    return slept * 100 < fm_profile_recorded_ns(profile) ? 0 : (double)slept / 1e9;
}

/* The wall time of a killed program is not recorded. */
static void append_wall(const struct fm_profile *profile, GString *text)
{
    double recorded = (double)fm_profile_recorded_ns(profile) / 1e9;
    double whole = (double)profile->run_info.duration_ns / 1e9;
    if (recorded > 0 && whole > 0 && recorded < (1 - STOPPED_SHARE) * whole)
        g_string_printf(text, "recorded %.2f s of %.2f s: ", recorded, whole);
    else if (whole > 0)
        g_string_printf(text, "%.2f s wall: ", whole);
    else if (recorded > 0)
        g_string_printf(text, "recorded %.2f s: ", recorded);
}

bool fm_run_cpu(const struct fm_profile *profile, uint64_t *ret_ns)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    uint64_t ns = 0;
    for (uint32_t i = 0; i < info->thread_count; i++)
        ns += info->threads[i].cpu_ns;
    if (ns == 0)
        return false;
    *ret_ns = ns;
    return true;
}

static void append_cpu(const struct fm_profile *profile, GString *text)
{
    uint64_t exact, ticks = profile->user_quanta + profile->instrumentation_quanta;
    if (fm_run_cpu(profile, &exact))
        g_string_append_printf(text, "%.2f s CPU, ", (double)exact / 1e9);
    else if (profile->ticks_per_second > 0) /* ticks of other events say nothing of it */
        g_string_append_printf(text, "about %.2f s CPU, ",
                               (double)ticks / (double)profile->ticks_per_second);
}

char *fm_run_sentence(const struct fm_profile *profile)
{
    g_autoptr(FmWaitDigest) digest = fm_wait_digest_new(profile);
    g_autofree char *waiting = fm_wait_sentence(digest);
    if (waiting == NULL)
        return NULL;
    GString *text = g_string_new(NULL);
    append_wall(profile, text);
    append_cpu(profile, text);
    g_string_append(text, waiting);
    double slept = other_sleep(profile);
    if (slept >= 0.01)
        g_string_append_printf(text, ", about %.2f s of other sleep", slept);
    double queued = without_processor(profile);
    if (queued >= 0.01)
        g_string_append_printf(text, ", up to %.2f s ready but without a processor", queued);
    if (fm_run_processes(profile) > 1)
        g_string_append(text, ", all processes together");
    else if (profile->run_info.wait_info.thread_count > 1)
        g_string_append(text, ", all threads together");
    return g_string_free(text, FALSE);
}

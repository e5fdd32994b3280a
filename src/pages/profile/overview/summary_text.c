/* SPDX-License-Identifier: Apache-2.0 */
/* The first page of a C program in a sentence or two. */
#include "pages/profile/overview/summary_text.h"

#include "digest/paths.h"

#define WAITED_SHARE 0.5 /* of the run: worth saying */

static uint32_t count_threads(const struct fm_analysis *a)
{
    uint32_t threads = 0, root = a->pd_clique[a->profile->root_pd];
    for (uint32_t i = 1; i <= a->clique_count; i++)
        threads += i != root && fm_view_is_outside(a, i);
    return threads;
}

/* Threads stand among them. */
static uint32_t count_functions(const struct fm_profile *profile)
{
    uint32_t functions = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        functions += profile->ps[ps].file[0] || profile->ps[ps].decl_module[0];
    return functions;
}

static char *text_of(const struct fm_page *page, enum fm_query_measure measure)
{
    struct fm_measured measured;
    fm_measured_init(&measured, page->recording, measure);
    return fm_measured_text(&measured, measured.whole);
}

char *fm_summary_lead(const struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    g_autofree char *time = text_of(page, FM_QUERY_BY_TIME);
    g_autofree char *calls = text_of(page, FM_QUERY_BY_CALLS);
    g_autofree char *bytes = text_of(page, FM_QUERY_BY_BYTES);
    g_autofree char *pieces = fm_format_int(fm_cost_total(&page->analysis->root_total, FM_ALLOCS));
    g_autofree char *functions = fm_format_int(count_functions(profile));
    g_autofree char *peak =
        fm_format_bytes((int64_t)MIN(profile->run_info.peak_bytes, (uint64_t)INT64_MAX));
    g_autoptr(GString) lead = g_string_new(NULL);
    if (fm_measure_is_recorded(page->recording, FM_QUERY_BY_TIME))
        g_string_append_printf(lead, "%s of CPU time in ", time);
    g_string_append_printf(lead, "%s of %s functions", calls, functions);
    if (fm_measure_is_recorded(page->recording, FM_QUERY_BY_BYTES)) {
        g_string_append_printf(lead, "; %s allocated in %s pieces", bytes, pieces);
        if (profile->run_info.peak_bytes > 0)
            g_string_append_printf(lead, ", at most %s at once", peak);
    }
    g_string_append_c(lead, '.');
    return g_string_free(g_steal_pointer(&lead), FALSE);
}

static void append_part(GString *out, const char *text)
{
    g_string_append_printf(out, "%s%s", out->len ? " \u00b7 " : "", text);
}

static void append_times(const struct fm_page *page, GString *out)
{
    const struct fm_profile *profile = page->profile;
    if (profile->run_info.duration_ns == 0)
        return;
    double tick = profile->ticks_per_second > 0 ? 1.0 / (double)profile->ticks_per_second : 0;
    double whole = (double)profile->run_info.duration_ns / 1e9;
    double recording = (double)profile->instrumentation_quanta * tick;
    g_autofree char *run = fm_format_float(whole, 2);
    g_autofree char *spent = fm_format_float(recording, 2);
    g_autofree char *text =
        recording >= 0.005
            ? g_strdup_printf("%s s from start to end; %s s of CPU went into recording and are "
                              "left out",
                              run, spent)
            : g_strdup_printf("%s s from start to end", run);
    append_part(out, text);
}

char *fm_summary_details(const struct fm_page *page)
{
    const struct fm_deep_recording *recording = page->recording;
    const struct fm_profile *profile = page->profile;
    uint32_t threads = count_threads(page->analysis);
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree char *count =
        g_strdup_printf("%" PRIu32 " thread%s", threads, threads == 1 ? "" : "s");
    if (threads > 0)
        append_part(out, count);
    append_times(page, out);
    uint64_t known = profile->run_info.sample_count;
    g_autofree char *samples = fm_format_int((int64_t)(known > 0 ? known : profile->user_quanta));
    g_autofree char *exact =
        g_strdup_printf("calls and bytes are exact, time is sampled (%s samples)", samples);
    append_part(out, exact);
    unsigned broken = 0;
    for (unsigned i = 0; i < recording->invariant_count; i++)
        broken += !recording->invariants[i].holds;
    if (recording->known >= FM_KNOWN_CHECKED && broken == 0)
        append_part(out, "\u2713 all figures agree");
    return g_string_free(g_steal_pointer(&out), FALSE);
}

char *fm_summary_waiting(const struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    double tick = profile->ticks_per_second > 0 ? 1.0 / (double)profile->ticks_per_second : 0;
    double cpu = (double)(profile->user_quanta + profile->instrumentation_quanta) * tick;
    double whole = (double)profile->run_info.duration_ns / 1e9;
    if (!(whole > 0.1) || tick == 0 || cpu >= (1 - WAITED_SHARE) * whole)
        return NULL;
    g_autofree char *used = fm_format_float(cpu, 2);
    g_autofree char *run = fm_format_float(whole, 2);
    return g_strdup_printf(
        "It used %s s of CPU in %s s. In the rest it waited, or other programs had "
        "the processor: which, and where, was not recorded.",
        used, run);
}

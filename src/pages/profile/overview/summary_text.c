/* SPDX-License-Identifier: Apache-2.0 */
/* The first page of a C program in a sentence or two. */
#include "pages/profile/overview/summary_text.h"

#include "pages/profile/parts/names.h"
#include "profile/digest/run/held.h"
#include "profile/digest/hottest.h"
#include "profile/digest/paths.h"
#include "profile/digest/processes/roles.h"
#include "profile/digest/run/run.h"

#define HELD_BY_ONE 0.9  /* share of what was never freed */
#define WAITED_SHARE 0.5 /* minimum share of the run that is mentioned */

/* Counts the call trees that begin with different functions: those called by the root. */
static uint32_t count_beginnings(const struct fm_analysis *a)
{
    const struct fm_profile *profile = a->profile;
    uint32_t threads = 0, root = profile->root_pd;
    if (fm_profile_is(profile, FM_NATURE_ARCS))
        return 0;
    uint32_t slots = profile->pd_slot_first[root + 1] - profile->pd_slot_first[root];
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, root, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t child = fm_analysis_csd_child_clique(a, csds[i]);
            threads += child != 0 && a->clique_parent[child] == csds[i] &&
                       child != a->pd_clique[root] && fm_digest_is_outside(a, child);
        }
    }
    return threads;
}

static uint32_t count_functions(const struct fm_profile *profile)
{
    uint32_t functions = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        functions += fm_profile_is_function(profile, ps);
    return functions;
}

struct called {
    uint64_t calls; /* as fm_profile_calls_of_all(), without looking at each context */
    uint32_t functions;
    uint32_t uncounted; /* functions that ran, but no call was counted: all are inlined */
};

static struct called count_calls(const struct fm_analysis *a)
{
    const struct fm_profile *profile = a->profile;
    struct called called = {0};
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        struct fm_cost cost;
        if (!fm_profile_is_function(profile, ps) || ps == profile->pd_ps[profile->root_pd])
            continue;
        fm_analysis_ps_cost(a, ps, &cost);
        called.calls += (uint64_t)cost.calls;
        called.functions += cost.calls > 0;
        called.uncounted += cost.calls == 0 && a->ps_pd_first[ps + 1] > a->ps_pd_first[ps];
    }
    if (fm_profile_is(profile, FM_NATURE_ARCS)) { /* nobody counted calls of the first */
        called.functions += called.uncounted;
        called.uncounted = 0;
    }
    return called;
}

static char *text_of(const struct fm_page *page, enum fm_query_measure measure)
{
    struct fm_measured measured;
    fm_measured_init(&measured, page->recording, measure);
    return fm_measured_text(&measured, measured.whole);
}

static const char *s_of(int64_t count)
{
    return count == 1 ? "" : "s";
}

/* "; 45.7 MiB of it never freed, nearly all by open_session, which kept 800,000 of 1,200,000
 * blocks". What few contexts hold is said behind, and nothing where there is no more than that. */
static void append_held(const struct fm_page *page, GString *lead)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_held_words *words = fm_held_words(profile);
    unsigned measure = fm_profile_measure(profile, FM_LIVE_BYTES);
    if (measure == 0)
        return;
    if (fm_cost_total(&page->analysis->root_total, (enum fm_measure_id)measure) == 0) {
        g_string_append_printf(lead, ", %s", words->all);
        return;
    }
    g_autoptr(FmHeldDigest) held = fm_held_digest_new(profile, page->recording->hot);
    if (held->bytes == 0)
        return;
    g_autofree char *bytes = fm_format_bytes_said((int64_t)held->bytes);
    g_string_append_printf(lead, "; %s of it %s", bytes, words->held);
    double share = (double)held->ps_bytes / (double)held->bytes;
    if (share >= HELD_BY_ONE) {
        g_autofree char *kept = fm_format_int((int64_t)held->ps_blocks);
        g_autofree char *made = fm_format_int((int64_t)held->ps_allocs);
        g_string_append_printf(lead, ", %s by %s, which kept %s of %s blocks",
                               share >= 1 ? "all" : "nearly all", fm_shown_name(page, held->ps),
                               kept, made);
    }
    if (held->once_blocks > 0) {
        g_autofree char *more = fm_format_bytes_said((int64_t)held->once_bytes);
        g_autofree char *count = fm_format_int((int64_t)held->once_blocks);
        g_string_append_printf(lead, "; %s more in %s block%s, few in each place", more, count,
                               s_of((int64_t)held->once_blocks));
    }
}

/* "1,200 calls of 12 functions (and of 3 inlined ones, not counted)" */
static void append_called(const struct fm_analysis *a, GString *lead)
{
    const bool counted = fm_profile_knows(a->profile, FM_EXITS);
    struct called called = {.functions = counted ? 0 : count_functions(a->profile)};
    if (counted)
        called = count_calls(a);
    g_autofree char *calls = fm_format_int((int64_t)called.calls);
    g_autofree char *functions = fm_format_int(called.functions);
    g_autofree char *uncounted = fm_format_int(called.uncounted);
    if (counted)
        g_string_append_printf(lead, "%s call%s of ", calls, s_of((int64_t)called.calls));
    g_string_append_printf(lead, "%s function%s", functions, s_of(called.functions));
    if (called.uncounted > 0)
        g_string_append_printf(lead, " (and of %s %s, not counted)", uncounted,
                               called.uncounted == 1 ? "inlined one" : "inlined ones");
}

char *fm_summary_lead(const struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    g_assert(page->recording->known >= FM_KNOWN_COSTS);
    g_autofree char *time = text_of(page, FM_QUERY_BY_TIME);
    g_autofree char *bytes = text_of(page, FM_QUERY_BY_BYTES);
    g_autofree char *blocks = fm_format_int(fm_cost_total(&page->analysis->root_total, FM_ALLOCS));
    g_autofree char *peak =
        fm_format_bytes_said((int64_t)MIN(profile->run_info.peak_bytes, (uint64_t)INT64_MAX));
    g_autoptr(GString) lead = g_string_new(NULL);
    uint64_t exact;
    if (fm_measure_is_recorded(page->recording, FM_QUERY_BY_TIME))
        g_string_append_printf(lead, "%s%s in ", time,
                               profile->ticks_per_second == 0            ? ""
                               : fm_profile_is(profile, FM_NATURE_CLOCK) ? " of time"
                               : fm_run_cpu(profile, &exact)             ? " of sampled CPU time"
                                                                         : " of CPU time");
    append_called(page->analysis, lead);
    if (fm_measure_is_recorded(page->recording, FM_QUERY_BY_BYTES)) {
        g_string_append_printf(lead, "; %s allocated", bytes);
        if (fm_profile_knows(profile, FM_ALLOCS))
            g_string_append_printf(lead, " in %s block%s", blocks,
                                   s_of(fm_cost_total(&page->analysis->root_total, FM_ALLOCS)));
        if (profile->run_info.peak_bytes > 0)
            g_string_append_printf(lead, ", at most %s at once%s", peak,
                                   fm_run_processes(profile) > 1 ? " in one process" : "");
        append_held(page, lead);
    }
    g_string_append_c(lead, '.');
    return g_string_free(g_steal_pointer(&lead), FALSE);
}

static void append_part(GString *out, const char *text)
{
    g_string_append_printf(out, "%s%s", out->len ? " \u00b7 " : "", text);
}

/* Threads with the same start function are one context, and one line of a sum; their number is
 * known if each one's time was recorded. The first thread has a context of its own. */
static void append_threads(const struct fm_page *page, GString *out)
{
    const struct fm_run_info *run_info = &page->profile->run_info;
    uint32_t beginnings = count_beginnings(page->analysis),
             count = run_info->wait_info.thread_count;
    uint64_t processes = fm_run_processes(page->profile);
    if (processes > 1) { /* threads of one name are joined in a sum */
        g_autofree char *text = g_strdup_printf("%" PRIu64 " processes", processes);
        append_part(out, text);
    }
    if (run_info->part_count > 0 || beginnings == 0)
        return;
    g_autofree char *known =
        g_strdup_printf("%" PRIu32 " thread%s", MAX(count, 1), count > 1 ? "s" : "");
    g_autofree char *several =
        g_strdup_printf("threads that begin with %" PRIu32 " functions", beginnings);
    append_part(out, count > 0 || beginnings == 1 ? known : several);
}

/* NULL: not known. */
static char *say_length(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    g_autofree char *recorded = fm_format_float((double)run_info->extent.recorded_ns / 1e9, 2);
    g_autofree char *run = fm_format_float((double)run_info->duration_ns / 1e9, 2);
    if (run_info->duration_ns == 0 && run_info->extent.recorded_ns == 0)
        return NULL;
    if (run_info->duration_ns == 0)
        return g_strdup_printf("%s s recorded", recorded);
    if (strcmp(recorded, run) == 0 || run_info->extent.recorded_ns == 0)
        return g_strdup_printf("%s s from start to end", run);
    return g_strdup_printf("%s s recorded, of %s s from start to end", recorded, run);
}

static void append_times(const struct fm_page *page, GString *out)
{
    const struct fm_profile *profile = page->profile;
    g_autofree char *length = say_length(profile);
    if (length == NULL)
        return;
    double tick = profile->ticks_per_second > 0 ? 1.0 / (double)profile->ticks_per_second : 0;
    double recording = (double)profile->instrumentation_quanta * tick;
    g_autofree char *spent = fm_format_float(recording, 2);
    /* In a program of calls alone the processor does its work between the hooks' instructions. */
    const bool covers = profile->instrumentation_quanta > profile->user_quanta &&
                        fm_profile_knows(profile, FM_EXITS);
    g_autofree char *text =
        recording >= 0.005
            ? g_strdup_printf("%s; %s s of CPU went into recording and are left out%s", length,
                              spent,
                              covers ? ": so much that work of the program is among it, and its "
                                       "times are at least what is shown"
                                     : "")
            : g_strdup(length);
    append_part(out, text);
}

/* "calls and bytes are exact, ", and what is not recorded. */
static void append_exact(const struct fm_profile *profile, bool cpu, GString *out)
{
    bool calls = fm_profile_knows(profile, FM_EXITS), memory = fm_profile_knows(profile, FM_WORDS);
    const char *words[3];
    unsigned count = 0;
    if (calls)
        words[count++] = "calls";
    if (memory)
        words[count++] = "bytes";
    if (cpu)
        words[count++] = "the CPU time of the run";
    for (unsigned i = 0; i < count; i++)
        g_string_append_printf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", words[i]);
    if (count > 0)
        g_string_append(out, cpu && count == 1 ? " is exact, " : " are exact, ");
    if (!calls)
        g_string_append(out, "calls are not recorded, ");
    if (!memory)
        g_string_append(out, "memory is not recorded, ");
}

/* "calls and bytes are exact, time is sampled", or which events, and how. The sentence about the
 * run has the threads' CPU time. */
static char *which_is_sampled(const struct fm_profile *profile, bool any)
{
    const struct fm_tick_event *event = &profile->run_info.tick_event;
    uint64_t exact;
    bool cpu = !event->recorded && fm_run_cpu(profile, &exact);
    GString *out = g_string_new(NULL);
    append_exact(profile, cpu, out);
    if (!event->recorded) {
        if (!any)
            g_string_append(out, cpu ? "where it went was not sampled" : "time was not sampled");
        else
            g_string_append(out, cpu ? "where it went is sampled" : "time is sampled");
        return g_string_free(out, FALSE);
    }
    g_autofree char *every = fm_format_int((int64_t)MIN(event->period, (uint64_t)INT64_MAX));
    g_autofree char *how = event->period == 1   ? g_strdup("each looked at")
                           : event->period == 0 ? g_strdup("counted at waits and clock ticks")
                                                : g_strdup_printf("sampled each %s", every);
    g_string_append_printf(out, "%s%s are %s", fm_profile_tick_words(profile),
                           event->user_alone ? " of user code alone" : "", how);
    return g_string_free(out, FALSE);
}

char *fm_summary_details(const struct fm_page *page)
{
    const struct fm_open_profile *recording = page->recording;
    const struct fm_profile *profile = page->profile;
    g_autoptr(GString) out = g_string_new(NULL);
    append_threads(page, out);
    append_times(page, out);
    uint64_t known = profile->run_info.sample_count;
    g_autofree char *samples = fm_format_int((int64_t)(known > 0 ? known : profile->user_quanta));
    const bool any = known > 0 || profile->user_quanta > 0;
    g_autofree char *is_sampled = which_is_sampled(profile, any);
    g_autofree char *exact =
        g_strcmp0(profile->run_info.origin, FM_ORIGIN_OUTSIDE) == 0
            ? g_strdup("sampled from outside while it ran; calls and memory are not recorded")
        : profile->run_info.origin != NULL
            ? g_strdup_printf("imported from %s; figures that it lacks are not known here either%s",
                              profile->run_info.origin,
                              fm_profile_is(profile, FM_NATURE_HEAP_SAMPLED)
                                  ? "; allocations and bytes are estimates from samples"
                                  : "")
        : !any ? g_strdup(is_sampled)
               : g_strdup_printf("%s (%s sample%s)", is_sampled, samples,
                                 s_of((int64_t)(known > 0 ? known : profile->user_quanta)));
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
    double whole = (double)fm_profile_recorded_ns(profile) / 1e9;
    g_autofree char *sentence = fm_run_sentence(profile);
    g_autofree char *used = fm_format_float(cpu, 2);
    g_autofree char *run = fm_format_float(whole, 2);
    if (sentence != NULL)
        return g_strconcat(sentence, ".", NULL);
    if (!(whole > 0.1) || tick == 0 || cpu >= (1 - WAITED_SHARE) * whole)
        return NULL;
    return g_strdup_printf("It used %s s of CPU in %s s. In the rest it waited, or other programs "
                           "had the processor; details were not recorded.",
                           used, run);
}

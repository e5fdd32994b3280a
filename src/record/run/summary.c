/* SPDX-License-Identifier: Apache-2.0 */
/* A glance at a run on standard error, as a terminal is wide. Its figures come from the profile as
 * it was made: the pages' are the same, but want the file opened and all of it computed. */
#include "record/run/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile/analysis/analysis.h"
#include "base/names/names.h"
#include "base/text/shell.h"
#include "base/console/say.h"
#include "profile/digest/run/held.h"
#include "profile/digest/processes/roles.h"
#include "profile/digest/run/run.h"
#include "profile/digest/run/unhooked.h"
#include "display/ranked.h"

#define SUMMARY_ROWS 10
#define NAME_BYTES 100

/* "12.3k": four significant places are enough for a glance. */
static const char *short_number(double value, char *buffer, size_t size)
{
    static const char suffixes[] = " kMGTP";
    size_t step = 0;
    g_assert(value >= 0 && size >= 8);
    while (value >= 9999.5 && step + 2 < sizeof suffixes) {
        value /= 1000;
        step++;
    }
    if (step == 0)
        snprintf(buffer, size, "%.0f", value);
    else
        snprintf(buffer, size, "%.1f%c", value, suffixes[step]);
    return buffer;
}

/* C++ names may be longer than a screen is wide: leaves out what stands in brackets, those of
 * templates first. */
static char *folded(const char *name)
{
    GString *text = g_string_new(name);
    static const char pairs[][2] = {{'<', '>'}, {'(', ')'}};
    for (unsigned i = 0; i < G_N_ELEMENTS(pairs) && text->len > NAME_BYTES; i++) {
        g_autofree char *whole = g_strdup(text->str);
        g_string_truncate(text, 0);
        unsigned depth = 0;
        for (const char *at = whole; *at != '\0'; at++) {
            if (depth == 0 && g_str_has_suffix(text->str, "operator")) {
                size_t symbol = strncmp(at, "()", 2) == 0 ? 2 : strspn(at, "<>=-");
                g_string_append_len(text, at, (gssize)symbol);
                at += symbol;
                if (*at == '\0')
                    break;
            }
            bool arrow = at > whole && at[-1] == '-' && *at == '>';
            if (*at == pairs[i][1] && !arrow && depth > 0 && --depth == 0)
                g_string_append(text, "...");
            if (depth == 0)
                g_string_append_c(text, *at);
            if (*at == pairs[i][0])
                depth++;
        }
    }
    return g_string_free(text, FALSE);
}

/* One that another procedure's name folds into, too, stays whole. */
static char *short_name(const struct fm_profile *profile, uint32_t ps)
{
    g_assert(ps >= 1 && ps <= profile->ps_count);
    if (fm_profile_has_short_name(profile, ps))
        return fm_name_elide(fm_profile_short_name(profile, ps), NAME_BYTES);
    const char *name = profile->ps[ps].brief_name;
    char *brief = folded(name);
    for (uint32_t i = 1; strcmp(brief, name) != 0 && i <= profile->ps_count; i++) {
        g_autofree char *other = i == ps ? NULL : folded(profile->ps[i].brief_name);
        if (other != NULL && strcmp(brief, other) == 0) {
            g_free(brief);
            return g_strdup(name);
        }
    }
    return brief;
}

/* apart: its name as it stands beside the others. */
static void print_row(const struct fm_analysis *analysis, uint32_t ps, const char *apart,
                      enum fm_measure_id measure, double unit)
{
    struct fm_cost cost;
    fm_analysis_ps_cost(analysis, ps, &cost);
    g_assert(ps >= 1 && ps <= analysis->profile->ps_count);
    double all = (double)fm_cost_total(&analysis->root_total, measure);
    double own = (double)cost.own[measure], total = (double)fm_cost_total(&cost, measure);
    char own_text[32], total_text[32], calls_text[32];
    if (measure == FM_QUANTA && unit > 0) {
        snprintf(own_text, sizeof own_text, "%.2f s", own * unit);
        snprintf(total_text, sizeof total_text, "%.2f s", total * unit);
    } else {
        short_number(own, own_text, sizeof own_text);
        short_number(total, total_text, sizeof total_text);
    }
    if (all <= 0)
        all = 1;
    g_autofree char *name = fm_profile_has_short_name(analysis->profile, ps)
                                ? fm_name_elide(apart, NAME_BYTES)
                                : short_name(analysis->profile, ps);
    short_number((double)cost.calls, calls_text, sizeof calls_text);
    if (!fm_profile_knows(analysis->profile, FM_EXITS))
        g_strlcpy(calls_text, "\u2013", sizeof calls_text);
    else if (cost.inlined && cost.calls == 0)
        g_strlcpy(calls_text, "inlined", sizeof calls_text);
    else if (cost.inlined)
        g_strlcat(calls_text, "+", sizeof calls_text);
    fprintf(stderr, "%10s %5.1f%% %10s %5.1f%% %10s  %s\n", own_text, 100 * own / all, total_text,
            100 * total / all, calls_text, name);
}

/* Events other than time are named above. */
static const char *self_title(const struct fm_profile *profile, bool sampled)
{
    return !sampled ? "own calls" : profile->ticks_per_second > 0 ? "self time" : "self";
}

static const char *total_title(const struct fm_profile *profile, bool sampled)
{
    return !sampled ? "total calls" : profile->ticks_per_second > 0 ? "total time" : "total";
}

static void print_table(const struct fm_profile *profile, const struct fm_analysis *analysis)
{
    bool sampled = fm_cost_total(&analysis->root_total, FM_QUANTA) > FM_FEW_QUANTA ||
                   !fm_profile_knows(profile, FM_CALLSEQS);
    enum fm_measure_id measure = sampled ? FM_QUANTA : FM_CALLSEQS;
    double unit = profile->ticks_per_second == 0 ? 0 : 1.0 / (double)profile->ticks_per_second;
    struct fm_top_query query = {
        .kind = sampled ? FM_BY_TIME : FM_BY_CALLSEQS,
        .scope = FM_OVERALL,
        .limit = FM_LIMIT_RANK,
        .first = 1,
        .last = SUMMARY_ROWS,
    };
    g_autofree uint32_t *top = NULL;
    uint32_t count = 0;
    fm_analysis_top(analysis, &query, &top, &count);
    g_assert(count <= SUMMARY_ROWS);
    if (count == 0 && profile->run_info.origin != NULL) {
        fputs("no CPU time was sampled: the process slept\n", stderr);
        return;
    }
    if (count == 0) {
        fputs("none of its time was sampled, and no calls were counted: give it more to do, or "
              "sample more often with fathom record --tick=cycles\n",
              stderr);
        return;
    }
    if (sampled && profile->ticks_per_second == 0)
        fprintf(stderr, "%s by function:\n", fm_profile_tick_words(profile));
    fprintf(stderr, "%17s %17s %10s\n", self_title(profile, sampled), total_title(profile, sampled),
            "calls");
    bool inlined = false;
    g_auto(GStrv) apart = fm_profile_names_apart(profile, top, count);
    for (uint32_t i = 0; i < count; i++) {
        print_row(analysis, top[i], apart[i], measure, unit);
        inlined = inlined || profile->ps[top[i]].inlined;
    }
    if (inlined)
        fputs("+, inlined: calls of inlined bodies are not counted; build with fathom cc "
              "--grade=full to count them\n",
              stderr);
}

/* Prints the phases that the program marked, with their CPU time. */
static void print_phases(const struct fm_profile *profile)
{
    g_autoptr(GArray) phases = fm_run_phases(profile);
    for (guint i = 0; profile->ticks_per_second > 0 && i < phases->len; i++) {
        const struct fm_phase *phase = &g_array_index(phases, struct fm_phase, i);
        if (phase->name == NULL)
            continue;
        fprintf(stderr, "phase %s: %.2f s CPU time", phase->name,
                (double)phase->quanta / (double)profile->ticks_per_second);
        if (phase->to_ns > phase->from_ns)
            fprintf(stderr, " in %.2f s", (double)(phase->to_ns - phase->from_ns) / 1e9);
        fputs("\n", stderr);
    }
}

static void print_held(const struct fm_profile *profile)
{
    unsigned live = fm_profile_measure(profile, FM_LIVE_BYTES);
    int64_t bytes = 0;
    for (uint32_t csd = 1; live != 0 && csd <= profile->csd_count; csd++)
        bytes += (int64_t)fm_profile_own(profile, csd, (enum fm_measure_id)live);
    g_autofree char *text = fm_format_bytes_said(bytes);
    if (bytes > 0)
        fprintf(stderr, ", %s %s", text, fm_held_words(profile)->held);
}

void fm_run_print_totals(const struct fm_profile *profile, const struct fm_finish_notes *notes)
{
    char calls[32];
    if (fm_profile_knows(profile, FM_EXITS))
        fprintf(stderr, "%s call%s in ", short_number((double)notes->calls, calls, sizeof calls),
                notes->calls == 1 ? "" : "s");
    fprintf(stderr, "%" PRIu32 " context%s", profile->pd_count, profile->pd_count == 1 ? "" : "s");
    if (!notes->threads_unknown)
        fprintf(stderr, ", %" PRIu32 " thread%s", notes->threads, notes->threads == 1 ? "" : "s");
    if (profile->ticks_per_second > 0 && profile->user_quanta > 0)
        fprintf(stderr, ", %.2f s CPU time",
                (double)profile->user_quanta / (double)profile->ticks_per_second);
    else if (profile->ticks_per_second == 0 && profile->user_quanta > 0)
        fprintf(stderr, ", %" PRIu64 " %s", profile->user_quanta, fm_profile_tick_words(profile));
    if (profile->user_quanta > 0 && !notes->samples_unknown)
        fprintf(stderr, " in %" PRIu64 " sample%s", notes->samples, notes->samples == 1 ? "" : "s");
    g_autofree char *most = fm_format_bytes_said((int64_t)profile->run_info.peak_bytes);
    if (profile->run_info.peak_bytes > 0)
        fprintf(stderr, ", %s of heap at most%s", most,
                fm_run_processes(profile) > 1 ? " in one process" : "");
    print_held(profile);
    fputs("\n", stderr);
}

/* 100 samples give a time to a fifth. */
#define ENOUGH_SAMPLES 100
/* The first call in a context makes its node, which takes about a microsecond (docs/recording.md).
 */
#define FIRST_CALL_SECONDS 1e-6

/* Says what made the hooks expensive: new contexts, or the number of calls. */
static void print_hooks_cause(const struct fm_profile *profile, double own, double hooks,
                              uint64_t calls)
{
    double sample = fm_profile_sample_quanta(profile);
    double samples = sample > 0 ? (double)profile->instrumentation_quanta / sample : 0;
    double first = profile->csd_count * FIRST_CALL_SECONDS;
    char number[32];
    if (first > hooks / 2) {
        fprintf(stderr, ": mostly for the first calls in %s contexts, about 1 \u00b5s each",
                short_number((double)profile->csd_count, number, sizeof number));
    } else if (samples >= ENOUGH_SAMPLES && own > 0 && calls > 0) {
        double each = (hooks - first) * 1e9 / (double)calls;
        /* In a program of calls alone the processor does its work between the hooks' instructions,
         * and samples meet these: 2 ns are told of calls that cost 0.9, and 0.5 s of 2.5. */
        if (hooks > own)
            fprintf(stderr,
                    ": up to %.1f ns for each of %s calls, as the processor does work of the "
                    "program meanwhile",
                    each, short_number((double)calls, number, sizeof number));
        else
            fprintf(stderr, ": about %.1f \u00b1 %.1f ns for each of %s calls a second", each,
                    each * 2 / sqrt(samples),
                    short_number((double)calls / own, number, sizeof number));
    }
}

/* When the hooks take more time than the program: what to leave out. */
static void print_hooks_share(const struct fm_profile *profile)
{
    double unit = profile->ticks_per_second == 0 ? 0 : 1.0 / (double)profile->ticks_per_second;
    if (profile->instrumentation_quanta == 0 || profile->ticks_per_second == 0)
        return;
    double own = (double)profile->user_quanta * unit;
    double hooks = (double)profile->instrumentation_quanta * unit;
    const bool counted = fm_profile_knows(profile, FM_EXITS);
    fprintf(stderr, "%s%.2f s of the program, %.2f s of fathom's %s",
            counted && hooks > own ? "at least " : "", own, hooks, counted ? "hooks" : "own code");
    if (!counted) {
        fputs("\n", stderr);
        return;
    }
    g_autofree uint64_t *calls = g_new0(uint64_t, profile->ps_count + 1);
    g_autofree uint64_t *quanta = g_new0(uint64_t, profile->ps_count + 1);
    uint64_t all = 0;
    uint32_t most = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t ps = profile->pd_ps[profile->csd_callee[csd]];
        uint64_t some = (uint64_t)fm_profile_calls(profile, csd);
        g_assert(ps <= profile->ps_count);
        calls[ps] += some;
        quanta[ps] += fm_profile_own(profile, csd, FM_QUANTA);
        all += some;
        most = calls[ps] > calls[most] ? ps : most;
    }
    print_hooks_cause(profile, own, hooks, all);
    if (profile->instrumentation_quanta > profile->user_quanta && calls[most] > all / 2) {
        g_autofree char *name = short_name(profile, most);
        double share = 100.0 * (double)calls[most] / (double)all;
        /* Without it the profile would not show where the time went. */
        if (quanta[most] > profile->user_quanta / 2)
            fprintf(stderr,
                    "; %s made %.0f %% of the calls and has most of the time: calls of it are what "
                    "is to be made fewer",
                    name, share);
        else
            fprintf(stderr, "; %s made %.0f %% of the calls: --exclude it when building", name,
                    share);
    }
    fputs("\n", stderr);
}

/* A program that has libc, or a malloc, within, or a sanitizer: ours does not stand in front. */
static void print_not_recorded(const struct fm_profile *profile)
{
    bool waits = fm_profile_measure(profile, FM_WAIT_NS) != 0;
    if (fm_profile_knows(profile, FM_WORDS))
        return;
    if (profile->run_info.origin != NULL) { /* sampled from outside */
        fputs("calls and memory are not recorded: nothing was loaded into the process\n", stderr);
        return;
    }
    fprintf(
        stderr,
        "memory%s not recorded: calls of malloc%s cannot be recorded in fully static programs, "
        "with sanitizers, with a malloc of the program's own, and with an allocator that has no "
        "malloc_usable_size\n",
        waits ? " is" : " and waiting are", waits ? "" : " and those that can wait");
}

void fm_run_print_summary(const struct fm_profile *profile, const struct fm_finish_notes *notes,
                          const char *data_path)
{
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_analysis_new(profile, NULL, &analysis, &error)) {
        fm_console_print_error("%s: %s", data_path, error->message);
        return;
    }
    fm_run_print_totals(profile, notes);
    /* time other than CPU time */
    g_autofree char *waited = fm_run_sentence(profile);
    if (waited != NULL)
        fprintf(stderr, "%s\n", waited);
    g_autofree char *unhooked = fm_unhooked_sentence(profile);
    if (unhooked != NULL)
        fprintf(stderr, "%s\n", unhooked);
    print_not_recorded(profile);
    print_hooks_share(profile);
    print_table(profile, analysis);
    print_phases(profile);
    g_autofree char *word = fm_shell_word(data_path);
    fprintf(stderr, "open the pages:  fathom view %s\n", word);
}

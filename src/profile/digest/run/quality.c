/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/run/quality.h"

#include <math.h>
#include <string.h>

#include "profile/file/build.h"

/* From here on a property is worth a sentence: what several hundred files of others had. */
#define ONE_FRAME_NOTABLE 0.2
#define CUT_NOTABLE 0.05
#define CUT_FUNCTIONS_NOTABLE 10u /* an event loop begins with a few, a cut stack with any */
#define OUTERMOST_NOTABLE 0.1
#define UNNAMED_NOTABLE 0.1
#define FEW_SAMPLES 100u
#define ALL 0.9999
#define NORMAL_95 1.96 /* standard deviations of a normal distribution that hold 95 % */

/* Frames that a thread, or the kernel's way into one, begins with. */
static const char *const begins[] = {"main",
                                     "_start",
                                     "__libc_start_main",
                                     "__libc_start_call_main",
                                     "start_thread",
                                     "clone",
                                     "__clone",
                                     "__clone3",
                                     "clone3",
                                     "thread_start",
                                     "ret_from_fork",
                                     "ret_from_fork_asm",
                                     "runtime.goexit",
                                     "runtime.main",
                                     "runtime.mcall",
                                     "runtime.mstart",
                                     "(root)",
                                     "(no stack)",
                                     "secondary_startup_64",
                                     "start_secondary"};

static bool is_begin(const char *name)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(begins); i++) {
        if (strcmp(name, begins[i]) == 0)
            return true;
    }
    return false;
}

/* "[libx.so]", "0x7f12ab": names of code that has none. */
static bool is_unnamed(const char *name)
{
    size_t size = strlen(name);
    return (size > 2 && name[0] == '[' && name[size - 1] == ']') || strncmp(name, "0x", 2) == 0 ||
           strcmp(name, "??") == 0;
}

struct walk {
    const struct fm_analysis *a;
    const struct fm_profile *profile;
    bool *called; /* [ps_count + 1] by another function */
    bool *begins; /* [ps_count + 1] a stack begins with it */
};

static const char *name_of(const struct fm_profile *profile, uint32_t pd)
{
    return profile->ps[profile->pd_ps[pd]].name;
}

/* The root, and threads below it. */
static bool is_outside(const struct fm_profile *profile, uint32_t pd)
{
    return pd == profile->root_pd || !fm_profile_is_function(profile, profile->pd_ps[pd]);
}

static bool is_outermost(const struct fm_profile *profile, uint32_t csd)
{
    return is_outside(profile, profile->csd_caller[csd]) &&
           !is_outside(profile, profile->csd_callee[csd]);
}

static void mark(struct walk *walk)
{
    const struct fm_profile *profile = walk->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd];
        if (is_outermost(profile, csd))
            walk->begins[profile->pd_ps[callee]] = true;
        else if (!is_outside(profile, callee))
            walk->called[profile->pd_ps[callee]] = true;
    }
}

void fm_quality_measure(const struct fm_analysis *a, struct fm_quality *ret)
{
    const struct fm_profile *profile = a->profile;
    double whole = (double)fm_cost_total(&a->root_total, FM_QUANTA);
    *ret = (struct fm_quality){.samples = profile->run_info.sample_count};
    if (profile->flavour != FM_FLAVOUR_C || !fm_profile_knows(profile, FM_QUANTA) ||
        fm_profile_knows(profile, FM_CALLSEQS) || fm_profile_is(profile, FM_NATURE_ARCS) ||
        fm_profile_is(profile, FM_NATURE_TIME_EXACT) || whole <= 0)
        return;
    struct walk walk = {.a = a,
                        .profile = profile,
                        .called = g_new0(bool, profile->ps_count + 1),
                        .begins = g_new0(bool, profile->ps_count + 1)};
    ret->sampled = true;
    mark(&walk);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t callee = profile->csd_callee[csd];
        const char *name = name_of(profile, callee);
        double own = (double)fm_column_get(&profile->csd_own[FM_QUANTA], csd);
        if (is_outside(profile, callee))
            continue;
        ret->unnamed += is_unnamed(name) ? own / whole : 0;
        if (!is_outermost(profile, csd))
            continue;
        double total = (double)fm_analysis_csd_total(a, csd, FM_QUANTA);
        ret->one_frame += own / whole;
        if (is_unnamed(name))
            ret->outermost += total / whole;
        else if (walk.called[profile->pd_ps[callee]] && !is_begin(name))
            ret->cut += total / whole;
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        ret->cut_functions += walk.begins[ps] && walk.called[ps] &&
                              !is_unnamed(profile->ps[ps].name) && !is_begin(profile->ps[ps].name);
    g_free(walk.called);
    g_free(walk.begins);
}

/* --- sentences --- */

static void add_warnings(const struct fm_profile *profile, GPtrArray *to)
{
    for (uint32_t i = 0; i < profile->run_info.note_count; i++) {
        const char *note = profile->run_info.notes[i];
        if (!g_str_has_prefix(note, FM_NOTE_WARNING))
            continue;
        char *sentence = g_strdup_printf("%s.", note + strlen(FM_NOTE_WARNING));
        sentence[0] = g_ascii_toupper(sentence[0]);
        g_ptr_array_add(to, sentence);
    }
}

struct finding {
    double share;
    const char *format; /* of its share */
};

static int compare_findings(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

/* A running process is sampled by fathom: no option of a recorder helps. */
static const struct sentences {
    const char *no_chains, *one_frame, *cut;
} of_recorders =
    {"Call chains were not recorded: who called a function is not known (perf record -g).",
     "%s %% stands in stacks of one function, whose callers are not known: build with "
     "-fno-omit-frame-pointer, or record with another way of unwinding (perf record "
     "--call-graph dwarf).",
     "%s %% stands in stacks that do not begin where a thread begins: totals of callers "
     "are too small. A deeper limit of the recorder helps (perf record --call-graph "
     "dwarf,16384; kernel.perf_event_max_stack)."},
  of_processes = {
      "Who called a function is not known: files of the program were not found, or have "
      "no unwind tables.",
      "%s %% stands in stacks of one function, whose callers are not known: files of "
      "the program were not found, or have no unwind tables.",
      "%s %% stands in stacks that do not begin where a thread begins: totals of callers "
      "are too small. A stack ends in code without unwind tables and frame pointers, and "
      "where its copy ends."};

static void add_shares(const struct fm_quality *quality, const struct sentences *words,
                       GPtrArray *to)
{
    struct finding findings[4];
    unsigned count = 0;
    if (quality->one_frame >= ONE_FRAME_NOTABLE && quality->one_frame < ALL)
        findings[count++] = (struct finding){quality->one_frame, words->one_frame};
    if (quality->cut >= CUT_NOTABLE && quality->cut_functions >= CUT_FUNCTIONS_NOTABLE)
        findings[count++] = (struct finding){quality->cut, words->cut};
    if (quality->outermost >= OUTERMOST_NOTABLE)
        findings[count++] = (struct finding){
            quality->outermost,
            "The outermost function of %s %% has no name: symbols are missing, or unwinding "
            "ended there."};
    if (quality->unnamed >= UNNAMED_NOTABLE)
        findings[count++] = (struct finding){
            quality->unnamed,
            "%s %% stands in functions without a name: install the symbols of their files, or "
            "record where they are."};
    qsort(findings, count, sizeof *findings, compare_findings);
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *percent = g_strdup_printf("%.0f", 100 * findings[i].share);
        g_auto(GStrv) parts = g_strsplit(findings[i].format, "%s %%", 2);
        g_ptr_array_add(to, g_strdup_printf("%s%s %%%s", parts[0], percent, parts[1]));
    }
}

GPtrArray *fm_quality_sentences(const struct fm_profile *profile, const struct fm_quality *quality)
{
    GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
    bool outside = g_strcmp0(profile->run_info.origin, FM_ORIGIN_OUTSIDE) == 0;
    const struct sentences *words = outside ? &of_processes : &of_recorders;
    add_warnings(profile, sentences);
    if (quality->sampled && quality->one_frame >= ALL)
        g_ptr_array_add(sentences, g_strdup(words->no_chains));
    if (quality->sampled)
        add_shares(quality, words, sentences);
    if (quality->sampled && profile->run_info.origin != NULL && quality->samples > 0 &&
        quality->samples < FEW_SAMPLES)
        g_ptr_array_add(
            sentences,
            g_strdup_printf("%" G_GUINT64_FORMAT " samples are few: a share of 50 %% is uncertain "
                            "by %.0f points. A longer run, or more samples a second, helps.",
                            (guint64)quality->samples,
                            NORMAL_95 * 50 / sqrt((double)quality->samples)));
    g_ptr_array_set_size(sentences, (int)MIN(sentences->len, FM_QUALITY_SENTENCES));
    return sentences;
}

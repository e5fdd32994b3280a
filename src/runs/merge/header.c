/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of a sum: which inputs fit together, and how their headers are joined. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "runs/merge/internal.h"

#define TICKS_MAX 1000000000u

void fm_merge_lose(struct fm_merge *m, const char *text)
{
    for (guint i = 0; i < m->lost->len; i++) {
        if (strcmp(m->lost->pdata[i], text) == 0)
            return;
    }
    g_ptr_array_add(m->lost, (gpointer)(uintptr_t)fm_strings_add(m->strings, text));
}

/* --- headers --- */

static bool differs(const char *name, GError **error, const char *format, ...) FM_PRINTF(3, 4);
static bool differs(const char *name, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: %s", name, text);
    return false;
}

bool fm_merge_has_quanta(const struct fm_profile *profile)
{
    return profile->user_quanta != 0 || profile->instrumentation_quanta != 0;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Unit of quanta, of the sum so far or of a profile; NULL: not known. */
static const char *unit_of(uint64_t ticks, const struct fm_tick_event *event,
                           const struct fm_measure *quanta)
{
    return event->recorded ? quanta->unit : ticks > 0 ? "time" : NULL;
}

/* Events have no sum with time, nor with events of another kind. */
static bool check_unit(const struct fm_merge *m, const struct fm_profile *profile, const char *name,
                       GError **error)
{
    const struct fm_tick_event *event = &profile->run_info.tick_event;
    const char *sum = unit_of(m->ticks_per_second, &m->tick_event, &m->measures[FM_QUANTA]);
    const char *its = unit_of(profile->ticks_per_second, event, &profile->measures[FM_QUANTA]);
    if (sum == NULL || its == NULL || (!m->tick_event.recorded && !event->recorded))
        return true;
    if (strcmp(sum, its) != 0)
        return differs(name, error, "its ticks are %s, the others' are %s", its, sum);
    return m->tick_event.user_alone == event->user_alone ||
           differs(name, error, "its %s are %s", its,
                   event->user_alone ? "of user code only, the others' not"
                                     : "of the kernel, too, the others' of user code only");
}

/* The rate that both are whole parts of. */
static bool common_ticks(const struct fm_merge *m, const struct fm_profile *profile,
                         const char *name, uint64_t *ret, GError **error)
{
    uint64_t a = m->ticks_per_second, b = profile->ticks_per_second;
    bool quanta = m->user_quanta != 0 || m->instrumentation_quanta != 0;
    *ret = MAX(a, b);
    if (a == b || (a == 0 && !quanta) || (b == 0 && !fm_merge_has_quanta(profile)))
        return true;
    if (a == 0 || b == 0)
        return differs(name, error, "%s ticks per second are not known",
                       a == 0 ? "the others'" : "its");
    uint64_t part = b / greatest_divisor(a, b);
    if (a > TICKS_MAX / part)
        return differs(name, error,
                       "tick rates %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                       " have no common unit",
                       (guint64)a, (guint64)b);
    *ret = a * part;
    return true;
}

int fm_merge_measure_of(const struct fm_measure *measures, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(measures[i].name, name) == 0)
            return (int)i;
    }
    return -1;
}

/* CPU time and time of a clock have no sum. */
static bool mixes_times(const struct fm_merge *m, const struct fm_profile *profile)
{
    return ((m->nature ^ profile->run_info.nature) & FM_NATURE_CLOCK) != 0;
}

/* Whether each measure of one is there in the other, with its unit and scale. */
static bool check_measures(const struct fm_merge *m, const struct fm_profile *profile,
                           const char *name, GError **error)
{
    uint32_t unknown = profile->run_info.unknown ^ m->unknown;
    if (unknown != 0 && !m->options.common) {
        unsigned i = (unsigned)g_bit_nth_lsf(unknown, -1);
        return differs(name, error, "measure '%s' is %s (--common leaves such measures out)",
                       m->measures[i].name,
                       fm_profile_knows(profile, i) ? "recorded only in it" : "not recorded in it");
    }
    if (mixes_times(m, profile) && !m->options.common)
        return differs(name, error, "its times are %s (--common leaves times out)",
                       fm_profile_is(profile, FM_NATURE_CLOCK)
                           ? "not known to be CPU time, as the others' are"
                           : "CPU time, which the others' are not known to be");
    for (int side = 0; side < 2; side++) {
        const struct fm_measure *mine = side == 0 ? m->measures : profile->measures;
        const struct fm_measure *others = side == 0 ? profile->measures : m->measures;
        unsigned count = side == 0 ? m->measure_count : profile->measure_count;
        unsigned other_count = side == 0 ? profile->measure_count : m->measure_count;
        for (unsigned i = 0; i < count; i++) {
            int there = fm_merge_measure_of(others, other_count, mine[i].name);
            if (there < 0 && (i < FM_MEASURES_MERCURY || !m->options.common))
                return differs(
                    name, error, "measure '%s' is %s (--common leaves such measures out)",
                    mine[i].name, side == 0 ? "not recorded in it" : "recorded only in it");
            if (there >= 0 && (strcmp(mine[i].unit, others[there].unit) != 0 ||
                               mine[i].scale != others[there].scale))
                return differs(name, error, "measure '%s' is in other units: %g %s and %g %s",
                               mine[i].name, mine[i].scale, mine[i].unit, others[there].scale,
                               others[there].unit);
        }
    }
    return true;
}

static bool check_header(const struct fm_merge *m, const struct fm_profile *profile,
                         const char *name, uint64_t *ret_ticks, GError **error)
{
    *ret_ticks = profile->ticks_per_second;
    if (!m->any)
        return true;
    if (m->flavour != profile->flavour)
        return differs(name, error, "a profile of a %s program, the others are of %s",
                       profile->flavour == FM_FLAVOUR_C ? "C" : "Mercury",
                       m->flavour == FM_FLAVOUR_C ? "C" : "Mercury");
    if (!m->options.union_programs &&
        strcmp(fm_merge_program(m, m->program), fm_merge_program(m, profile->program_name)) != 0)
        return differs(name, error,
                       "a profile of %s, the others are of %s (--union keeps programs apart below "
                       "one root)",
                       profile->program_name, m->program);
    if (m->word_size != profile->word_size)
        return differs(name, error, "words of %u bytes, the others have %u", profile->word_size,
                       m->word_size);
    return m->only_empty || (check_unit(m, profile, name, error) &&
                             common_ticks(m, profile, name, ret_ticks, error) &&
                             check_measures(m, profile, name, error));
}

/* All roots are one context, so they must be of one procedure. */
static bool check_root(const struct fm_merge *m, const struct fm_profile *profile, const char *name,
                       GError **error)
{
    const struct fm_ps *root = &profile->ps[profile->pd_ps[profile->root_pd]];
    g_autofree char *key = m->root_key == NULL ? NULL : fm_merge_proc_key(m, root);
    return key == NULL || strcmp(key, m->root_key) == 0 ||
           differs(name, error, "its root is %s, another procedure than the others'",
                   root->qualified_name);
}

/* A Mercury call site of a known callee calls that: else one slot would get two edges. */
bool fm_merge_check_callees(const struct fm_profile *profile, const char *name, GError **error)
{
    for (uint32_t csd = 1; csd <= profile->csd_count && profile->flavour == FM_FLAVOUR_MERCURY;
         csd++) {
        const struct fm_css *css = &profile->css[profile->csd_css[csd]];
        uint32_t callee = profile->pd_ps[profile->csd_callee[csd]];
        if (css->kind == FM_SITE_NORMAL && css->callee_ps != callee)
            return differs(name, error,
                           "call site static %u names %s, call site dynamic %u calls %s there: "
                           "the file is damaged",
                           profile->csd_css[csd], profile->ps[css->callee_ps].qualified_name, csd,
                           profile->ps[callee].qualified_name);
    }
    return true;
}

/* --- what is in the header --- */

static int compare_measures(const void *a, const void *b)
{
    return strcmp(((const struct fm_measure *)a)->name, ((const struct fm_measure *)b)->name);
}

void fm_merge_take_header(struct fm_merge *m, const struct fm_profile *profile)
{
    m->any = true;
    m->flavour = profile->flavour;
    m->program = fm_strings_add(m->strings, m->options.union_programs ? FM_MERGE_UNION_NAME
                                                                      : profile->program_name);
    m->word_size = profile->word_size;
    m->coverage = profile->coverage;
    m->ticks_per_second = profile->ticks_per_second;
    m->unknown = profile->run_info.unknown;
    m->nature = profile->run_info.nature;
    m->heap_period = profile->run_info.heap_period;
    m->tick_event = profile->run_info.tick_event;
    m->origin = profile->run_info.origin == NULL
                    ? NULL
                    : fm_strings_add(m->strings, profile->run_info.origin);
    m->measure_count = profile->measure_count;
    m->value_count = m->options.places ? 0 : m->measure_count;
    for (unsigned i = 0; i < profile->measure_count; i++)
        m->measures[i] = (struct fm_measure){fm_strings_add(m->strings, profile->measures[i].name),
                                             fm_strings_add(m->strings, profile->measures[i].unit),
                                             profile->measures[i].scale};
    if (m->measure_count > FM_MEASURES_MERCURY)
        qsort(m->measures + FM_MEASURES_MERCURY, m->measure_count - FM_MEASURES_MERCURY,
              sizeof *m->measures, compare_measures);
    if (m->options.across_builds)
        m->coverage = FM_COVERAGE_NONE;
}

/* Keeps the name that sorts first of the folders of a program, whichever input came first. */
void fm_merge_keep_least_program(struct fm_merge *m, const struct fm_profile *profile)
{
    if (!m->options.union_programs && strcmp(profile->program_name, m->program) < 0)
        m->program = fm_strings_add(m->strings, profile->program_name);
}

/* Measures that this input lacks are left out of all. */
static void drop_measures(struct fm_merge *m, const struct fm_profile *profile)
{
    unsigned kept = 0, map[FM_MEASURES_MAX];
    for (unsigned i = 0; i < m->measure_count; i++) {
        if (fm_merge_measure_of(profile->measures, profile->measure_count, m->measures[i].name) >=
            0)
            map[kept++] = i;
    }
    if (kept < m->measure_count || kept < profile->measure_count)
        fm_merge_lose(m, "measures that not all profiles have are left out");
    if (kept == m->measure_count)
        return;
    uint64_t *values = (uint64_t *)(void *)m->values->data;
    for (size_t e = 0; e < m->edges->len && m->value_count > 0; e++) {
        for (unsigned i = 0; i < kept; i++)
            values[e * kept + i] = values[e * m->measure_count + map[i]];
    }
    m->value_count = m->value_count > 0 ? kept : 0;
    g_array_set_size(m->values, m->edges->len * m->value_count);
    for (unsigned i = 0; i < kept; i++)
        m->measures[i] = m->measures[map[i]];
    m->measure_count = kept;
}

/* Data that one input lacks is not known of the sum. */
static void join_origins(struct fm_merge *m, const struct fm_profile *profile)
{
    m->unknown |= profile->run_info.unknown;
    if (mixes_times(m, profile))
        m->unknown |= 1u << FM_QUANTA;
    m->nature |= profile->run_info.nature;
    m->heap_period = MAX(m->heap_period, profile->run_info.heap_period);
    m->tick_event.period = MAX(m->tick_event.period, profile->run_info.tick_event.period);
    if (g_strcmp0(m->origin, profile->run_info.origin) != 0)
        m->origin = fm_strings_add(m->strings, "files of several kinds");
}

/* Counts are of the points that all have. */
static void keep_coverage_of_all(struct fm_merge *m, const struct fm_profile *profile)
{
    if (m->coverage == profile->coverage)
        return;
    fm_merge_lose(m, m->options.across_builds
                         ? "coverage is left out: that of different builds is not added"
                         : "coverage is left out: not all profiles have it");
    if (m->coverage == FM_COVERAGE_NONE)
        return;
    m->coverage = FM_COVERAGE_NONE;
    g_array_set_size(m->points, 0);
}

uint64_t fm_merge_scaled(uint64_t quanta, uint64_t factor)
{
    return factor != 0 && quanta > UINT64_MAX / factor ? UINT64_MAX : quanta * factor;
}

/* Quanta so far, in ticks of another rate. */
static void rescale(struct fm_merge *m, uint64_t ticks)
{
    uint64_t factor = m->ticks_per_second == 0 ? 1 : ticks / m->ticks_per_second;
    m->ticks_per_second = ticks;
    if (factor == 1)
        return;
    m->user_quanta = fm_merge_scaled(m->user_quanta, factor);
    m->instrumentation_quanta = fm_merge_scaled(m->instrumentation_quanta, factor);
    m->sampled_unknown = fm_merge_scaled(m->sampled_unknown, factor);
    m->sample_squares = fm_merge_scaled(fm_merge_scaled(m->sample_squares, factor), factor);
    for (guint e = 0; e < m->edges->len && m->value_count > 0; e++) {
        uint64_t *quanta = fm_merge_values(m, e) + FM_QUANTA;
        *quanta = fm_merge_scaled(*quanta, factor);
    }
    for (guint i = 0; i < m->marks->len; i++) {
        struct fm_mark *mark = &g_array_index(m->marks, struct fm_mark, i);
        mark->quanta = fm_merge_scaled(mark->quanta, factor);
    }
}

static void add_samples(struct fm_merge *m, const struct fm_profile *profile, uint64_t factor)
{
    const struct fm_run_info *run_info = &profile->run_info;
    uint64_t squares = fm_merge_scaled(fm_merge_scaled(run_info->sample_squares, factor), factor);
    if (run_info->sample_count == 0) {
        m->sampled_unknown =
            fm_merge_sum(m->sampled_unknown, fm_merge_scaled(profile->user_quanta, factor));
        return;
    }
    m->sample_count = fm_merge_sum(m->sample_count, run_info->sample_count);
    m->sample_squares = fm_merge_sum(m->sample_squares, squares);
}

void fm_merge_add_header(struct fm_merge *m, const struct fm_profile *profile, uint64_t factor)
{
    fm_merge_add_parts_of(m, profile);
    m->user_quanta = fm_merge_sum(m->user_quanta, fm_merge_scaled(profile->user_quanta, factor));
    m->instrumentation_quanta = fm_merge_sum(
        m->instrumentation_quanta, fm_merge_scaled(profile->instrumentation_quanta, factor));
    m->callseqs = fm_merge_sum(m->callseqs, profile->callseqs);
    m->duration_ns = MAX(m->duration_ns, profile->run_info.duration_ns);
    m->peak_bytes = MAX(m->peak_bytes, profile->run_info.peak_bytes);
    m->recorded_ns = MAX(m->recorded_ns, fm_profile_recorded_ns(profile));
    m->unfinished = m->unfinished || profile->run_info.extent.unfinished;
    m->later = m->later || profile->run_info.extent.later;
    add_samples(m, profile, factor);
    for (uint32_t i = 0; i < profile->run_info.mark_count; i++) {
        struct fm_mark mark = profile->run_info.marks[i];
        mark.name = fm_strings_add(m->strings, mark.name);
        mark.quanta = fm_merge_scaled(mark.quanta, factor);
        g_array_append_val(m->marks, mark);
    }
    for (uint32_t i = 0; i < profile->run_info.note_count; i++)
        g_ptr_array_add(
            m->notes, (gpointer)(uintptr_t)fm_strings_add(m->strings, profile->run_info.notes[i]));
}

bool fm_merge_fits(const struct fm_merge *m, const struct fm_profile *profile, const char *name,
                   bool at_root, uint64_t *ret_ticks, GError **error)
{
    if (fm_profile_is(profile, FM_NATURE_ARCS))
        return differs(name, error,
                       "contexts cannot be added: it has calls by function and caller only");
    return check_header(m, profile, name, ret_ticks, error) &&
           (!at_root || check_root(m, profile, name, error)) &&
           fm_merge_check_callees(profile, name, error);
}

void fm_merge_join_header(struct fm_merge *m, const struct fm_profile *profile, uint64_t ticks)
{
    keep_coverage_of_all(m, profile);
    fm_merge_keep_least_program(m, profile);
    drop_measures(m, profile);
    join_origins(m, profile);
    rescale(m, ticks);
}

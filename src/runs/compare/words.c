/* SPDX-License-Identifier: Apache-2.0 */
/* Words for measures, contexts and causes. */
#include <math.h>
#include <string.h>

#include "runs/compare/internal.h"

const char *fm_compare_measure_title(const struct fm_compare *c, enum fm_measure_id measure)
{
    if (measure == FM_COMPARE_CALLS)
        return "calls";
    return measure == FM_QUANTA && c->side[FM_BEFORE]->ticks_per_second > 0
               ? "time"
               : c->side[FM_BEFORE]->measures[measure].name;
}

const char *fm_compare_measure_words(const struct fm_compare *c, enum fm_measure_id measure)
{
    if (measure == FM_QUANTA && c->side[FM_BEFORE]->ticks_per_second == 0)
        return fm_profile_tick_words(c->side[FM_BEFORE]);
    return fm_measure_words(fm_compare_measure_title(c, measure));
}

double fm_compare_scale(const struct fm_compare *c, enum fm_measure_id measure)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    if (measure == FM_QUANTA)
        return (p->ticks_per_second > 0 ? 1 / (double)p->ticks_per_second : 1) /
               (double)c->quanta_parts;
    return measure == FM_WORDS ? p->word_size : 1;
}

static bool is_heap_sampled(const struct fm_profile *p, enum fm_measure_id measure)
{
    return (measure == FM_ALLOCS || measure == FM_WORDS) &&
           fm_profile_is(p, FM_NATURE_HEAP_SAMPLED);
}

/* A heap sample represents a number of bytes; the mean block size gives the number of blocks. */
static double heap_sample(const struct fm_profile *p, enum fm_measure_id measure)
{
    double period = fmax((double)p->run_info.heap_period, 1), pieces = 0, words = 0;
    if (measure == FM_WORDS)
        return fmax(period / p->word_size, 1);
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        pieces += (double)fm_profile_own(p, csd, FM_ALLOCS);
        words += (double)fm_profile_own(p, csd, FM_WORDS);
    }
    return words > 0 ? fmax(period / p->word_size * pieces / words, 1) : 1;
}

double fm_compare_sample(const struct fm_compare *c, enum fm_measure_id measure, enum fm_side side)
{
    const struct fm_profile *p = c->side[side];
    if (is_heap_sampled(p, measure))
        return heap_sample(p, measure);
    /* No less than a quantum of a run. */
    return measure == FM_QUANTA ? fmax(fm_profile_sample_quanta(p), (double)c->run_count[!side])
                                : 0;
}

const char *fm_compare_certainty(const struct fm_compare *c, enum fm_measure_id measure)
{
    bool heap = false, timed = true;
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        heap = heap || is_heap_sampled(c->side[side], measure);
        timed = timed && fm_profile_is(c->given[side], FM_NATURE_TIME_EXACT);
    }
    if (measure == FM_QUANTA)
        return timed ? "measured" : "sampled";
    unsigned further = fm_profile_measure(c->side[FM_BEFORE], FM_WAIT_NS);
    return heap ? "estimated" : further != 0 && measure == further ? "measured" : "exact";
}

static bool both_know(const struct fm_compare *c, unsigned measure)
{
    g_assert(measure < FM_MEASURES_MAX);
    return fm_profile_knows(c->side[FM_BEFORE], measure) &&
           fm_profile_knows(c->side[FM_AFTER], measure);
}

bool fm_compare_has(const struct fm_compare *c, enum fm_measure_id measure)
{
    const struct fm_profile *p = c->side[FM_BEFORE], *after = c->side[FM_AFTER];
    if (measure == FM_COMPARE_CALLS)
        return both_know(c, FM_EXITS);
    if (measure == FM_QUANTA) /* time, or what another tool sampled: the same on both sides */
        return both_know(c, FM_QUANTA) &&
               (p->ticks_per_second > 0) == (after->ticks_per_second > 0) &&
               (p->ticks_per_second > 0 ||
                (strcmp(p->measures[FM_QUANTA].name, "quanta") != 0 &&
                 strcmp(p->measures[FM_QUANTA].name, after->measures[FM_QUANTA].name) == 0));
    return measure >= FM_ALLOCS && (unsigned)measure < p->measure_count &&
           both_know(c, (unsigned)measure);
}

bool fm_compare_parse_measure(const struct fm_compare *c, const char *text, enum fm_measure_id *ret)
{
    *ret = strcmp(text, "calls") == 0
               ? FM_COMPARE_CALLS
               : (enum fm_measure_id)fm_profile_find_measure(c->side[FM_BEFORE], text);
    return (*ret != FM_MEASURES_MAX || strcmp(text, "calls") == 0) && fm_compare_has(c, *ret);
}

char *fm_compare_measure_list(const struct fm_compare *c)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    g_autoptr(GString) out = g_string_new(NULL);
    for (unsigned i = 0; i <= p->measure_count; i++) {
        enum fm_measure_id measure =
            i == 0 ? FM_COMPARE_CALLS : (enum fm_measure_id)(i - 1); /* calls first */
        if (fm_compare_has(c, measure))
            g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "",
                                   measure == FM_WORDS && p->flavour == FM_FLAVOUR_C
                                       ? "bytes"
                                       : fm_compare_measure_title(c, measure));
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* As its language calls it, of the common graph; belongs to the profile. */
static const char *name_of(const struct fm_compare *c, uint32_t ps)
{
    g_assert(ps >= 1);
    const struct fm_ps *of = &c->side[FM_BEFORE]->ps[ps];
    return c->side[FM_BEFORE]->flavour == FM_FLAVOUR_C
               ? fm_profile_short_name(c->side[FM_BEFORE], ps)
               : of->qualified_name;
}

char *fm_cause_place(const struct fm_compare *c, const struct fm_cause *cause)
{
    const struct fm_ps *ps = &c->side[FM_BEFORE]->ps[cause->ps];
    const char *file = ps->file;
    uint32_t line = ps->line;
    if (cause->css != 0) {
        const struct fm_css *site = &c->side[FM_BEFORE]->css[cause->css];
        file = *site->file != '\0' ? site->file : c->side[FM_BEFORE]->ps[site->ps].file;
        line = site->line;
    }
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    return *file == '\0' || line == 0 ? g_strdup(name) : g_strdup_printf("%s:%u", name, line);
}

static bool are_counted(const struct fm_cause *cause)
{
    bool counted = true;
    for (guint i = 0; i < cause->contexts->len; i++)
        counted = counted &&
                  g_array_index(cause->contexts, struct fm_cause_context, i).calls[FM_BEFORE] >= 0;
    return counted;
}

/* Sums over the contexts of a cause; -1 where one is not counted. */
static int64_t calls_of(const struct fm_cause *cause, enum fm_side side)
{
    int64_t sum = 0;
    for (guint i = 0; i < cause->contexts->len; i++) {
        int64_t calls = g_array_index(cause->contexts, struct fm_cause_context, i).calls[side];
        if (calls < 0)
            return -1;
        sum += calls;
    }
    return sum;
}

static char *calls_text(const struct fm_cause *cause, const char *caller, const char *name)
{
    int64_t before = calls_of(cause, FM_BEFORE), after = calls_of(cause, FM_AFTER);
    if (cause->contexts->len > 1 && before >= 0 && before == after)
        return g_strdup_printf("%s calls %s at another line", caller, name);
    return g_strdup_printf("%s calls %s %s often", caller, name, cause->net > 0 ? "more" : "less");
}

char *fm_cause_what(const struct fm_compare *c, const struct fm_cause *cause)
{
    const char *name = name_of(c, cause->ps);
    const char *caller = cause->caller != 0 ? name_of(c, cause->caller) : "";
    const char *more = cause->net > 0 ? "more" : "fewer";
    switch (cause->kind) {
    case FM_CAUSE_CALLS:
        return cause->deeper ? g_strdup_printf("%s recurses %s", name,
                                               cause->net > 0 ? "deeper" : "less deeply")
                             : calls_text(cause, caller, name);
    case FM_CAUSE_SELF:
        return g_strdup_printf("%s itself, %s%s", name, more, are_counted(cause) ? " a call" : "");
    case FM_CAUSE_APPEARED:
        return g_strdup_printf("%s calls %s now", caller, name);
    case FM_CAUSE_VANISHED:
        return g_strdup_printf("%s no longer calls %s", caller, name);
    case FM_CAUSE_INLINED:
        return c->uneven[g_array_index(cause->contexts, struct fm_cause_context, 0).pd] ||
                       !c->loops[g_array_index(cause->contexts, struct fm_cause_context, 0).pd]
                   ? g_strdup_printf("%s is inlined in %s, in one build", name, caller)
                   : g_strdup_printf("%s calls itself, in one build", name);
    case FM_CAUSE_REPLACED:
        return g_strdup_printf("%s calls %s, not %s", caller, name, name_of(c, cause->old_ps));
    }
    g_assert_not_reached();
}

char *fm_compare_path(const struct fm_compare *c, uint32_t pd, unsigned steps_max)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    GString *path = g_string_new(NULL);
    unsigned steps = 0;
    for (; pd != p->root_pd && c->tree_csd[pd] != 0; pd = p->csd_caller[c->tree_csd[pd]]) {
        if (steps++ == steps_max) {
            g_string_prepend(path, "… › ");
            break;
        }
        if (path->len > 0)
            g_string_prepend(path, " › ");
        g_string_prepend(path, name_of(c, p->pd_ps[pd]));
    }
    return g_string_free(path, FALSE);
}

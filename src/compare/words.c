/* SPDX-License-Identifier: Apache-2.0 */
/* How measures, contexts and causes are told. */
#include <string.h>

#include "compare/internal.h"

const char *fm_compare_measure_title(const struct fm_compare *c, enum fm_measure_id measure)
{
    if (measure == FM_COMPARE_CALLS)
        return "calls";
    return measure == FM_QUANTA ? "time" : c->side[FM_BEFORE]->measures[measure].name;
}

double fm_compare_scale(const struct fm_compare *c, enum fm_measure_id measure)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    if (measure == FM_QUANTA)
        return p->ticks_per_second > 0 ? 1 / (double)p->ticks_per_second : 1;
    return measure == FM_WORDS ? p->word_size : 1;
}

bool fm_compare_has(const struct fm_compare *c, enum fm_measure_id measure)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    if (measure == FM_QUANTA)
        return p->ticks_per_second > 0;
    return measure == FM_COMPARE_CALLS ||
           (measure >= FM_ALLOCS && (unsigned)measure < p->measure_count);
}

enum fm_measure_id fm_compare_telling_measure(const struct fm_compare *c)
{
    static const enum fm_measure_id first[] = {FM_COMPARE_CALLS, FM_ALLOCS, FM_WORDS};
    for (unsigned i = 0; i < G_N_ELEMENTS(first); i++) {
        const struct fm_profile *before = c->side[FM_BEFORE], *after = c->side[FM_AFTER];
        for (uint32_t csd = 1; csd <= before->csd_count; csd++) {
            bool calls = first[i] == FM_COMPARE_CALLS;
            if (calls
                    ? fm_profile_calls(before, csd) != fm_profile_calls(after, csd)
                    : fm_profile_own(before, csd, first[i]) != fm_profile_own(after, csd, first[i]))
                return first[i];
        }
    }
    return fm_compare_has(c, FM_QUANTA) ? FM_QUANTA : FM_COMPARE_CALLS;
}

bool fm_compare_parse_measure(const struct fm_compare *c, const char *text, enum fm_measure_id *ret)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    if (strcmp(text, "calls") == 0) {
        *ret = FM_COMPARE_CALLS;
        return true;
    }
    *ret = strcmp(text, "time") == 0    ? FM_QUANTA
           : strcmp(text, "bytes") == 0 ? FM_WORDS
                                        : FM_MEASURES_MAX;
    for (unsigned m = FM_ALLOCS; *ret == FM_MEASURES_MAX && m < p->measure_count; m++) {
        if (strcmp(p->measures[m].name, text) == 0)
            *ret = (enum fm_measure_id)m;
    }
    return *ret != FM_MEASURES_MAX && fm_compare_has(c, *ret);
}

const char *fm_compare_name(const struct fm_compare *c, uint32_t ps)
{
    const struct fm_ps *of = &c->side[FM_BEFORE]->ps[ps];
    return c->side[FM_BEFORE]->flavour == FM_FLAVOUR_C ? of->unqualified_name : of->qualified_name;
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
    return *file == '\0' ? g_strdup("")
                         : g_strdup_printf("%s:%u", slash != NULL ? slash + 1 : file, line);
}

char *fm_cause_what(const struct fm_compare *c, const struct fm_cause *cause)
{
    const char *name = fm_compare_name(c, cause->ps);
    const char *caller = cause->caller != 0 ? fm_compare_name(c, cause->caller) : "";
    const char *more = cause->net > 0 ? "more" : "fewer";
    switch (cause->kind) {
    case FM_CAUSE_CALLS:
        return cause->deeper ? g_strdup_printf("%s recurses %s", name,
                                               cause->net > 0 ? "deeper" : "less deeply")
                             : g_strdup_printf("%s calls %s %s often", caller, name,
                                               cause->net > 0 ? "more" : "less");
    case FM_CAUSE_SELF:
        return g_strdup_printf("%s itself, %s a call", name, more);
    case FM_CAUSE_APPEARED:
        return g_strdup_printf("%s calls %s now", caller, name);
    case FM_CAUSE_VANISHED:
        return g_strdup_printf("%s no longer calls %s", caller, name);
    case FM_CAUSE_REPLACED:
        return g_strdup_printf("%s calls %s, not %s", caller, name,
                               fm_compare_name(c, cause->old_ps));
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
        g_string_prepend(path, fm_compare_name(c, p->pd_ps[pd]));
    }
    return g_string_free(path, FALSE);
}

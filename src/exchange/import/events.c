/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/events.h"

#include <string.h>

#include "exchange/import/internal.h"

/* valgrind's own (cl-manual, "events"). */
static const struct {
    const char *name, *unit;
} known[] = {
    {"Ir", "instructions"},  {"Dr", "reads"},    {"Dw", "writes"},        {"I1mr", "misses"},
    {"D1mr", "misses"},      {"D1mw", "misses"}, {"ILmr", "misses"},      {"DLmr", "misses"},
    {"DLmw", "misses"},      {"Bc", "branches"}, {"Bcm", "mispredicted"}, {"Bi", "branches"},
    {"Bim", "mispredicted"}, {"Ge", "locked"},   {"sysCount", "calls"},
};

bool fm_import_events_add(struct fm_import_events *events, const char *name, size_t size)
{
    if (events->count == FM_IMPORT_EVENTS_MAX)
        return false;
    events->all[events->count++] = (struct fm_import_event){g_strndup(name, size), FM_MEASURES_MAX};
    return true;
}

bool fm_import_events_is(const struct fm_import_events *events, unsigned event, const char *name,
                         size_t size)
{
    if (event >= events->count)
        return false;
    const char *own = events->all[event].name;
    return strlen(own) == size && memcmp(own, name, size) == 0;
}

void fm_import_events_describe(struct fm_import_events *events, const char *text, size_t size)
{
    g_autofree char *line = g_strndup(text, size);
    char *colon = strchr(line, ':'), *begin = strrchr(line, '('), *end = strrchr(line, ')');
    if (colon == NULL || begin == NULL || end == NULL || begin < colon || end < begin)
        return;
    *colon = *end = '\0';
    if (events->units == NULL) {
        events->units = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        events->titles = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    }
    *begin = '\0';
    char *name = g_strstrip(line), *title = g_strstrip(colon + 1);
    g_hash_table_replace(events->units, g_strdup(name), g_strdup(begin + 1));
    g_hash_table_replace(events->titles, g_strdup(name), g_strdup(title));
}

/* NULL: nobody says. */
static const char *unit_of(const struct fm_import_events *events, const char *name)
{
    const char *told = events->units == NULL ? NULL : g_hash_table_lookup(events->units, name);
    for (unsigned i = 0; i < G_N_ELEMENTS(known) && told == NULL; i++) {
        if (strcmp(known[i].name, name) == 0)
            told = known[i].unit;
    }
    return told;
}

/* As this program exports them. */
static enum fm_measure_id own_measure(const char *name, const char *unit)
{
    static const struct {
        const char *name, *unit;
        enum fm_measure_id measure;
    } own[] = {{"Calls", "count", FM_EXITS},
               {"AllocObjects", "count", FM_ALLOCS},
               {"AllocSpace", "bytes", FM_WORDS}};
    for (unsigned i = 0; i < G_N_ELEMENTS(own) && unit != NULL; i++) {
        if (strcmp(own[i].name, name) == 0 && strcmp(own[i].unit, unit) == 0)
            return own[i].measure;
    }
    return FM_MEASURES_MAX;
}

static void make_quanta(struct fm_import_event *event, const char *unit, uint64_t per_second,
                        struct fm_stacks *stacks)
{
    struct fm_build *build = fm_stacks_build(stacks);
    event->measure = FM_QUANTA;
    if (per_second == 0) {
        fm_stacks_name_quanta(stacks, event->name, unit);
        return;
    }
    fm_build_header(build)->ticks_per_second = per_second;
    if (strcmp(event->name, "Cpu") != 0)
        fm_build_nature(build, FM_NATURE_CLOCK, 0);
}

static unsigned find_quanta(const struct fm_import_events *events, uint64_t *ret_per_second)
{
    unsigned first = events->count;
    *ret_per_second = 0;
    for (unsigned i = 0; i < events->count; i++) {
        const char *unit = unit_of(events, events->all[i].name);
        if (unit != NULL && fm_import_time_unit(unit, ret_per_second))
            return i;
        if (first == events->count && events->all[i].measure == FM_MEASURES_MAX)
            first = i;
    }
    return first;
}

static void choose_told(struct fm_import_events *events, struct fm_import_arcs *arcs)
{
    fm_import_figures_begin(&events->figures, fm_import_arcs_stacks(arcs));
    /* For a call, as for a whole thread, the kind of exit is not known. */
    fm_build_unknown(fm_stacks_build(fm_import_arcs_stacks(arcs)), FM_CALLSEQS);
    for (unsigned i = 0; i < events->count; i++) {
        const char *name = events->titles == NULL
                               ? NULL
                               : g_hash_table_lookup(events->titles, events->all[i].name);
        struct fm_import_figure of =
            fm_import_figures_of(&events->figures, name == NULL ? "" : name);
        if (of.skip)
            continue;
        events->all[i].measure = of.calls ? FM_EXITS : (enum fm_measure_id)of.measure;
        fm_import_arcs_divide(arcs, i, of.divide);
        fm_import_arcs_column(arcs, i, events->all[i].measure);
    }
}

void fm_import_events_choose(struct fm_import_events *events, struct fm_import_arcs *arcs)
{
    struct fm_stacks *stacks = fm_import_arcs_stacks(arcs);
    g_autoptr(GString) left = g_string_new(NULL);
    uint64_t per_second;
    if (events->figures.told.told) {
        choose_told(events, arcs);
        return;
    }
    for (unsigned i = 0; i < events->count; i++)
        events->all[i].measure =
            own_measure(events->all[i].name, unit_of(events, events->all[i].name));
    unsigned quanta = find_quanta(events, &per_second);
    for (unsigned i = 0; i < events->count; i++) {
        struct fm_import_event *event = &events->all[i];
        const char *unit = unit_of(events, event->name);
        unsigned further = 0;
        if (i == quanta)
            make_quanta(event, unit, per_second, stacks);
        else if (event->measure == FM_MEASURES_MAX)
            further = fm_stacks_add_measure(stacks, event->name, unit);
        if (further != 0)
            event->measure = (enum fm_measure_id)further;
        if (event->measure != FM_MEASURES_MAX)
            fm_import_arcs_column(arcs, i, event->measure);
        else
            g_string_append_printf(left, "%s%s", left->len > 0 ? ", " : "", event->name);
    }
    if (left->len == 0)
        return;
    g_autofree char *note =
        g_strdup_printf("there is no room for more measures: left out are %s", left->str);
    fm_build_note(fm_stacks_build(stacks), note);
}

void fm_import_events_done(struct fm_import_events *events)
{
    for (unsigned i = 0; i < events->count; i++)
        g_free(events->all[i].name);
    if (events->units != NULL)
        g_hash_table_unref(events->units);
    if (events->titles != NULL)
        g_hash_table_unref(events->titles);
    *events = (struct fm_import_events){0};
}

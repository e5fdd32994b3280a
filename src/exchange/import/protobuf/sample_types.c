/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/protobuf/sample_types.h"

#include <string.h>

#include "exchange/import/internal.h"

#define NS_PER_SECOND 1000000000u

static void take_measure(struct fm_import_columns *c, size_t i, unsigned measure)
{
    g_assert(measure < FM_MEASURES_MAX);
    c->columns[i] = (struct fm_import_column){
        .role = FM_IMPORT_MEASURE, .measure = measure, .factor = 1, .divide = 1};
    if (measure < FM_MEASURES_MERCURY)
        c->known |= 1u << measure;
}

static bool is_allocation(const char *name)
{
    return strcmp(name, "alloc_objects") == 0 || strcmp(name, "alloc_space") == 0;
}

/* Chooses the sample type of a profile without time and allocations, such as one of memory in use:
 * the default, which is the last if the file names none. */
static size_t choose_other(const struct fm_import_columns *c)
{
    size_t best = c->count;
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->types[i].name;
        if (is_allocation(name))
            return c->count; /* we have measures for these */
        if (strcmp(name, "calls") != 0 && strncmp(name, "free_", 5) != 0 &&
            (best == c->count || strcmp(c->types[best].name, c->wanted) != 0))
            best = i;
    }
    return best;
}

/* Chooses the sample type of the measure with which pages begin: CPU time, or the default. */
static size_t choose_main(const struct fm_import_columns *c)
{
    size_t best = c->count;
    uint64_t per_second;
    for (size_t i = 0; i < c->count; i++) {
        bool time = fm_import_time_unit(c->types[i].unit, &per_second);
        if (time && (best == c->count || strcmp(c->types[i].name, c->wanted) == 0))
            best = i;
    }
    return best < c->count ? best : choose_other(c);
}

static void add_further(struct fm_import_columns *c, size_t i)
{
    const char *name = c->types[i].name, *unit = c->types[i].unit;
    unsigned known = fm_measure_find(name);
    if (known >= FM_FURTHER_FIRST && known != FM_FURTHER_END &&
        g_strcmp0(fm_known_measure(known)->exported, name) == 0)
        name = fm_known_measure(known)->file.name;
    uint64_t per_second;
    unsigned added =
        fm_import_time_unit(unit, &per_second)
            ? fm_stacks_add_scaled(c->stacks, name, "s", 1.0 / (double)per_second)
            : fm_stacks_add_measure(c->stacks, name, strcmp(unit, "bytes") == 0 ? "bytes" : NULL);
    if (added != 0)
        take_measure(c, i, added);
    c->left_out += added == 0;
}

/* Waiting off the processor is the opposite of CPU time. */
static bool is_cpu_time(const char *name)
{
    return strstr(name, "cpu") != NULL && strncmp(name, "off", 3) != 0;
}

static void choose_time(struct fm_import_columns *c, size_t i, uint64_t per_second)
{
    struct fm_build *build = fm_stacks_build(c->stacks);
    take_measure(c, i, FM_QUANTA);
    fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
    if (!is_cpu_time(c->types[i].name)) { /* "wall", "delay" of locks */
        fm_build_nature(build, FM_NATURE_CLOCK, 0);
        fm_stacks_name_quanta(c->stacks, c->types[i].name, NULL);
    }
    c->columns[i].factor = NS_PER_SECOND / per_second;
}

static void choose_column(struct fm_import_columns *c, size_t i)
{
    const char *name = c->types[i].name, *unit = c->types[i].unit;
    uint64_t per_second;
    c->columns[i] = (struct fm_import_column){.role = FM_IMPORT_SKIPPED};
    if (i == c->main && fm_import_time_unit(unit, &per_second)) {
        choose_time(c, i, per_second);
    } else if (i == c->main) {
        take_measure(c, i, FM_QUANTA);
        fm_stacks_name_quanta(c->stacks, name, strcmp(unit, "bytes") == 0 ? "bytes" : NULL);
    } else if (strcmp(name, "calls") == 0 && strcmp(unit, "count") == 0) {
        c->columns[i] =
            (struct fm_import_column){.role = FM_IMPORT_COUNTS_CALLS, .factor = 1, .divide = 1};
        c->known |= FM_IMPORT_CALLS;
    } else if (strcmp(name, "alloc_objects") == 0) {
        take_measure(c, i, FM_ALLOCS);
    } else if (strcmp(name, "alloc_space") == 0 && strcmp(unit, "bytes") == 0) {
        take_measure(c, i, FM_WORDS);
    } else if (c->main == c->count && (c->known >> FM_QUANTA & 1u) == 0 &&
               strcmp(unit, "bytes") != 0 && strncmp(name, "inuse", 5) != 0 &&
               strcmp(name, "free_objects") != 0) {
        take_measure(c, i, FM_QUANTA);
        fm_stacks_name_quanta(c->stacks, name, NULL);
    } else {
        add_further(c, i);
    }
}

static void choose_told(struct fm_import_columns *c, size_t i,
                        const struct fm_import_figures *figures)
{
    struct fm_import_figure of = fm_import_figures_of(figures, c->types[i].name);
    c->columns[i] = (struct fm_import_column){.role = of.skip    ? FM_IMPORT_SKIPPED
                                                      : of.calls ? FM_IMPORT_COUNTS_CALLS
                                                                 : FM_IMPORT_MEASURE,
                                              .measure = of.measure,
                                              .factor = 1,
                                              .divide = of.divide};
}

void fm_import_columns_choose(struct fm_import_columns *c, const struct fm_import_figures *figures)
{
    c->known = c->left_out = 0;
    c->main = choose_main(c);
    for (size_t i = 0; i < c->count; i++) {
        if (figures != NULL && figures->told.told)
            choose_told(c, i, figures);
        else
            choose_column(c, i);
    }
}

static void add(const struct fm_import_columns *c, unsigned measure, uint64_t value)
{
    if (c->call != 0)
        fm_stacks_add_to(c->stacks, c->call, measure, value);
    else
        fm_stacks_add(c->stacks, measure, value);
}

bool fm_import_columns_add(struct fm_import_columns *c, size_t i, uint64_t value)
{
    struct fm_import_column *column = &c->columns[i];
    if (column->role == FM_IMPORT_SKIPPED || value == 0)
        return true;
    if (__builtin_mul_overflow(value, column->factor, &value) ||
        !fm_import_sum(&column->sum, value))
        return false;
    value /= column->divide;
    if (column->role == FM_IMPORT_COUNTS_CALLS) {
        add(c, FM_EXITS, value);
        add(c, FM_CALLSEQS, value);
    } else {
        add(c, column->measure, value);
    }
    return true;
}

void fm_import_columns_finish(const struct fm_import_columns *c)
{
    struct fm_build *build = fm_stacks_build(c->stacks);
    fm_import_only_knows(build, c->known);
    if (c->left_out == 0)
        return;
    g_autofree char *note =
        g_strdup_printf("%u sample types are left out: a profile has room for %u measures",
                        c->left_out, FM_MEASURES_MAX);
    fm_build_note(build, note);
}

void fm_import_columns_period(const struct fm_import_columns *c, uint64_t period, const char *unit)
{
    struct fm_build_header *header = fm_build_header(fm_stacks_build(c->stacks));
    uint64_t per_second, squares;
    if (c->main == c->count || period == 0 ||
        !fm_import_time_unit(c->types[c->main].unit, &per_second) ||
        !fm_import_time_unit(unit, &per_second) ||
        __builtin_mul_overflow(period, NS_PER_SECOND / per_second, &period))
        return;
    uint64_t total = c->columns[c->main].sum;
    if (__builtin_mul_overflow(total, period, &squares))
        squares = UINT64_MAX;
    header->sample_count = total / period;
    header->sample_squares = squares;
}

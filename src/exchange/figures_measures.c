/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/figures_measures.h"

#include <string.h>

#include "exchange/import/internal.h"

static void begin_quanta(const struct fm_figures *told, struct fm_stacks *stacks)
{
    struct fm_build_header *header = fm_build_header(fm_stacks_build(stacks));
    header->ticks_per_second = told->ticks_per_second;
    header->sample_count = told->sample_count;
    header->sample_squares = told->sample_squares;
    if (told->quanta.column[0] != '\0' && strcmp(told->quanta.measure, "quanta") != 0)
        fm_stacks_name_quanta(stacks, told->quanta.measure, told->quanta.unit);
}

void fm_import_figures_begin(struct fm_import_figures *figures, struct fm_stacks *stacks)
{
    const struct fm_figures *told = &figures->told;
    struct fm_build *build = fm_stacks_build(stacks);
    g_assert(told->told);
    begin_quanta(told, stacks);
    if (told->natures != 0)
        fm_build_nature(build, told->natures, told->heap_period);
    for (unsigned i = 0; i < told->count; i++)
        figures->measures[i] = fm_stacks_add_scaled(stacks, told->columns[i].measure,
                                                    told->columns[i].unit, told->columns[i].scale);
    uint32_t known = told->known & ~FM_IMPORT_CALLS;
    fm_import_only_knows(build, told->calls ? known | FM_IMPORT_CALLS : known);
}

struct fm_import_figure fm_import_figures_of(const struct fm_import_figures *figures,
                                             const char *column)
{
    const struct fm_figures *told = &figures->told;
    if (strcmp(column, "calls") == 0)
        return (struct fm_import_figure){.calls = true, .skip = !told->calls, .divide = 1};
    if (strcmp(column, "alloc_objects") == 0)
        return (struct fm_import_figure){.measure = FM_ALLOCS, .divide = 1};
    if (strcmp(column, "alloc_space") == 0)
        return (struct fm_import_figure){.measure = FM_WORDS, .divide = 1};
    if (strcmp(column, told->quanta.column) == 0)
        return (struct fm_import_figure){.measure = FM_QUANTA, .divide = told->in_column};
    for (unsigned i = 0; i < told->count; i++) {
        if (strcmp(column, told->columns[i].column) == 0 && figures->measures[i] != 0)
            return (struct fm_import_figure){.measure = figures->measures[i], .divide = 1};
    }
    return (struct fm_import_figure){.skip = true, .divide = 1};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the measures to export, with their names and units. */
#include <string.h>

#include "exchange/nodes.h"
#include "exchange/nodes_internal.h"

#define NANOSECONDS 1000000000u

static void add(struct fm_exchange_nodes *nodes, struct fm_exchange_column column)
{
    g_assert(nodes->column_count < FM_EXCHANGE_COLUMNS_MAX);
    if (column.divide == 0)
        column.divide = 1;
    if (column.multiply == 0)
        column.multiply = 1;
    nodes->columns[nodes->column_count++] = column;
}

/* Quanta of which nobody knows how long they are: samples, instructions. */
static void add_quanta(struct fm_exchange_nodes *nodes)
{
    const struct fm_profile *p = nodes->a->profile;
    const char *name = p->measures[FM_QUANTA].name;
    if (p->user_quanta > 0 && fm_profile_knows(p, FM_QUANTA))
        add(nodes,
            (struct fm_exchange_column){.name = strcmp(name, "quanta") == 0 ? "samples" : name,
                                        .unit = "count",
                                        .measure = name,
                                        .id = FM_QUANTA});
}

static void add_time(struct fm_exchange_nodes *nodes, uint64_t ticks)
{
    if (ticks == 0) {
        add_quanta(nodes);
        return;
    }
    const struct fm_profile *p = nodes->a->profile;
    const char *name = p->measures[FM_QUANTA].name;
    bool clock = fm_profile_is(p, FM_NATURE_CLOCK);
    add(nodes, (struct fm_exchange_column){.name = !clock                        ? "cpu"
                                                   : strcmp(name, "quanta") == 0 ? "time"
                                                                                 : name,
                                           .unit = "nanoseconds",
                                           .measure = name,
                                           .id = FM_QUANTA,
                                           .multiply = NANOSECONDS,
                                           .divide = ticks});
    if (NANOSECONDS % ticks != 0)
        add(nodes, (struct fm_exchange_column){
                       .name = "samples", .unit = "count", .measure = name, .id = FM_QUANTA});
}

static const char *exported_name(const char *name)
{
    unsigned known = fm_measure_find(name);
    const char *exported = known == FM_FURTHER_END ? NULL : fm_known_measure(known)->exported;
    return exported != NULL ? exported : name;
}

void fm_exchange_add_columns(struct fm_exchange_nodes *nodes)
{
    const struct fm_profile *p = nodes->a->profile;
    static const enum fm_measure_id rare[] = {FM_EXCPS, FM_FAILS, FM_REDOS};
    nodes->column_count = 0;
    if (fm_profile_knows(p, FM_EXITS))
        add(nodes, (struct fm_exchange_column){
                       .name = "calls", .unit = "count", .measure = "calls", .is_calls = true});
    if (fm_profile_knows(p, FM_QUANTA))
        add_time(nodes, p->ticks_per_second);
    if (fm_profile_knows(p, FM_ALLOCS))
        add(nodes, (struct fm_exchange_column){.name = fm_known_measure(FM_ALLOCS)->exported,
                                               .unit = "count",
                                               .measure = "allocs",
                                               .id = FM_ALLOCS});
    if (fm_profile_knows(p, FM_WORDS))
        add(nodes, (struct fm_exchange_column){.name = fm_known_measure(FM_WORDS)->exported,
                                               .unit = "bytes",
                                               .measure = p->measures[FM_WORDS].name,
                                               .id = FM_WORDS,
                                               .multiply = p->word_size});
    for (unsigned m = FM_MEASURES_MERCURY; m < p->measure_count; m++) {
        const struct fm_measure *measure = &p->measures[m];
        add(nodes, (struct fm_exchange_column){
                       .name = exported_name(measure->name),
                       .unit = strcmp(measure->unit, "bytes") == 0 ? "bytes" : "count",
                       .measure = measure->name,
                       .id = (enum fm_measure_id)m});
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(rare); i++) {
        const char *name = p->measures[rare[i]].name;
        if (p->csd_own[rare[i]].width != 0)
            add(nodes,
                (struct fm_exchange_column){
                    .name = exported_name(name), .unit = "count", .measure = name, .id = rare[i]});
    }
}

/* By fathom's other names, or those of other tools. */
static unsigned by_other_name(const struct fm_exchange_nodes *nodes, const char *name)
{
    unsigned known = fm_measure_find(name), column = 0;
    bool of_time = known == FM_QUANTA; /* not of quanta that have no length */
    for (; known != FM_FURTHER_END && column < nodes->column_count; column++) {
        const struct fm_exchange_column *c = &nodes->columns[column];
        if (fm_measure_find(c->measure) == known &&
            (!of_time || strcmp(c->unit, "nanoseconds") == 0))
            return column;
    }
    return nodes->column_count;
}

unsigned fm_exchange_column(const struct fm_exchange_nodes *nodes, const char *name)
{
    unsigned i = 0;
    while (i < nodes->column_count && strcmp(nodes->columns[i].name, name) != 0)
        i++;
    if (i < nodes->column_count)
        return i;
    i = 0;
    while (i < nodes->column_count && strcmp(nodes->columns[i].measure, name) != 0)
        i++;
    return i < nodes->column_count ? i : by_other_name(nodes, name);
}

unsigned fm_exchange_main_column(const struct fm_exchange_nodes *nodes)
{
    const struct fm_profile *p = nodes->a->profile;
    bool events = p->run_info.tick_event.recorded; /* they were asked for */
    unsigned cpu = fm_exchange_column(nodes, events ? p->measures[FM_QUANTA].name : "cpu");
    int64_t quanta = nodes->a->root_total.own[FM_QUANTA] + nodes->a->root_total.desc[FM_QUANTA];
    return cpu < nodes->column_count && quanta > (events ? 0 : FM_FEW_QUANTA) ? cpu : 0;
}

unsigned fm_exchange_column_in_turn(const struct fm_exchange_nodes *nodes, unsigned turn)
{
    unsigned main_column = fm_exchange_main_column(nodes);
    g_assert(turn < nodes->column_count);
    return turn == 0 ? main_column : turn <= main_column ? turn - 1 : turn;
}

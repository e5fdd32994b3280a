/* SPDX-License-Identifier: Apache-2.0 */
/* Queries at random, all within the limits. */
#pragma once

#include <math.h>
#include <string.h>

#include "query/query.h"

static inline bool random_bool(GRand *rand)
{
    return g_rand_boolean(rand) != 0;
}

/* Small and large numbers alike. */
static inline uint32_t random_number(GRand *rand, uint32_t min, uint32_t max)
{
    uint32_t value = g_rand_int(rand) >> g_rand_int_range(rand, 0, 32);

    return CLAMP(value, min, max);
}

static inline char *random_name(GRand *rand)
{
    static const char often[] = "&&%%//--..__ab::?#+ =";
    size_t size = (size_t)g_rand_int_range(rand, 0, 12);
    char *name = g_malloc0(size + 1);

    for (size_t i = 0; i < size; i++)
        name[i] = random_bool(rand) ? often[g_rand_int_range(rand, 0, sizeof often - 1)]
                                    : (char)g_rand_int_range(rand, 1, 256);
    return name;
}

static inline double random_threshold(GRand *rand)
{
    union {
        uint64_t bits;
        double value;
    } any;

    if (random_bool(rand))
        return (double)g_rand_int_range(rand, 0, 100000000) / 1000;
    do {
        any.bits = (uint64_t)g_rand_int(rand) << 31 | g_rand_int(rand) >> 1;
    } while (!(any.value < HUGE_VAL));
    return any.value;
}

static inline struct fm_cost_order random_cost(GRand *rand)
{
    return (struct fm_cost_order){(enum fm_cost_kind)g_rand_int_range(rand, 0, 6),
                                  random_bool(rand), random_bool(rand)};
}

static inline void random_preferences(GRand *rand, struct fm_preferences *ret)
{
    *ret = (struct fm_preferences){
        .ports = random_bool(rand),
        .time = (enum fm_time_columns)g_rand_int_range(rand, 0, 6),
        .callseqs = (enum fm_count_columns)g_rand_int_range(rand, 0, 3),
        .allocs = (enum fm_count_columns)g_rand_int_range(rand, 0, 3),
        .memory = (enum fm_memory_columns)g_rand_int_range(rand, 0, 5),
        .box = random_bool(rand),
        .colour = random_bool(rand),
        .ancestors_limited = random_bool(rand),
        .ancestors = random_number(rand, 0, FM_QUERY_ANCESTORS_MAX),
        .procs_per_recursion_type = random_number(rand, 0, FM_QUERY_PROCS_MAX),
        .summarize = random_bool(rand),
        .order = (enum fm_order)g_rand_int_range(rand, 0, 3),
        .cost = random_cost(rand),
        .contour = random_bool(rand),
        .time_format = (enum fm_time_format)g_rand_int_range(rand, 0, 3),
        .qualify = (enum fm_qualify)g_rand_int_range(rand, 0, 3),
        .show_inactive_call_sites = random_bool(rand),
        .show_inactive_procs = random_bool(rand),
        .show_inactive_modules = random_bool(rand),
        .developer = random_bool(rand),
    };
}

static inline bool takes_a_name(enum fm_command_id id)
{
    return id == FM_CMD_PROC || id == FM_CMD_PROC_CALLERS || id == FM_CMD_CLIQUE ||
           id == FM_CMD_PROC_STATIC_COVERAGE || id == FM_CMD_DUMP_PROC_STATIC ||
           id == FM_CMD_DUMP_RAW_CLIQUE || id == FM_CMD_CLIQUE_RC || id == FM_CMD_CONTEXTS ||
           id == FM_CMD_ASM;
}

/* Names, and what trees and pictures are asked for by. */
static inline void random_view(GRand *rand, struct fm_command *command)
{
    enum fm_command_id id = command->id;
    bool view = id == FM_CMD_TREE || id == FM_CMD_FLAME || id == FM_CMD_GRAPH || id == FM_CMD_RANKS;

    command->measure = (enum fm_query_measure)g_rand_int_range(rand, 0, 6);
    command->memory = (enum fm_query_memory)g_rand_int_range(rand, 0, 3);
    command->up = random_bool(rand);
    command->depth = random_number(rand, 1, FM_QUERY_DEPTH_MAX);
    command->flags = (unsigned)g_rand_int_range(rand, 0, 8);
    command->width = random_bool(rand) ? 0 : random_number(rand, FM_QUERY_WIDTH_MIN, 8000);
    if (view || id == FM_CMD_FIND || id == FM_CMD_SOURCE || (random_bool(rand) && takes_a_name(id)))
        command->name = random_name(rand);
    bool number = command->name && command->name[strspn(command->name, "0123456789")] == '\0';
    if ((takes_a_name(id) || view) && number) { /* no name, and no empty focus */
        g_free(command->name);
        command->name = g_strdup("n/1");
    }
}

static inline void random_query(GRand *rand, struct fm_query *ret)
{
    struct fm_command *command = &ret->command;

    *ret = (struct fm_query){.has_preferences = random_bool(rand)};
    random_preferences(rand, &ret->preferences);
    command->id = (enum fm_command_id)g_rand_int_range(rand, 0, FM_CMD_COUNT);
    command->number = command->id == FM_CMD_TIMEOUT ? random_number(rand, 1, FM_QUERY_TIMEOUT_MAX)
                                                    : random_number(rand, 0, UINT32_MAX);
    command->has_percent = random_bool(rand);
    command->percent = random_number(rand, 0, FM_QUERY_PERCENT_MAX);
    if (command->id == FM_CMD_MODULE || command->id == FM_CMD_MODULE_GETTER_SETTERS ||
        command->id == FM_CMD_MODULE_REP)
        command->module = random_name(rand);
    random_view(rand, command);
    command->group = (enum fm_callers_group)g_rand_int_range(rand, 0, 4);
    command->bunch = random_number(rand, 1, UINT32_MAX);
    command->bunch_size = random_number(rand, 1, FM_QUERY_BUNCH_SIZE_MAX);
    command->contour = random_bool(rand);
    command->limit = (enum fm_limit_kind)g_rand_int_range(rand, 0, 3);
    command->first = random_number(rand, 1, UINT32_MAX);
    command->last = random_number(rand, command->first, UINT32_MAX);
    if (command->id == FM_CMD_FUNCTIONS || command->id == FM_CMD_LINES)
        command->last = random_number(rand, 1, FM_QUERY_ROWS_MAX);
    while (command->id == FM_CMD_LINES && !fm_query_has_lines(command->measure))
        command->measure = (enum fm_query_measure)g_rand_int_range(rand, 0, FM_QUERY_BY_AUTO);
    command->threshold = random_threshold(rand);
    command->top = random_cost(rand);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The words of arguments and preferences, and what is not parsing or printing: equality, copies,
 * defaults. */
#include "query/query.h"

#include <string.h>

#include "query/query_internal.h"

#define WORDS(list, last_value, ...)                                                    \
    static const char *const list##_words[] = {__VA_ARGS__};                            \
    const struct fm_words fm_words_##list = {list##_words, G_N_ELEMENTS(list##_words)}; \
    G_STATIC_ASSERT(G_N_ELEMENTS(list##_words) == (last_value) + 1)

WORDS(group, FM_GROUP_CLIQUE, "cs", "pr", "mo", "cl");
WORDS(cost, FM_BY_WORDS, "calls", "redos", "time", "callseqs", "allocs", "words");
WORDS(descendants, true, "self", "both");
WORDS(scope, true, "oa", "pc");
WORDS(contour, true, "nc", "ac");
WORDS(ports, true, "_", "p");
WORDS(time, FM_TIME_BOTH_PER_CALL, "_", "q", "t", "qt", "tp", "qtp");
WORDS(callseqs, FM_COUNT_PER_CALL, "_", "s", "S");
WORDS(allocs, FM_COUNT_PER_CALL, "_", "a", "A");
WORDS(memory, FM_MEMORY_WORDS_PER_CALL, "_", "b", "w", "B", "W");
WORDS(box, true, "nobox", "box");
WORDS(colour, true, "none", "cols");
WORDS(summarize, true, "nosum", "sum");
WORDS(time_format, FM_TIME_FORMAT_MILLI, "no", "mi", "th");
WORDS(qualify, FM_QUALIFY_NEVER, "mqa", "mqwd", "mqn");
WORDS(developer, true, "nodev", "dev");
const struct fm_words fm_words_measure = {fm_tree_words, G_N_ELEMENTS(fm_tree_words)};
WORDS(direction, true, "down", "up");
WORDS(memory_side, FM_QUERY_AT_PEAK, "allocated", "held", "freed", "peak");
WORDS(flame_flags, 2, "open", "shut", "own");

void fm_command_done(struct fm_command *command)
{
    g_free(command->module);
    g_free(command->name);
    *command = (struct fm_command){0};
}

void fm_query_done(struct fm_query *query)
{
    fm_command_done(&query->command);
    *query = (struct fm_query){0};
}

static bool cost_order_equal(const struct fm_cost_order *a, const struct fm_cost_order *b)
{
    return a->kind == b->kind && a->with_descendants == b->with_descendants &&
           a->per_call == b->per_call;
}

static bool limit_equal(const struct fm_command *a, const struct fm_command *b)
{
    if (a->limit != b->limit)
        return false;
    if (a->limit == FM_LIMIT_RANK)
        return a->first == b->first && a->last == b->last;
    return !(a->threshold < b->threshold) && !(a->threshold > b->threshold);
}

/* Compares names, or numbers where there is no name. */
static bool subject_equal(const struct fm_command *a, const struct fm_command *b)
{
    return g_strcmp0(a->name, b->name) == 0 && (a->name || a->number == b->number);
}

static bool focus_equal(const struct fm_command *a, const struct fm_command *b)
{
    return g_strcmp0(a->name ? a->name : "all", b->name ? b->name : "all") == 0;
}

static bool view_equal(const struct fm_command *a, const struct fm_command *b)
{
    bool same = a->measure == b->measure && a->up == b->up && focus_equal(a, b);

    if (a->id == FM_CMD_TREE)
        return same && a->depth == b->depth && !(a->threshold < b->threshold) &&
               !(a->threshold > b->threshold);
    return same && a->flags == b->flags && a->width == b->width;
}

bool fm_query_has_lines(enum fm_query_measure measure)
{
    return measure == FM_QUERY_BY_TIME || measure == FM_QUERY_BY_BYTES ||
           measure == FM_QUERY_BY_ALLOCS || measure == FM_QUERY_BY_LIVE ||
           measure == FM_QUERY_BY_PEAK;
}

static bool command_equal(const struct fm_command *a, const struct fm_command *b)
{
    if (a->id != b->id)
        return false;
    switch (fm_command_forms[a->id].shape) {
    case FM_SHAPE_PLAIN:
        return true;
    case FM_SHAPE_NUMBER:
        return subject_equal(a, b) &&
               (!fm_command_forms[a->id].paged || a->name || MAX(a->bunch, 1) == MAX(b->bunch, 1));
    case FM_SHAPE_ROOT:
        return a->has_percent == b->has_percent && (!a->has_percent || a->percent == b->percent);
    case FM_SHAPE_CALLERS:
        return subject_equal(a, b) && a->group == b->group && a->bunch == b->bunch &&
               a->bunch_size == b->bunch_size && a->contour == b->contour;
    case FM_SHAPE_MODULE:
        return g_strcmp0(a->module ? a->module : "", b->module ? b->module : "") == 0;
    case FM_SHAPE_TOP:
        return limit_equal(a, b) && cost_order_equal(&a->top, &b->top);
    case FM_SHAPE_TEXT:
        return g_strcmp0(a->name ? a->name : "", b->name ? b->name : "") == 0;
    case FM_SHAPE_TREE:
    case FM_SHAPE_FLAME:
        return view_equal(a, b);
    case FM_SHAPE_MEASURE:
        return a->measure == b->measure;
    case FM_SHAPE_GRAPH:
        return a->measure == b->measure && focus_equal(a, b);
    case FM_SHAPE_MEMORY:
        return a->memory == b->memory;
    case FM_SHAPE_FUNCTIONS:
        return a->measure == b->measure && a->last == b->last &&
               a->top.with_descendants == b->top.with_descendants;
    case FM_SHAPE_LINES:
        return a->measure == b->measure && a->last == b->last;
    }
    return false;
}

bool fm_preferences_equal(const struct fm_preferences *a, const struct fm_preferences *b)
{
    return a->ports == b->ports && a->time == b->time && a->callseqs == b->callseqs &&
           a->allocs == b->allocs && a->memory == b->memory && a->box == b->box &&
           a->colour == b->colour && a->ancestors_limited == b->ancestors_limited &&
           (!a->ancestors_limited || a->ancestors == b->ancestors) &&
           a->procs_per_recursion_type == b->procs_per_recursion_type &&
           a->summarize == b->summarize && a->order == b->order &&
           (a->order != FM_ORDER_COST || cost_order_equal(&a->cost, &b->cost)) &&
           a->contour == b->contour && a->time_format == b->time_format &&
           a->qualify == b->qualify && a->show_inactive_call_sites == b->show_inactive_call_sites &&
           a->show_inactive_procs == b->show_inactive_procs &&
           a->show_inactive_modules == b->show_inactive_modules && a->developer == b->developer;
}

bool fm_query_equal(const struct fm_query *a, const struct fm_query *b)
{
    return command_equal(&a->command, &b->command) && a->has_preferences == b->has_preferences &&
           (!a->has_preferences || fm_preferences_equal(&a->preferences, &b->preferences));
}

void fm_preferences_default(struct fm_preferences *ret, bool times_worth_showing, bool c_program)
{
    *ret = (struct fm_preferences){
        .ports = true,
        .time = !times_worth_showing ? FM_TIME_NONE
                : c_program          ? FM_TIME_TIME
                                     : FM_TIME_TICKS,
        .callseqs = FM_COUNT_OVERALL,
        .allocs = FM_COUNT_NONE,
        .memory = c_program ? FM_MEMORY_BYTES : FM_MEMORY_WORDS,
        .box = true,
        .colour = true,
        .ancestors_limited = true,
        .ancestors = 5,
        .procs_per_recursion_type = 20,
        .order = FM_ORDER_CONTEXT,
        /* The cost of sorting where no other is asked for. */
        .cost = {.kind = FM_BY_CALLSEQS, .with_descendants = true, .per_call = false},
        .time_format = FM_TIME_FORMAT_MILLI,
        .qualify = FM_QUALIFY_WHEN_DIFFERENT,
    };
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Preferences: those of the request, else defaults for the recording. */
#include "pages/profile/parts/preferences.h"

const struct fm_cost_order fm_default_cost_order = {
    .kind = FM_BY_CALLSEQS, .with_descendants = true, .per_call = false};

bool fm_times_tell(const struct fm_profile *profile)
{
    bool alone = !fm_profile_knows(profile, FM_CALLSEQS) && profile->user_quanta > 0;
    return alone || profile->user_quanta > FM_FEW_QUANTA;
}

/* Keeps calls, and time if it is significant, or else the measure of the page's order: other
 * columns are a link away. */
static void keep_one_measure(struct fm_preferences *ret, const struct fm_command *command)
{
    enum fm_cost_kind kind = command->id == FM_CMD_TOP_PROCS ? command->top.kind : FM_BY_TIME;
    bool other = kind == FM_BY_WORDS || kind == FM_BY_ALLOCS || kind == FM_BY_CALLSEQS;
    if (kind != FM_BY_WORDS)
        ret->memory = FM_MEMORY_NONE;
    if (kind == FM_BY_ALLOCS)
        ret->allocs = FM_COUNT_OVERALL;
    if (other || ret->time != FM_TIME_NONE)
        ret->callseqs = kind == FM_BY_CALLSEQS ? FM_COUNT_OVERALL : FM_COUNT_NONE;
    if (other)
        ret->time = FM_TIME_NONE;
}

void fm_page_preferences_of(const struct fm_open_profile *recording, const struct fm_query *query,
                            struct fm_preferences *ret)
{
    g_return_if_fail(recording->known >= FM_KNOWN_HEADER);
    const struct fm_profile *profile = recording->profile;
    if (query->has_preferences) {
        *ret = query->preferences;
        return;
    }
    fm_preferences_default(ret, fm_times_tell(profile), profile->flavour == FM_FLAVOUR_C);
    if (query->compact && profile->flavour == FM_FLAVOUR_C)
        keep_one_measure(ret, &query->command);
    /* Without another request, the top procedures are in the order by which they were selected. */
    if (query->command.id == FM_CMD_TOP_PROCS)
        fm_preferences_set_order(ret, FM_ORDER_COST, &query->command.top);
}

void fm_preferences_set_order(struct fm_preferences *preferences, enum fm_order order,
                              const struct fm_cost_order *cost)
{
    g_return_if_fail(order != FM_ORDER_COST || cost != NULL);
    preferences->order = order;
    preferences->cost = order == FM_ORDER_COST ? *cost : (struct fm_cost_order){0};
}

bool fm_preferences_are_usual(const struct fm_open_profile *recording, const struct fm_query *query)
{
    if (!query->compact || recording->profile->flavour != FM_FLAVOUR_C)
        return false;
    struct fm_query unasked = *query;
    struct fm_preferences usual;
    unasked.has_preferences = false;
    fm_page_preferences_of(recording, &unasked, &usual);
    const struct fm_preferences *now = &query->preferences;
    return now->ports == usual.ports && now->time == usual.time &&
           now->callseqs == usual.callseqs && now->allocs == usual.allocs &&
           now->memory == usual.memory;
}

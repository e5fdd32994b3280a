/* SPDX-License-Identifier: Apache-2.0 */
/* Preferences: those of the request, else those that suit the recording. */
#include "pages/profile/parts/preferences.h"

const struct fm_cost_order fm_default_cost_order = {
    .kind = FM_QUERY_CALLSEQS, .with_descendants = true, .per_call = false};

bool fm_times_tell(const struct fm_profile *profile)
{
    return profile->user_quanta > FM_FEW_QUANTA;
}

void fm_recording_preferences(const struct fm_recording *recording, const struct fm_query *query,
                              struct fm_preferences *ret)
{
    const struct fm_profile *profile = recording->profile;
    if (query->has_preferences) {
        *ret = query->preferences;
        return;
    }
    fm_preferences_default(ret, fm_times_tell(profile), profile->flavour == FM_FLAVOUR_C);
    /* Unless something else is asked for, the top procedures stand in the order that selected
     * them. */
    if (query->command.id == FM_CMD_TOP_PROCS)
        fm_preferences_set_order(ret, FM_ORDER_COST, &query->command.top);
}

void fm_preferences_set_order(struct fm_preferences *preferences, enum fm_order order,
                              const struct fm_cost_order *cost)
{
    preferences->order = order;
    preferences->cost = order == FM_ORDER_COST ? *cost : (struct fm_cost_order){0};
}

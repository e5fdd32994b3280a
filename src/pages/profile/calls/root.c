/* SPDX-License-Identifier: Apache-2.0 */
/* root/no: the clique that the program starts in. root/PCT: "the action", the clique that the
 * bulk of the work leads to. */
#include "pages/profile/calls/calls.h"

#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

/* For Mercury profiles, as in Mercury's tool: call sequence numbers, whatever the order, so that
 * root/90 leads to the same clique. For C programs, calls say little about work. */
static enum fm_measure_id measure_of_action(const struct fm_page *page)
{
    const struct fm_preferences *preferences = &page->query.preferences;
    enum fm_measure_id measure = FM_CALLSEQS;
    if (page->profile->flavour != FM_FLAVOUR_C)
        return measure;
    if (page->links_carry_preferences && preferences->order == FM_ORDER_COST)
        measure = fm_cost_measure(preferences->cost.kind);
    else if (fm_times_tell(page->profile))
        measure = FM_QUANTA;
    /* Redos are not inherited, and measures without costs lead nowhere. */
    bool leads =
        measure >= FM_FIRST_INHERITED && fm_cost_total(&page->analysis->root_total, measure) > 0;
    return leads ? measure : FM_CALLSEQS;
}

bool fm_page_root(struct fm_page *page, GError **error)
{
    (void)error;
    const struct fm_command *command = &page->query.command;
    uint32_t clique =
        command->has_percent
            ? fm_analysis_action_clique(page->analysis, command->percent, measure_of_action(page))
            : page->analysis->pd_clique[page->profile->root_pd];
    fm_clique_page(page, clique);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* root/no: the clique that the program starts in. root/PCT: "the action", the clique that the
 * bulk of the work leads to. */
#include "report/report_internal.h"

bool fm_report_root(struct fm_page *page, GError **error)
{
    (void)error;
    const struct fm_command *command = &page->query.command;
    uint32_t clique = command->has_percent
                          ? fm_analysis_action_clique(page->analysis, command->percent)
                          : page->analysis->pd_clique[page->profile->root_pd];
    fm_clique_page(page, clique);
    return true;
}

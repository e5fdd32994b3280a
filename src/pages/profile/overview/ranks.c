/* SPDX-License-Identifier: Apache-2.0 */
/* ranks/MEASURE/FOCUS: where the ranks in a sum differ; for one context, the value of each. */
#include <string.h>

#include "pages/profile/measured/focus.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/measured/ranks.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/overview/overview.h"
#include "pages/profile/parts/controls.h"

#define ROWS_SHOWN 100u

static void add_all(struct fm_page *page, const struct fm_measured *measured, uint32_t ps)
{
    g_autofree char *lead = ps == 0 ? fm_ranks_lead(page, measured) : NULL;
    if (lead != NULL)
        fm_add_text(page->body, lead);
    uint32_t count = fm_add_rank_losses(page, measured, ps, ROWS_SHOWN);
    if (count == 0)
        fm_add_text(page->body, "All ranks have equal values.");
    if (count > ROWS_SHOWN) {
        g_autofree char *text = g_strdup_printf(
            "%u of %" PRIu32 " contexts, those with the largest imbalance.", ROWS_SHOWN, count);
        fm_add_text(page->body, text);
    }
}

static void add_context(struct fm_page *page, const struct fm_measured *measured, uint32_t clique)
{
    struct fm_query context = fm_page_link(page, FM_CMD_CLIQUE, clique);
    struct fm_query all = fm_page_link(page, FM_CMD_RANKS, 0);
    all.command.measure = measured->asked;
    all.command.name = (char *)(uintptr_t) "all";
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_link(list, &context, "The context");
    fm_add_link(list, &all, "All contexts by imbalance");
    fm_add_rank_values(page, measured, clique);
}

bool fm_page_ranks(struct fm_page *page, GError **error)
{
    struct fm_measured measured;
    struct fm_digest_focus focus = fm_focus_of(&page->query.command);
    const struct fm_run_info *run_info = &page->profile->run_info;
    (void)error;
    enum fm_query_measure asked = page->query.command.measure;
    g_autofree char *none = fm_has_ranks(page) ? fm_ranks_why_none(page, asked) : NULL;
    fm_ranks_measured(&measured, page, asked);
    if (none == NULL)
        page->query.command.measure = measured.asked;
    g_autofree char *text = fm_focus_text(page, &focus);
    fm_page_begin(page, "ranks",
                  none == NULL ? g_strdup_printf("Ranks by %s: %s", measured.name, text)
                               : g_strdup_printf("Ranks: %s", text));
    fm_display_fact_bool(page->display, "recorded", fm_has_ranks(page));
    if (!fm_has_ranks(page)) {
        fm_add_text(page->body, "This file has no per-rank statistics: `fathom merge` keeps them "
                                "when it adds up one profile of each rank of an MPI program; "
                                "`fathom merge --ranks` keeps them for other processes, too.");
        fm_controls_general(page);
        return true;
    }
    fm_display_fact_int(page->display, "rank_count", (int64_t)run_info->rank_info.count);
    fm_add_missing_ranks(page);
    fm_add_measures(page, none == NULL ? measured.asked : asked);
    if (none != NULL)
        fm_add_text(page->body, none);
    else if (focus.clique != 0)
        add_context(page, &measured, focus.clique);
    else
        add_all(page, &measured, focus.ps);
    fm_controls_general(page);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* functions/MEASURE/DESC/ROWS: the most expensive functions in four columns. */
#include "pages/profile/modules/modules.h"

#include "pages/profile/measured/function_table.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

/* Calls have a column of their own, so a list in their order shows time beside them. */
static void choose_shown(const struct fm_page *page, const struct fm_measured *ordered,
                         struct fm_measured *ret)
{
    bool calls = ordered->measure == FM_CALLSEQS;
    *ret = *ordered;
    if (calls && fm_measure_is_recorded(page->recording, FM_QUERY_BY_TIME) &&
        fm_times_tell(page->profile))
        fm_measured_init(ret, page->recording, FM_QUERY_BY_TIME);
}

/* Leaves out threads, which are nodes as functions are. */
static uint32_t keep_functions(const struct fm_profile *profile, uint32_t *ps, uint32_t count,
                               uint32_t rows)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count && kept < rows; i++)
        if (fm_profile_is_function(profile, ps[i]))
            ps[kept++] = ps[i];
    return kept;
}

bool fm_page_functions(struct fm_page *page, GError **error)
{
    (void)error;
    const struct fm_command *command = &page->query.command;
    struct fm_measured ordered, shown;
    fm_measured_init(&ordered, page->recording, command->measure);
    choose_shown(page, &ordered, &shown);
    bool total = command->top.with_descendants;
    fm_page_begin(page, "functions",
                  g_strdup_printf("Most expensive %s by %s%s", page->terms->procs,
                                  total ? "total " : "", ordered.name));
    uint32_t threads = 0;
    for (uint32_t i = 1; i <= page->profile->ps_count; i++)
        threads += !fm_profile_is_function(page->profile, i);
    const struct fm_top_query query = {
        .kind = fm_cost_kind_of(ordered.measure),
        .with_descendants = total,
        .limit = FM_LIMIT_RANK,
        .first = 1,
        .last = command->last + threads,
        .further = page->profile->run_info.origin != NULL,
    };
    g_autofree uint32_t *ps = NULL;
    uint32_t count = 0;
    fm_analysis_top(page->analysis, &query, &ps, &count);
    count = keep_functions(page->profile, ps, count, command->last);
    fm_display_fact_string(page->display, "measure", fm_tree_words[ordered.asked]);
    fm_display_fact_int(page->display, "function_count", page->profile->ps_count);
    fm_function_table(page, &shown, "functions", ps, count, false);
    return true;
}

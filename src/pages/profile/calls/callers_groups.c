/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/calls/callers_groups.h"

#include "pages/profile/parts/names.h"

#define ORDERED_MAX 5000u /* limit of contexts: sorting more takes longer than a page should */

bool fm_caller_is_root(const struct fm_page *page, uint32_t clique)
{
    return clique == page->analysis->pd_clique[page->profile->root_pd];
}

const char *fm_caller_clique_name(const struct fm_page *page, uint32_t clique, uint32_t *ret_entry)
{
    *ret_entry = fm_analysis_clique_entry(page->analysis, clique);
    if (*ret_entry == 0)
        *ret_entry = page->analysis->clique_pds[page->analysis->clique_first[clique]];
    if (fm_caller_is_root(page, clique))
        return page->terms->runtime;
    return fm_name_ps(page, page->profile->pd_ps[*ret_entry]);
}

static struct fm_row caller_row(const struct fm_page *page, const struct fm_callers_row *caller)
{
    const struct fm_profile *profile = page->profile;
    struct fm_row row = {.cost = caller->cost, .file = "", .link = FM_CMD_COUNT};
    uint32_t entry;
    switch (page->query.command.group) {
    case FM_GROUP_CALL_SITE:
        row.file = fm_css_file(profile, caller->css);
        row.line = profile->css[caller->css].line;
        row.name = fm_name_ps(page, caller->ps);
        row.full = fm_full_name_ps(page, caller->ps);
        row.link = FM_CMD_PROC;
        row.link_number = caller->ps;
        break;
    case FM_GROUP_PROC:
        row.file = profile->ps[caller->ps].file;
        row.line = profile->ps[caller->ps].line;
        row.name = fm_name_ps(page, caller->ps);
        row.full = fm_full_name_ps(page, caller->ps);
        row.link = FM_CMD_PROC;
        row.link_number = caller->ps;
        break;
    case FM_GROUP_MODULE: /* already in order of names */
        row.name = caller->module;
        row.file = caller->module;
        break;
    case FM_GROUP_CLIQUE: /* by context: by number */
        row.name = fm_caller_clique_name(page, caller->clique, &entry);
        row.line = caller->clique;
        row.link = FM_CMD_CLIQUE;
        row.link_number = caller->clique;
        break;
    }
    return row;
}

static void clique_cost(void *data, uint32_t index, struct fm_cost *ret)
{
    const struct fm_caller_groups *groups = data;
    struct fm_callers_row row;
    fm_clique_callers_row(groups->cliques, index, &row);
    *ret = row.cost;
}

static const char *clique_name_at(void *data, uint32_t index)
{
    const struct fm_caller_groups *groups = data;
    uint32_t entry;
    return fm_caller_clique_name(groups->page, fm_clique_callers_clique(groups->cliques, index),
                                 &entry);
}

static void find_cliques(struct fm_caller_groups *groups, uint32_t ps,
                         const struct fm_contour *contour, bool inside)
{
    groups->cliques = fm_clique_callers_new(groups->page->analysis, ps, contour, inside);
    groups->count = fm_clique_callers_count(groups->cliques);
    if (groups->count > ORDERED_MAX && !groups->page->links_carry_preferences)
        return; /* the natural order, unless another is requested */
    groups->order = fm_rows_order(
        groups->page,
        &(struct fm_row_source){.cost = clique_cost, .name = clique_name_at, .data = groups},
        groups->count, groups->count);
}

void fm_caller_groups_find(struct fm_caller_groups *groups, struct fm_page *page, uint32_t ps,
                           bool inside)
{
    const struct fm_command *command = &page->query.command;
    const struct fm_contour *contour = command->contour ? page->recording->contour : NULL;
    enum fm_callers_group group = command->group;
    *groups = (struct fm_caller_groups){.page = page};
    if (group == FM_GROUP_CLIQUE) {
        find_cliques(groups, ps, contour, inside);
        return;
    }
    (inside ? fm_analysis_callers_inside : fm_analysis_callers)(page->analysis, ps, group, contour,
                                                                &groups->callers, &groups->count);
    groups->rows = g_new(struct fm_row, groups->count);
    for (uint32_t i = 0; i < groups->count; i++) {
        groups->rows[i] = caller_row(page, &groups->callers[i]);
        groups->rows[i].id = i;
    }
    fm_rows_sort(page, groups->rows, groups->count, NULL);
}

void fm_caller_groups_done(struct fm_caller_groups *groups)
{
    g_free(groups->callers);
    g_free(groups->rows);
    g_free(groups->order);
    fm_clique_callers_free(groups->cliques);
}

void fm_caller_groups_at(const struct fm_caller_groups *groups, uint32_t place,
                         struct fm_callers_row *ret_caller, struct fm_row *ret)
{
    if (groups->cliques == NULL) {
        *ret = groups->rows[place];
        *ret_caller = groups->callers[ret->id];
        return;
    }
    uint32_t index = groups->order != NULL ? groups->order[place] : place;
    fm_clique_callers_row(groups->cliques, index, ret_caller);
    *ret = caller_row(groups->page, ret_caller);
}

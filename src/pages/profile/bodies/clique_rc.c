/* SPDX-License-Identifier: Apache-2.0 */
/* clique_rc/N: how a clique recurses. Of a Mercury program it is read from the body of the
 * procedure; of a C program from its call sites and their counts. */
#include "pages/profile/bodies/bodies.h"
#include "pages/profile/bodies/recursion_depths.h"

#include <math.h>

#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"

/* --- for both: the recursive call sites --- */

static void add_sites_header(const struct fm_page *page, struct fm_table *table)
{
    fm_table_group(table, "Source", FM_COLUMN_SOURCE_CONTEXT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "source", NULL);
    fm_table_group(table, page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, "calls from", "caller", NULL);
    fm_table_column(table, "to", "callee", NULL);
    fm_table_group(table, "Recursive calls", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "calls_count", NULL);
    fm_table_group(table, "% of all calls of the clique", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "calls_percent", NULL);
}

static void add_csd(const struct fm_page *page, struct fm_table *table, uint32_t csd, double all)
{
    g_assert(csd >= 1 && csd <= page->profile->csd_count);
    const struct fm_profile *profile = page->profile;
    uint32_t css = profile->csd_css[csd];
    uint32_t from = profile->pd_ps[profile->csd_caller[csd]];
    uint32_t to = profile->pd_ps[profile->csd_callee[csd]];
    struct fm_query caller = fm_page_link(page, FM_CMD_PROC, from);
    struct fm_query callee = fm_page_link(page, FM_CMD_PROC, to);
    int64_t calls = fm_profile_calls(profile, csd);
    g_autofree char *place = fm_name_place(page, fm_css_file(profile, css), profile->css[css].line);
    fm_table_row(table, "call_site", false);
    fm_cell_string(table, place, FM_STYLE_PLAIN);
    fm_cell_link(table, &caller, fm_name_ps(page, from), FM_STYLE_PLAIN);
    fm_cell_link(table, &callee, fm_name_ps(page, to), FM_STYLE_PLAIN);
    fm_cell_int(table, calls);
    fm_cell_percent(table, all > 0 ? (double)calls / all : 0);
}

#define SITES_SHOWN_MAX 1000u

static void add_recursive_sites(const struct fm_page *page, uint32_t clique)
{
    g_assert(clique >= 1 && clique <= page->analysis->clique_count);
    const struct fm_analysis *a = page->analysis;
    const struct fm_profile *profile = page->profile;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t parent = a->clique_parent[clique];
    double all = parent == 0 ? 1 : (double)fm_profile_calls(profile, parent);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i];
        for (uint32_t slot = 0; slot < profile->ps[profile->pd_ps[pd]].css_count; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t c = 0; c < count; c++) {
                if (a->pd_clique[profile->csd_callee[csds[c]]] != clique)
                    continue;
                all += (double)fm_profile_calls(profile, csds[c]);
                g_array_append_val(found, csds[c]);
            }
        }
    }
    fm_display_fact_int(page->display, "recursive_site_count", found->len);
    if (found->len == 0)
        return;
    fm_add_heading(page->body, "Where it recurses");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "recursive_sites");
    add_sites_header(page, table);
    for (guint i = 0; i < MIN(found->len, SITES_SHOWN_MAX); i++)
        add_csd(page, table, g_array_index(found, uint32_t, i), all);
    if (found->len > SITES_SHOWN_MAX)
        fm_add_text(page->body, "Further call sites are left out.");
}

/* --- levels, from bodies --- */

static void add_level(struct fm_table *table, const char *name,
                      const struct fm_recursion_level *level, double total)
{
    fm_table_row(table, "level", false);
    fm_cell_string(table, name, FM_STYLE_PLAIN);
    fm_cell_int(table, (int64_t)fm_round_half_up(level->probability * total));
    fm_cell_float(table, level->cost);
    fm_cell_float(table, level->level);
}

static void add_levels(struct fm_page *page, const struct fm_recursion *recursion)
{
    if (recursion->level_count == 0)
        return;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "levels");
    fm_table_group(table, "Recursion type", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "level", NULL);
    fm_table_group(table, "Exec count", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "executions_count", NULL);
    fm_table_group(table, "Non recursive calls per-call cost", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "callseqs_other_per_call_count", NULL);
    fm_table_group(table, "Recursive calls per-call cost (ex children)", FM_COLUMN_NUMBER,
                   FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "callseqs_recursive_per_call_count", NULL);
    const struct fm_recursion_level none = {0, 0, 0};
    if (recursion->kind != FM_RECURSION_OTHER && recursion->levels[0].level != 0)
        add_level(table, "Base case", &none, recursion->total_calls);
    for (uint32_t i = 0; i < recursion->level_count; i++) {
        const struct fm_recursion_level *level = &recursion->levels[i];
        g_autofree char *name = NULL;
        if (recursion->kind == FM_RECURSION_OTHER)
            name = g_strdup_printf("Case for %" PRIu32 " recursive calls", level->level);
        else
            name = g_strdup(level->level == 0   ? "Base case"
                            : level->level == 1 ? "Recursive case"
                                                : "Doubly-recursive case");
        add_level(table, name, level, recursion->total_calls);
    }
    fm_add_text(page->body,
                "Exec counts are computed from the probabilities of branches: they may differ a "
                "little from the calls counted below.");
}

static void add_value(struct fm_table *table, const char *name, double value)
{
    fm_table_row(table, "value", false);
    fm_cell_string(table, name, FM_STYLE_PLAIN);
    fm_cell_float(table, value);
}

static void add_costs(struct fm_page *page, const struct fm_recursion *recursion)
{
    double depth = fm_recursion_levels(recursion), deepest = fm_round_half_up(depth), last = -1;
    const double depths[] = {0,           1,           2,      fm_round_half_up(depth / 2),
                             deepest - 2, deepest - 1, deepest};
    double average = recursion->base_cost +
                     0.5 * recursion->recursive_cost * (depth * depth + depth) / (depth + 1);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "costs");
    fm_table_group(table, NULL, FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "name", NULL);
    fm_table_group(table, NULL, FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "value", NULL);
    add_value(table, "Average recursion depth:", recursion->depth);
    add_value(table, "Average recursive call cost (excluding the call itself):", average);
    for (size_t i = 0; i < G_N_ELEMENTS(depths); i++) {
        if (depths[i] <= last || depths[i] > deepest)
            continue; /* rows of a shallow recursion may coincide */
        g_autofree char *name = g_strdup_printf("Cost at depth %.0f:", depths[i]);
        add_value(table, name, fm_recursion_cost_at(recursion, depths[i]));
        last = depths[i];
    }
    fm_display_fact_double(page->display, "average_depth", recursion->depth);
    fm_display_fact_double(page->display, "average_callseqs_per_call_count", average);
}

/* --- of C programs --- */

static void add_counts(struct fm_page *page, uint32_t clique, const struct fm_recursion *recursion)
{
    uint32_t parent = page->analysis->clique_parent[clique];
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "costs");
    fm_table_group(table, NULL, FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "name", NULL);
    fm_table_group(table, NULL, FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "value", NULL);
    add_value(table, "Calls from outside:", recursion->parent_calls);
    add_value(table, "Activations for each of them:",
              recursion->parent_calls > 0 ? recursion->total_calls / recursion->parent_calls : 0);
    if (parent != 0) {
        struct fm_cost cost;
        fm_analysis_csd_cost(page->analysis, parent, &cost);
        double total = (double)fm_cost_total(&cost, FM_CALLSEQS);
        add_value(table, "Calls made for each call from outside:",
                  recursion->parent_calls > 0 ? total / recursion->parent_calls : 0);
        add_value(table, "Calls made by each activation, without recursive ones:",
                  recursion->total_calls > 0
                      ? (total - recursion->total_calls) / recursion->total_calls
                      : 0);
    }
    fm_add_text(page->body,
                recursion->kind == FM_RECURSION_SINGLE
                    ? "One call site recurses: if each activation reaches it once, this number of "
                      "activations is the average depth."
                    : "The average depth is not recorded: an activation may recurse several "
                      "times.");
    fm_add_recursion_depths(page, clique);
}

/* --- the page --- */

static void add_kind(struct fm_page *page, const struct fm_recursion *recursion)
{
    static const char *const kinds[] = {"none",   "single", "divide_and_conquer",
                                        "mutual", "other",  "errors"};
    bool c = page->profile->flavour == FM_FLAVOUR_C;
    g_autofree char *mutual = g_strdup_printf("Mutual recursion between %" PRIu32 " %s",
                                              recursion->member_count, page->terms->procs);
    const char *const texts[] = {
        "Clique is non-recursive",
        "Single-recursion:",
        "Double-recursion (Probably Divide and Conquer):",
        mutual,
        c ? "Several call sites recurse:" : "Unknown recursion type:",
        NULL,
    };
    fm_display_fact_string(page->display, "recursion", kinds[recursion->kind]);
    if (recursion->kind != FM_RECURSION_ERRORS) {
        fm_add_text(page->body, texts[recursion->kind]);
        return;
    }
    struct fm_list *list = fm_add_list(page->body, FM_LIST_BULLETS, "Unknown, errors occurred:");
    for (uint32_t i = 0; i < recursion->error_count; i++)
        fm_add_text(list, recursion->errors[i]);
}

bool fm_page_clique_rc(struct fm_page *page, GError **error)
{
    uint32_t clique = page->query.command.number;
    if (!fm_page_check_id(page, "clique", clique, page->analysis->clique_count, error))
        return false;
    g_autoptr(FmBodies) bodies = fm_page_bodies(page);
    const struct fm_recursion *recursion = fm_bodies_recursion(bodies, clique);
    fm_page_begin(page, "clique_rc",
                  g_strdup_printf("The recursion information for clique %" PRIu32, clique));
    fm_display_fact_int(page->display, "clique", clique);
    fm_display_fact_int(page->display, "pd_count", recursion->member_count);
    add_kind(page, recursion);
    g_autofree char *lacking = fm_page_lacks_bodies(page);
    if (lacking != NULL) /* the call sites below are known all the same */
        fm_add_text(page->body, lacking);
    if (page->profile->flavour == FM_FLAVOUR_C) {
        if (recursion->kind != FM_RECURSION_NONE)
            add_counts(page, clique, recursion);
    } else if (recursion->kind == FM_RECURSION_SINGLE || recursion->kind == FM_RECURSION_DIVIDE ||
               recursion->kind == FM_RECURSION_OTHER) {
        add_levels(page, recursion);
        if (recursion->kind == FM_RECURSION_SINGLE)
            add_costs(page, recursion);
    }
    add_recursive_sites(page, clique);
    fm_controls_clique_reports(page, clique);
    fm_controls_general(page);
    return true;
}

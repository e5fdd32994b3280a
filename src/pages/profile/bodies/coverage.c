/* SPDX-License-Identifier: Apache-2.0 */
/* proc_static_coverage/PS and proc_dynamic_coverage/PD of Mercury programs: the body with how often
 * each goal was reached and left by success. */
#include "pages/profile/bodies/bodies.h"

#include "base/error.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"

static void add_contradictions(struct fm_page *page, const struct fm_body *body,
                               const struct fm_coverage *coverage)
{
    fm_display_fact_int(page->display, "contradiction_count", coverage->contradiction_count);
    if (coverage->contradiction_count == 0)
        return;
    fm_add_heading(page->body, "Counts that contradict each other");
    fm_add_text(page->body,
                "Goals after such a goal are marked as doubtful. Causes: an exception that passed "
                "through, a run that ended in the middle of a call, or bodies of another build.");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "contradictions");
    fm_table_group(table, "Goal", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "goal_path", NULL);
    fm_table_group(table, "Contradiction", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "contradiction", NULL);
    for (uint32_t i = 0; i < coverage->contradictions_kept; i++) {
        const struct fm_contradiction *told = &coverage->contradictions[i];
        g_autoptr(GString) path = g_string_new(NULL);
        fm_body_append_path(path, body, told->goal);
        fm_table_row(table, "contradiction", false);
        fm_cell_string(table, path->len == 0 ? "root goal" : path->str, FM_STYLE_PLAIN);
        fm_cell_string(table, told->text, FM_STYLE_PLAIN);
    }
}

static void add_count(struct fm_table *table, struct fm_known_count count)
{
    if (count.known)
        fm_cell_int(table, count.count);
    else
        fm_cell_empty(table);
}

/* The goals that do something, for scripts and for reading down the counts. */
static void add_goals(struct fm_page *page, const struct fm_body *body,
                      const struct fm_coverage *coverage)
{
    uint32_t never = 0, atomic = 0;
    fm_add_heading(page->body, "Goals");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "goals");
    fm_table_group(table, "Goal path", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "goal_path", NULL);
    fm_table_group(table, "Determinism", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "determinism", NULL);
    fm_table_group(table, "Before", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "before_count", NULL);
    fm_table_group(table, "After", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "after_count", NULL);
    fm_table_group(table, "Goal", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "goal", NULL);
    for (uint32_t goal = 0; goal < body->goal_count; goal++) {
        if (!fm_goal_is_atomic(&body->goals[goal]))
            continue;
        g_autoptr(GString) path = g_string_new(NULL), code = g_string_new(NULL);
        fm_body_append_path(path, body, goal);
        fm_body_append_atomic(code, body, goal);
        fm_table_row(table, "goal", false);
        fm_cell_string(table, path->len == 0 ? "root goal" : path->str, FM_STYLE_PLAIN);
        fm_cell_string(table, fm_detism_name(body->goals[goal].detism), FM_STYLE_PLAIN);
        add_count(table, coverage->goals[goal].before);
        add_count(table, coverage->goals[goal].after);
        fm_cell_string(table, code->str, FM_STYLE_PLAIN);
        atomic++;
        never += coverage->goals[goal].before.known && coverage->goals[goal].before.count == 0;
    }
    fm_display_fact_int(page->display, "goal_count", body->goal_count);
    fm_display_fact_int(page->display, "atomic_goal_count", atomic);
    fm_display_fact_int(page->display, "atomic_goal_never_count", never);
}

static bool make_coverage(struct fm_page *page, uint32_t ps, uint32_t pd, struct fm_body **body,
                          struct fm_coverage **ret, GError **error)
{
    g_autoptr(FmBodies) bodies = fm_page_bodies(page);
    const char *why = NULL;
    if (page->profile->coverage == FM_COVERAGE_NONE)
        why = "the program was built without coverage";
    else if (pd == 0 && page->profile->coverage == FM_COVERAGE_DYNAMIC &&
             page->analysis->ps_pd_first[ps] == page->analysis->ps_pd_first[ps + 1])
        why = "the procedure was never called";
    else if (pd != 0 && page->profile->coverage == FM_COVERAGE_STATIC)
        why = "this program counts for each procedure, not for each context: its static coverage "
              "page has the counts";
    if (why != NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "No coverage information available: %s",
                    why);
        return false;
    }
    return fm_bodies_body(bodies, ps, body, error) &&
           (pd != 0 ? fm_coverage_of_pd(page->analysis, *body, pd, ret, error)
                    : fm_coverage_of_ps(page->analysis, *body, ps, ret, error));
}

bool fm_page_body_coverage(struct fm_page *page, GError **error)
{
    const struct fm_profile *profile = page->profile;
    bool dynamic = page->query.command.id == FM_CMD_PROC_DYNAMIC_COVERAGE;
    uint32_t number = page->query.command.number;
    g_autoptr(FmBody) body = NULL;
    g_autoptr(FmCoverage) coverage = NULL;
    if (!fm_page_check_id(page, dynamic ? "proc_dynamic" : "proc_static", number,
                          dynamic ? profile->pd_count : profile->ps_count, error))
        return false;
    uint32_t ps = dynamic ? profile->pd_ps[number] : number;
    if (!make_coverage(page, ps, dynamic ? number : 0, &body, &coverage, error)) {
        g_prefix_error(error, "%s: ", profile->ps[ps].qualified_name);
        return fm_page_fail(page, error);
    }
    page->module = profile->ps[ps].decl_module;
    fm_page_begin(page, dynamic ? "proc_dynamic_coverage" : "proc_static_coverage",
                  dynamic
                      ? g_strdup_printf("Procedure coverage: %s in context %" PRIu32,
                                        profile->ps[ps].qualified_name, number)
                      : g_strdup_printf("Procedure coverage: %s", profile->ps[ps].qualified_name));
    fm_display_fact_int(page->display, "ps", ps);
    if (dynamic)
        fm_display_fact_int(page->display, "pd", number);
    add_contradictions(page, body, coverage);
    fm_body_add_text(page, ps, body, coverage);
    add_goals(page, body, coverage);
    if (dynamic)
        fm_controls_clique_reports(page, page->analysis->pd_clique[number]);
    fm_controls_proc_reports(page, ps);
    fm_controls_general(page);
    return true;
}

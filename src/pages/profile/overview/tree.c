/* SPDX-License-Identifier: Apache-2.0 */
/* tree/MEASURE/DIR/LEVELS/FOCUS: contexts below one, or callers above it, indented by level. A
 * row's total is its own cost plus its children's totals. */
#include "pages/profile/overview/overview.h"

#include <string.h>

#include "pages/profile/parts/names.h"
#include "pages/profile/measured/focus.h"
#include "pages/profile/measured/measure.h"
#include "pages/profile/measured/switch.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"

#define ROWS_MAX 3000
#define LEAST_PERCENT 0.1
#define LEADS_ON 0.8 /* a level counts only if no child has this share of its parent */
#define FUNCTIONS_SHOWN_MAX 200

struct tree_view {
    struct fm_page *page;
    struct fm_digest_tree tree;
    struct fm_measured measured;
    struct fm_table *table;
    double least; /* amount */
    int64_t whole;
    unsigned rows;
    bool cut;
};

static void add_columns(struct tree_view *view)
{
    bool up = view->tree.up;
    fm_measured_column(view->table, &view->measured, "Total", "total", 1);
    fm_column_help(view->table, up ? "Its share of the cost of the row above"
                                   : "Itself and everything it calls, directly or not");
    fm_table_group(view->table, "%", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(view->table, NULL, "total_percent", NULL);
    fm_column_priority(view->table, 3);
    if (!up) {
        fm_measured_column(view->table, &view->measured, "Self", "self", 2);
        fm_column_help(view->table, "In its own code, without callees");
    }
    fm_table_group(view->table, "Calls", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(view->table, NULL, "entered_count", NULL);
    fm_column_priority(view->table, 2);
    fm_column_help(view->table, up ? "Calls made to the row above" : "Calls from the row above");
    if (!up) {
        fm_table_group(view->table, "Each", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
        fm_table_column(view->table, NULL, "entered_per_call_count", NULL);
        fm_column_priority(view->table, 3);
        fm_column_help(view->table, "Calls for one call of the row above");
    }
    fm_table_group(view->table, view->page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(view->table, NULL, "path", NULL);
}

/* Link to this page with this row as root; false for rows that have no address. */
static bool opens(const struct tree_view *view, const struct fm_digest_node *node, char *focus,
                  size_t size, struct fm_query *ret)
{
    if (node->kind == FM_NODE_MEMBER || node->kind == FM_NODE_WHOLE)
        return false;
    if (view->tree.up) /* a caller's callers depend on the rows above */
        return false;
    g_snprintf(focus, size, "clique/%" PRIu32, node->clique);
    *ret = fm_page_like(view->page);
    ret->command.name = focus;
    ret->command.depth = 1;
    return true;
}

/* The source of the function that calls it from above, at the line of the call. Pages of Mercury's
 * procedures have no source. */
static bool leads_to_line(const struct tree_view *view, const struct fm_digest_node *node,
                          struct fm_query *ret)
{
    const struct fm_profile *profile = view->page->profile;
    const struct fm_css *css = &profile->css[node->css];
    const struct fm_ps *caller = &profile->ps[css->ps];
    if (profile->flavour != FM_FLAVOUR_C || node->css == 0 || caller->line == 0 ||
        css->line < caller->line)
        return false;
    if (strcmp(fm_css_file(profile, node->css), caller->file) != 0)
        return false; /* the line is of a body that was inlined there */
    *ret = fm_page_link(view->page, FM_CMD_PROC, css->ps);
    ret->line = css->line;
    return true;
}

static void add_row(struct tree_view *view, const struct fm_digest_node *node,
                    const struct fm_digest_node *parent, unsigned depth, bool open,
                    bool has_children)
{
    struct fm_table *table = view->table;
    const struct fm_measured *measured = &view->measured;
    bool whole = node->kind == FM_NODE_WHOLE;
    char focus[32];
    struct fm_query opening, at, link = fm_node_link(view->page, node);
    g_autofree char *label = fm_node_label(view->page, node);
    g_autofree char *site = fm_node_site(view->page, node);
    fm_table_row(table,
                 whole                             ? "whole"
                 : node->kind == FM_NODE_RECURSION ? "recursion"
                                                   : "function",
                 false);
    if (fm_measured_is_soft(measured, node->total))
        fm_row_soft(table);
    fm_measured_cell(table, measured, node->total);
    if (node->at_most)
        fm_cell_of_recursion(view->page, table, node->clique);
    fm_cell_bar(table, (double)node->own / (double)view->whole,
                (double)node->total / (double)view->whole);
    fm_cell_share(table, fm_measured_share(measured, node->total));
    if (!view->tree.up)
        fm_measured_cell(table, measured, node->own);
    if (whole)
        fm_cell_empty(table);
    else
        fm_calls_cell(table, view->page->profile, node->calls, node->inlined);
    if (!view->tree.up) {
        if (parent && parent->calls > 0 && !parent->inlined && !node->inlined)
            fm_cell_ratio(table, (double)node->calls / (double)parent->calls);
        else
            fm_cell_empty(table);
    }
    bool can_open = has_children && !open && opens(view, node, focus, sizeof focus, &opening);
    struct fm_path_part parts[5];
    unsigned count = 0;
    if (has_children)
        parts[count++] = (struct fm_path_part){open ? "\u25be" : "\u25b8",
                                               can_open ? &opening : NULL, FM_PART_MARK};
    parts[count++] = (struct fm_path_part){label, whole ? NULL : &link, 0,
                                           whole ? NULL : fm_full_name_ps(view->page, node->ps)};
    if (view->tree.up && node->kind == FM_NODE_MEMBER && parent)
        parts[count++] = (struct fm_path_part){"in a recursion", NULL, FM_PART_NOTE};
    if (site)
        parts[count++] =
            (struct fm_path_part){site, leads_to_line(view, node, &at) ? &at : NULL, FM_PART_NOTE};
    fm_cell_path(table, parts, count, depth);
    view->rows++;
}

/* Adds a row for children too small to be shown: their number and total. */
static void add_rest(struct tree_view *view, const GArray *children, guint first, unsigned depth,
                     const struct fm_digest_node *parent)
{
    g_assert(first <= children->len);
    struct fm_digest_node rest = {0};
    unsigned left = parent->left;
    rest.total = parent->left_total;
    rest.at_most = parent->left > 0 && parent->at_most;
    for (guint i = first; i < children->len; i++) {
        const struct fm_digest_node *node = &g_array_index(children, struct fm_digest_node, i);
        left += node->total > 0 || node->calls > 0;
        rest.total += node->total;
        rest.at_most |= node->at_most;
        rest.own += node->own;
        rest.calls += node->calls;
        rest.inlined |= node->inlined;
    }
    if (left == 0)
        return;
    g_autofree char *text = g_strdup_printf("%u more", left);
    char focus[32];
    struct fm_query all;
    struct fm_path_part part = {text, NULL, 0};
    fm_table_row(view->table, "rest", false);
    fm_row_soft(view->table);
    fm_measured_cell(view->table, &view->measured, rest.total);
    if (rest.at_most)
        fm_cell_of_recursion(view->page, view->table, parent->clique);
    fm_cell_share(view->table, fm_measured_share(&view->measured, rest.total));
    if (!view->tree.up)
        fm_measured_cell(view->table, &view->measured, rest.own);
    if (parent->left > 0)
        fm_cell_empty(view->table);
    else
        fm_calls_cell(view->table, view->page->profile, rest.calls, rest.inlined);
    if (!view->tree.up)
        fm_cell_empty(view->table);
    if (parent->left == 0 && opens(view, parent, focus, sizeof focus, &all)) {
        all.command.threshold = 1e-6;
        part.query = &all;
    }
    fm_cell_path(view->table, &part, 1, depth);
    view->rows++;
}

static void add_node(struct tree_view *view, const struct fm_digest_node *node,
                     const struct fm_digest_node *parent, unsigned depth, unsigned levels)
{
    g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(struct fm_digest_node));
    bool members = node->kind == FM_NODE_RECURSION && !view->tree.up;
    (members ? fm_digest_members : fm_digest_children)(&view->tree, node, children);
    guint shown = 0;
    while (shown < children->len && shown < FUNCTIONS_SHOWN_MAX &&
           (double)g_array_index(children, struct fm_digest_node, shown).total >= view->least &&
           g_array_index(children, struct fm_digest_node, shown).total > 0)
        shown++;
    bool any = children->len > 0 && g_array_index(children, struct fm_digest_node, 0).total > 0;
    bool open = levels > 0 && view->rows < ROWS_MAX;
    add_row(view, node, parent, depth, open && any, any);
    view->cut = view->cut || (levels > 0 && !open);
    if (!open || !any)
        return;
    /* Single children that have nearly all of the cost, and the functions of a recursion, do not
     * count as a level. */
    bool leads_on = shown > 0 && (double)g_array_index(children, struct fm_digest_node, 0).total >=
                                     LEADS_ON * (double)node->total;
    for (guint i = 0; i < shown; i++) {
        struct fm_digest_node child = g_array_index(children, struct fm_digest_node, i);
        add_node(view, &child, node, depth + 1,
                 members || (leads_on && i == 0) ? levels : levels - 1);
    }
    add_rest(view, children, shown, depth + 1, node);
}

static double least_percent(const struct fm_command *command)
{
    return command->threshold > 0 ? command->threshold : LEAST_PERCENT;
}

/* --- controls --- */

static void add_controls(struct tree_view *view)
{
    static const uint32_t levels[] = {1, 2, 3, 5, 10};
    struct fm_page *page = view->page;
    const struct fm_command *now = &page->query.command;
    g_autofree char *depth_title = g_strdup_printf("Levels (%" PRIu32 "):", now->depth);
    g_autofree char *share_title = g_strdup_printf("Minimum share (%g %%):", least_percent(now));
    struct fm_controls controls = {
        .page = page, .title = now->up ? "Direction (callers):" : "Direction (callees):"};
    struct fm_query query = fm_page_like(page);
    query.command.up = false;
    fm_controls_offer(&controls, &query, "Callees", "tree-down");
    query.command.up = true;
    fm_controls_offer(&controls, &query, "Callers", "tree-up");
    controls = (struct fm_controls){.page = page, .title = depth_title};
    for (unsigned i = 0; i < G_N_ELEMENTS(levels); i++) {
        g_autofree char *label = g_strdup_printf("%" PRIu32, levels[i]);
        g_autofree char *id = g_strdup_printf("tree-levels-%" PRIu32, levels[i]);
        query = fm_page_like(page);
        query.command.depth = levels[i];
        fm_controls_offer(&controls, &query, label, id);
    }
    static const double shares[] = {0.01, 0.1, 1, 5};
    controls = (struct fm_controls){.page = page, .title = share_title};
    for (unsigned i = 0; i < G_N_ELEMENTS(shares); i++) {
        g_autofree char *label = g_strdup_printf("%g %%", shares[i]);
        g_autofree char *id = g_strdup_printf("tree-least-%u", i);
        query = fm_page_like(page);
        query.command.threshold = shares[i];
        fm_controls_offer(&controls, &query, label, id);
    }
}

static void add_facts(struct tree_view *view, const struct fm_digest_focus *focus)
{
    struct fm_display *display = view->page->display;
    fm_display_fact_string(display, "measure", fm_tree_words[view->measured.asked]);
    fm_display_fact_string(display, "direction", view->tree.up ? "up" : "down");
    if (focus->clique)
        fm_display_fact_int(display, "clique", focus->clique);
    if (focus->ps)
        fm_display_fact_int(display, "ps", focus->ps);
    fm_display_fact_int(display, "whole", view->measured.whole);
}

bool fm_page_tree(struct fm_page *page, GError **error)
{
    const struct fm_command *command = &page->query.command;
    struct fm_digest_focus focus = fm_focus_of(command);
    struct tree_view view = {.page = page};
    struct fm_digest_node root;
    (void)error;
    fm_measured_of_function(&view.measured, page, command->measure, focus.ps);
    page->query.command.measure = view.measured.asked;
    g_autofree char *where = fm_focus_text(page, &focus);
    fm_page_begin(page, "tree",
                  g_strdup_printf("%s of %s by %s", command->up ? "Callers" : "Tree", where,
                                  view.measured.name));
    fm_digest_tree_init(&view.tree, page->analysis, view.measured.measure, command->up);
    add_facts(&view, &focus);
    fm_add_measures(page, view.measured.asked);
    add_controls(&view);
    fm_digest_root(&view.tree, &focus, &root);
    double percent = least_percent(command);
    view.whole = MAX(root.total, 1);
    /* share of the focus, which may be a small part of the program */
    view.least = percent / 100 * (double)view.whole;
    if (root.total <= 0) {
        fm_add_text(page->body, view.measured.whole > 0 ? "Nothing of this measure is here."
                                                        : "Nothing of this measure was recorded.");
    } else {
        view.table = fm_add_table(page->body, FM_BOX_NEVER, "tree");
        fm_table_ranked(view.table, NULL);
        add_columns(&view);
        add_node(&view, &root, NULL, 0, command->depth);
        if (view.cut)
            fm_add_text(page->body, "The page is full: deeper levels are behind the rows' marks.");
    }
    fm_digest_tree_done(&view.tree);
    fm_controls_general(page);
    return true;
}

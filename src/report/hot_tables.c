/* SPDX-License-Identifier: Apache-2.0 */
#include "report/hot_tables.h"

#include "report/path_text.h"
#include "views/hottest.h"
#include "views/paths.h"

#define STEPS_MAX 64u
#define STEPS_SHOWN 5u
#define PARTS_MAX (STEPS_SHOWN + 4)

/* --- paths, without the beginning that they share --- */

struct route {
    uint32_t steps[STEPS_MAX]; /* cliques */
    uint32_t count;
};

static void route_to(const struct fm_analysis *a, uint32_t clique, struct route *ret)
{
    uint32_t count = fm_view_path(a, clique, ret->steps, STEPS_MAX);
    ret->count = MIN(count, STEPS_MAX);
}

static bool same_step(const struct fm_analysis *a, uint32_t x, uint32_t y)
{
    return x == y || (fm_view_clique_name(a, x) == fm_view_clique_name(a, y) &&
                      fm_view_clique_procs(a, x) == fm_view_clique_procs(a, y));
}

/* How many first steps all paths have in common; each keeps at least its last. */
static uint32_t shared_steps(const struct fm_analysis *a, const struct route *routes,
                             unsigned count)
{
    uint32_t shared = count > 1 ? routes[0].count : 0;
    for (unsigned i = 1; i < count; i++) {
        uint32_t j = 0;
        while (j < shared && j < routes[i].count &&
               same_step(a, routes[0].steps[j], routes[i].steps[j]))
            j++;
        shared = j;
    }
    return shared;
}

static char *caption_of(const struct fm_page *page, const struct route *route, uint32_t shared)
{
    if (shared == 0)
        return NULL;
    g_autofree char *path = fm_clique_path(page->analysis, route->steps[shared - 1], 6);
    return g_strdup_printf("all below %s", path);
}

/* "… › luaH_finishset › luaH_resize": the function last, after its recursion where it is in one. */
static void add_path_cell(struct fm_page *page, struct fm_table *table, uint32_t ps,
                          uint32_t clique, const struct route *route, uint32_t shared)
{
    const struct fm_analysis *a = page->analysis;
    struct fm_path_part parts[PARTS_MAX];
    g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
    struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, clique);
    bool in_recursion = fm_view_clique_procs(a, clique) > 1;
    uint32_t end = route->count - (in_recursion ? 0 : 1); /* the function itself stands last */
    uint32_t first = MIN(shared, end);
    unsigned count = 0;
    if (end - first > STEPS_SHOWN)
        first = end - STEPS_SHOWN;
    if (first > 0)
        parts[count++] = (struct fm_path_part){"\u2026", NULL, 0};
    for (uint32_t i = first; i < end; i++) {
        g_ptr_array_add(labels, fm_clique_label(a, route->steps[i]));
        parts[count++] = (struct fm_path_part){labels->pdata[labels->len - 1], NULL, 0};
    }
    parts[count++] =
        (struct fm_path_part){a->profile->ps[ps].unqualified_name, &link, FM_PART_STRONG};
    fm_cell_path(table, parts, count, 0);
}

static void add_plain_column(struct fm_table *table, const char *title, const char *name,
                             unsigned priority, enum fm_column_class column_class)
{
    fm_table_group(table, title, column_class, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, name, NULL);
    fm_column_priority(table, priority);
}

static void add_paths_table(struct fm_page *page, const struct fm_measured *measured,
                            const char *name, const char *own_title,
                            const struct fm_hot_path *paths, unsigned count)
{
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, name);
    g_autofree struct route *routes = g_new(struct route, count);
    for (unsigned i = 0; i < count; i++)
        route_to(page->analysis, paths[i].clique, &routes[i]);
    uint32_t shared = shared_steps(page->analysis, routes, count);
    g_autofree char *caption = caption_of(page, &routes[0], shared);
    fm_table_ranked(table, caption);
    fm_measured_column(table, measured, own_title, "self", 1);
    add_plain_column(table, "%", "self_percent", 3, FM_COLUMN_NUMBER);
    add_plain_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    add_plain_column(table, "Path", "path", 1, FM_COLUMN_PROC);
    for (unsigned i = 0; i < count; i++) {
        fm_table_row(table, "path", false);
        if (fm_measured_is_soft(measured, paths[i].own))
            fm_row_soft(table);
        fm_measured_cell(table, measured, paths[i].own);
        fm_cell_bar(table, fm_measured_share(measured, paths[i].own),
                    fm_measured_share(measured, paths[i].own));
        fm_cell_share(table, fm_measured_share(measured, paths[i].own));
        fm_cell_int(table, paths[i].calls);
        add_path_cell(page, table, paths[i].ps, paths[i].clique, &routes[i], shared);
    }
}

void fm_add_hot_paths(struct fm_page *page, const struct fm_measured *measured, unsigned rows)
{
    const struct fm_hot_path *paths;
    unsigned count = fm_hot_paths(page->recording->hot, measured->measure, false, &paths);
    if (count == 0)
        return;
    fm_add_heading(page->body, "Hottest paths");
    add_paths_table(page, measured, "hot_paths", "Self", paths, MIN(count, rows));
}

void fm_add_hot_allocators(struct fm_page *page, unsigned rows)
{
    const struct fm_hot_path *paths;
    struct fm_measured bytes;
    fm_measured_init(&bytes, page->recording, FM_QUERY_BY_BYTES);
    unsigned count = fm_hot_paths(page->recording->hot, bytes.measure, true, &paths);
    unsigned wrappers = fm_hot_wrappers(page->recording->hot);
    if (count == 0)
        return;
    fm_add_heading(page->body, "Most memory allocated");
    if (wrappers > 0) {
        g_autofree char *text = g_strdup_printf(
            "%u function%s that only allocate%s for others %s left out of the paths.", wrappers,
            wrappers == 1 ? "" : "s", wrappers == 1 ? "s" : "", wrappers == 1 ? "is" : "are");
        fm_add_text(page->body, text);
    }
    add_paths_table(page, &bytes, "hot_allocators", "Allocated", paths, MIN(count, rows));
}

/* --- functions --- */

void fm_add_hot_functions(struct fm_page *page, const struct fm_measured *measured, unsigned rows)
{
    const struct fm_top_query query = {
        .kind = measured->is_time                  ? FM_BY_TIME
                : measured->measure == FM_CALLSEQS ? FM_BY_CALLSEQS
                : measured->measure == FM_ALLOCS   ? FM_BY_ALLOCS
                                                   : FM_BY_WORDS,
        .limit = FM_LIMIT_RANK,
        .first = 1,
        .last = rows,
    };
    uint32_t *ps, count;
    fm_analysis_top(page->analysis, &query, &ps, &count);
    if (count > 0) {
        fm_add_heading(page->body, "Hottest functions");
        struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "hot_functions");
        fm_table_ranked(table, NULL);
        fm_measured_column(table, measured, "Self", "self", 1);
        fm_measured_column(table, measured, "Total", "total", 1);
        add_plain_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
        add_plain_column(table, page->words->proc_title, "path", 1, FM_COLUMN_PROC);
        for (uint32_t i = 0; i < count; i++) {
            const struct fm_ps *proc = &page->profile->ps[ps[i]];
            struct fm_query link = fm_page_link(page, FM_CMD_PROC, ps[i]);
            g_autofree char *file = fm_name_place(page, proc->file, 0);
            struct fm_cost cost;
            fm_analysis_ps_cost(page->analysis, ps[i], &cost);
            int64_t own = cost.own[measured->measure],
                    total = fm_cost_total(&cost, measured->measure);
            fm_table_row(table, "function", false);
            if (fm_measured_is_soft(measured, total))
                fm_row_soft(table);
            fm_measured_cell(table, measured, own);
            fm_cell_bar(table, fm_measured_share(measured, own),
                        fm_measured_share(measured, total));
            fm_measured_cell(table, measured, total);
            fm_cell_int(table, cost.calls);
            const struct fm_path_part parts[] = {{proc->unqualified_name, &link, 0},
                                                 {file, NULL, FM_PART_NOTE}};
            fm_cell_path(table, parts, file[0] ? 2 : 1, 0);
        }
    }
    g_free(ps);
}

/* --- recursions --- */

unsigned fm_add_hot_recursions(struct fm_page *page, const struct fm_measured *measured,
                               unsigned rows)
{
    const struct fm_hot_recursion *all;
    unsigned count = fm_hot_recursions(page->recording->hot, measured->measure, &all);
    if (count == 0)
        return 0;
    fm_add_heading(page->body, "Dearest recursions");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "hot_recursions");
    fm_table_ranked(table, NULL);
    fm_measured_column(table, measured, "Total", "total", 1);
    fm_measured_column(table, measured, "Self", "self", 2);
    add_plain_column(table, "Entered", "entered_count", 2, FM_COLUMN_NUMBER);
    fm_column_help(table, "Calls from outside");
    add_plain_column(table, "Calls an entry", "calls_per_entry_count", 3, FM_COLUMN_NUMBER);
    fm_column_help(table, "Calls of its functions for each of them");
    add_plain_column(table, "Recursion", "path", 1, FM_COLUMN_PROC);
    for (unsigned i = 0; i < MIN(count, rows); i++) {
        struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, all[i].clique);
        g_autofree char *label = fm_clique_label(page->analysis, all[i].clique);
        g_autofree char *entry = g_strdup_printf(
            "entered at %s",
            page->profile
                ->ps[page->profile->pd_ps[fm_analysis_clique_entry(page->analysis, all[i].clique)]]
                .unqualified_name);
        fm_table_row(table, "recursion", false);
        if (fm_measured_is_soft(measured, all[i].total))
            fm_row_soft(table);
        fm_measured_cell(table, measured, all[i].total);
        fm_cell_bar(table, fm_measured_share(measured, all[i].own),
                    fm_measured_share(measured, all[i].total));
        fm_measured_cell(table, measured, all[i].own);
        fm_cell_int(table, all[i].entered);
        if (all[i].entered > 0)
            fm_cell_ratio(table, (double)all[i].calls / (double)all[i].entered);
        else
            fm_cell_empty(table);
        const struct fm_path_part parts[] = {{label, &link, 0}, {entry, NULL, FM_PART_NOTE}};
        fm_cell_path(table, parts, all[i].procs > 1 ? 2 : 1, 0);
    }
    return count;
}

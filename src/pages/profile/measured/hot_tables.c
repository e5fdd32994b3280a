/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/hot_tables.h"

#include <math.h>
#include <stdlib.h>

#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/names.h"
#include "digest/hottest.h"
#include "digest/paths.h"

#define STEPS_MAX 64u
#define STEPS_SHOWN 5u
#define PARTS_MAX (STEPS_SHOWN + 4)
#define THREADS_AMONG 20u /* rows of threads that are left out of a list of functions */

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
        fm_calls_cell(table, paths[i].calls, paths[i].inlined);
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
        .last = rows + THREADS_AMONG,
    };
    uint32_t *ps, count, kept = 0;
    fm_analysis_top(page->analysis, &query, &ps, &count);
    for (uint32_t i = 0; i < count && kept < rows; i++) {
        const struct fm_ps *proc = &page->profile->ps[ps[i]];
        if (proc->file[0] || proc->decl_module[0]) /* threads of C programs have neither */
            ps[kept++] = ps[i];
    }
    count = kept;
    if (count > 0) {
        fm_add_heading(page->body, "Hottest functions");
        struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "hot_functions");
        fm_table_ranked(table, NULL);
        fm_measured_column(table, measured, "Self", "self", 1);
        fm_measured_column(table, measured, "Total", "total", 1);
        add_plain_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
        add_plain_column(table, page->terms->proc_title, "path", 1, FM_COLUMN_PROC);
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
            fm_calls_cell(table, cost.calls, cost.inlined);
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
        fm_calls_cell(table, all[i].entered, all[i].inlined);
        if (all[i].entered > 0 && !all[i].inlined)
            fm_cell_ratio(table, (double)all[i].calls / (double)all[i].entered);
        else
            fm_cell_empty(table);
        const struct fm_path_part parts[] = {{label, &link, 0}, {entry, NULL, FM_PART_NOTE}};
        fm_cell_path(table, parts, all[i].procs > 1 ? 2 : 1, 0);
    }
    return count;
}

/* --- contexts of one function --- */

#define CONTEXTS_COMPARED 200u
#define DEARER_TIMES 5.0
#define SAMPLES_TO_COMPARE 30

struct context {
    uint32_t clique;
    uint32_t path; /* equal for those of one path, and rarely for others */
    int64_t own, total, calls;
    bool inlined;
};

static int compare_contexts(const void *a, const void *b)
{
    const struct context *ca = a, *cb = b;
    if (ca->total != cb->total)
        return ca->total > cb->total ? -1 : 1;
    if (ca->calls != cb->calls)
        return ca->calls > cb->calls ? -1 : 1;
    return ca->clique < cb->clique ? -1 : ca->clique > cb->clique;
}

static uint32_t hash_path(const struct fm_analysis *a, uint32_t clique)
{
    uint32_t steps[STEPS_MAX], hash = 0;
    uint32_t count = fm_view_path(a, clique, steps, STEPS_MAX);
    for (uint32_t i = 0; i < MIN(count, STEPS_MAX); i++)
        hash = hash * 31 + fm_view_clique_name(a, steps[i]) * 2654435761u;
    return hash + count;
}

/* Dearest first. Those of one path are one; of very many only the dearest are compared for that. */
static GArray *contexts_of(const struct fm_analysis *a, uint32_t ps, enum fm_measure_id measure)
{
    GArray *contexts = g_array_new(FALSE, FALSE, sizeof(struct context));
    for (uint32_t i = a->ps_pd_first[ps]; i < a->ps_pd_first[ps + 1]; i++) {
        const struct context context = {.clique = a->pd_clique[a->ps_pds[i]],
                                        .own = fm_analysis_pd_own(a, a->ps_pds[i], measure),
                                        .total = fm_analysis_pd_total(a, a->ps_pds[i], measure),
                                        .calls = fm_analysis_pd_calls(a, a->ps_pds[i]),
                                        .inlined = fm_analysis_pd_inlined(a, a->ps_pds[i])};
        g_array_append_val(contexts, context);
    }
    struct context *all = (struct context *)(void *)contexts->data;
    if (contexts->len > 0)
        qsort(all, contexts->len, sizeof *all, compare_contexts);
    guint kept = 0;
    for (guint i = 0; i < contexts->len; i++) {
        guint j = i < CONTEXTS_COMPARED ? 0 : kept;
        if (i < CONTEXTS_COMPARED)
            all[i].path = hash_path(a, all[i].clique);
        while (j < kept && (all[j].path != all[i].path ||
                            !fm_view_is_same_path(a, all[j].clique, all[i].clique)))
            j++;
        if (j == kept) {
            all[kept++] = all[i];
            continue;
        }
        all[j].own += all[i].own;
        all[j].total += all[i].total;
        all[j].calls += all[i].calls;
        all[j].inlined |= all[i].inlined;
    }
    g_array_set_size(contexts, kept);
    if (kept > 0)
        qsort(contexts->data, kept, sizeof *all, compare_contexts);
    return contexts;
}

/* How many times what a call costs in the other contexts together the row's calls cost; 0 where
 * nothing can be told. Sampled amounts of the others count as high as they may well be. */
static double times_the_others(const struct fm_measured *measured, const GArray *contexts,
                               guint row)
{
    const struct context *it = &g_array_index(contexts, struct context, row);
    double total = 0, calls = 0;
    if (it->calls <= 0 || it->inlined ||
        (measured->is_time && (double)it->total < SAMPLES_TO_COMPARE * measured->sample))
        return 0;
    for (guint i = 0; i < contexts->len; i++) {
        const struct context *other = &g_array_index(contexts, struct context, i);
        if (i == row)
            continue;
        total += (double)other->total;
        calls += (double)other->calls;
    }
    if (measured->is_time)
        total += 2 * sqrt(total * measured->sample) + measured->sample;
    double each = (double)it->total / (double)it->calls;
    return total > 0 && calls > 0 && each * calls >= DEARER_TIMES * total ? each * calls / total
                                                                          : 0;
}

static void add_context_row(struct fm_page *page, struct fm_table *table,
                            const struct fm_measured *measured, const struct context *context,
                            int64_t whole, double times)
{
    struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, context->clique);
    g_autofree char *path = fm_clique_path(page->analysis, context->clique, 8);
    g_autofree char *mark = g_strdup_printf("%.0f \u00d7 what a call costs elsewhere", times);
    const struct fm_path_part parts[] = {{path, &link, 0}, {mark, NULL, FM_PART_NOTE}};
    fm_table_row(table, "context", false);
    if (fm_measured_is_soft(measured, context->total))
        fm_row_soft(table);
    fm_measured_cell(table, measured, context->total);
    fm_cell_bar(table, (double)context->own / (double)MAX(whole, 1),
                (double)context->total / (double)MAX(whole, 1));
    fm_measured_cell(table, measured, context->own);
    fm_calls_cell(table, context->calls, context->inlined);
    /* By how many calls is not known where bodies were inlined. */
    fm_measured_per_call(table, measured, context->total, context->inlined ? 0 : context->calls);
    fm_cell_path(table, parts, times > 0 ? 2 : 1, 0);
}

unsigned fm_add_contexts(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                         unsigned least, unsigned rows)
{
    g_return_val_if_fail(ps >= 1 && ps <= page->profile->ps_count, 0);
    g_autoptr(GArray) contexts = contexts_of(page->analysis, ps, measured->measure);
    int64_t whole = 0;
    if (contexts->len < least)
        return contexts->len;
    for (guint i = 0; i < contexts->len; i++)
        whole += g_array_index(contexts, struct context, i).total;
    g_autofree char *heading = g_strdup_printf("Contexts by %s, dearest first", measured->name);
    fm_add_heading(page->body, heading);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "contexts");
    fm_table_ranked(table, NULL);
    fm_measured_column(table, measured, "Total", "total", 1);
    fm_measured_column(table, measured, "Self", "self", 2);
    add_plain_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    add_plain_column(table, "Per call",
                     measured->is_time    ? "total_per_call_seconds"
                     : measured->is_bytes ? "total_per_call_bytes"
                                          : "total_per_call_count",
                     3, FM_COLUMN_NUMBER);
    add_plain_column(table, "Path", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(contexts->len, rows); i++)
        add_context_row(page, table, measured, &g_array_index(contexts, struct context, i), whole,
                        times_the_others(measured, contexts, i));
    if (contexts->len > rows) {
        struct fm_query all = fm_page_link(page, FM_CMD_CONTEXTS, ps);
        g_autofree char *text = g_strdup_printf("%u more contexts", contexts->len - rows);
        if (page->query.command.id == FM_CMD_CONTEXTS) {
            g_autofree char *less = g_strconcat(text, " cost less.", NULL);
            fm_add_text(page->body, less);
        } else {
            fm_add_link(page->body, &all, text);
        }
    }
    fm_display_fact_int(page->display, "path_count", contexts->len);
    return contexts->len;
}

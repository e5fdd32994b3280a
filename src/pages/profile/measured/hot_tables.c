/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/hot_tables.h"

#include <math.h>
#include <stdlib.h>

#include "pages/profile/measured/cost_table.h"
#include "pages/profile/measured/function_table.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"
#include "base/select.h"
#include "profile/digest/run/held.h"
#include "profile/digest/hottest.h"
#include "profile/digest/paths.h"

#define STEPS_MAX 64u
#define STEPS_SHOWN 5u
#define PARTS_MAX (STEPS_SHOWN + 4)
#define ROWS_LEAST 3u
#define LITTLE 0.01
#define RECURSION_SHARE 0.05 /* smaller recursions have no table */
#define FLAT_ROWS 10u
#define PEAK_SHOWN_BYTES (16u << 20)
#define FLAT_SHARE 0.1
#define THREADS_AMONG 20u /* rows of threads that are left out of a list of functions */

/* --- paths, without their common beginning --- */

struct route {
    uint32_t steps[STEPS_MAX]; /* cliques */
    uint32_t count;
};

static void route_to(const struct fm_analysis *a, uint32_t clique, struct route *ret)
{
    uint32_t count = fm_digest_path(a, clique, ret->steps, STEPS_MAX);
    ret->count = MIN(count, STEPS_MAX);
}

static bool same_step(const struct fm_analysis *a, uint32_t x, uint32_t y)
{
    return x == y || (fm_digest_clique_name(a, x) == fm_digest_clique_name(a, y) &&
                      fm_digest_clique_procs(a, x) == fm_digest_clique_procs(a, y));
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
    g_autofree char *path = fm_clique_path(page, route->steps[shared - 1], 6);
    return g_strdup_printf("all below %s", path);
}

/* "… › luaH_finishset › luaH_resize": the function last, after its recursion if it is in one. */
static void add_path_cell(struct fm_page *page, struct fm_table *table, uint32_t ps,
                          uint32_t clique, const struct route *route, uint32_t shared)
{
    const struct fm_analysis *a = page->analysis;
    struct fm_path_part parts[PARTS_MAX];
    g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
    struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, clique);
    bool in_recursion = fm_digest_clique_procs(a, clique) > 1;
    uint32_t end = route->count - (in_recursion ? 0 : 1); /* the function itself is last */
    uint32_t first = MIN(shared, end);
    unsigned count = 0;
    if (end - first > STEPS_SHOWN)
        first = end - STEPS_SHOWN;
    if (first > 0)
        parts[count++] = (struct fm_path_part){"\u2026", NULL, 0};
    for (uint32_t i = first; i < end; i++) {
        g_ptr_array_add(labels, fm_clique_label(page, route->steps[i]));
        parts[count++] =
            (struct fm_path_part){labels->pdata[labels->len - 1], NULL, 0,
                                  fm_full_name_ps(page, fm_digest_clique_name(a, route->steps[i]))};
    }
    parts[count++] = (struct fm_path_part){fm_shown_name(page, ps), &link, FM_PART_STRONG,
                                           fm_full_name_ps(page, ps)};
    fm_cell_path(table, parts, count, 0);
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
    fm_measured_spread_column(table, measured, "self", 2);
    fm_cost_column(table, "%", "self_percent", 3, FM_COLUMN_NUMBER);
    fm_cost_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    fm_cost_column(table, "Path", "path", 1, FM_COLUMN_PROC);
    for (unsigned i = 0; i < count; i++) {
        fm_table_row(table, "path", false);
        if (fm_measured_is_soft(measured, paths[i].own))
            fm_row_soft(table);
        fm_measured_cell(table, measured, paths[i].own);
        fm_cell_bar(table, fm_measured_share(measured, paths[i].own),
                    fm_measured_share(measured, paths[i].own));
        fm_measured_spread_cell(table, measured, paths[i].own);
        fm_cell_share(table, fm_measured_share(measured, paths[i].own));
        fm_calls_cell(table, page->profile, paths[i].calls, paths[i].inlined);
        add_path_cell(page, table, paths[i].ps, paths[i].clique, &routes[i], shared);
    }
}

/* Rows of so little say nothing, where others say more. */
static bool is_little(const struct fm_measured *measured, int64_t own)
{
    return fm_measured_share(measured, own) < LITTLE;
}

static unsigned shown_paths(const struct fm_page *page, const struct fm_measured *measured,
                            unsigned rows, const struct fm_hot_path **ret)
{
    unsigned count = fm_hot_paths(page->recording->hot, measured->measure, false, ret);
    count = MIN(count, rows);
    while (count > ROWS_LEAST && is_little(measured, (*ret)[count - 1].own))
        count--;
    return count;
}

unsigned fm_add_hot_paths(struct fm_page *page, const struct fm_measured *measured, unsigned rows)
{
    const struct fm_hot_path *paths;
    unsigned count = shown_paths(page, measured, rows, &paths);
    if (count == 0)
        return 0;
    fm_add_heading(page->body, "Hottest paths");
    add_paths_table(page, measured, "hot_paths", "Self", paths, count);
    return count;
}

static void add_hot_memory(struct fm_page *page, enum fm_query_measure by, const char *heading,
                           const char *column, const char *name, const bool *only, unsigned rows)
{
    const struct fm_hot_path *paths;
    struct fm_hot_path kept[FM_HOT_MAX];
    struct fm_measured bytes;
    unsigned kept_count = 0;
    if (by != FM_QUERY_BY_BYTES && !fm_measure_is_recorded(page->recording, by))
        return;
    fm_measured_init(&bytes, page->recording, by);
    unsigned count = fm_hot_paths(page->recording->hot, bytes.measure, true, &paths);
    unsigned wrappers = fm_hot_wrappers(page->recording->hot);
    for (unsigned i = 0; i < count; i++)
        if (only == NULL || only[paths[i].ps])
            kept[kept_count++] = paths[i];
    if (kept_count == 0)
        return;
    fm_add_heading(page->body, heading);
    if (wrappers > 0) {
        g_autofree char *text = g_strdup_printf(
            "%u function%s that only allocate%s for others %s left out of the paths.", wrappers,
            wrappers == 1 ? "" : "s", wrappers == 1 ? "s" : "", wrappers == 1 ? "is" : "are");
        fm_add_text(page->body, text);
    }
    add_paths_table(page, &bytes, name, column, kept, MIN(kept_count, rows));
}

void fm_add_hot_allocators(struct fm_page *page, unsigned rows)
{
    add_hot_memory(page, FM_QUERY_BY_BYTES, "Most memory allocated", "Allocated", "hot_allocators",
                   NULL, rows);
}

static void add_holders(struct fm_page *page, const bool *only, unsigned rows)
{
    add_hot_memory(page, FM_QUERY_BY_LIVE, fm_held_words(page->profile)->heading, "Live",
                   "hot_holders", only, rows);
}

void fm_add_hot_holders(struct fm_page *page, unsigned rows)
{
    add_holders(page, NULL, rows);
}

void fm_add_hot_at_peak(struct fm_page *page, unsigned rows)
{
    add_hot_memory(page, FM_QUERY_BY_PEAK, "Live at the peak", "At the peak", "hot_at_peak", NULL,
                   rows);
}

void fm_add_leading_memory(struct fm_page *page, unsigned rows)
{
    g_autoptr(FmHeldDigest) held = fm_held_digest_new(page->profile, page->recording->hot);
    if (held->bytes > 0)
        add_holders(page, held->has, rows);
    else if (page->profile->run_info.peak_bytes >= PEAK_SHOWN_BYTES &&
             fm_measure_is_recorded(page->recording, FM_QUERY_BY_PEAK))
        fm_add_hot_at_peak(page, rows);
    else
        fm_add_hot_allocators(page, rows);
}

/* --- functions --- */

/* The first may as well be the tenth: the order says nothing. ps: of functions, most own first. */
static bool is_flat(const struct fm_page *page, const struct fm_measured *measured,
                    const uint32_t *ps, uint32_t count)
{
    struct fm_cost first, tenth;
    if (!measured->is_time || measured->sample <= 0 || count < FLAT_ROWS)
        return false;
    fm_analysis_ps_cost(page->analysis, ps[0], &first);
    fm_analysis_ps_cost(page->analysis, ps[FLAT_ROWS - 1], &tenth);
    int64_t most = first.own[measured->measure], least = tenth.own[measured->measure];
    return fm_measured_share(measured, most) < FLAT_SHARE &&
           (double)most - fm_measured_spread(measured, most) <=
               (double)least + fm_measured_spread(measured, least);
}

/* The functions with most own cost, at most rows; g_free. */
static uint32_t *top_functions(const struct fm_page *page, const struct fm_measured *measured,
                               unsigned rows, uint32_t *ret_count)
{
    const struct fm_top_query query = {
        .kind = fm_cost_kind_of(measured->measure),
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
    *ret_count = kept;
    return ps;
}

static bool is_among(const uint32_t *ps, uint32_t count, uint32_t one)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ps[i] == one)
            return true;
    }
    return false;
}

bool fm_hot_paths_differ(const struct fm_page *page, const struct fm_measured *measured,
                         unsigned paths, unsigned functions)
{
    const struct fm_hot_path *hot;
    unsigned count = shown_paths(page, measured, paths, &hot);
    uint32_t known;
    g_autofree uint32_t *ps = top_functions(page, measured, MAX(functions, FLAT_ROWS), &known);
    for (unsigned i = 0; i < count && !is_flat(page, measured, ps, known); i++) {
        if (!is_among(ps, MIN(known, functions), hot[i].ps))
            return true;
        for (unsigned before = 0; before < i; before++) {
            if (hot[before].ps == hot[i].ps)
                return true;
        }
    }
    return false;
}

static void add_functions_table(struct fm_page *page, const struct fm_measured *measured,
                                const char *heading, const char *name, unsigned rows)
{
    uint32_t *ps, count;
    ps = top_functions(page, measured, MAX(rows, FLAT_ROWS), &count);
    bool flat = is_flat(page, measured, ps, count);
    count = MIN(count, rows);
    while (count > ROWS_LEAST && !flat) {
        struct fm_cost last;
        fm_analysis_ps_cost(page->analysis, ps[count - 1], &last);
        if (!is_little(measured, last.own[measured->measure]))
            break;
        count--;
    }
    if (count > 0) {
        fm_add_heading(page->body, heading);
        if (flat)
            fm_add_text(page->body, "No function stands out: the order of these is chance. A run "
                                    "ten times as long tells 1 % from 2 %.");
        fm_function_table(page, measured, name, ps, count, true);
    }
    g_free(ps);
}

void fm_add_hot_functions(struct fm_page *page, const struct fm_measured *measured, unsigned rows)
{
    bool waiting = measured->asked == FM_QUERY_BY_WAITING;
    add_functions_table(page, measured, waiting ? "Functions that wait most" : "Hottest functions",
                        "hot_functions", rows);
}

void fm_add_busy_functions(struct fm_page *page, unsigned rows)
{
    struct fm_measured time;
    fm_measured_init(&time, page->recording, FM_QUERY_BY_TIME);
    if (fm_times_tell(page->profile) && !fm_measured_is_soft(&time, time.whole))
        add_functions_table(page, &time, "Hottest functions", "busy_functions", rows);
}

/* --- recursions --- */

double fm_recursions_share(const struct fm_page *page, const struct fm_measured *measured)
{
    const struct fm_hot_recursion *all;
    unsigned count = fm_hot_recursions(page->recording->hot, measured->measure, &all);
    double most = 0;
    for (unsigned i = 0; i < count; i++)
        most = fmax(most, fm_measured_share(measured, all[i].total));
    return most;
}

unsigned fm_add_hot_recursions(struct fm_page *page, const struct fm_measured *measured,
                               unsigned rows)
{
    const struct fm_hot_recursion *all;
    unsigned count = fm_hot_recursions(page->recording->hot, measured->measure, &all);
    if (fm_recursions_share(page, measured) < RECURSION_SHARE)
        return 0;
    fm_add_heading(page->body, "Most expensive recursions");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "hot_recursions");
    fm_table_ranked(table, NULL);
    fm_measured_column(table, measured, "Total", "total", 1);
    fm_measured_column(table, measured, "Self", "self", 2);
    fm_cost_column(table, "Entered", "entered_count", 2, FM_COLUMN_NUMBER);
    fm_column_help(table, "Calls from outside");
    fm_cost_column(table, "Calls an entry", "calls_per_entry_count", 3, FM_COLUMN_NUMBER);
    fm_column_help(table, "Calls of its functions for each of them");
    fm_cost_column(table, "Recursion", "path", 1, FM_COLUMN_PROC);
    for (unsigned i = 0; i < MIN(count, rows); i++) {
        struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, all[i].clique);
        g_autofree char *label = fm_clique_label(page, all[i].clique);
        g_autofree char *entry = g_strdup_printf(
            "entered at %s",
            fm_shown_name(
                page,
                page->profile->pd_ps[fm_analysis_clique_entry(page->analysis, all[i].clique)]));
        fm_table_row(table, "recursion", false);
        if (fm_measured_is_soft(measured, all[i].total))
            fm_row_soft(table);
        fm_measured_cell(table, measured, all[i].total);
        fm_cell_bar(table, fm_measured_share(measured, all[i].own),
                    fm_measured_share(measured, all[i].total));
        fm_measured_cell(table, measured, all[i].own);
        fm_calls_cell(table, page->profile, all[i].entered, all[i].inlined);
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
#define CONTEXTS_ORDERED 1000u
#define DEARER_TIMES 5.0
#define SAMPLES_TO_COMPARE 30

struct context {
    uint32_t clique;
    uint32_t path; /* hash: equal for contexts with equal paths, and rarely for others */
    int64_t own, total, calls;
    bool inlined, at_most; /* at_most: the total is its recursion's */
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
    uint32_t count = fm_digest_path(a, clique, steps, STEPS_MAX);
    for (uint32_t i = 0; i < MIN(count, STEPS_MAX); i++)
        hash = hash * 31 + fm_digest_clique_name(a, steps[i]) * 2654435761u;
    return hash + count;
}

/* For one function: its rows, and their sum. */
struct contexts {
    GArray *rows;    /* struct context, most expensive first */
    uint32_t others; /* number of those without row: they cost less */
    struct context all;
};

static void add_context(struct context *to, const struct context *from)
{
    to->own += from->own;
    to->total += from->total;
    to->calls += from->calls;
    to->inlined |= from->inlined;
    to->at_most |= from->at_most;
}

static struct context context_of(const struct fm_analysis *a, uint32_t pd,
                                 enum fm_measure_id measure)
{
    return (struct context){.clique = a->pd_clique[pd],
                            .own = fm_analysis_pd_own(a, pd, measure),
                            .total = fm_analysis_pd_total(a, pd, measure),
                            .at_most = fm_analysis_pd_is_at_most(a, pd, measure),
                            .calls = fm_analysis_pd_calls(a, pd),
                            .inlined = fm_analysis_pd_inlined(a, pd)};
}

static int compare_totals(uint32_t i, uint32_t j, void *user)
{
    const int64_t *totals = user;
    if (totals[i] != totals[j])
        return totals[i] > totals[j] ? -1 : 1;
    return i < j ? -1 : i > j;
}

/* Selects the most expensive contexts, because sorting hundreds of thousands takes longer. */
static void add_dearest(struct contexts *contexts, const struct fm_analysis *a, uint32_t ps,
                        enum fm_measure_id measure, uint32_t kept)
{
    uint32_t first = a->ps_pd_first[ps], count = a->ps_pd_first[ps + 1] - first;
    g_autofree uint32_t *order = g_new(uint32_t, count);
    g_autofree int64_t *totals = g_new(int64_t, count);
    struct fm_cost cost;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        totals[i] = fm_analysis_pd_total(a, a->ps_pds[first + i], measure);
    }
    fm_select_first(order, count, kept, compare_totals, totals);
    for (uint32_t i = 0; i < kept; i++) {
        const struct context context = context_of(a, a->ps_pds[first + order[i]], measure);
        g_array_append_val(contexts->rows, context);
    }
    fm_analysis_ps_cost(a, ps, &cost);
    contexts->all.own = cost.own[measure];
    contexts->all.total = fm_cost_total(&cost, measure);
    contexts->all.at_most = (cost.of_recursion >> measure & 1u) != 0;
    contexts->all.calls = cost.calls;
    contexts->all.inlined = cost.inlined;
    contexts->others = count - kept;
}

static void add_all_contexts(struct contexts *contexts, const struct fm_analysis *a, uint32_t ps,
                             enum fm_measure_id measure)
{
    for (uint32_t i = a->ps_pd_first[ps]; i < a->ps_pd_first[ps + 1]; i++) {
        const struct context context = context_of(a, a->ps_pds[i], measure);
        g_array_append_val(contexts->rows, context);
        add_context(&contexts->all, &context);
    }
}

/* Most expensive first. Contexts with the same path are joined; among very many, only the most
 * expensive are compared for that. */
static void contexts_of(struct contexts *ret, const struct fm_analysis *a, uint32_t ps,
                        enum fm_measure_id measure, uint32_t rows)
{
    *ret = (struct contexts){.rows = g_array_new(FALSE, FALSE, sizeof(struct context))};
    uint32_t count = a->ps_pd_first[ps + 1] - a->ps_pd_first[ps];
    if (count > CONTEXTS_ORDERED + rows)
        add_dearest(ret, a, ps, measure, CONTEXTS_ORDERED + rows);
    else
        add_all_contexts(ret, a, ps, measure);
    struct context *all = (struct context *)(void *)ret->rows->data;
    if (ret->rows->len > 0)
        qsort(all, ret->rows->len, sizeof *all, compare_contexts);
    guint kept = 0;
    for (guint i = 0; i < ret->rows->len; i++) {
        guint j = i < CONTEXTS_COMPARED ? 0 : kept;
        if (i < CONTEXTS_COMPARED)
            all[i].path = hash_path(a, all[i].clique);
        while (j < kept && (all[j].path != all[i].path ||
                            !fm_digest_is_same_path(a, all[j].clique, all[i].clique)))
            j++;
        if (j == kept)
            all[kept++] = all[i];
        else
            add_context(&all[j], &all[i]);
    }
    g_array_set_size(ret->rows, kept);
    if (kept > 0)
        qsort(ret->rows->data, kept, sizeof *all, compare_contexts);
}

/* Ratio of the row's cost per call to that in all other contexts; 0 when it is not significant.
 * Sampled amounts of the others are taken at their upper limits. */
static double times_the_others(const struct fm_measured *measured, const struct contexts *contexts,
                               guint row)
{
    const struct context *it = &g_array_index(contexts->rows, struct context, row);
    double total = (double)(contexts->all.total - it->total);
    double calls = (double)(contexts->all.calls - it->calls);
    if (it->calls <= 0 || it->inlined || contexts->all.at_most || it->at_most ||
        (measured->is_time && (double)it->total < SAMPLES_TO_COMPARE * measured->sample))
        return 0;
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
    g_autofree char *path = fm_clique_path(page, context->clique, 8);
    g_autofree char *mark = g_strdup_printf("%.0f \u00d7 the cost of a call elsewhere", times);
    const struct fm_path_part parts[] = {{path, &link, 0}, {mark, NULL, FM_PART_NOTE}};
    fm_table_row(table, "context", false);
    if (fm_measured_is_soft(measured, context->total))
        fm_row_soft(table);
    fm_measured_cell(table, measured, context->total);
    if (context->at_most)
        fm_total_at_most(page, table,
                         &(struct fm_cost){.of_recursion = 1u << measured->measure,
                                           .recursion = context->clique},
                         measured->measure);
    fm_cell_bar(table, (double)context->own / (double)MAX(whole, 1),
                (double)context->total / (double)MAX(whole, 1));
    fm_measured_cell(table, measured, context->own);
    fm_calls_cell(table, page->profile, context->calls, context->inlined);
    /* By how many calls is not known where bodies were inlined. */
    fm_measured_per_call(table, measured, context->total, context->inlined ? 0 : context->calls);
    fm_cell_path(table, parts, times > 0 ? 2 : 1, 0);
}

unsigned fm_add_contexts(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                         unsigned least, unsigned rows)
{
    g_return_val_if_fail(ps >= 1 && ps <= page->profile->ps_count, 0);
    struct contexts contexts;
    contexts_of(&contexts, page->analysis, ps, measured->measure, rows);
    g_autoptr(GArray) kept = contexts.rows;
    uint32_t count = kept->len + contexts.others;
    if (count < least)
        return count;
    g_autofree char *heading =
        g_strdup_printf("Contexts by %s, most expensive first", measured->name);
    fm_add_heading(page->body, heading);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "contexts");
    fm_table_ranked(table, NULL);
    fm_measured_column(table, measured, "Total", "total", 1);
    fm_measured_column(table, measured, "Self", "self", 2);
    fm_cost_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    fm_cost_column(table, "Per call",
                   measured->is_time    ? "total_per_call_seconds"
                   : measured->is_bytes ? "total_per_call_bytes"
                                        : "total_per_call_count",
                   3, FM_COLUMN_NUMBER);
    fm_cost_column(table, "Path", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(kept->len, rows); i++)
        add_context_row(page, table, measured, &g_array_index(kept, struct context, i),
                        contexts.all.total, times_the_others(measured, &contexts, i));
    if (count > rows) {
        struct fm_query all = fm_page_link(page, FM_CMD_CONTEXTS, ps);
        g_autofree char *text = g_strdup_printf("%u more contexts", count - rows);
        if (page->query.command.id == FM_CMD_CONTEXTS) {
            g_autofree char *less = g_strconcat(text, " cost less.", NULL);
            fm_add_text(page->body, less);
        } else {
            fm_add_link(page->body, &all, text);
        }
    }
    fm_display_fact_int(page->display, "path_count", count);
    return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* find/TEXT: procedures and modules whose names contain the text; for a command whose name is
 * ambiguous, the candidates with links. */
#include "pages/profile/overview/overview.h"

#include <stdlib.h>
#include <string.h>

#include "pages/profile/measured/measure.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/overview/subject.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"
#include "profile/digest/names.h"
#include "profile/digest/paths.h"

#define FOUND_MAX 100

struct cost_columns {
    /* QUANTA if times are significant or calls are not known, else CALLSEQS */
    enum fm_measure_id measure;
    double scale; /* for time: factor to seconds; 0: not time */
    bool known;
};

static struct cost_columns columns_of(const struct fm_page *page)
{
    bool calls = fm_profile_knows(page->profile, FM_CALLSEQS);
    bool time = page->profile->ticks_per_second > 0 && (fm_times_tell(page->profile) || !calls) &&
                fm_profile_knows(page->profile, FM_QUANTA);
    calls = calls && !time;
    return (struct cost_columns){
        .measure = calls ? FM_CALLSEQS : FM_QUANTA,
        .known = calls || fm_profile_knows(page->profile, FM_QUANTA),
        .scale = time ? 1.0 / (double)page->profile->ticks_per_second : 0,
    };
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       enum fm_column_class column_class)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
}

static void add_cost_columns(struct fm_page *page, struct fm_table *table,
                             const struct cost_columns *columns)
{
    bool time = columns->scale > 0, calls = columns->measure == FM_CALLSEQS;
    g_autofree char *self = g_strconcat("Self ", page->terms->callseqs_order, NULL);
    g_autofree char *total = g_strconcat("Total ", page->terms->callseqs_order, NULL);
    add_column(table, calls ? self : "Self",
               calls  ? "callseqs_self_count"
               : time ? "time_self_seconds"
                      : "time_self_count",
               FM_COLUMN_NUMBER);
    add_column(table, calls ? total : "Total",
               calls  ? "callseqs_total_count"
               : time ? "time_total_seconds"
                      : "time_total_count",
               FM_COLUMN_NUMBER);
}

static void add_cost(struct fm_table *table, const struct cost_columns *columns, int64_t value)
{
    if (!columns->known)
        fm_cell_unknown(table);
    else if (columns->scale > 0)
        fm_cell_time(table, (double)value * columns->scale);
    else
        fm_cell_int(table, value);
}

/* --- find --- */

static void add_found_proc(struct fm_page *page, struct fm_table *table,
                           const struct cost_columns *columns, const struct fm_digest_found *found)
{
    const struct fm_ps *proc = &page->profile->ps[found->ps];
    g_autofree char *place = fm_name_place(page, proc->file, proc->line);
    struct fm_query query = fm_page_link(page, FM_CMD_PROC, found->ps);
    struct fm_cost cost;
    fm_analysis_ps_cost(page->analysis, found->ps, &cost);
    fm_table_row(table, "proc", false);
    fm_cell_string(table, page->terms->proc, FM_STYLE_PLAIN);
    add_cost(table, columns, found->own);
    add_cost(table, columns, found->total);
    fm_calls_cell(table, page->profile, cost.calls, cost.inlined);
    fm_cell_link(table, &query, fm_shown_name(page, found->ps), FM_STYLE_PLAIN);
    fm_cell_full(table, fm_full_name_ps(page, found->ps));
    fm_cell_string(table, place, FM_STYLE_PLAIN);
}

static void add_found_module(struct fm_page *page, struct fm_table *table,
                             const struct cost_columns *columns,
                             const struct fm_digest_found *found)
{
    struct fm_query query = fm_page_link(page, FM_CMD_MODULE, 0);
    query.command.module = (char *)(uintptr_t)found->module->name;
    fm_table_row(table, "module", false);
    fm_cell_string(table, page->terms->module, FM_STYLE_PLAIN);
    add_cost(table, columns, found->own);
    fm_cell_empty(table); /* its procedures call one another */
    fm_calls_cell(table, page->profile, found->module->cost.calls, false);
    fm_cell_link(table, &query, found->module->name, FM_STYLE_PLAIN);
    fm_cell_empty(table);
}

static char *count_text(const struct fm_page *page, const struct fm_digest_found *found,
                        uint32_t count, uint32_t total)
{
    if (page->query.command.name[0] == '\0')
        return g_strdup_printf("Give a part of a name, as in find/append.");
    if (total == 0)
        return g_strdup(count > 0 ? "No name contains this. The nearest names:"
                                  : "Nothing has this in its name.");
    g_autofree char *all = fm_format_int(total);
    if (total > count)
        return g_strdup_printf("%s found; the first %" PRIu32 ":", all, count);
    (void)found;
    return g_strdup_printf("%s found:", all);
}

bool fm_page_find(struct fm_page *page, GError **error)
{
    (void)error;
    const char *text = page->query.command.name;
    struct cost_columns columns = columns_of(page);
    struct fm_digest_found *found;
    uint32_t count, total;
    fm_digest_find(page->analysis, text, columns.measure, FOUND_MAX, &found, &count, &total);
    fm_page_begin(page, "find",
                  text[0] ? g_strdup_printf("Search for \"%s\"", text) : g_strdup("Search"));
    fm_display_fact_string(page->display, "text", text);
    fm_display_fact_int(page->display, "found_count", total);
    g_autofree char *says = count_text(page, found, count, total);
    fm_add_text(page->body, says);
    if (count > 0) {
        struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "found");
        add_column(table, "Kind", "kind", FM_COLUMN_DEFAULT);
        add_cost_columns(page, table, &columns);
        add_column(table, "Calls", "calls_count", FM_COLUMN_NUMBER);
        add_column(table, "Name", "name", FM_COLUMN_PROC);
        add_column(table, "File", "source", FM_COLUMN_SOURCE_CONTEXT);
        for (uint32_t i = 0; i < count; i++)
            (found[i].ps ? add_found_proc : add_found_module)(page, table, &columns, &found[i]);
    }
    g_free(found);
    fm_controls_general(page);
    return true;
}

/* --- which one? --- */

static struct fm_query choice(const struct fm_page *page, uint32_t number, bool clique, char *focus,
                              size_t focus_size)
{
    g_assert(number >= 1);
    struct fm_query query = page->query;
    const struct fm_subject subject = {
        .numbers = &number, .count = 1, .total = 1, .cliques = clique};
    query.has_preferences = page->links_carry_preferences;
    fm_subject_set(&query.command, &subject, focus, focus_size);
    return query;
}

/* The command with the name that selects this one, or its number. */
static char *spelled(const struct fm_page *page, char *spelling, uint32_t number, bool clique)
{
    char focus[32];
    struct fm_query query = choice(page, number, clique, focus, sizeof focus);
    bool is_name = spelling && strspn(spelling, "0123456789") < strlen(spelling);
    g_autofree char *path = g_strconcat("clique/", spelling, NULL);
    query.has_preferences = false;
    if (is_name)
        query.command.name = query.command.name && clique ? path : spelling;
    return fm_query_print(&query);
}

static void add_procs(struct fm_page *page, struct fm_table *table,
                      const struct cost_columns *columns, const struct fm_subject *subject)
{
    char **spellings = fm_digest_spellings(page->profile, subject->numbers, subject->count);
    for (uint32_t i = 0; i < subject->count; i++) {
        uint32_t ps = subject->numbers[i];
        const struct fm_ps *proc = &page->profile->ps[ps];
        g_autofree char *place = fm_name_place(page, proc->file, proc->line);
        g_autofree char *name = fm_digest_name_with_file(page->profile, ps);
        g_autofree char *command = spelled(page, spellings[i], ps, false);
        char focus[32];
        struct fm_query query = choice(page, ps, false, focus, sizeof focus);
        struct fm_cost cost;
        fm_analysis_ps_cost(page->analysis, ps, &cost);
        fm_table_row(table, "proc", false);
        add_cost(table, columns, cost.own[columns->measure]);
        add_cost(table, columns, fm_cost_total(&cost, columns->measure));
        fm_calls_cell(table, page->profile, cost.calls, cost.inlined);
        fm_cell_link(table, &query, name, FM_STYLE_PLAIN);
        fm_cell_string(table, place, FM_STYLE_PLAIN);
        fm_cell_string(table, command, FM_STYLE_PLAIN);
        g_free(spellings[i]);
    }
    g_free(spellings);
}

static void add_cliques(struct fm_page *page, struct fm_table *table,
                        const struct cost_columns *columns, const struct fm_subject *subject)
{
    const struct fm_analysis *a = page->analysis;
    for (uint32_t i = 0; i < subject->count; i++) {
        uint32_t clique = subject->numbers[i];
        int64_t own = 0, calls = 0;
        bool inlined = false;
        for (uint32_t m = a->clique_first[clique]; m < a->clique_first[clique + 1]; m++) {
            own += fm_analysis_pd_own(a, a->clique_pds[m], columns->measure);
            calls += fm_analysis_pd_calls(a, a->clique_pds[m]);
            inlined |= fm_analysis_pd_inlined(a, a->clique_pds[m]);
        }
        g_autofree char *path = fm_clique_path(page, clique, 8);
        g_autofree char *spelling = fm_clique_spelling(a, clique);
        g_autofree char *command = spelled(page, spelling, clique, true);
        char focus[32];
        struct fm_query query = choice(page, clique, true, focus, sizeof focus);
        fm_table_row(table, "context", false);
        add_cost(table, columns, own);
        add_cost(table, columns, fm_analysis_clique_total(a, clique, columns->measure));
        fm_calls_cell(table, page->profile, calls, inlined);
        fm_cell_link(table, &query, path, FM_STYLE_PLAIN);
        fm_cell_string(table, command, FM_STYLE_PLAIN);
    }
}

struct ranked {
    uint32_t number;
    int64_t total;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *ra = a, *rb = b;
    if (ra->total != rb->total)
        return ra->total > rb->total ? -1 : 1;
    return ra->number < rb->number ? -1 : ra->number > rb->number;
}

/* Sorts by cost, most expensive first. */
static void rank(const struct fm_page *page, const struct cost_columns *columns, bool cliques,
                 const struct fm_subject *subject)
{
    g_autofree struct ranked *ranked = g_new(struct ranked, subject->count);
    for (uint32_t i = 0; i < subject->count; i++) {
        uint32_t number = subject->numbers[i];
        struct fm_cost cost = {0};
        if (!cliques)
            fm_analysis_ps_cost(page->analysis, number, &cost);
        ranked[i] = (struct ranked){
            number, cliques ? fm_analysis_clique_total(page->analysis, number, columns->measure)
                            : fm_cost_total(&cost, columns->measure)};
    }
    qsort(ranked, subject->count, sizeof *ranked, compare_ranked);
    for (uint32_t i = 0; i < subject->count; i++)
        subject->numbers[i] = ranked[i].number;
}

bool fm_page_which(struct fm_page *page, const struct fm_subject *subject)
{
    bool cliques = subject->cliques;
    struct cost_columns columns = columns_of(page);
    g_autofree char *all = fm_format_int(subject->total);
    fm_page_begin(page, "which",
                  g_strdup_printf("Which %s?", cliques ? "context" : page->terms->proc));
    fm_display_fact_string(page->display, "name", page->query.command.name);
    fm_display_fact_int(page->display, "found_count", subject->total);
    g_autofree char *text = g_strdup_printf(
        "%s %s %s \"%s\"%s", all, cliques ? "contexts" : page->terms->procs,
        cliques ? "have the path" : "are named",
        cliques && g_str_has_prefix(page->query.command.name, "clique/")
            ? page->query.command.name + strlen("clique/")
            : page->query.command.name,
        subject->total > subject->count ? "; the first 100:" : ". The last column chooses one:");
    fm_add_text(page->body, text);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "choices");
    rank(page, &columns, cliques, subject);
    add_cost_columns(page, table, &columns);
    add_column(table, "Calls", "calls_count", FM_COLUMN_NUMBER);
    add_column(table, cliques ? "Path" : page->terms->proc_title, cliques ? "path" : "proc",
               FM_COLUMN_PROC);
    if (!cliques)
        add_column(table, "File", "source", FM_COLUMN_SOURCE_CONTEXT);
    add_column(table, "Query", "spelling", FM_COLUMN_DEFAULT);
    (cliques ? add_cliques : add_procs)(page, table, &columns, subject);
    fm_controls_general(page);
    return true;
}

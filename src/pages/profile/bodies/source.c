/* SPDX-License-Identifier: Apache-2.0 */
/* The source text of a C function with the cost of its lines: their own code and their calls. */
#include "pages/profile/bodies/source.h"

#include <string.h>

#include "base/files/beside.h"
#include "profile/digest/lines/source_index.h"
#include "pages/profile/bodies/source_links.h"
#include "pages/profile/bodies/source_text.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

#define LINES_MAX 3000
#define HEATS 5

/* --- costs by line --- */

/* The subject of the lines: a procedure in all its contexts (pd 0) or in one. */
struct subject {
    uint32_t ps, pd;
};

/* Cost of the line, its own code and its callees, in the most informative measure. */
static int64_t amount_of(const struct fm_page *page, const struct fm_line_cost *cost)
{
    bool times = fm_times_tell(page->profile);
    int64_t below = cost->any ? fm_cost_total(&cost->cost, times ? FM_QUANTA : FM_CALLSEQS) : 0;
    return MAX(below, 0) + (times ? (int64_t)MIN(cost->quanta, (uint64_t)INT32_MAX) : 0);
}

static struct fm_source_line line_of(const struct fm_page *page, uint32_t number, const char *text,
                                     const struct fm_line_cost *cost, int64_t whole)
{
    uint64_t rate = page->profile->ticks_per_second;
    int64_t amount = amount_of(page, cost);
    struct fm_source_line line = {.line = number,
                                  .text = text,
                                  .calls = -1,
                                  .self_percent = -1,
                                  .total_percent = -1,
                                  .time_known = cost->time_known && rate > 0,
                                  .line_seconds =
                                      rate > 0 ? (double)cost->quanta / (double)rate : 0,
                                  .hottest = cost->hottest,
                                  .runs_known = cost->runs_known,
                                  .runs = cost->runs};
    if (whole > 0 && amount > 0)
        line.heat = 1 + (unsigned)MIN(HEATS * (double)amount / (double)whole, HEATS - 1);
    if (!cost->any)
        return line;
    enum fm_measure_id measure = fm_times_tell(page->profile) ? FM_QUANTA : FM_CALLSEQS;
    double all = (double)fm_cost_total(&page->analysis->root_total, measure);
    line.calls = cost->cost.inlined ? -1 : MAX(cost->cost.calls, 0);
    line.bytes_known = true;
    line.bytes = MAX(fm_cost_total(&cost->cost, FM_WORDS), 0);
    if (all > 0) {
        if (!cost->cost.shared)
            line.self_percent = MAX(100 * (double)cost->cost.own[measure] / all, 0);
        line.total_percent = MAX(100 * (double)fm_cost_total(&cost->cost, measure) / all, 0);
        if (measure == FM_QUANTA && rate > 0)
            line.below_seconds = line.total_percent / 100 * all / (double)rate;
    }
    return line;
}

/* The site's cost, in one context or in all; false when it is not known. */
static bool site_cost(const struct fm_page *page, const struct subject *of, uint32_t slot,
                      uint32_t css, struct fm_cost *ret)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_analysis *a = page->analysis;
    uint32_t count = a->css_csd_first[css + 1] - a->css_csd_first[css];
    const uint32_t *csds = NULL;
    *ret = (struct fm_cost){0};
    if (of->pd != 0)
        csds = fm_profile_slot(profile, of->pd, slot, &count);
    /* The calls that a library makes are not recorded, except callbacks. */
    if ((profile->css[css].kind == FM_SITE_CALLBACK || fm_profile_css_uncounted(profile, css)) &&
        count == 0)
        return false;
    if (of->pd == 0)
        fm_analysis_css_cost(a, css, ret);
    for (uint32_t i = 0; csds != NULL && i < count; i++) {
        struct fm_cost cost;
        fm_analysis_csd_cost(a, csds[i], &cost);
        fm_cost_add(ret, &cost);
    }
    return true;
}

/* How often the code on each line of the span ran, and its own time. */
static void add_runs(const struct fm_page *page, const struct subject *of, struct fm_line_span span,
                     struct fm_line_cost *costs)
{
    const struct fm_source_map *map = page->recording->source_map;
    if (map == NULL)
        return;
    bool points = page->profile->ps[of->ps].point_count > 0;
    g_autofree uint64_t *counts =
        points ? fm_analysis_point_counts(page->analysis, of->ps, of->pd) : NULL;
    for (uint32_t i = map->line_first[of->ps]; i < map->line_first[of->ps + 1]; i++) {
        uint32_t line = map->lines[i].line;
        uint64_t runs = points ? fm_source_map_count(map, &map->lines[i], counts) : UINT64_MAX;
        if (line < span.first || line - span.first >= span.count)
            continue;
        if (map->has_times && of->pd == 0) { /* times of single contexts are not known */
            costs[line - span.first].time_known = true;
            costs[line - span.first].quanta += map->lines[i].quanta;
        }
        if (runs == UINT64_MAX)
            continue;
        costs[line - span.first].runs_known = true;
        costs[line - span.first].runs = MAX(costs[line - span.first].runs, runs);
    }
}

static void add_callee(struct fm_line_cost *cost, uint32_t ps)
{
    for (unsigned i = 0; i < cost->callee_count; i++) {
        if (cost->callees[i] == ps)
            return;
    }
    if (cost->callee_count < FM_SOURCE_CALLEES_MAX)
        cost->callees[cost->callee_count++] = ps;
}

/* Adds the functions that a site called; the one that it names even if it was not called. */
static void add_callees(const struct fm_page *page, uint32_t css, struct fm_line_cost *cost)
{
    g_assert(css >= 1 && css <= page->profile->css_count);
    struct fm_cost of_one;
    if (page->profile->css[css].callee_ps != 0)
        add_callee(cost, page->profile->css[css].callee_ps);
    for (uint32_t from = 0, ps; cost->callee_count < FM_SOURCE_CALLEES_MAX &&
                                fm_analysis_site_callee(page->analysis, css, &from, &ps, &of_one);)
        add_callee(cost, ps);
}

void fm_source_add_costs(const struct fm_page *page, uint32_t ps, uint32_t pd,
                         struct fm_line_span span, struct fm_line_cost *costs)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_ps *proc = &profile->ps[ps];
    const struct subject of = {ps, pd};
    add_runs(page, &of, span, costs);
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t css = profile->css_of_ps[proc->css_first + slot];
        uint32_t line = profile->css[css].line;
        struct fm_cost cost;
        if (!site_cost(page, &of, slot, css, &cost) || line < span.first ||
            line - span.first >= span.count || strcmp(fm_css_file(profile, css), proc->file) != 0)
            continue;
        fm_cost_add(&costs[line - span.first].cost, &cost);
        costs[line - span.first].any = true;
        add_callees(page, css, &costs[line - span.first]);
    }
}

static uint32_t last_site_line(const struct fm_profile *profile, uint32_t ps)
{
    g_assert(ps >= 1 && ps <= profile->ps_count);
    const struct fm_ps *proc = &profile->ps[ps];
    uint32_t last = proc->line;
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t css = profile->css_of_ps[proc->css_first + slot];
        if (strcmp(fm_css_file(profile, css), proc->file) == 0)
            last = MAX(last, profile->css[css].line);
    }
    return last;
}

uint32_t fm_source_add_lines(struct fm_page *page, const char *file, struct fm_line_span span,
                             const struct fm_line_cost *costs, int64_t whole, char *body)
{
    g_autofree struct fm_source_line *lines = g_new(struct fm_source_line, span.count);
    uint32_t count = 0, named = 0;
    char *at = body;
    for (uint32_t i = 0; i < span.count; i++)
        named += costs[i].callee_count;
    g_autofree struct fm_source_callee *callees = g_new(struct fm_source_callee, named + 1u);
    named = 0;
    for (uint32_t i = 0; i < span.count && (!body || at); i++) {
        if (!body && !costs[i].any && !costs[i].runs_known && costs[i].quanta == 0)
            continue;
        char *end = body ? strchr(at, '\n') : NULL;
        if (end)
            *end = '\0';
        lines[count] = line_of(page, span.first + i, at, &costs[i], whole);
        lines[count].callee_count = costs[i].callee_count;
        lines[count].callees = &callees[named];
        for (unsigned c = 0; c < costs[i].callee_count; c++, named++)
            callees[named] =
                (struct fm_source_callee){fm_shown_name(page, costs[i].callees[c]),
                                          fm_page_link(page, FM_CMD_PROC, costs[i].callees[c])};
        count++;
        at = end ? end + 1 : NULL;
    }
    if (count > 0)
        fm_add_source(page->body, file, lines, count);
    return count;
}

/* The total that the lines' shares refer to: the function's. */
static int64_t whole_of(const struct fm_page *page, const struct subject *of)
{
    enum fm_measure_id measure = fm_times_tell(page->profile) ? FM_QUANTA : FM_CALLSEQS;
    struct fm_cost cost;
    if (of->pd != 0)
        return fm_analysis_pd_total(page->analysis, of->pd, measure);
    fm_analysis_ps_cost(page->analysis, of->ps, &cost);
    return fm_cost_total(&cost, measure);
}

/* Older recordings have a file of lines, imports have none. A profile that was copied without it is
 * the usual reason. */
static char *lines_elsewhere(const struct fm_page *page)
{
    const char *path = page->recording->path;
    if (page->profile->run_info.origin != NULL || path == NULL)
        return NULL;
    g_autofree char *lines = fm_path_beside(path, FM_BESIDE_LINES);
    if (g_file_test(lines, G_FILE_TEST_EXISTS))
        return NULL; /* it could not be read, or is another profile's */
    g_autofree char *name = g_path_get_basename(lines), *data = g_path_get_basename(path);
    return g_strdup_printf("Time by line is not shown: %s has no source lines in it, and there is "
                           "no %s beside it, where older versions of fathom wrote them: copy both.",
                           data, name);
}

bool fm_source_add_time_note(struct fm_page *page)
{
    const struct fm_source_map *map = page->recording->source_map;
    if (page->profile->ticks_per_second == 0 || !fm_times_tell(page->profile) ||
        (map != NULL && map->has_times))
        return false;
    g_autofree char *elsewhere = map == NULL ? lines_elsewhere(page) : NULL;
    fm_add_text(page->body, elsewhere != NULL ? elsewhere : "Time by line is not recorded.");
    return true;
}

/* Links to other views of the code: the whole file, the instructions. */
static void add_file_links(struct fm_page *page, uint32_t ps)
{
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    struct fm_query whole = fm_page_link(page, FM_CMD_SOURCE, 0);
    struct fm_query code = fm_page_link(page, FM_CMD_ASM, ps);
    whole.command.name = (char *)(uintptr_t)page->profile->ps[ps].file;
    fm_add_link(list, &whole, "The whole file");
    if (page->recording->machine_code != NULL && page->query.command.id != FM_CMD_ASM)
        fm_add_link(list, &code, "Side by side with its instructions");
}

/* The line that a long listing is opened at: with the most time of its own, else with the most that
 * it calls. */
static void mark_hottest(const struct fm_page *page, struct fm_line_span span,
                         struct fm_line_cost *costs)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < span.count; i++) {
        bool equal = costs[i].quanta == costs[best].quanta;
        if (costs[i].quanta > costs[best].quanta ||
            (equal && amount_of(page, &costs[i]) > amount_of(page, &costs[best])))
            best = i;
    }
    costs[best].hottest = span.count > 0 && amount_of(page, &costs[best]) > 0;
}

void fm_source_add(struct fm_page *page, uint32_t ps, uint32_t pd)
{
    g_assert(ps >= 1 && ps <= page->profile->ps_count && pd <= page->profile->pd_count);
    g_return_if_fail(ps >= 1 && ps <= page->profile->ps_count && pd <= page->profile->pd_count);
    const struct subject of = {ps, pd};
    const struct fm_ps *proc = &page->profile->ps[ps];
    if (!proc->file[0] || proc->line == 0)
        return; /* no debug information, or the system */
    g_autofree char *note = NULL;
    g_autofree char *text = fm_source_text_read(page, proc->file, &note);
    const char *start = text ? fm_source_text_line(text, proc->line - 1) : NULL;
    if (text && !start)
        note =
            (g_free(note), g_strdup_printf("%s has no line %" PRIu32 ".", proc->file, proc->line));
    struct fm_line_span span = {proc->line, last_site_line(page->profile, ps) - proc->line + 1};
    if (start) {
        const char *end = fm_source_text_end(start);
        uint32_t next = fm_source_index_next(page->recording->source_index, ps);
        if (end)
            span.count = MAX(span.count, fm_source_text_count(start, end));
        else if (next > 0)
            span.count = MAX(span.count, next - proc->line);
    }
    span.count = MIN(span.count, LINES_MAX);
    fm_add_heading(page->body, "Source");
    if (note)
        fm_add_text(page->body, note);
    fm_display_fact_bool(page->display, "source_shown", start != NULL);
    if (page->recording->source_map_message)
        fm_add_text(page->body, page->recording->source_map_message);
    if (page->recording->source_texts_message)
        fm_add_text(page->body, page->recording->source_texts_message);
    fm_source_add_time_note(page);
    g_autofree struct fm_line_cost *costs = g_new0(struct fm_line_cost, span.count);
    fm_source_add_costs(page, ps, pd, span, costs);
    const struct fm_query here = fm_page_link(page, FM_CMD_PROC, ps);
    fm_source_link_copies(page, ps);
    fm_source_link_hottest(page, &here, span, costs);
    mark_hottest(page, span, costs);
    fm_source_add_lines(page, proc->file, span, costs, whole_of(page, &of),
                        start ? text + (start - text) : NULL);
    add_file_links(page, ps);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/parts/sites.h"

#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"

void fm_sites_free(struct fm_site *sites, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        g_free(sites[i].label);
        g_free(sites[i].callees);
    }
    g_free(sites);
}

/* fm_rows_sort() knows rows only, so sites are sorted through a copy of their rows. */
static struct fm_row *sorted_rows(const struct fm_page *page, const struct fm_site *sites,
                                  uint32_t count)
{
    struct fm_row *rows = g_new(struct fm_row, count);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = sites[i].row;
        rows[i].name = sites[i].label;
        rows[i].id = i;
    }
    fm_rows_sort(page, rows, count, NULL);
    return rows;
}

/* --- callees --- */

struct callees_of_site {
    const struct fm_page *page;
    const struct fm_site *site;
    const struct fm_callees *callees;
};

static uint32_t ps_at(const struct callees_of_site *of, uint32_t index)
{
    return of->callees->ps(of->callees->data, of->site, index);
}

static void cost_at(void *data, uint32_t index, struct fm_cost *ret)
{
    const struct callees_of_site *of = data;
    *ret = of->callees->row(of->callees->data, of->site, index).cost;
}

static const char *name_at(void *data, uint32_t index)
{
    const struct callees_of_site *of = data;
    return fm_name_ps(of->page, ps_at(of, index));
}

static const char *place_at(void *data, uint32_t index, uint32_t *ret_line)
{
    const struct callees_of_site *of = data;
    const struct fm_ps *ps = &of->page->profile->ps[ps_at(of, index)];
    *ret_line = ps->line;
    return ps->file;
}

static void add_more(struct fm_table *table, const struct fm_perf *perf, uint32_t count,
                     const char *when)
{
    if (count == 0)
        return;
    g_autofree char *text = g_strdup_printf("%" PRIu32 " more %s", count, when);
    fm_table_row(table, "callees_left", false);
    fm_cell_empty(table);
    fm_cell_string(table, text, FM_STYLE_PLAIN);
    fm_perf_empty_cells(perf, table);
}

/* Key of an order, from preferences that are the same on all pages. */
static uint32_t order_key(const struct fm_preferences *preferences)
{
    const struct fm_cost_order *cost = &preferences->cost;
    if (preferences->order != FM_ORDER_COST)
        return 0;
    return 1u << 31 | (uint32_t)cost->kind << 2 | (cost->with_descendants ? 2 : 0) |
           (cost->per_call ? 1 : 0);
}

/* Index of the callee at each of the first `wanted` places; NULL: unsorted. For the first page,
 * which is often the only one viewed, callees are selected without sorting all; for later pages the
 * whole order is made and cached. */
static GBytes *order_callees(struct callees_of_site *of, uint32_t count, uint32_t wanted)
{
    const struct fm_page *page = of->page;
    const struct fm_callees *callees = of->callees;
    const struct fm_preferences *preferences = &page->query.preferences;
    bool keep = of->site->keeps_order && preferences->order != FM_ORDER_NAME;
    GBytes *order =
        keep ? callees->kept_order(callees->data, of->site, order_key(preferences)) : NULL;
    if (order != NULL)
        return order;
    const struct fm_row_source source = {cost_at, name_at, of, place_at};
    bool all = keep && wanted > FM_CALLEES_A_PAGE;
    uint32_t *places = fm_rows_order(page, &source, count, all ? count : wanted);
    if (places == NULL)
        return NULL;
    order = g_bytes_new_take(places, count * sizeof *places);
    if (all)
        callees->keep_order(callees->data, of->site, order_key(preferences), order);
    return order;
}

static void print_callees(const struct fm_page *page, struct fm_table *table,
                          const struct fm_perf *perf, const struct fm_site *site,
                          struct fm_callees *callees)
{
    uint32_t count = site->callee_count, from, end;
    fm_callees_next(callees, count, &from, &end);
    if (count == 0)
        return;
    add_more(table, perf, from, "on pages before");
    struct callees_of_site of = {page, site, callees};
    g_autoptr(GBytes) order = from == end ? NULL : order_callees(&of, count, end);
    const uint32_t *places = order == NULL ? NULL : g_bytes_get_data(order, NULL);
    for (uint32_t i = from; i < end; i++) {
        struct fm_row row = callees->row(callees->data, site, places != NULL ? places[i] : i);
        fm_table_row(table, "callee", false);
        fm_cell_empty(table);
        fm_row_name_cell(page, table, &row, FM_STYLE_PLAIN);
        fm_perf_cells(perf, page, table, &row.cost);
    }
    add_more(table, perf, count - end, "on the next pages");
}

void fm_callees_begin(const struct fm_page *page, struct fm_callees *callees)
{
    callees->first = (uint64_t)(MAX(page->query.command.bunch, 1) - 1) * FM_CALLEES_A_PAGE;
    callees->seen = 0;
}

void fm_callees_next(struct fm_callees *callees, uint32_t count, uint32_t *ret_from,
                     uint32_t *ret_end)
{
    uint64_t before = callees->seen, page_end = callees->first + FM_CALLEES_A_PAGE;
    *ret_from = (uint32_t)(callees->first > before ? MIN(callees->first - before, count) : 0);
    *ret_end = (uint32_t)(page_end > before ? MIN(page_end - before, count) : 0);
    callees->seen += count;
}

static void offer_page(struct fm_controls *controls, uint64_t number, const char *label,
                       const char *id)
{
    struct fm_query query = fm_page_like(controls->page);
    query.command.bunch = (uint32_t)number;
    fm_controls_offer(controls, &query, label, id);
}

void fm_callees_end(struct fm_page *page, const struct fm_callees *callees)
{
    uint64_t first = callees->first, number = first / FM_CALLEES_A_PAGE + 1;
    uint64_t pages = (callees->seen + FM_CALLEES_A_PAGE - 1) / FM_CALLEES_A_PAGE;
    if (callees->seen <= FM_CALLEES_A_PAGE && first == 0)
        return;
    uint64_t end = MIN(first + FM_CALLEES_A_PAGE, callees->seen),
             shown = end > first ? end - first : 0;
    fm_display_fact_int(page->display, "callee_count", (int64_t)callees->seen);
    fm_display_fact_int(page->display, "callees_shown_count", (int64_t)shown);
    fm_display_fact_int(page->display, "callees_page", (int64_t)number);
    g_autofree char *title =
        shown == 0
            ? g_strdup_printf("There are %" PRIu64 " callees, none on this page:", callees->seen)
            : g_strdup_printf("Callees %" PRIu64 " to %" PRIu64 " of %" PRIu64 ":", first + 1, end,
                              callees->seen);
    struct fm_controls controls = {.page = page, .title = title};
    if (number > 1) {
        offer_page(&controls, 1, "First page", "page-first");
        offer_page(&controls, MIN(number - 1, MAX(pages, 1)), "Previous page", "page-previous");
    }
    if (number < pages) {
        offer_page(&controls, number + 1, "Next page", "page-next");
        offer_page(&controls, pages, "Last page", "page-last");
    }
}

void fm_sites_print(const struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                    struct fm_site *sites, uint32_t count, struct fm_callees *callees)
{
    g_return_if_fail(count == 0 || sites != NULL);
    g_autofree struct fm_row *rows = sorted_rows(page, sites, count);
    for (uint32_t i = 0; i < count; i++) {
        struct fm_site *site = &sites[rows[i].id];
        g_autofree char *place = fm_name_place(page, rows[i].file, rows[i].line);
        fm_table_row(table, "call_site", false);
        fm_cell_string(table, place, FM_STYLE_PLAIN);
        fm_row_name_cell(page, table, &rows[i], FM_STYLE_PLAIN);
        fm_perf_cells(perf, page, table, &rows[i].cost);
        print_callees(page, table, perf, site, callees);
    }
}

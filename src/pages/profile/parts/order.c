/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/parts/order.h"

#include <assert.h>
#include <string.h>

#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

/* query and analysis are neighbours that do not know each other; their enums are the same. */
static_assert((int)FM_QUERY_CALLS == (int)FM_BY_CALLS, "cost kinds differ");
static_assert((int)FM_QUERY_REDOS == (int)FM_BY_REDOS, "cost kinds differ");
static_assert((int)FM_QUERY_TIME == (int)FM_BY_TIME, "cost kinds differ");
static_assert((int)FM_QUERY_CALLSEQS == (int)FM_BY_CALLSEQS, "cost kinds differ");
static_assert((int)FM_QUERY_ALLOCS == (int)FM_BY_ALLOCS, "cost kinds differ");
static_assert((int)FM_QUERY_WORDS == (int)FM_BY_WORDS, "cost kinds differ");

static double value_of(const struct fm_cost *cost, enum fm_query_cost kind,
                       const struct fm_cost_order *order)
{
    bool ports = kind == FM_QUERY_CALLS || kind == FM_QUERY_REDOS; /* have only one amount */
    return fm_cost_value(cost, (enum fm_cost_kind)kind, order->with_descendants && !ports,
                         order->per_call && !ports ? FM_PER_CALL : FM_OVERALL);
}

void fm_cost_key(const struct fm_cost *cost, const struct fm_cost_order *order, double *ret_value,
                 double *ret_tie)
{
    *ret_value = value_of(cost, order->kind, order);
    *ret_tie = order->kind == FM_QUERY_TIME ? value_of(cost, FM_QUERY_CALLSEQS, order) : 0;
}

int fm_cost_compare(const struct fm_cost *a, const struct fm_cost *b,
                    const struct fm_cost_order *order)
{
    double value_a, value_b, tie_a, tie_b;
    fm_cost_key(a, order, &value_a, &tie_a);
    fm_cost_key(b, order, &value_b, &tie_b);
    if (value_a != value_b)
        return value_a > value_b ? -1 : 1;
    return tie_a > tie_b ? -1 : tie_a < tie_b;
}

static int compare_cost(const void *a, const void *b, void *user)
{
    const struct fm_row *ra = a, *rb = b;
    return -fm_cost_compare(&ra->cost, &rb->cost, user);
}

static int compare_context(const void *a, const void *b, void *user)
{
    (void)user;
    const struct fm_row *ra = a, *rb = b;
    int files = strcmp(ra->file, rb->file);
    return files ? files : (ra->line > rb->line) - (ra->line < rb->line);
}

static int compare_name(const void *a, const void *b, void *user)
{
    (void)user;
    const struct fm_row *ra = a, *rb = b;
    return strcmp(ra->name, rb->name);
}

static void sort(struct fm_row *rows, uint32_t count, GCompareDataFunc compare, void *user)
{
    g_qsort_with_data(rows, (int)count, sizeof *rows, compare, user); /* stable */
}

static void sort_by_cost(struct fm_row *rows, uint32_t count, struct fm_cost_order order)
{
    sort(rows, count, compare_cost, &order);
    for (uint32_t i = 0; i < count / 2; i++) {
        struct fm_row row = rows[i];
        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = row;
    }
}

void fm_rows_sort(const struct fm_page *page, struct fm_row *rows, uint32_t count,
                  const struct fm_cost_order *fallback)
{
    g_return_if_fail(count == 0 || rows != NULL);
    const struct fm_preferences *preferences = &page->query.preferences;
    if (count < 2)
        return;
    if (preferences->order == FM_ORDER_COST)
        sort_by_cost(rows, count, preferences->cost);
    else if (fallback)
        sort_by_cost(rows, count, *fallback);
    else if (preferences->order == FM_ORDER_NAME)
        sort(rows, count, compare_name, NULL);
    else
        sort(rows, count, compare_context, NULL);
}

void fm_row_name_cell(const struct fm_page *page, struct fm_table *table, const struct fm_row *row,
                      unsigned style)
{
    if (row->link == FM_CMD_COUNT) {
        fm_cell_string(table, row->name, style);
    } else {
        struct fm_query query = fm_page_link(page, row->link, row->link_number);
        fm_cell_link(table, &query, row->name, style);
    }
    fm_cell_full(table, row->full);
}

bool fm_cost_is_hidden(const struct fm_cost *cost)
{
    return fm_cost_is_inactive(cost) && cost->own[FM_CALLSEQS] == 0 && cost->own[FM_QUANTA] == 0 &&
           cost->own[FM_ALLOCS] == 0;
}

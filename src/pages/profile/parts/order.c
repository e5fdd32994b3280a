/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/parts/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/select.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

static double value_of(const struct fm_cost *cost, enum fm_cost_kind kind,
                       const struct fm_cost_order *order)
{
    bool ports = kind == FM_BY_CALLS || kind == FM_BY_REDOS; /* these have only one amount */
    return fm_cost_value(cost, kind, order->with_descendants && !ports,
                         order->per_call && !ports ? FM_PER_CALL : FM_OVERALL);
}

void fm_cost_key(const struct fm_cost *cost, const struct fm_cost_order *order, double *ret_value,
                 double *ret_tie)
{
    *ret_value = value_of(cost, order->kind, order);
    *ret_tie = order->kind == FM_BY_TIME ? value_of(cost, FM_BY_CALLSEQS, order) : 0;
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

struct sort_key {
    double value, tie; /* fm_cost_key(), or the line */
    const char *text;  /* name or file */
};

static int compare_key_texts(uint32_t a, uint32_t b, void *user)
{
    const struct sort_key *keys = user, *left = &keys[a], *right = &keys[b];
    int texts = left->text == right->text ? 0 : strcmp(left->text, right->text);
    if (texts != 0)
        return texts;
    if (left->value != right->value)
        return left->value < right->value ? -1 : 1;
    return (a > b) - (a < b);
}

/* Equal rows in reverse order. */
static int compare_key_costs(uint32_t a, uint32_t b, void *user)
{
    const struct sort_key *keys = user, *left = &keys[a], *right = &keys[b];
    if (left->value != right->value)
        return left->value > right->value ? -1 : 1;
    if (left->tie != right->tie)
        return left->tie > right->tie ? -1 : 1;
    return (a < b) - (a > b);
}

uint32_t *fm_rows_order(const struct fm_page *page, const struct fm_row_source *source,
                        uint32_t count, uint32_t wanted)
{
    g_return_val_if_fail(source != NULL, NULL);
    const struct fm_preferences *preferences = &page->query.preferences;
    bool by_cost = preferences->order == FM_ORDER_COST;
    bool by_name = preferences->order == FM_ORDER_NAME;
    if (count < 2 || (!by_cost && !by_name && source->place == NULL))
        return NULL;
    g_autofree struct sort_key *keys = g_new0(struct sort_key, count);
    uint32_t *order = g_new(uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = 0;
        order[i] = i;
        if (by_cost) {
            struct fm_cost cost;
            source->cost(source->data, i, &cost);
            fm_cost_key(&cost, &preferences->cost, &keys[i].value, &keys[i].tie);
        } else {
            keys[i].text =
                by_name ? source->name(source->data, i) : source->place(source->data, i, &line);
            keys[i].value = line;
        }
    }
    fm_select_first(order, count, wanted, by_cost ? compare_key_costs : compare_key_texts, keys);
    return order;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* recursion_type_freq: how often each kind of recursion occurs among the cliques of the program. */
#include "pages/profile/bodies/bodies.h"

#include <string.h>

#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"

/* Cliques of one kind; those that are entered by one procedure. */
struct entry {
    uint32_t ps, frequency;
    struct fm_cost cost;
};
struct kind {
    unsigned order; /* of the kinds */
    uint32_t number;
    GArray *levels; /* uint32_t, of other recursions; NULL = none */
    char *name;
    uint32_t frequency;
    bool has_cost;
    struct fm_cost cost;
    GArray *entries;   /* struct entry */
    GHashTable *by_ps; /* ps -> number in entries + 1 */
};

struct counting {
    struct fm_page *page;
    struct fm_bodies *bodies;
    GHashTable *by_name; /* struct kind */
    GPtrArray *kinds;
};

static void kind_free(gpointer data)
{
    struct kind *kind = data;
    g_free(kind->name);
    g_clear_pointer(&kind->levels, g_array_unref);
    g_array_unref(kind->entries);
    g_hash_table_unref(kind->by_ps);
    g_free(kind);
}

/* Takes the name. */
static struct kind *kind_of(struct counting *c, unsigned order, uint32_t number, char *name)
{
    struct kind *kind = g_hash_table_lookup(c->by_name, name);
    if (kind != NULL) {
        g_free(name);
        return kind;
    }
    kind = g_new0(struct kind, 1);
    kind->order = order;
    kind->number = number;
    kind->name = name;
    kind->entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    kind->by_ps = g_hash_table_new(NULL, NULL);
    g_hash_table_insert(c->by_name, kind->name, kind);
    g_ptr_array_add(c->kinds, kind);
    return kind;
}

static void count_in(struct counting *c, struct kind *kind, uint32_t clique)
{
    const struct fm_analysis *a = c->page->analysis;
    uint32_t pd = fm_analysis_clique_entry(a, clique);
    kind->frequency++;
    if (pd == 0)
        return;
    struct fm_cost cost;
    uint32_t ps = a->profile->pd_ps[pd];
    fm_analysis_pd_cost(a, pd, &cost);
    kind->has_cost = true;
    fm_cost_add(&kind->cost, &cost);
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(kind->by_ps, GUINT_TO_POINTER(ps)));
    if (at == 0) {
        struct entry entry = {.ps = ps};
        g_array_append_val(kind->entries, entry);
        at = kind->entries->len;
        g_hash_table_insert(kind->by_ps, GUINT_TO_POINTER(ps), GUINT_TO_POINTER(at));
    }
    struct entry *entry = &g_array_index(kind->entries, struct entry, at - 1);
    entry->frequency++;
    fm_cost_add(&entry->cost, &cost);
}

static char *other_name(const struct fm_page *page, const struct fm_recursion *recursion)
{
    GString *name = g_string_new(NULL);
    if (page->profile->flavour == FM_FLAVOUR_C)
        return g_string_free(g_string_append(name, "Several recursive call sites"), FALSE);
    g_string_append(name, "Other recursion with levels: ");
    for (uint32_t i = 0; i < recursion->level_count; i++)
        g_string_append_printf(name, "%s%" PRIu32, i == 0 ? "" : ", ", recursion->levels[i].level);
    return g_string_free(name, FALSE);
}

static void count_other(struct counting *c, const struct fm_recursion *recursion, uint32_t clique)
{
    struct kind *kind = kind_of(c, 5, 0, other_name(c->page, recursion));
    if (kind->levels == NULL) {
        kind->levels = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        for (uint32_t i = 0; i < recursion->level_count; i++)
            g_array_append_val(kind->levels, recursion->levels[i].level);
    }
    count_in(c, kind, clique);
}

static void count_clique(struct counting *c, uint32_t clique)
{
    const struct fm_recursion *recursion = fm_bodies_recursion(c->bodies, clique);
    switch (recursion->kind) {
    case FM_RECURSION_NONE:
        count_in(c, kind_of(c, 1, 0, g_strdup("Not recursive")), clique);
        return;
    case FM_RECURSION_SINGLE:
        count_in(c, kind_of(c, 2, 0, g_strdup("Single-recursion")), clique);
        return;
    case FM_RECURSION_DIVIDE:
        count_in(c, kind_of(c, 3, 0, g_strdup("Divide and conquer")), clique);
        return;
    case FM_RECURSION_MUTUAL:
        count_in(c,
                 kind_of(c, 4, recursion->member_count,
                         g_strdup_printf("Mutual recursion between %" PRIu32 " procs",
                                         recursion->member_count)),
                 clique);
        return;
    case FM_RECURSION_OTHER:
        count_other(c, recursion, clique);
        return;
    case FM_RECURSION_ERRORS:
        break;
    }
    for (uint32_t i = 0; i < recursion->error_count; i++)
        count_in(c, kind_of(c, 6, 0, g_strdup_printf("Error: %s", recursion->errors[i])), clique);
    count_in(c, kind_of(c, 7, 0, g_strdup("Total errors")), clique);
}

/* --- order --- */

/* Level by level; what is the beginning of the other comes first. */
static int compare_level_lists(const GArray *a, const GArray *b)
{
    for (guint i = 0; i < a->len && i < b->len; i++) {
        uint32_t one = g_array_index(a, uint32_t, i), other = g_array_index(b, uint32_t, i);
        if (one != other)
            return one < other ? -1 : 1;
    }
    return a->len < b->len ? -1 : a->len > b->len;
}

static int compare_kinds(const void *a, const void *b, void *user)
{
    const struct kind *one = *(const struct kind *const *)a,
                      *other = *(const struct kind *const *)b;
    const struct fm_page *page = user;
    const struct fm_preferences *preferences = &page->query.preferences;
    if (preferences->order == FM_ORDER_COST) {
        int order = one->has_cost == other->has_cost
                        ? fm_cost_compare(&one->cost, &other->cost, &preferences->cost)
                        : other->has_cost - one->has_cost;
        if (order != 0)
            return order;
    }
    if (one->order != other->order)
        return one->order < other->order ? -1 : 1;
    if (one->number != other->number)
        return one->number < other->number ? -1 : 1;
    if (one->levels != NULL && other->levels != NULL)
        return compare_level_lists(one->levels, other->levels);
    return strcmp(one->name, other->name);
}

static int compare_entries(const void *a, const void *b, void *user)
{
    const struct entry *one = a, *other = b;
    const struct fm_page *page = user;
    const struct fm_preferences *preferences = &page->query.preferences;
    int order = preferences->order == FM_ORDER_COST
                    ? fm_cost_compare(&one->cost, &other->cost, &preferences->cost)
                    : 0;
    if (order == 0 && one->frequency != other->frequency)
        order = one->frequency > other->frequency ? -1 : 1;
    return order != 0 ? order : one->ps < other->ps ? -1 : one->ps > other->ps;
}

/* --- the page --- */

static void add_frequency(const struct fm_page *page, struct fm_table *table, uint32_t frequency)
{
    fm_cell_int(table, frequency);
    fm_cell_percent(table, page->analysis->clique_count == 0
                               ? 0
                               : (double)frequency / page->analysis->clique_count);
}

static void add_kind(struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                     struct kind *kind)
{
    struct entry *entries = (struct entry *)(void *)kind->entries->data;
    uint32_t shown = MIN(kind->entries->len, page->query.preferences.procs_per_recursion_type);
    g_qsort_with_data(entries, (gint)kind->entries->len, sizeof *entries, compare_entries, page);
    fm_table_section(table, kind->name, true);
    fm_table_row(table, "recursion_type", false);
    fm_cell_string(table, kind->name, FM_STYLE_BOLD);
    fm_cell_string(table, "Totals", FM_STYLE_PLAIN);
    add_frequency(page, table, kind->frequency);
    if (kind->has_cost)
        fm_perf_cells(perf, page, table, &kind->cost);
    else
        fm_perf_empty_cells(perf, table);
    for (uint32_t i = 0; i < shown; i++) {
        struct fm_query query = fm_page_link(page, FM_CMD_PROC, entries[i].ps);
        fm_table_row(table, "proc", false);
        fm_cell_string(table, kind->name, FM_STYLE_PLAIN);
        fm_cell_link(table, &query, fm_name_ps(page, entries[i].ps), FM_STYLE_PLAIN);
        add_frequency(page, table, entries[i].frequency);
        fm_perf_cells(perf, page, table, &entries[i].cost);
    }
    fm_table_separator(table);
}

static struct fm_table *add_table(struct fm_page *page, const struct fm_perf *perf)
{
    struct fm_query by_type = fm_page_same(page);
    fm_preferences_set_order(&by_type.preferences, FM_ORDER_CONTEXT, NULL);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "recursion_types");
    fm_table_group(table, "Recursion Type", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "recursion_type", &by_type);
    fm_table_group(table, page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "proc", NULL);
    fm_table_group(table, "Frequency", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "frequency_count", NULL);
    fm_table_group(table, "Percentage", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "frequency_percent", NULL);
    fm_perf_header(perf, page, table);
    return table;
}

bool fm_report_recursion_type_freq(struct fm_page *page, GError **error)
{
    if (!fm_page_check_bodies(page, error))
        return false;
    g_autoptr(FmBodies) bodies = fm_page_bodies(page);
    struct counting c = {
        .page = page,
        .bodies = bodies,
        .by_name = g_hash_table_new(g_str_hash, g_str_equal),
        .kinds = g_ptr_array_new_with_free_func(kind_free),
    };
    for (uint32_t clique = 1; clique <= page->analysis->clique_count; clique++)
        count_clique(&c, clique);
    fm_page_begin(page, "recursion_type_freq",
                  g_strdup("Frequencies of recognized recursion types"));
    fm_display_fact_int(page->display, "clique_count", page->analysis->clique_count);
    g_ptr_array_sort_with_data(c.kinds, compare_kinds, page);
    struct fm_perf perf;
    fm_perf_init(&perf, page, true);
    struct fm_table *table = add_table(page, &perf);
    for (guint i = 0; i < c.kinds->len; i++)
        add_kind(page, table, &perf, c.kinds->pdata[i]);
    g_hash_table_unref(c.by_name);
    g_ptr_array_unref(c.kinds);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* recursion_type_freq: how often each kind of recursion occurs among the cliques of the program. */
#include "pages/profile/bodies/bodies.h"

#include <string.h>

#include "base/select.h"
#include "mercury/body/recursion_types.h"
#include "pages/profile/parts/bodies.h"
#include "pages/profile/parts/controls.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/order.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/preferences.h"

/* A type with its name on the page. */
struct kind {
    const struct fm_recursion_type *type;
    char *name;
};

struct ordering {
    const struct fm_page *page;
    const struct kind *kinds;                 /* for a list of kinds */
    const struct fm_recursion_entry *entries; /* for the procedures of one kind */
};

static char *other_name(const struct fm_page *page, const struct fm_recursion_type *type)
{
    GString *name = g_string_new(NULL);
    if (page->profile->flavour == FM_FLAVOUR_C)
        return g_string_free(g_string_append(name, "Several recursive call sites"), FALSE);
    g_string_append(name, "Other recursion with levels: ");
    for (uint32_t i = 0; i < type->level_count; i++)
        g_string_append_printf(name, "%s%" PRIu32, i == 0 ? "" : ", ", type->levels[i]);
    return g_string_free(name, FALSE);
}

static char *name_of(const struct fm_page *page, const struct fm_recursion_type *type)
{
    switch (type->kind) {
    case FM_RECURSION_NONE:
        return g_strdup("Not recursive");
    case FM_RECURSION_SINGLE:
        return g_strdup("Single-recursion");
    case FM_RECURSION_DIVIDE:
        return g_strdup("Divide and conquer");
    case FM_RECURSION_MUTUAL:
        return g_strdup_printf("Mutual recursion between %" PRIu32 " procs", type->procs);
    case FM_RECURSION_OTHER:
        return other_name(page, type);
    case FM_RECURSION_ERRORS:
        break;
    }
    return type->all_errors ? g_strdup("Total errors") : g_strdup_printf("Error: %s", type->error);
}

/* --- order --- */

/* Compares level by level; a prefix comes first. */
static int compare_level_lists(const struct fm_recursion_type *a, const struct fm_recursion_type *b)
{
    for (uint32_t i = 0; i < a->level_count && i < b->level_count; i++) {
        if (a->levels[i] != b->levels[i])
            return a->levels[i] < b->levels[i] ? -1 : 1;
    }
    return a->level_count < b->level_count ? -1 : a->level_count > b->level_count;
}

static int compare_kinds(uint32_t a, uint32_t b, void *user)
{
    const struct ordering *ordering = user;
    const struct fm_recursion_type *one = ordering->kinds[a].type, *other = ordering->kinds[b].type;
    const struct fm_preferences *preferences = &ordering->page->query.preferences;
    if (preferences->order == FM_ORDER_COST) {
        int order = one->has_cost == other->has_cost
                        ? fm_cost_compare(&one->cost, &other->cost, &preferences->cost)
                        : other->has_cost - one->has_cost;
        if (order != 0)
            return order;
    }
    if (one->kind != other->kind)
        return one->kind < other->kind ? -1 : 1;
    if (one->all_errors != other->all_errors)
        return one->all_errors ? 1 : -1;
    if (one->procs != other->procs)
        return one->procs < other->procs ? -1 : 1;
    int order = compare_level_lists(one, other);
    return order != 0 ? order : strcmp(ordering->kinds[a].name, ordering->kinds[b].name);
}

static int compare_entries(uint32_t a, uint32_t b, void *user)
{
    const struct ordering *ordering = user;
    const struct fm_recursion_entry *one = &ordering->entries[a], *other = &ordering->entries[b];
    const struct fm_preferences *preferences = &ordering->page->query.preferences;
    int order = preferences->order == FM_ORDER_COST
                    ? fm_cost_compare(&one->cost, &other->cost, &preferences->cost)
                    : 0;
    if (order == 0 && one->frequency != other->frequency)
        order = one->frequency > other->frequency ? -1 : 1;
    return order != 0 ? order : one->ps < other->ps ? -1 : one->ps > other->ps;
}

static uint32_t *first_of(uint32_t count, uint32_t wanted, fm_select_compare *compare,
                          struct ordering *ordering)
{
    uint32_t *numbers = g_new(uint32_t, count + 1u);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    fm_select_first(numbers, count, wanted, compare, ordering);
    return numbers;
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
                     const struct kind *kind)
{
    const struct fm_recursion_type *type = kind->type;
    uint32_t shown = MIN(type->entry_count, page->query.preferences.procs_per_recursion_type);
    struct ordering ordering = {.page = page, .entries = type->entries};
    g_autofree uint32_t *order = first_of(type->entry_count, shown, compare_entries, &ordering);
    fm_table_section(table, kind->name, true);
    fm_table_row(table, "recursion_type", false);
    fm_cell_string(table, kind->name, FM_STYLE_BOLD);
    fm_cell_string(table, "Totals", FM_STYLE_PLAIN);
    add_frequency(page, table, type->frequency);
    if (type->has_cost)
        fm_perf_cells(perf, page, table, &type->cost);
    else
        fm_perf_empty_cells(perf, table);
    for (uint32_t i = 0; i < shown; i++) {
        const struct fm_recursion_entry *entry = &type->entries[order[i]];
        struct fm_query query = fm_page_link(page, FM_CMD_PROC, entry->ps);
        fm_table_row(table, "proc", false);
        fm_cell_string(table, kind->name, FM_STYLE_PLAIN);
        fm_cell_link(table, &query, fm_name_ps(page, entry->ps), FM_STYLE_PLAIN);
        add_frequency(page, table, entry->frequency);
        fm_perf_cells(perf, page, table, &entry->cost);
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

static void add_kinds(struct fm_page *page, const struct fm_recursion_types *types)
{
    uint32_t count = fm_recursion_types_count(types);
    struct kind *kinds = g_new0(struct kind, count + 1u);
    for (uint32_t i = 0; i < count; i++) {
        kinds[i].type = fm_recursion_types_get(types, i);
        kinds[i].name = name_of(page, kinds[i].type);
    }
    struct ordering ordering = {.page = page, .kinds = kinds};
    g_autofree uint32_t *order = first_of(count, count, compare_kinds, &ordering);
    struct fm_perf perf;
    fm_perf_init(&perf, page, true);
    struct fm_table *table = add_table(page, &perf);
    for (uint32_t i = 0; i < count; i++)
        add_kind(page, table, &perf, &kinds[order[i]]);
    for (uint32_t i = 0; i < count; i++)
        g_free(kinds[i].name);
    g_free(kinds);
}

bool fm_page_recursion_type_freq(struct fm_page *page, GError **error)
{
    const struct fm_open_profile *recording = page->recording;
    struct fm_recursion_types *made = NULL;
    if (!fm_page_check_bodies(page, error))
        return false;
    if (recording->recursion_types == NULL) {
        made =
            fm_recursion_types_new(page->analysis, recording->procrep, recording->procrep_message);
        while (!fm_recursion_types_step(made, G_MAXUINT32)) { /* all of them */
        }
    }
    fm_page_begin(page, "recursion_type_freq",
                  g_strdup("Frequencies of recognized recursion types"));
    fm_display_fact_int(page->display, "clique_count", page->analysis->clique_count);
    add_kinds(page, made != NULL ? made : recording->recursion_types);
    fm_recursion_types_free(made);
    fm_controls_sort(page);
    fm_controls_fields(page);
    fm_controls_format(page);
    fm_controls_general(page);
    return true;
}

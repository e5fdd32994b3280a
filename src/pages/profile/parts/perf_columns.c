/* SPDX-License-Identifier: Apache-2.0 */
/* The cost columns of tables: which columns there are, by preferences and by the recording's data,
 * and the cells of a row. */
#include "pages/profile/parts/perf_columns.h"
#include "pages/profile/parts/lacks.h"

#include <string.h>

#include "display/ranked.h"
#include "pages/profile/parts/page.h"
#include "pages/profile/parts/preferences.h"

struct building {
    struct fm_perf *perf;
    const struct fm_page *page;
    bool totals;
};

static struct fm_perf_column *add(struct building *b, struct fm_perf_column column,
                                  const char *name, const char *suffix)
{
    g_assert(b->perf->count < FM_PERF_COLUMNS_MAX);
    struct fm_perf_column *added = &b->perf->columns[b->perf->count++];
    *added = column;
    g_snprintf(added->name, sizeof added->name, "%s%s", name, suffix);
    return added;
}

static void add_ports(struct building *b)
{
    static const struct {
        enum fm_perf_value value;
        enum fm_measure_id measure;
        const char *title, *name;
        bool mercury_only;
        bool sorts;
        enum fm_cost_kind kind;
    } ports[] = {
        {FM_PERF_CALLS, FM_EXITS, "Calls", "calls_count", false, true, FM_BY_CALLS},
        {FM_PERF_PORT, FM_EXITS, "Exits", "exits_count", false, false, FM_BY_CALLS},
        {FM_PERF_PORT, FM_FAILS, "Fails", "fails_count", true, false, FM_BY_CALLS},
        {FM_PERF_PORT, FM_REDOS, "Redos", "redos_count", true, true, FM_BY_REDOS},
        {FM_PERF_PORT, FM_EXCPS, NULL, "excps_count", false, false, FM_BY_CALLS},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(ports); i++) {
        if (ports[i].mercury_only && !b->page->terms->has_fails)
            continue;
        /* If the kinds of exits were not recorded there are calls, but no port counts. */
        if (ports[i].value == FM_PERF_PORT && !fm_profile_knows(b->page->profile, FM_EXCPS))
            continue;
        add(b,
            (struct fm_perf_column){
                .value = ports[i].value,
                .measure = ports[i].measure,
                .group = b->page->terms->ports_title,
                .column_class = FM_COLUMN_PORT_COUNTS,
                .title = ports[i].title ? ports[i].title : b->page->terms->excps_title,
                .sorts = ports[i].sorts,
                .order = {.kind = ports[i].kind},
            },
            ports[i].name, "");
    }
}

/* Self and, where totals are shown, total: amounts, percentage, per call. */
struct group {
    const char *title;
    enum fm_column_class column_class;
    enum fm_measure_id measure;
    bool sorts;
    enum fm_cost_kind kind;
    const char *name; /* for JSON columns: NAME_self_UNIT */
    struct {
        enum fm_perf_value value;
        const char *self_title, *total_title, *unit;
    } amounts[2]; /* the second may be absent: unit NULL */
    enum fm_perf_value per_call;
    const char *per_call_unit; /* NULL = not shown */
};

static void add_group(struct building *b, const struct group *group)
{
    for (int total = 0; total <= (b->totals ? 1 : 0); total++) {
        struct fm_perf_column column = {
            .measure = group->measure,
            .total = total,
            .group = group->title,
            .column_class = group->column_class,
            .sorts = group->sorts,
            .order = {.kind = group->kind, .with_descendants = total},
        };
        g_autofree char *name = g_strconcat(group->name, total ? "_total" : "_self", NULL);
        for (unsigned i = 0; i < 2 && group->amounts[i].unit; i++) {
            column.value = group->amounts[i].value;
            column.title = total ? group->amounts[i].total_title : group->amounts[i].self_title;
            add(b, column, name, group->amounts[i].unit);
        }
        struct fm_perf_column percent = column;
        percent.value = FM_PERF_PERCENT;
        percent.title = "%";
        percent.sorts = false;
        add(b, percent, name, "_percent");
        if (group->per_call_unit) {
            column.value = group->per_call;
            column.title = "/call";
            column.order.per_call = true;
            add(b, column, name, group->per_call_unit);
        }
    }
}

/* Mercury calls them "clock ticks", whatever their unit. */
static const char *quanta_title(const struct fm_profile *profile)
{
    return strcmp(profile->measures[FM_QUANTA].name, "quanta") == 0
               ? "Clock ticks"
               : fm_profile_tick_words(profile);
}

static void add_time(struct building *b)
{
    enum fm_time_columns time = b->page->query.preferences.time;
    if (time == FM_TIME_NONE)
        return;
    bool ticks = time == FM_TIME_TICKS || time == FM_TIME_BOTH || time == FM_TIME_BOTH_PER_CALL;
    bool times = time != FM_TIME_TICKS;
    bool per_call = time == FM_TIME_TIME_PER_CALL || time == FM_TIME_BOTH_PER_CALL;
    if (b->page->profile->ticks_per_second == 0) { /* how long a tick is, is not known */
        ticks = true;
        times = per_call = false;
    }
    struct group group = {
        .title = b->page->profile->ticks_per_second == 0 ? quanta_title(b->page->profile)
                 : !times                                ? "Clock ticks"
                 : !ticks                                ? "Time"
                                                         : "Clock ticks and times",
        .column_class = FM_COLUMN_TICKS_AND_TIMES,
        .measure = FM_QUANTA,
        .sorts = true,
        .kind = FM_BY_TIME,
        .name = "time",
        .per_call = FM_PERF_TIME_PER_CALL,
        .per_call_unit = per_call ? "_per_call_seconds" : NULL,
    };
    unsigned i = 0;
    if (ticks) {
        group.amounts[i].value = FM_PERF_COUNT;
        group.amounts[i].self_title = times ? "Self ticks" : "Self";
        group.amounts[i].total_title = times ? "Total ticks" : "Total";
        group.amounts[i++].unit = "_ticks";
    }
    if (times) {
        group.amounts[i].value = FM_PERF_TIME;
        group.amounts[i].self_title = ticks ? "Self time" : "Self";
        group.amounts[i].total_title = ticks ? "Total time" : "Total";
        group.amounts[i].unit = "_seconds";
    }
    add_group(b, &group);
}

static void add_counts(struct building *b, const char *title, enum fm_column_class column_class,
                       enum fm_measure_id measure, enum fm_cost_kind kind, const char *name,
                       enum fm_count_columns columns)
{
    if (columns == FM_COUNT_NONE || !fm_profile_knows(b->page->profile, measure))
        return;
    add_group(b, &(struct group){
                     .title = title,
                     .column_class = column_class,
                     .measure = measure,
                     .sorts = true,
                     .kind = kind,
                     .name = name,
                     .amounts = {{FM_PERF_COUNT, "Self", "Total", "_count"}},
                     .per_call = FM_PERF_COUNT_PER_CALL,
                     .per_call_unit = columns == FM_COUNT_PER_CALL ? "_per_call_count" : NULL,
                 });
}

static void add_memory(struct building *b)
{
    enum fm_memory_columns memory = b->page->query.preferences.memory;
    if (memory == FM_MEMORY_NONE || !fm_profile_knows(b->page->profile, FM_WORDS))
        return;
    bool bytes = memory == FM_MEMORY_BYTES || memory == FM_MEMORY_BYTES_PER_CALL;
    bool per_call = memory == FM_MEMORY_BYTES_PER_CALL || memory == FM_MEMORY_WORDS_PER_CALL;
    add_group(b, &(struct group){
                     .title = bytes ? "Memory bytes" : "Memory words",
                     .column_class = FM_COLUMN_MEMORY,
                     .measure = FM_WORDS,
                     .sorts = true,
                     .kind = FM_BY_WORDS,
                     .name = "memory",
                     .amounts = {{FM_PERF_MEMORY, "Self", "Total", bytes ? "_bytes" : "_words"}},
                     .per_call = FM_PERF_MEMORY_PER_CALL,
                     .per_call_unit = !per_call ? NULL
                                      : bytes   ? "_per_call_bytes"
                                                : "_per_call_words",
                 });
}

/* Columns about memory follow the preference for memory; others are always shown. */
static bool is_wanted(const struct fm_preferences *preferences, const struct fm_profile *profile,
                      unsigned m)
{
    if (strcmp(profile->measures[m].unit, "bytes") == 0)
        return preferences->memory != FM_MEMORY_NONE;
    return m != fm_profile_measure(profile, FM_FREES) || preferences->allocs != FM_COUNT_NONE;
}

/* Other tools' measures have the names of their files. */
static void further_title(const struct fm_measure *measure, char *title, size_t size)
{
    unsigned known = fm_measure_find(measure->name);
    if (known >= FM_FURTHER_FIRST && known != FM_FURTHER_END) {
        g_strlcpy(title, fm_known_measure(known)->title, size);
        return;
    }
    g_strlcpy(title, measure->name, size);
    title[0] = g_ascii_toupper(title[0]);
    g_strdelimit(title, "_", ' ');
}

/* Adds measures that Mercury does not have ("frees", "freed_bytes", "requested_bytes") and that are
 * not 0. */
static void add_further(struct building *b)
{
    const struct fm_profile *profile = b->page->profile;
    if (fm_preferences_are_usual(b->page->recording, &b->page->query))
        return; /* windows show one measure */
    for (unsigned m = FM_MEASURES_MERCURY; m < profile->measure_count; m++) {
        if (fm_cost_total(&b->page->analysis->root_total, (enum fm_measure_id)m) == 0)
            continue;
        const struct fm_measure *measure = &profile->measures[m];
        if (!is_wanted(&b->page->query.preferences, profile, m))
            continue;
        char *title = b->perf->further_titles[m];
        further_title(measure, title, sizeof b->perf->further_titles[m]);
        g_autofree char *unit = g_strconcat("_", measure->unit, NULL);
        add_group(b, &(struct group){
                         .title = title,
                         .column_class = FM_COLUMN_NUMBER,
                         .measure = (enum fm_measure_id)m,
                         .name = measure->name,
                         .amounts = {{FM_PERF_COUNT, "Self", "Total", unit}},
                     });
    }
}

void fm_perf_init(struct fm_perf *perf, const struct fm_page *page, bool totals)
{
    const struct fm_preferences *preferences = &page->query.preferences;
    struct building b = {perf, page, totals};
    perf->count = 0;
    const struct fm_profile *profile = page->profile;
    if (preferences->ports && fm_profile_knows(profile, FM_EXITS))
        add_ports(&b);
    if (fm_profile_knows(profile, FM_QUANTA))
        add_time(&b);
    add_counts(&b, page->terms->callseqs_title, FM_COLUMN_CALLSEQS, FM_CALLSEQS, FM_BY_CALLSEQS,
               "callseqs", preferences->callseqs);
    add_counts(&b, "Memory allocations", FM_COLUMN_ALLOCATIONS, FM_ALLOCS, FM_BY_ALLOCS, "allocs",
               preferences->allocs);
    add_memory(&b);
    add_further(&b);
}

/* The meaning of a heading, in one line; help/ has more. */
static const char *help_of(const struct fm_perf_column *column, enum fm_flavour flavour)
{
    if (strcmp(column->title, "%") == 0)
        return "Share of the whole program's";
    if (strcmp(column->title, "/call") == 0)
        return "Divided by the calls of this row";
    if (column->column_class == FM_COLUMN_PORT_COUNTS)
        return strcmp(column->title, "Calls") == 0   ? "Number of calls: counted, not sampled"
               : strcmp(column->title, "Exits") == 0 ? "How often it returned"
                                                     : NULL;
    if (column->total && flavour == FM_FLAVOUR_MERCURY)
        return "Self and everything it calls, directly or not; by Mercury's rule a procedure in a "
               "recursion has only itself and what it calls outside of the recursion";
    return column->total ? "Self and everything it calls, directly or not"
                         : "In its own code, without callees";
}

void fm_perf_header(const struct fm_perf *perf, const struct fm_page *page, struct fm_table *table)
{
    const char *group = NULL;
    for (unsigned i = 0; i < perf->count; i++) {
        const struct fm_perf_column *column = &perf->columns[i];
        if (!group || strcmp(group, column->group) != 0)
            fm_table_group(table, column->group, column->column_class, FM_COLOUR_IF_PREFERRED);
        group = column->group;
        struct fm_query query = fm_page_same(page);
        fm_preferences_set_order(&query.preferences, FM_ORDER_COST, &column->order);
        bool sorts = column->sorts && fm_order_lacks(page->profile, &column->order) == NULL;
        fm_table_column(table, column->title, column->name, sorts ? &query : NULL);
        const char *help = help_of(column, page->profile->flavour);
        if (help)
            fm_column_help(table, help);
    }
}

void fm_perf_proc_header(const struct fm_perf *perf, const struct fm_page *page,
                         struct fm_table *table)
{
    struct fm_query by_context = fm_page_same(page), by_name = fm_page_same(page);
    fm_preferences_set_order(&by_context.preferences, FM_ORDER_CONTEXT, NULL);
    fm_preferences_set_order(&by_name.preferences, FM_ORDER_NAME, NULL);
    fm_table_group(table, "Source", FM_COLUMN_SOURCE_CONTEXT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "source", &by_context);
    fm_table_group(table, page->terms->proc_title, FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "proc", &by_name);
    fm_perf_header(perf, page, table);
}

static double ratio(double amount, double by)
{
    return by == 0 ? 0 : amount / by;
}

static double seconds(const struct fm_page *page, int64_t quanta)
{
    uint64_t rate = page->profile->ticks_per_second;
    return rate ? (double)quanta * (1.0 / (double)rate) : 0;
}

static void memory_cell(const struct fm_page *page, struct fm_table *table, double words,
                        unsigned decimals)
{
    enum fm_memory_columns memory = page->query.preferences.memory;
    bool bytes = memory == FM_MEMORY_BYTES || memory == FM_MEMORY_BYTES_PER_CALL;
    fm_cell_memory(table, words, page->profile->word_size, bytes ? FM_UNIT_BYTES : FM_UNIT_WORDS,
                   decimals);
}

static void count_cell(const struct fm_page *page, struct fm_table *table,
                       enum fm_measure_id measure, int64_t amount)
{
    double scale = page->profile->measures[measure].scale;
    if (measure < FM_MEASURES_MERCURY || scale == 1)
        fm_cell_int(table, amount);
    else
        fm_cell_float(table, (double)amount * scale);
}

/* Counts of inlined bodies are not recorded, which is different from 0. */
static bool not_recorded_cell(const struct fm_perf_column *column, const struct fm_page *page,
                              struct fm_table *table, const struct fm_cost *cost)
{
    bool arcs = fm_profile_is(page->profile, FM_NATURE_ARCS);
    switch (column->value) {
    case FM_PERF_CALLS:
        if (cost->calls == 0 && arcs)
            fm_cell_unknown(table);
        else if (cost->calls == 0)
            fm_cell_string(table, "inlined", FM_STYLE_PLAIN);
        else
            fm_cell_int_and(table, cost->calls, arcs ? "unknown" : "inlined");
        return true;
    case FM_PERF_PORT:
        if (cost->own[column->measure] != 0)
            return false;
        fm_cell_empty(table);
        return true;
    case FM_PERF_COUNT_PER_CALL:
    case FM_PERF_TIME_PER_CALL:
    case FM_PERF_MEMORY_PER_CALL:
        fm_cell_empty(table);
        return true;
    default:
        return false;
    }
}

static void cell(const struct fm_perf_column *column, const struct fm_page *page,
                 struct fm_table *table, const struct fm_cost *cost)
{
    int64_t amount =
        column->total ? fm_cost_total(cost, column->measure) : cost->own[column->measure];
    double calls = (double)cost->calls;
    if (cost->shared && !column->total && column->measure >= FM_FIRST_INHERITED) {
        fm_cell_unknown(table);
        return;
    }
    if (column->total && cost->inside && !cost->outside) {
        fm_cell_empty(table);
        return;
    }
    if (cost->inlined && not_recorded_cell(column, page, table, cost))
        return;
    switch (column->value) {
    case FM_PERF_CALLS:
        fm_cell_int(table, cost->calls);
        break;
    case FM_PERF_PORT:
    case FM_PERF_COUNT:
        count_cell(page, table, column->measure, amount);
        break;
    case FM_PERF_PERCENT:
        fm_cell_percent(table,
                        ratio((double)amount,
                              (double)fm_cost_total(&page->analysis->root_total, column->measure)));
        break;
    case FM_PERF_COUNT_PER_CALL:
        fm_cell_float(table, ratio((double)amount, calls));
        break;
    case FM_PERF_TIME:
        fm_cell_time(table, seconds(page, amount));
        break;
    case FM_PERF_TIME_PER_CALL:
        fm_cell_time(table, ratio(seconds(page, amount), calls));
        break;
    case FM_PERF_MEMORY:
        memory_cell(page, table, (double)amount, 0);
        break;
    case FM_PERF_MEMORY_PER_CALL:
        memory_cell(page, table, ratio((double)amount, calls), 2);
        break;
    }
}

void fm_cell_of_recursion(const struct fm_page *page, struct fm_table *table, uint32_t clique)
{
    struct fm_query query = fm_page_link(page, FM_CMD_CLIQUE, clique);
    fm_cell_at_most(table, &query,
                    "Of its recursion: how much of that ran while this was active is not known");
}

void fm_total_at_most(const struct fm_page *page, struct fm_table *table,
                      const struct fm_cost *cost, enum fm_measure_id measure)
{
    if ((cost->of_recursion >> measure & 1u) != 0 && cost->recursion != 0)
        fm_cell_of_recursion(page, table, cost->recursion);
}

void fm_perf_cells(const struct fm_perf *perf, const struct fm_page *page, struct fm_table *table,
                   const struct fm_cost *cost)
{
    for (unsigned i = 0; i < perf->count; i++) {
        cell(&perf->columns[i], page, table, cost);
        if (perf->columns[i].total)
            fm_total_at_most(page, table, cost, perf->columns[i].measure);
    }
}

void fm_perf_self_cells(const struct fm_perf *perf, const struct fm_page *page,
                        struct fm_table *table, const struct fm_cost *cost)
{
    for (unsigned i = 0; i < perf->count; i++) {
        if (perf->columns[i].total)
            fm_cell_empty(table);
        else
            cell(&perf->columns[i], page, table, cost);
    }
}

void fm_perf_empty_cells(const struct fm_perf *perf, struct fm_table *table)
{
    for (unsigned i = 0; i < perf->count; i++)
        fm_cell_empty(table);
}

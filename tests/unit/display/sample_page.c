/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_page.h"

#include "query/query.h"

#define BINARY_NAME "bad\xFF\xC0\x80 <script>alert('x')</script> & \"q\" \x1B[31m\n\xE2\x80\xAE"

void sample_preferences(struct fm_preferences *ret)
{
    fm_preferences_default(ret, true, true);
    ret->time = FM_TIME_BOTH;
    ret->order = FM_ORDER_COST;
}

static struct fm_query query_of(enum fm_command_id id, uint32_t number,
                                const struct fm_preferences *preferences)
{
    return (struct fm_query){.command = {.id = id, .number = number},
                             .has_preferences = preferences != NULL,
                             .preferences =
                                 preferences ? *preferences : (struct fm_preferences){0}};
}

static struct fm_query sorted(const struct fm_preferences *preferences, enum fm_cost_kind kind,
                              bool total)
{
    struct fm_query query = query_of(FM_CMD_CLIQUE, 25, preferences);

    query.preferences.order = FM_ORDER_COST;
    query.preferences.cost = (struct fm_cost_order){kind, total, false};
    return query;
}

static void add_measure(struct fm_table *table, const struct fm_preferences *preferences,
                        const char *title, enum fm_column_class column_class, const char *name,
                        const char *unit, enum fm_cost_kind kind)
{
    static const char *const scopes[] = {"self", "total"};

    fm_table_group(table, title, column_class, FM_COLOUR_IF_PREFERRED);
    for (unsigned total = 0; total < 2; total++) {
        struct fm_query query = sorted(preferences, kind, total != 0);
        g_autofree char *field = g_strdup_printf("%s_%s_%s", name, scopes[total], unit);
        g_autofree char *share = g_strdup_printf("%s_%s_percent", name, scopes[total]);

        fm_table_column(table, total ? "Total" : "Self", field, &query);
        fm_table_column(table, "%", share, NULL);
    }
}

static void add_columns(struct fm_table *table, const struct fm_preferences *preferences)
{
    static const char *const ports[] = {"Calls", "Exits", "Fails", "Redos", "Excps"};
    struct fm_query query = query_of(FM_CMD_CLIQUE, 25, preferences);

    query.preferences.order = FM_ORDER_CONTEXT;
    fm_table_group(table, "Source", FM_COLUMN_SOURCE_CONTEXT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "source", &query);
    query.preferences.order = FM_ORDER_NAME;
    fm_table_group(table, "Procedure", FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "procedure", &query);
    fm_table_group(table, "Port counts", FM_COLUMN_PORT_COUNTS, FM_COLOUR_IF_PREFERRED);
    for (unsigned i = 0; i < G_N_ELEMENTS(ports); i++) {
        g_autofree char *lower = g_ascii_strdown(ports[i], -1);
        g_autofree char *name = g_strdup_printf("%s_count", lower);
        struct fm_query by = sorted(preferences, i ? FM_BY_REDOS : FM_BY_CALLS, false);

        fm_table_column(table, ports[i], name, i == 0 || i == 3 ? &by : NULL);
    }
    add_measure(table, preferences, "Clock ticks and times", FM_COLUMN_TICKS_AND_TIMES, "time",
                "seconds", FM_BY_TIME);
    add_measure(table, preferences, "Call sequence numbers", FM_COLUMN_CALLSEQS, "callseqs",
                "count", FM_BY_CALLSEQS);
    add_measure(table, preferences, "Memory bytes", FM_COLUMN_MEMORY, "memory", "bytes",
                FM_BY_WORDS);
}

static void add_costs(struct fm_table *table, unsigned n)
{
    double share = 1.0 / (1 + n * n);
    int64_t calls = (int64_t)(202594363 * share);

    fm_cell_int(table, calls);
    fm_cell_int(table, calls - n);
    fm_cell_int(table, n);
    fm_cell_int(table, 0);
    fm_cell_int(table, 0);
    fm_cell_time(table, 1.27 * share / 3);
    fm_cell_percent(table, share / 3);
    fm_cell_time(table, 1.27 * share);
    fm_cell_percent(table, share);
    fm_cell_int(table, calls / 4);
    fm_cell_percent(table, share / 4);
    fm_cell_int(table, calls);
    fm_cell_percent(table, share);
    fm_cell_memory(table, 345678.0 * share, 8, FM_UNIT_BYTES, 0);
    fm_cell_percent(table, share / 2);
    fm_cell_memory(table, 2345678.0 * share, 8, FM_UNIT_BYTES, 0);
    fm_cell_percent(table, share);
}

static void add_site(struct fm_table *table, const char *role, const char *source,
                     const char *callee, unsigned n, const struct fm_preferences *preferences)
{
    struct fm_query query = query_of(FM_CMD_CLIQUE, 26 + n, preferences);

    fm_table_row(table, role, false);
    fm_cell_string(table, source, FM_STYLE_PLAIN);
    fm_cell_link(table, &query, callee, FM_STYLE_PLAIN);
    add_costs(table, n);
}

static void add_rows(struct fm_table *table, const struct fm_preferences *preferences,
                     unsigned rows)
{
    static const char *const names[] = {
        "hlds.code_model.traverse_goal_with_very_long_name/7-0",
        "map.lookup/3",
        "list.foldl2/6 [pred(in, in, out)]",
        "parse_tree.prog_io.read_term_check_for_error/4",
        "std::vector<int, std::allocator<int>>::push_back(int const&)",
        "sqlite3VdbeExec"};
    struct fm_query self = query_of(FM_CMD_PROC, 61, preferences);

    fm_table_section(table, "The 2 closest ancestor call sites:", true);
    fm_table_separator(table);
    add_site(table, "ancestor", "mercury_compile.m:123", "mercury_compile.main/2", 0, preferences);
    add_site(table, "ancestor", "mercury_compile.m:2071", "real_main_after_expansion/4", 0,
             preferences);
    fm_table_section(table, "Procedures of the clique:", true);
    fm_table_separator(table);
    fm_table_row(table, "proc", false);
    fm_cell_link(table, &self, "hlds.goal_util.process_one_module/5-0", FM_STYLE_BOLD);
    fm_cell_span(table, 2);
    add_costs(table, 1);
    fm_table_separator(table);
    for (unsigned i = 0; i < rows; i++) {
        g_autofree char *source = g_strdup_printf("goal_util.m:%u", 100 + 7 * i);

        add_site(table, "call_site", source, names[i % G_N_ELEMENTS(names)], i % 9 + 1,
                 preferences);
    }
    add_site(table, "call_site", BINARY_NAME, BINARY_NAME, 3, preferences);
    fm_table_row(table, "call_site", true);
    fm_cell_string(table, "for developers", FM_STYLE_ITALIC);
    fm_cell_empty(table);
    fm_cell_float(table, -1234.567);
}

static void add_control_lists(struct fm_list *body, const struct fm_preferences *preferences)
{
    static const char *const fields[][4] = {
        {"No port counts", "Port counts", NULL, NULL},
        {"No time info", "Ticks", "Times", "Ticks and times and per-call times"},
        {"No call sequence numbers", "Call sequence numbers", NULL, NULL},
        {"No memory info", "Words", "Bytes", "Bytes and per-call bytes"}};
    static const char *const general[] = {"Menu", "Restart", "Quit"};
    struct fm_query query = query_of(FM_CMD_CLIQUE, 25, preferences);
    struct fm_list *list =
        fm_add_list(body, FM_LIST_HORIZONTAL_EXCEPT_TITLE, "Toggle display of ancestors:");

    fm_add_control(list, &query, "Halve ancestors", "ancestors-halve");
    fm_add_control(list, &query, "Double ancestors", "ancestors-double");
    fm_add_control(list, &query, "Unlimited ancestors", "ancestors-unlimited");
    list = fm_add_list(body, FM_LIST_PLAIN, "Toggle displayed fields:");
    for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++) {
        struct fm_list *line = fm_add_list(list, FM_LIST_HORIZONTAL, NULL);

        for (unsigned j = 0; j < 4 && fields[i][j]; j++) {
            g_autofree char *id = g_strdup_printf("field-%u-%u", i, j);
            fm_add_control(line, &query, fields[i][j], id);
        }
    }
    list = fm_add_list(body, FM_LIST_HORIZONTAL_EXCEPT_TITLE, "Toggle format options:");
    query.preferences.box = !query.preferences.box;
    fm_add_control(list, &query, "Unbox", "box");
    fm_add_control(list, &query, "Same id twice", "box");
    list = fm_add_list(body, FM_LIST_HORIZONTAL_EXCEPT_TITLE, "Only for developers:");
    fm_add_control(fm_add_developer(list), &query, "Raw data", "raw");
    list = fm_add_list(body, FM_LIST_HORIZONTAL_EXCEPT_TITLE, "General commands:");
    for (unsigned i = 0; i < G_N_ELEMENTS(general); i++)
        fm_add_control(list, &query, general[i], general[i]);
}

static void add_source(struct fm_list *body)
{
    static const struct fm_source_line lines[] = {
        {40, "static int", -1, -1, -1},
        {41, "partition(struct item *items, size_t n)", 1203, 0.5, 45.25},
        {42, "{", -1, -1, -1},
        {43, "\tfor (size_t i = 0; i < n && items[i].key > \"m\"; i++)", 120300, 25.5, 44.1},
        {44, "\t\tswap(&items[i]);", 60200, 12.25, 12.25},
        {45, NULL, 0, 0, 0},
    };

    fm_add_source(body, "src/<sort>.c", lines, G_N_ELEMENTS(lines));
}

struct fm_display *sample_page(const struct fm_preferences *preferences, unsigned rows)
{
    struct fm_display *display = fm_display_new("Clique 25:");
    struct fm_list *body = fm_display_body(display);
    struct fm_query module = {.command = {.id = FM_CMD_MODULE, .module = (char[]){"a&b/c%d"}}};
    struct fm_table *table;
    struct fm_list *list;

    fm_display_set_name(display, "clique");
    fm_display_fact_int(display, "clique", 25);
    fm_display_fact_double(display, "total_seconds", 1.27);
    fm_display_fact_double(display, "not_a_number", 0.0 / 0.0);
    fm_display_fact_string(display, "entry", BINARY_NAME);
    fm_display_fact_bool(display, "recursive", true);
    fm_display_set_incomplete(display, "Coverage of 3 of 12 modules is being computed.");
    table = fm_add_table(body, FM_BOX_IF_PREFERRED, "clique_members");
    add_columns(table, preferences);
    add_rows(table, preferences, rows);
    fm_add_paragraph_break(body);
    fm_add_heading(body, "Text & <b>markup</b>");
    fm_add_text(body, "There are 12, showing 1 to 10: " BINARY_NAME);
    fm_add_verbatim(body, "\nfirst line\n\tindented & <i>raw</i>\n");
    list = fm_add_list(body, FM_LIST_BULLETS, "You can start at the following points.");
    fm_add_link(list, &module, "Explore module a&b/c%d.");
    fm_add_link(list, &module, "Top 100 procedures.");
    table = fm_add_table(body, FM_BOX_NEVER, "recording");
    fm_table_row(table, NULL, false);
    fm_cell_string(table, "Profile generated for:", FM_STYLE_PLAIN);
    fm_cell_string(table, "Deep.data", FM_STYLE_PLAIN);
    fm_table_row(table, NULL, false);
    fm_cell_string(table, "Total time:", FM_STYLE_PLAIN);
    fm_cell_time(table, 1.27);
    add_source(body);
    add_control_lists(body, preferences);
    return display;
}

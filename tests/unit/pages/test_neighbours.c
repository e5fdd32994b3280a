/* SPDX-License-Identifier: Apache-2.0 */
/* A function between its callers and callees, its contexts, call graphs, and where memory goes. */
#include <string.h>

#include "base/error.h"
#include "pages/render.h"
#include "world.h"

static void assert_adds_up(const struct page *page)
{
    g_assert_cmpint(fact_int(page, "callers_total"), ==, fact_int(page, "total"));
    g_assert_cmpint(fact_int(page, "callees_total"), ==, fact_int(page, "total"));
}

/* The first part of a path cell: {name, query}. */
static const char *first_name(JsonObject *cells)
{
    JsonArray *path = json_object_get_array_member(cells, "path");
    g_assert_cmpuint(json_array_get_length(path), >, 0);
    return json_object_get_string_member(json_array_get_object_element(path, 0), "name");
}

#define BY_CALLS "&p-_-s-_-_/box/cols/5/20/nosum/cost-callseqs-both-oa/nc/th/mqwd/hhh/nodev"

static void callers_and_callees_have_a_table_each(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "proc/2" BY_CALLS); /* main */
    assert_adds_up(&page);
    g_assert_cmpint(fact_int(&page, "total"), ==, 9);
    g_assert_cmpuint(row_count(&page, "who_calls", "caller"), ==, 1);
    JsonObject *callee = row_at(&page, "what_it_calls", "callee", 0);
    g_assert_cmpstr(first_name(callee), ==, "compare");
    g_assert_cmpint(cell_int(callee, "calls_count"), ==, 5);
    g_assert_cmpfloat(cell_double(callee, "calls_per_call_count"), ==, 5);
    g_assert_cmpint(cell_int(row_at(&page, "what_it_calls", "self", 0), "calls_total_count"), ==,
                    1);
    g_assert_cmpint(cell_int(row_at(&page, "what_it_calls", "sum", 0), "calls_total_count"), ==, 9);
    page_done(&page);
    page = page_of(recording, "proc/3" BY_CALLS); /* insert, from two */
    assert_adds_up(&page);
    g_assert_cmpstr(first_name(row_at(&page, "who_calls", "caller", 0)), ==, "worker");
    g_assert_cmpint(cell_int(row_at(&page, "who_calls", "caller", 1), "calls_count"), ==, 3);
    g_assert_cmpint(cell_int(row_at(&page, "who_calls", "sum", 0), "calls_count"), ==, 10);
    g_assert_nonnull(strstr(page_text(&page), "It calls nothing that was recorded."));
    page_done(&page);
    page = page_of(recording, "proc/6"); /* unused */
    g_assert_nonnull(strstr(page_text(&page), "It was never called in this run."));
    page_done(&page);
}

/* The measure is that of the page's order. */
static void the_order_says_the_measure(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "proc/3&p-_-_-_-b/box/cols/5/20/nosum/cost-words-both-oa/"
                                          "nc/th/mqwd/hhh/nodev");
    g_assert_cmpint(fact_int(&page, "total"), ==, 4096);
    assert_adds_up(&page);
    JsonObject *caller = row_at(&page, "who_calls", "caller", 0);
    g_assert_cmpstr(first_name(caller), ==, "main");
    g_assert_cmpint(cell_int(caller, "bytes_total_bytes"), ==, 4096);
    page_done(&page);
}

/* Where nothing was asked for: what the function has, though the program mostly waits. */
static void a_function_is_shown_by_what_it_has(void)
{
    g_autoptr(FmOpenProfile) recording = world_waiting();
    struct page page = page_of(recording, "proc/3"); /* parse */
    JsonObject *caller = row_at(&page, "who_calls", "caller", 0);
    g_assert_cmpfloat(cell_double(caller, "time_total_seconds"), ==, 0.6);
    g_assert_nonnull(strstr(page_text(&page), "waited here and below: 0 ms"));
    page_done(&page);
    page = page_of(recording, "proc/4"); /* await */
    caller = row_at(&page, "who_calls", "caller", 0);
    g_assert_cmpfloat(cell_double(caller, "waiting_total_seconds"), ==, 3);
    g_assert_nonnull(strstr(page_text(&page), "Waited itself 3,000 ms (100.0 %)"));
    g_assert_nonnull(strstr(page_text(&page), "time here and below: 0 ms"));
    page_done(&page);
    page = page_of(recording, "proc/5"); /* get */
    caller = row_at(&page, "who_calls", "caller", 0);
    g_assert_cmpint(cell_int(caller, "calls_total_count"), ==, 50);
    page_done(&page);
    page = page_of(recording, "contexts/3");
    g_assert_cmpstr(fact_string(&page, "measure"), ==, "time");
    page_done(&page);
    page = page_of(recording, "contexts/3" BY_CALLS);
    g_assert_cmpstr(fact_string(&page, "measure"), ==, "calls");
    page_done(&page);
    static const char *const pages[][2] = {
        {"tree/auto/down/3/proc/3", "time"},  {"tree/auto/down/3/proc/4", "waiting"},
        {"tree/auto/down/3/all", "waiting"},  {"tree/waiting/down/3/proc/3", "waiting"},
        {"flame/auto/down/_/proc/3", "time"}, {"flame/auto/down/_/proc/5", "calls"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        page = page_of(recording, pages[i][0]);
        g_assert_cmpstr(fact_string(&page, "measure"), ==, pages[i][1]);
        page_done(&page);
    }
}

static void the_first_page_has_what_waits_and_what_works(void)
{
    g_autoptr(FmOpenProfile) recording = world_waiting();
    struct page page = page_of(recording, "menu");
    g_assert_cmpstr(first_name(row_at(&page, "hot_functions", "function", 0)), ==, "await");
    JsonObject *busy = row_at(&page, "busy_functions", "function", 0);
    g_assert_cmpstr(first_name(busy), ==, "parse");
    g_assert_cmpfloat(cell_double(busy, "time_self_seconds"), ==, 0.6);
    page_done(&page);
}

static void a_context_is_shown_by_itself(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page contexts = page_of(recording, "contexts/3" BY_CALLS);
    g_assert_cmpuint(row_count(&contexts, "contexts", "context"), ==, 2);
    JsonArray *path =
        json_object_get_array_member(row_at(&contexts, "contexts", "context", 0), "path");
    const char *query =
        json_object_get_string_member(json_array_get_object_element(path, 0), "query");
    g_autofree char *ordered = g_strconcat(query, BY_CALLS, NULL);
    struct page page = page_of(recording, strchr(query, '&') ? query : ordered);
    assert_adds_up(&page);
    g_assert_cmpint(fact_int(&page, "total"), ==, 7); /* worker's */
    g_assert_cmpuint(row_count(&page, "who_calls", "caller"), ==, 1);
    page_done(&page);
    page_done(&contexts);
    page = page_of(recording, "contexts/6");
    g_assert_nonnull(strstr(page_text(&page), "It was never called in this run."));
    page_done(&page);
}

static void graphs_have_the_calls(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "graph/calls/proc/3");
    g_assert_cmpint(fact_int(&page, "function_count"), ==, 3);
    g_assert_false(fact_bool(&page, "in_one_context"));
    g_assert_cmpuint(row_count(&page, "calls", "call"), ==, 2);
    g_assert_cmpint(cell_int(row_at(&page, "calls", "call", 0), "calls_count"), ==, 7);
    g_assert_cmpstr(first_name(row_at(&page, "functions", "focus", 0)), ==, "insert");
    page_done(&page);
    page = page_of(recording, "graph/calls/all");
    g_assert_cmpint(fact_int(&page, "function_count"), ==, 4);
    page_done(&page);
    g_autoptr(FmOpenProfile) recursive = world_two_pds();
    page = page_of(recursive, "graph/callseqs/clique/2");
    g_assert_true(fact_bool(&page, "in_one_context"));
    g_assert_cmpint(fact_int(&page, "function_count"), ==, 2);
    page_done(&page);
}

static char *rendered(const struct fm_open_profile *recording, const char *text,
                      enum fm_format format, GError **error)
{
    struct fm_query query;
    g_autoptr(GString) out = g_string_new(NULL);
    const struct fm_render_options options = {.format = format};
    g_assert_true(fm_query_parse(text, &query, NULL));
    bool made = fm_render(recording, &query, &options, out, error);
    fm_query_done(&query);
    return made ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

static void graphs_are_for_graphviz_too(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    GError *error = NULL;
    g_autofree char *dot = rendered(recording, "graph/calls/proc/3", FM_FORMAT_DOT, &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_prefix(dot, "digraph calls {\n"));
    g_assert_true(g_str_has_suffix(dot, "}\n"));
    g_assert_nonnull(strstr(dot, "  n3 [label=\"insert\\nbtree.c:1\\n10 calls\""));
    g_assert_nonnull(strstr(dot, "  n5 -> n3 [label=\"7\""));
    g_assert_null(rendered(recording, "proc/3", FM_FORMAT_DOT, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE);
    g_clear_error(&error);
    g_autofree char *html = rendered(recording, "graph/calls/proc/3", FM_FORMAT_HTML, &error);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(html, "<figure class=\"callgraph\" hidden"));
    g_assert_nonnull(strstr(html, "data-from=\"5\" data-to=\"3\""));
}

static void memory_has_two_sides(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "memory/allocated");
    g_assert_cmpint(cell_int(row_at(&page, "hot_allocators", NULL, 0), "bytes_self_bytes"), ==,
                    4096);
    page_done(&page);
    page = page_of(recording, "memory/freed");
    JsonObject *row = row_at(&page, "freed", "function", 0);
    g_assert_cmpint(cell_int(row, "freed_bytes"), ==, 1024);
    g_assert_cmpint(cell_int(row, "frees_count"), ==, 2);
    g_assert_cmpstr(first_name(row), ==, "insert");
    page_done(&page);
    page = page_of(recording, "memory/held");
    g_assert_nonnull(strstr(page_text(&page), "are not recorded"));
    g_assert_cmpint(fact_int(&page, "allocated_bytes"), ==, 4096);
    g_assert_cmpint(fact_int(&page, "freed_bytes"), ==, 1024);
    g_assert_nonnull(
        strstr(page_text(&page), "In all, 4,096 bytes were allocated and 1,024 bytes freed."));
    page_done(&page);
    page = page_of(recording, "waits");
    g_assert_false(fact_bool(&page, "recorded"));
    g_assert_nonnull(strstr(page_text(&page), "not recorded"));
    page_done(&page);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/neighbours/tables", callers_and_callees_have_a_table_each);
    g_test_add_func("/report/neighbours/measure", the_order_says_the_measure);
    g_test_add_func("/report/neighbours/what-it-has", a_function_is_shown_by_what_it_has);
    g_test_add_func("/report/neighbours/first-page", the_first_page_has_what_waits_and_what_works);
    g_test_add_func("/report/neighbours/context", a_context_is_shown_by_itself);
    g_test_add_func("/report/neighbours/graph", graphs_have_the_calls);
    g_test_add_func("/report/neighbours/dot", graphs_are_for_graphviz_too);
    g_test_add_func("/report/neighbours/memory", memory_has_two_sides);
    return g_test_run();
}

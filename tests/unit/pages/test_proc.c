/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "world.h"

#include <string.h>

static void costs_are_compensated(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "proc/3"); /* map: own 71, below it 60 */
    g_assert_cmpstr(page_title(&page), ==, "Summary of procedure list.map/3-0");
    g_assert_cmpstr(fact_string(&page, "module"), ==, "list");
    g_assert_cmpint(fact_int(&page, "pd_count"), ==, 2);
    JsonObject *map = row_at(&page, "proc", "proc", 0);
    g_assert_cmpstr(cell_string(map, "proc"), ==, "map/3-0");
    g_assert_cmpint(cell_int(map, "callseqs_self_count"), ==, 71);
    g_assert_cmpint(cell_int(map, "callseqs_total_count"), ==, 131);
    JsonObject *site = row_at(&page, "proc", "call_site", 0);
    g_assert_cmpstr(cell_string(site, "proc"), ==, "higher order call");
    g_assert_cmpint(cell_int(site, "callseqs_self_count"), ==, 60);
    g_assert_cmpint(cell_int(site, "callseqs_total_count"), ==, 60);
    JsonObject *f = row_where(&page, "proc", "proc", "a.f/2-0");
    g_assert_cmpint(cell_int(f, "callseqs_total_count"), ==, 10); /* 120 less the inner map */
    g_assert_cmpstr(cell_string(f, "proc_query"), ==, "proc/4");
    g_assert_cmpint(cell_int(row_where(&page, "proc", "proc", "a.g/2-0"), "callseqs_total_count"),
                    ==, 50);
    page_done(&page);
}

static void inactive_call_sites_show_on_demand(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "proc/4"); /* f never called g */
    g_assert_cmpuint(row_count(&page, "proc", "call_site"), ==, 1);
    g_assert_cmpint(fact_int(&page, "call_site_count"), ==, 2);
    struct page shown = page_of(recording, control(&page, "inactive-call-sites-show"));
    g_assert_cmpuint(row_count(&shown, "proc", "call_site"), ==, 2);
    JsonObject *g = row_at(&shown, "proc", "call_site", 1);
    g_assert_cmpstr(cell_string(g, "proc"), ==, "g/2-0");
    g_assert_cmpint(cell_int(g, "calls_count"), ==, 0);
    page_done(&shown);
    page_done(&page);
}

static void names_are_qualified_as_preferred(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "proc/3"); /* q calls p of its module and other.leaf */
    g_assert_nonnull(row_where(&page, "proc", "proc", "p/0-0"));
    g_assert_nonnull(row_where(&page, "proc", "proc", "other.leaf/0-0"));
    g_assert_null(control(&page, "qualify-when-needed"));
    struct page always = page_of(recording, control(&page, "qualify-always"));
    g_assert_nonnull(row_where(&always, "proc", "proc", "b.p/0-0"));
    struct page never = page_of(recording, control(&page, "qualify-never"));
    g_assert_nonnull(row_where(&never, "proc", "proc", "leaf/0-0"));
    page_done(&never);
    page_done(&always);
    page_done(&page);
}

static void call_sites_sort_by_every_order(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "proc/2"); /* line 51: q 1 call, line 52: q 3 calls */
    g_assert_cmpstr(cell_string(row_at(&page, "proc", "call_site", 0), "source"), ==, "b.m:51");
    struct page cost = page_of(recording, control(&page, "sort-callseqs-self"));
    g_assert_cmpstr(cell_string(row_at(&cost, "proc", "call_site", 0), "source"), ==, "b.m:52");
    g_assert_null(control(&cost, "sort-callseqs-self"));
    g_assert_nonnull(control(&cost, "sort-context"));
    page_done(&cost);
    struct page q = page_of(recording, "proc/3"); /* line 11: p, line 12: other.leaf */
    struct page by_name = page_of(recording, control(&q, "sort-name"));
    g_assert_cmpstr(cell_string(row_at(&by_name, "proc", "call_site", 0), "proc"), ==,
                    "other.leaf/0-0");
    page_done(&by_name);
    page_done(&q);
    page_done(&page);
}

static void developers_see_the_callers_row(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page =
        page_of(recording, "proc/3&p-_-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/dev");
    JsonObject *row = row_at(&page, "proc", "callers", 0);
    g_assert_nonnull(row);
    g_assert_cmpstr(cell_string(row, "proc"), ==, "2 static & 2 dynamic call sites");
    /* main: 1 + 130, f: 10 + 100; nothing is compensated here. */
    g_assert_cmpint(cell_int(row, "callseqs_self_count"), ==, 11);
    g_assert_cmpint(cell_int(row, "callseqs_total_count"), ==, 241);
    g_assert_nonnull(control(&page, "proc-dump"));
    page_done(&page);
    page = page_of(recording, "proc/3");
    g_assert_null(row_at(&page, "proc", "callers", 0));
    g_assert_null(control(&page, "proc-dump"));
    page_done(&page);
}

static void contexts_are_linked(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "proc/3"); /* the outer map and the inner one */
    JsonArray *links = json_object_get_array_member(page.root, "links");
    g_assert_cmpuint(json_array_get_length(links), ==, 2);
    g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(links, 0), "query"),
                    ==, "clique/4");
    g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(links, 1), "query"),
                    ==, "clique/2");
    page_done(&page);
    g_autoptr(FmOpenProfile) hub = world_hub();
    page = page_of(hub, "proc/2"); /* thousands of them are no use */
    g_assert_cmpuint(json_array_get_length(json_object_get_array_member(page.root, "links")), ==,
                     0);
    page_done(&page);
}

static void links_keep_given_preferences(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    const char *prefs = "p-_-S-a-b/nobox/none/7/20/sum/name/nc/th/mqa/sss/nodev";
    g_autofree char *query = g_strconcat("proc/3&", prefs, NULL);
    struct page page = page_of(recording, query);
    JsonObject *p = row_where(&page, "proc", "proc", "b.p/0-0");
    g_autofree char *expected = g_strconcat("proc/2&", prefs, NULL);
    g_assert_cmpstr(cell_string(p, "proc_query"), ==, expected);
    page_done(&page);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/proc/costs are compensated", costs_are_compensated);
    g_test_add_func("/proc/inactive call sites show on demand", inactive_call_sites_show_on_demand);
    g_test_add_func("/proc/names are qualified as preferred", names_are_qualified_as_preferred);
    g_test_add_func("/proc/call sites sort by every order", call_sites_sort_by_every_order);
    g_test_add_func("/proc/developers see the callers row", developers_see_the_callers_row);
    g_test_add_func("/proc/contexts are linked", contexts_are_linked);
    g_test_add_func("/proc/links keep given preferences", links_keep_given_preferences);
    return g_test_run();
}

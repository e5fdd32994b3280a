/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "world.h"

#include <string.h>

#define PREFS(columns, ancestors, sum, order, inactive, dev) \
    columns "/box/cols/" ancestors "/20/" sum "/" order "/nc/th/mqwd/" inactive "/" dev

static void entry_comes_first_and_several_pds_are_summed(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "clique/2");
    g_assert_cmpstr(page_title(&page), ==, "Clique 2");
    g_assert_cmpint(fact_int(&page, "pd_count"), ==, 3);
    g_assert_cmpint(fact_int(&page, "parent_csd"), ==, 1);
    /* p enters the clique; q stands earlier in the file. */
    JsonObject *p = row_at(&page, "clique", "proc", 0);
    g_assert_cmpstr(cell_string(p, "proc"), ==, "p/0-0");
    g_assert_cmpstr(cell_string(p, "source"), ==, "b.m:50");
    g_assert_cmpint(cell_int(p, "callseqs_self_count"), ==, 7);
    g_assert_cmpint(cell_int(p, "callseqs_total_count"), ==, 7);
    JsonObject *summary = row_at(&page, "clique", "summary", 0);
    g_assert_cmpstr(cell_string(summary, "proc"), ==, "summary q/0-0");
    g_assert_cmpint(cell_int(summary, "callseqs_self_count"), ==, 4);
    g_assert_cmpint(cell_int(summary, "callseqs_total_count"), ==, 9);
    /* The two contexts of q: most expensive first. */
    g_assert_cmpint(cell_int(row_at(&page, "clique", "proc", 1), "callseqs_total_count"), ==, 8);
    g_assert_cmpint(cell_int(row_at(&page, "clique", "proc", 2), "callseqs_total_count"), ==, 1);
    g_assert_cmpuint(row_count(&page, "clique", "proc"), ==, 3);
    g_assert_cmpuint(row_count(&page, "clique", "ancestor"), ==, 0);
    /* Together they are what the runtime's call paid. */
    struct fm_cost entered;
    fm_analysis_csd_cost(recording->analysis, 1, &entered);
    JsonObject *whole = row_at(&page, "clique", "whole", 0);
    g_assert_cmpint(cell_int(whole, "callseqs_self_count"), ==, 11);
    g_assert_cmpint(cell_int(whole, "callseqs_total_count"), ==, 16);
    g_assert_cmpint(fm_cost_total(&entered, FM_CALLSEQS), ==, 16);
    g_assert_nonnull(strstr(page_text(&page), "together they are the total cost of the call"));
    page_done(&page);
    page = page_of(recording, "clique/1"); /* one member: nothing to add up */
    g_assert_cmpuint(row_count(&page, "clique", "whole"), ==, 0);
    g_assert_null(strstr(page_text(&page), "together they are"));
    page_done(&page);

    page = page_of(recording, "clique/2&" PREFS("p-_-s-_-w", "5", "nosum", "cost-callseqs-both-oa",
                                                "hhh", "nodev"));
    g_assert_cmpstr(cell_string(row_at(&page, "clique", "summary", 0), "proc"), ==,
                    "summary q/0-0");
    g_assert_cmpstr(cell_string(row_at(&page, "clique", "proc", 2), "proc"), ==, "p/0-0");
    page_done(&page);
}

static void links_lead_to_other_cliques_only(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "clique/2");
    JsonObject *leaf = row_where(&page, "clique", "proc", "other.leaf/0-0");
    g_assert_cmpstr(cell_string(leaf, "proc_query"), ==, "clique/1");
    g_assert_cmpstr(cell_string(leaf, "source"), ==, "b.m:12");
    g_assert_cmpint(cell_int(leaf, "callseqs_self_count"), ==, 5);
    JsonObject *inside = row_at(&page, "clique", "call_site", 0); /* p calls q at line 51 */
    g_assert_cmpstr(cell_string(inside, "source"), ==, "b.m:51");
    g_assert_cmpstr(cell_string(inside, "proc"), ==, "q/0-0");
    g_assert_false(json_object_has_member(inside, "proc_query"));
    JsonObject *p = row_at(&page, "clique", "proc", 0);
    g_assert_cmpstr(cell_string(p, "proc_query"), ==, "proc/2");
    page_done(&page);
}

static void ancestors_are_the_closest_ones_outermost_first(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "clique/1"); /* g, below map, f, map, main */
    g_assert_cmpuint(row_count(&page, "clique", "ancestor"), ==, 4);
    const char *const callers[] = {"main/2-0", "list.map/3-0", "f/2-0", "list.map/3-0"};
    const gint64 totals[] = {131, 120, 110, 50};
    for (unsigned i = 0; i < 4; i++) {
        JsonObject *row = row_at(&page, "clique", "ancestor", i);
        g_assert_cmpstr(cell_string(row, "proc"), ==, callers[i]);
        g_assert_cmpint(cell_int(row, "callseqs_total_count"), ==, totals[i]);
    }
    g_assert_cmpstr(cell_string(row_at(&page, "clique", "ancestor", 3), "proc_query"), ==,
                    "clique/2");
    page_done(&page);

    page =
        page_of(recording, "clique/1&" PREFS("p-_-s-_-w", "2", "nosum", "context", "hhh", "nodev"));
    g_assert_cmpuint(row_count(&page, "clique", "ancestor"), ==, 2);
    g_assert_cmpstr(cell_string(row_at(&page, "clique", "ancestor", 0), "proc"), ==, "f/2-0");
    g_assert_nonnull(strstr(control(&page, "ancestors-double"), "/4/20/"));
    g_assert_nonnull(strstr(control(&page, "ancestors-halve"), "/1/20/"));
    g_assert_nonnull(strstr(control(&page, "ancestors-add"), "/3/20/"));
    g_assert_nonnull(strstr(control(&page, "ancestors-unlimited"), "/no/20/"));
    g_assert_null(control(&page, "ancestors-5"));
    page_done(&page);

    page = page_of(recording,
                   "clique/1&" PREFS("p-_-s-_-w", "no", "nosum", "context", "hhh", "nodev"));
    g_assert_cmpuint(row_count(&page, "clique", "ancestor"), ==, 4);
    g_assert_nonnull(strstr(control(&page, "ancestors-5"), "/5/20/"));
    g_assert_null(control(&page, "ancestors-double"));
    page_done(&page);

    page =
        page_of(recording, "clique/1&" PREFS("p-_-s-_-w", "0", "nosum", "context", "hhh", "nodev"));
    g_assert_cmpuint(row_count(&page, "clique", "ancestor"), ==, 0);
    g_assert_null(control(&page, "ancestors-remove")); /* nothing below none */
    g_assert_null(control(&page, "ancestors-halve"));
    g_assert_nonnull(control(&page, "ancestors-add"));
    page_done(&page);
}

static void call_sites_without_calls_show_on_demand(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "clique/3"); /* f: its call of g never happened */
    g_assert_cmpuint(row_count(&page, "clique", "call_site"), ==, 1);
    const char *show = control(&page, "inactive-call-sites-show");
    g_assert_nonnull(show);
    g_assert_null(control(&page, "inactive-call-sites-hide"));
    struct page shown = page_of(recording, show);
    g_assert_cmpuint(row_count(&shown, "clique", "call_site"), ==, 2);
    JsonObject *row = row_where(&shown, "clique", "proc", "no calls made to g/2-0");
    g_assert_cmpint(cell_int(row, "calls_count"), ==, 0);
    g_assert_nonnull(control(&shown, "inactive-call-sites-hide"));
    page_done(&shown);
    page_done(&page);
}

static void higher_order_sites_are_summed_or_summarized(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "clique/4"); /* the outer map */
    JsonObject *site = row_where(&page, "clique", "proc", "higher order call (summary)");
    g_assert_cmpint(cell_int(site, "callseqs_self_count"), ==, 10);
    g_assert_cmpint(cell_int(site, "callseqs_total_count"), ==, 120); /* not compensated */
    JsonObject *callee = row_at(&page, "clique", "callee", 0);
    g_assert_cmpstr(cell_string(callee, "proc"), ==, "a.f/2-0");
    g_assert_cmpstr(cell_string(callee, "proc_query"), ==, "clique/3");
    struct page summary = page_of(recording, control(&page, "summarize"));
    g_assert_cmpuint(row_count(&summary, "clique", "callee"), ==, 0);
    g_assert_nonnull(row_where(&summary, "clique", "proc", "higher order call (summary)"));
    page_done(&summary);
    page_done(&page);
}

static void roots_are_cliques(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "root/no");
    g_assert_cmpstr(page_title(&page), ==, "Clique 6");
    g_assert_cmpint(fact_int(&page, "parent_csd"), ==, 0);
    JsonObject *row = row_at(&page, "clique", "proc", 0);
    g_assert_cmpint(cell_int(row, "callseqs_total_count"), ==, 132);
    g_assert_true(cell_double(row, "callseqs_total_percent") == 100);
    /* Its controls stay on the root; there is no link to this very page. */
    g_assert_true(g_str_has_prefix(control(&page, "box-none"), "root/no&"));
    g_assert_null(control(&page, "clique"));
    page_done(&page);
    page = page_of(recording, "root/90"); /* 120 of 132 go to f, 110 beyond it */
    g_assert_cmpstr(page_title(&page), ==, "Clique 3");
    page_done(&page);
}

static void unknown_cliques_are_not_found(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    g_autofree char *message = page_error(recording, "clique/4", FM_ERROR_NOT_FOUND);
    g_assert_cmpstr(message, ==, "two.data: invalid clique index 4, expected 1 to 3");
    g_autofree char *zero = page_error(recording, "clique/0", FM_ERROR_NOT_FOUND);
    g_assert_nonnull(strstr(zero, "index 0"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clique/entry comes first and several pds are summed",
                    entry_comes_first_and_several_pds_are_summed);
    g_test_add_func("/clique/links lead to other cliques only", links_lead_to_other_cliques_only);
    g_test_add_func("/clique/ancestors are the closest ones, outermost first",
                    ancestors_are_the_closest_ones_outermost_first);
    g_test_add_func("/clique/call sites without calls show on demand",
                    call_sites_without_calls_show_on_demand);
    g_test_add_func("/clique/higher-order sites are summed or summarized",
                    higher_order_sites_are_summed_or_summarized);
    g_test_add_func("/clique/roots are cliques", roots_are_cliques);
    g_test_add_func("/clique/unknown cliques are not found", unknown_cliques_are_not_found);
    return g_test_run();
}

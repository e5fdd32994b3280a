/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "world.h"

#include <glib/gstdio.h>
#include <string.h>

static void groups_are_compensated(void)
{
    g_autoptr(FmRecording) recording = world_undetected_recursion();
    struct page page = page_of(recording, "proc_callers/3/pr/1/20/nc");
    g_assert_cmpstr(page_title(&page), ==, "The procedures calling list.map/3-0");
    g_assert_cmpint(fact_int(&page, "groups_count"), ==, 2);
    JsonObject *main_row = row_where(&page, "callers", "proc", "a.main/2-0");
    g_assert_cmpint(cell_int(main_row, "callseqs_self_count"), ==, 1);
    g_assert_cmpint(cell_int(main_row, "callseqs_total_count"), ==, 21);
    g_assert_cmpint(
        cell_int(row_where(&page, "callers", "proc", "a.f/2-0"), "callseqs_total_count"), ==, 110);
    g_assert_nonnull(strstr(page_text(&page), "Direct recursion")); /* map's calls of itself */
    page_done(&page);
}

static void the_runtime_is_a_caller_too(void)
{
    g_autoptr(FmRecording) recording = world_undetected_recursion();
    struct page page = page_of(recording, "proc_callers/2/cl/1/20/nc");
    JsonObject *row = row_at(&page, "callers", "caller", 0);
    g_assert_cmpstr(cell_string(row, "members"), ==, "the runtime");
    g_assert_cmpstr(cell_string(row, "clique_query"), ==, "clique/6");
    page_done(&page);
    page = page_of(recording, "proc_callers/1/pr/1/20/nc");
    g_assert_nonnull(strstr(page_text(&page), "There are none."));
    g_assert_nonnull(control(&page, "group-clique")); /* and yet a way out */
    page_done(&page);
}

static void members_of_a_clique_are_named(void)
{
    g_autoptr(FmRecording) recording = world_two_pds();
    struct page page = page_of(recording, "proc_callers/4/cl/1/20/nc"); /* leaf */
    JsonObject *row = row_at(&page, "callers", "caller", 0);
    g_assert_cmpstr(cell_string(row, "members"), ==, "b.p/0-0"); /* the entry */
    g_assert_cmpint(cell_int(row, "callseqs_self_count"), ==, 5);
    g_assert_cmpuint(row_count(&page, "callers", "member"), ==, 2); /* q, q' */
    g_assert_cmpstr(cell_string(row_at(&page, "callers", "member", 0), "members"), ==, "b.q/0-0");
    page_done(&page);
}

static gint64 first_rank(struct page *page)
{
    return cell_int(row_at(page, "callers", "caller", 0), "rank");
}

static void pages_follow_each_other(void)
{
    g_autoptr(FmRecording) recording = world_many_callers("many.data");
    struct page page = page_of(recording, "proc_callers/2/pr/1/20/nc");
    g_assert_nonnull(strstr(page_text(&page), "There are 45, showing 1 to 20:"));
    g_assert_cmpint(fact_int(&page, "page_count"), ==, 3);
    g_assert_cmpuint(row_count(&page, "callers", "caller"), ==, 20);
    g_assert_null(control(&page, "page-first"));
    g_assert_null(control(&page, "page-previous"));
    g_assert_cmpstr(control(&page, "page-next"), ==, "proc_callers/2/pr/2/20/nc");
    g_assert_cmpstr(control(&page, "page-last"), ==, "proc_callers/2/pr/3/20/nc");
    page_done(&page);

    page = page_of(recording, "proc_callers/2/pr/2/20/nc");
    g_assert_cmpint(first_rank(&page), ==, 21);
    g_assert_cmpstr(control(&page, "page-first"), ==, "proc_callers/2/pr/1/20/nc");
    g_assert_cmpstr(control(&page, "page-previous"), ==, "proc_callers/2/pr/1/20/nc");
    g_assert_cmpstr(control(&page, "page-next"), ==, "proc_callers/2/pr/3/20/nc");
    g_assert_cmpstr(control(&page, "page-last"), ==, "proc_callers/2/pr/3/20/nc");
    page_done(&page);

    page = page_of(recording, "proc_callers/2/pr/3/20/nc");
    g_assert_nonnull(strstr(page_text(&page), "showing 41 to 45"));
    g_assert_cmpuint(row_count(&page, "callers", "caller"), ==, 5);
    g_assert_null(control(&page, "page-next"));
    g_assert_null(control(&page, "page-last"));
    page_done(&page);

    page = page_of(recording, "proc_callers/2/pr/4/20/nc"); /* beyond the end: the first */
    g_assert_cmpint(first_rank(&page), ==, 1);
    g_assert_cmpint(fact_int(&page, "page"), ==, 1);
    page_done(&page);
    page = page_of(recording, "proc_callers/2/pr/4294967295/100000/nc");
    g_assert_cmpuint(row_count(&page, "callers", "caller"), ==, 45);
    page_done(&page);
}

/* Whatever the size and page, the first row stays on the page that another size leads to. */
static void resizing_keeps_the_first_row(void)
{
    static const char *const ids[] = {"size-halve", "size-double", "size-10", "size-50",
                                      "size-100"};
    g_autoptr(FmRecording) recording = world_many_callers("many.data");
    unsigned checked = 0;
    for (unsigned size = 1; size <= 45; size += 4) {
        for (unsigned bunch = 1; bunch <= (45 + size - 1) / size; bunch++) {
            g_autofree char *query = g_strdup_printf("proc_callers/2/cs/%u/%u/nc", bunch, size);
            struct page page = page_of(recording, query);
            gint64 rank = first_rank(&page);
            g_assert_cmpint(rank, ==, (bunch - 1) * size + 1);
            for (unsigned i = 0; i < G_N_ELEMENTS(ids); i++) {
                const char *to = control(&page, ids[i]);
                if (!to)
                    continue;
                struct page resized = page_of(recording, to);
                g_assert_cmpint(first_rank(&resized), <=, rank);
                gint64 rows = row_count(&resized, "callers", "caller");
                g_assert_cmpint(rank, <, first_rank(&resized) + rows);
                page_done(&resized);
                checked++;
            }
            page_done(&page);
        }
    }
    g_assert_cmpuint(checked, >, 100);
}

static void rows_sort_by_place_name_and_cost(void)
{
    g_autoptr(FmRecording) recording = world_many_callers("many.data");
    struct page page = page_of(recording, "proc_callers/2/pr/1/20/nc");
    /* By context: file m0.m first, in it the smallest line, which is that of p05. */
    g_assert_cmpstr(cell_string(row_at(&page, "callers", "caller", 0), "proc"), ==, "m0.p05/0-0");
    struct page by_name = page_of(recording, control(&page, "sort-name"));
    g_assert_cmpstr(cell_string(row_at(&by_name, "callers", "caller", 0), "proc"), ==,
                    "m0.p01/0-0");
    struct page by_cost = page_of(recording, control(&page, "sort-callseqs-total"));
    g_assert_cmpstr(cell_string(row_at(&by_cost, "callers", "caller", 0), "proc"), ==,
                    "m1.p07/0-0");
    g_assert_cmpint(cell_int(row_at(&by_cost, "callers", "caller", 0), "callseqs_self_count"), ==,
                    7);
    page_done(&by_cost);
    page_done(&by_name);
    page_done(&page);
    page = page_of(recording, "proc_callers/2/mo/1/20/nc");
    g_assert_cmpint(fact_int(&page, "groups_count"), ==, 9);
    JsonObject *m1 = row_where(&page, "callers", "module", "m1");
    g_assert_cmpint(cell_int(m1, "callseqs_self_count"), ==, 11);
    g_assert_cmpstr(cell_string(m1, "module_query"), ==, "module/m1");
    page_done(&page);
}

/* Thousands of edges are summed site by site; grouping by clique goes edge by edge. */
static void many_edges_sum_up_alike(void)
{
    g_autoptr(FmRecording) recording = world_hub();
    uint32_t edges =
        recording->analysis->ps_caller_first[3] - recording->analysis->ps_caller_first[2];
    g_assert_cmpuint(edges, >, 8192);
    static const char *const groups[] = {"cl", "cs", "pr", "mo"};
    static const unsigned counts[] = {0, 3, 2, 1};
    gint64 calls[4] = {0}, callseqs[4] = {0};
    for (unsigned g = 0; g < 4; g++) {
        g_autofree char *query = g_strdup_printf("proc_callers/2/%s/1/100000/nc", groups[g]);
        struct page page = page_of(recording, query);
        unsigned rows = row_count(&page, "callers", "caller");
        if (counts[g] > 0)
            g_assert_cmpuint(rows, ==, counts[g]);
        JsonObject *first = row_at(&page, "callers", "caller", 0);
        g_assert_nonnull(first);
        JsonArray *all = json_object_get_array_member(
            json_array_get_object_element(json_object_get_array_member(page.root, "tables"), 0),
            "rows");
        for (guint i = 0; i < json_array_get_length(all); i++) {
            JsonObject *row = json_array_get_object_element(all, i);
            JsonObject *cells = json_object_get_object_member(row, "cells");
            calls[g] += cell_int(cells, "calls_count");
            callseqs[g] += cell_int(cells, "callseqs_total_count");
        }
        page_done(&page);
    }
    for (unsigned g = 1; g < 4; g++) {
        g_assert_cmpint(calls[g], ==, calls[0]);
        g_assert_cmpint(callseqs[g], ==, callseqs[0]);
    }
    g_assert_cmpint(calls[0], ==, 5000 + 2 * 5000 + 3); /* without the hub's own recursion */
}

static void contour_exclusion_sees_through_modules(void)
{
    GError *error = NULL;
    g_autofree char *folder = g_dir_make_tmp("fathom-report-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *data = g_build_filename(folder, "many.data", NULL);
    g_autofree char *contour = g_build_filename(folder, "many.contour", NULL);
    {
        g_autoptr(FmRecording) recording = world_many_callers(data);
        struct page page = page_of(recording, "proc_callers/2/pr/1/20/nc");
        g_assert_null(control(&page, "contour-apply")); /* there is no file */
        page_done(&page);
        g_autofree char *told =
            page_error(recording, "proc_callers/2/pr/1/20/ac", FM_ERROR_UNAVAILABLE);
        g_assert_nonnull(strstr(told, "There is no readable contour exclusion file for "));
    }
    g_assert_true(g_file_set_contents(contour, "all m0\nall nowhere\n", -1, &error));
    {
        g_autoptr(FmRecording) recording = world_many_callers(data);
        struct page page = page_of(recording, "proc_callers/2/pr/1/100/nc");
        struct page applied = page_of(recording, control(&page, "contour-apply"));
        g_assert_true(fact_bool(&applied, "contour_applied"));
        g_assert_nonnull(strstr(page_text(&applied), "nowhere")); /* the warning */
        /* The five procedures of m0 give way to the runtime. */
        g_assert_cmpint(fact_int(&applied, "groups_count"), ==, 41);
        page_done(&applied);
        page_done(&page);
    }
    g_assert_true(g_file_set_contents(contour, "all m0\neverything m0\n", -1, &error));
    {
        g_autoptr(FmRecording) recording = world_many_callers(data);
        struct page page = page_of(recording, "proc_callers/2/pr/1/20/nc");
        g_assert_nonnull(strstr(page_text(&page), "Cannot apply contour exclusion"));
        g_assert_nonnull(strstr(page_text(&page), "everything m0"));
        page_done(&page);
        g_autofree char *told =
            page_error(recording, "proc_callers/2/pr/1/20/ac", FM_ERROR_UNAVAILABLE);
        g_assert_nonnull(strstr(told, "has an error"));
        g_assert_nonnull(strstr(told, "everything m0 (line 2; expected"));
    }
    g_unlink(contour);
    g_rmdir(folder);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/callers/groups are compensated", groups_are_compensated);
    g_test_add_func("/callers/the runtime is a caller too", the_runtime_is_a_caller_too);
    g_test_add_func("/callers/members of a clique are named", members_of_a_clique_are_named);
    g_test_add_func("/callers/pages follow each other", pages_follow_each_other);
    g_test_add_func("/callers/resizing keeps the first row", resizing_keeps_the_first_row);
    g_test_add_func("/callers/rows sort by place, name and cost", rows_sort_by_place_name_and_cost);
    g_test_add_func("/callers/many edges sum up alike", many_edges_sum_up_alike);
    g_test_add_func("/callers/contour exclusion sees through modules",
                    contour_exclusion_sees_through_modules);
    return g_test_run();
}

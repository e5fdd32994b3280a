/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "world.h"

#include <glib/gstdio.h>
#include <string.h>

static void groups_are_compensated(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "proc_callers/3/pr/1/20/nc");
    g_assert_cmpstr(page_title(&page), ==, "The procedures calling list.map/3-0");
    g_assert_cmpint(fact_int(&page, "groups_count"), ==, 2);
    JsonObject *main_row = row_where(&page, "callers", "proc", "a.main/2-0");
    g_assert_cmpint(cell_int(main_row, "callseqs_self_count"), ==, 1);
    g_assert_cmpint(cell_int(main_row, "callseqs_total_count"), ==, 21);
    g_assert_cmpint(
        cell_int(row_where(&page, "callers", "proc", "a.f/2-0"), "callseqs_total_count"), ==, 110);
    /* map's calls of itself, which have no total: their own cost is part of what callers paid. */
    JsonObject *itself = row_at(&page, "callers", "inside", 0);
    g_assert_cmpint(cell_int(itself, "callseqs_self_count"), ==, 60);
    g_assert_true(json_object_get_null_member(itself, "callseqs_total_count"));
    g_assert_nonnull(strstr(page_text(&page), "Calls inside a recursion have no total"));
    page_done(&page);
}

static gint64 sum_of(struct page *page, const char *table, const char *role, const char *column)
{
    gint64 sum = 0;
    for (unsigned i = 0; i < row_count(page, table, role); i++)
        sum += cell_int(row_at(page, table, role, i), column);
    return sum;
}

/* Callers, and the rows that recursion needs, are what the procedure's own page says it costs; that
 * page leads from what the callers paid to it. Returns how many procedures are recursive. */
static unsigned callers_add_up(struct fm_open_profile *recording, const char *const *columns)
{
    static const char *const groups[] = {"cs", "pr", "mo", "cl"};
    bool small = recording->profile->pd_count < 1000; /* else too many cliques to read */
    unsigned group_count = small ? 4 : 3;
    unsigned recursive = 0;
    for (uint32_t ps = 2; ps <= recording->profile->ps_count; ps++) {
        g_autofree char *query = g_strdup_printf("proc/%u", ps);
        struct page proc = page_of(recording, query);
        recursive += fact_bool(&proc, "recursive");
        for (unsigned i = 0; i < group_count * g_strv_length((char **)(uintptr_t)columns); i++) {
            const char *column = columns[i / group_count];
            g_autofree char *callers_query =
                g_strdup_printf("proc_callers/%u/%s/1/100000/nc", ps, groups[i % group_count]);
            struct page page = page_of(recording, callers_query);
            g_assert_true(fact_bool(&page, "recursive") == fact_bool(&proc, "recursive"));
            gint64 cost = sum_of(&proc, "proc", "proc", column);
            if (fact_int(&page, "groups_count") == 0 && !fact_bool(&page, "recursive")) {
                g_assert_cmpint(cost, ==, 0); /* never called: no table */
                page_done(&page);
                continue;
            }
            gint64 paid = sum_of(&page, "callers", "caller", column);
            gint64 within = sum_of(&page, "callers", "within", column);
            gint64 others = sum_of(&page, "callers", "others", column);
            g_assert_cmpint(paid + within + others, ==, cost);
            bool told = strstr(page_text(&proc), "account for the difference") != NULL;
            if (told) {
                g_assert_cmpint(sum_of(&proc, "proc", "outside", column), ==, paid);
                g_assert_cmpint(sum_of(&proc, "proc", "within", column), ==, within);
                g_assert_cmpint(sum_of(&proc, "proc", "others", column), ==, others);
            } else if (g_str_has_suffix(column, "total_count")) {
                g_assert_cmpint(paid, ==, cost);
            }
            if (fact_bool(&page, "recursive"))
                g_assert_cmpint(sum_of(&page, "callers", "sum", column), ==, cost);
            g_assert_true(fact_bool(&page, "recursive") ==
                          (strstr(page_text(&page), "account for the difference") != NULL));
            page_done(&page);
        }
        page_done(&proc);
    }
    return recursive;
}

static void callers_add_up_to_the_procedure(void)
{
    static const char *const columns[] = {"callseqs_self_count", "callseqs_total_count", NULL};
    static const char *const c_columns[] = {"calls_count", "callseqs_total_count", NULL};
    g_autoptr(FmOpenProfile) two = world_two_pds(), undetected = world_undetected_recursion();
    g_autoptr(FmOpenProfile) hub = world_hub(), c = world_c("/nowhere");
    g_assert_cmpuint(callers_add_up(two, columns), ==, 2);        /* p and q, not their leaf */
    g_assert_cmpuint(callers_add_up(undetected, columns), ==, 1); /* map */
    g_assert_cmpuint(callers_add_up(hub, columns), >, 0);
    callers_add_up(c, c_columns);

    /* p was entered for 16, of which 9 are q's and the leaf's. */
    struct page page = page_of(two, "proc_callers/2/pr/1/20/nc");
    g_assert_cmpint(fact_int(&page, "groups_count"), ==, 1);
    g_assert_cmpint(fact_int(&page, "inside_groups_count"), ==, 1);
    g_assert_cmpint(sum_of(&page, "callers", "caller", "callseqs_total_count"), ==, 16);
    g_assert_cmpint(sum_of(&page, "callers", "others", "callseqs_total_count"), ==, -9);
    g_assert_cmpint(sum_of(&page, "callers", "sum", "callseqs_total_count"), ==, 7);
    page_done(&page);
    page = page_of(two, "proc_callers/3/cs/1/1/nc"); /* q: no call from outside, two sites inside */
    g_assert_nonnull(strstr(page_text(&page), "There are none outside of recursions."));
    g_assert_cmpuint(row_count(&page, "callers", "inside"), ==, 1);
    g_assert_cmpstr(cell_string(row_at(&page, "callers", "inside_left", 0), "proc"), ==,
                    "and 1 more");
    g_assert_cmpint(sum_of(&page, "callers", "within", "callseqs_total_count"), ==, 9);
    page_done(&page);
}

static void the_runtime_is_a_caller_too(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
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
    g_autoptr(FmOpenProfile) recording = world_two_pds();
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
    g_autoptr(FmOpenProfile) recording = world_many_callers("many.data");
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
    g_autoptr(FmOpenProfile) recording = world_many_callers("many.data");
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
    g_autoptr(FmOpenProfile) recording = world_many_callers("many.data");
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

static gint64 clique_of(JsonObject *row)
{
    return g_ascii_strtoll(cell_string(row, "clique"), NULL, 10);
}

static int compare_cliques(JsonObject *a, JsonObject *b, const char *column)
{
    if (strcmp(column, "clique") == 0)
        return 0;
    if (strcmp(column, "members") == 0)
        return strcmp(cell_string(a, column), cell_string(b, column));
    gint64 left = cell_int(a, column), right = cell_int(b, column);
    return (left < right) - (left > right);
}

/* Cliques are made when they are shown: each once, in the order asked for, what is equal in that of
 * cliques, by cost in reverse, wherever pages divide them. */
static void cliques_sort_by_number_name_and_cost(void)
{
    static const struct {
        const char *control, *column;
        int ties;
    } orders[] = {{NULL, "clique", 1},
                  {"sort-name", "members", 1},
                  {"sort-callseqs-total", "callseqs_total_count", -1}};
    g_autoptr(FmOpenProfile) recording = world_many_callers("many.data");
    struct page first = page_of(recording, "proc_callers/2/cl/1/1000/nc");
    for (unsigned order = 0; order < G_N_ELEMENTS(orders); order++) {
        const char *query = orders[order].control != NULL ? control(&first, orders[order].control)
                                                          : "proc_callers/2/cl/1/1000/nc";
        struct page whole = page_of(recording, query);
        unsigned count = row_count(&whole, "callers", "caller");
        g_assert_cmpuint(count, ==, 45);
        for (unsigned i = 1; i < count; i++) {
            JsonObject *before = row_at(&whole, "callers", "caller", i - 1);
            JsonObject *row = row_at(&whole, "callers", "caller", i);
            int compared = compare_cliques(before, row, orders[order].column);
            g_assert_cmpint(compared, <=, 0);
            if (compared == 0)
                g_assert_cmpint(orders[order].ties * clique_of(before), <,
                                orders[order].ties * clique_of(row));
        }
        g_auto(GStrv) parts = g_strsplit(query, "/1/1000/", 2);
        for (unsigned i = 0; i < count; i += 7) {
            g_autofree char *part = g_strdup_printf("%s/%u/7/%s", parts[0], i / 7 + 1, parts[1]);
            struct page page = page_of(recording, part);
            g_assert_cmpint(clique_of(row_at(&page, "callers", "caller", 0)), ==,
                            clique_of(row_at(&whole, "callers", "caller", i)));
            page_done(&page);
        }
        page_done(&whole);
    }
    page_done(&first);
}

/* Thousands of edges are summed site by site; grouping by clique goes edge by edge. */
static void many_edges_sum_up_alike(void)
{
    g_autoptr(FmOpenProfile) recording = world_hub();
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
            if (!g_str_equal(json_object_get_string_member(row, "role"), "caller"))
                continue; /* the hub's own recursion */
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
    g_assert_cmpint(calls[0], ==, 5000 + 2 * 5000 + 3);
}

static void contour_exclusion_sees_through_modules(void)
{
    GError *error = NULL;
    g_autofree char *folder = g_dir_make_tmp("fathom-report-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *data = g_build_filename(folder, "many.data", NULL);
    g_autofree char *contour = g_build_filename(folder, "many.contour", NULL);
    {
        g_autoptr(FmOpenProfile) recording = world_many_callers(data);
        struct page page = page_of(recording, "proc_callers/2/pr/1/20/nc");
        g_assert_null(control(&page, "contour-apply")); /* there is no file */
        page_done(&page);
        g_autofree char *told =
            page_error(recording, "proc_callers/2/pr/1/20/ac", FM_ERROR_UNAVAILABLE);
        g_assert_nonnull(strstr(told, "Could not read contour exclusion file of "));
    }
    g_assert_true(g_file_set_contents(contour, "all m0\nall nowhere\n", -1, &error));
    {
        g_autoptr(FmOpenProfile) recording = world_many_callers(data);
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
        g_autoptr(FmOpenProfile) recording = world_many_callers(data);
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
    g_test_add_func("/callers/callers add up to the procedure", callers_add_up_to_the_procedure);
    g_test_add_func("/callers/the runtime is a caller too", the_runtime_is_a_caller_too);
    g_test_add_func("/callers/members of a clique are named", members_of_a_clique_are_named);
    g_test_add_func("/callers/pages follow each other", pages_follow_each_other);
    g_test_add_func("/callers/resizing keeps the first row", resizing_keeps_the_first_row);
    g_test_add_func("/callers/rows sort by place, name and cost", rows_sort_by_place_name_and_cost);
    g_test_add_func("/callers/cliques sort by number, name and cost",
                    cliques_sort_by_number_name_and_cost);
    g_test_add_func("/callers/many edges sum up alike", many_edges_sum_up_alike);
    g_test_add_func("/callers/contour exclusion sees through modules",
                    contour_exclusion_sees_through_modules);
    return g_test_run();
}

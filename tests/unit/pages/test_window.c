/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of C programs in a browser: one measure, dearest first; everything else is a click away. */
#include "world.h"

#include <string.h>

static void functions_have_one_measure(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = window_of(recording, "top_procs/1-3/words/self/oa");
    JsonObject *first = row_at(&page, "procs", "proc", 0);
    g_assert_cmpint(cell_int(first, "bytes_self_bytes"), ==, 4096);
    g_assert_cmpint(cell_int(first, "bytes_total_bytes"), ==, 4096);
    g_assert_cmpfloat(cell_double(first, "total_percent"), ==, 100);
    g_assert_cmpint(cell_int(first, "calls_count"), ==, 10);
    g_assert_false(has_column(&page, "procs", "exits_count"));
    g_assert_false(has_column(&page, "procs", "rank"));
    g_assert_cmpint(row_count(&page, "procs", "proc"), ==, 1); /* nobody else allocates */
    page_done(&page);
    page = window_of(recording, "top_procs/1-3/callseqs/both/oa");
    g_assert_cmpint(row_count(&page, "procs", "proc"), ==, 3);
    g_assert_nonnull(strstr(page_text(&page), "1 to 3 of 6"));
    page_done(&page);
}

static void chosen_columns_are_kept(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = window_of(recording, "top_procs/1-3/words/self/oa&p-t-s-a-b/box/cols/5/20/"
                                            "nosum/cost-words-self-oa/nc/th/mqwd/hhh/nodev");
    g_assert_true(has_column(&page, "procs", "exits_count"));
    g_assert_true(has_column(&page, "procs", "rank"));
    page_done(&page);
    page = page_of(recording, "top_procs/1-3/words/self/oa"); /* other formats have all */
    g_assert_true(has_column(&page, "procs", "exits_count"));
    page_done(&page);
}

static void files_tell_how_much_of_them_ran(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = window_of(recording, "program_modules");
    unsigned ran = 0, all = 0;
    int64_t before = INT64_MAX;
    for (unsigned i = 0; i < row_count(&page, "modules", "module"); i++) {
        JsonObject *row = row_at(&page, "modules", "module", i);
        ran += (unsigned)cell_int(row, "procs_run_count");
        all += (unsigned)cell_int(row, "procs_count");
        g_assert_cmpint(cell_int(row, "calls_self_count"), <=, before);
        before = cell_int(row, "calls_self_count");
    }
    g_assert_cmpuint(ran, ==, 4);
    g_assert_cmpuint(all, ==, 5);
    page_done(&page);
}

/* What callers paid, and what recursions cost within, is what the function cost. */
static void assert_adds_up(const struct fm_open_profile *recording, const char *query)
{
    struct page page = window_of(recording, query);
    int64_t total = 0, own = 0, calls = 0;
    for (unsigned i = 0; i < row_count(&page, "callers", "caller"); i++) {
        JsonObject *row = row_at(&page, "callers", "caller", i);
        total += cell_int(row, "calls_total_count");
        own += cell_int(row, "calls_self_count");
        calls++;
    }
    for (unsigned i = 0; i < 2; i++) {
        const char *role = i == 0 ? "within" : "others";
        JsonObject *row =
            row_count(&page, "callers", role) ? row_at(&page, "callers", role, 0) : NULL;
        total += row ? cell_int(row, "calls_total_count") : 0;
        own += row ? cell_int(row, "calls_self_count") : 0;
    }
    JsonObject *sum = row_at(&page, "callers", "sum", 0);
    g_assert_cmpint(calls, >, 0);
    g_assert_cmpint(total, ==, cell_int(sum, "calls_total_count"));
    g_assert_cmpint(own, ==, cell_int(sum, "calls_self_count"));
    page_done(&page);
}

static void callers_add_up(void)
{
    static const char *const groups[] = {"cs", "pr", "mo", "cl"};
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(groups); i++) {
        g_autofree char *query = g_strdup_printf("proc_callers/3/%s/1/100/nc", groups[i]);
        assert_adds_up(recording, query);
    }
    struct page page = window_of(recording, "proc_callers/3/pr/1/100/nc");
    g_assert_cmpstr(page_title(&page), ==, "Callers of insert");
    /* seven calls by worker stand before three by main */
    g_assert_cmpint(cell_int(row_at(&page, "callers", "caller", 0), "calls_self_count"), ==, 7);
    page_done(&page);
}

static void the_first_page_is_short(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = window_of(recording, "menu");
    g_assert_null(strstr(page_text(&page), "three threads are not in it"));
    page_done(&page);
    page = window_of(recording, "about");
    g_assert_nonnull(strstr(page_text(&page), "three threads are not in it"));
    g_assert_cmpstr(control(&page, "quit"), ==, "quit");
    page_done(&page);
    page = window_of(recording, "program_modules");
    g_assert_null(control(&page, "quit"));
    page_done(&page);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/window/functions have one measure", functions_have_one_measure);
    g_test_add_func("/window/chosen columns are kept", chosen_columns_are_kept);
    g_test_add_func("/window/files tell how much of them ran", files_tell_how_much_of_them_ran);
    g_test_add_func("/window/callers add up", callers_add_up);
    g_test_add_func("/window/the first page is short", the_first_page_is_short);
    return g_test_run();
}

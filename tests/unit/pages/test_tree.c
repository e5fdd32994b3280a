/* SPDX-License-Identifier: Apache-2.0 */
/* tree/...: rows, their order and sums, what opens, focus by name and by number. */
#include <string.h>

#include "base/error.h"
#include "world.h"

/* The names of a row's path cell. */
static char *path_of(JsonObject *cells)
{
    JsonArray *steps = json_object_get_array_member(cells, "path");
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < json_array_get_length(steps); i++)
        g_string_append_printf(
            text, "%s%s", i ? "/" : "",
            json_object_get_string_member(json_array_get_object_element(steps, i), "name"));
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void assert_row(const struct page *page, unsigned n, const char *path, gint64 depth,
                       const char *column, gint64 value)
{
    JsonObject *cells = row_at(page, "tree", NULL, n);
    g_assert_nonnull(cells);
    g_autofree char *found = path_of(cells);
    g_assert_cmpstr(found, ==, path);
    g_assert_cmpint(cell_int(cells, "path_depth"), ==, depth);
    g_assert_cmpint(cell_int(cells, column), ==, value);
}

static void downwards(void)
{
    struct fm_open_profile *recording = world_two_pds();
    struct page page = page_of(recording, "tree/callseqs/down/3/all");
    assert_row(&page, 0, "the whole program", 0, "callseqs_total_count", 16);
    assert_row(&page, 1, "\u27f2\u00a0p/0-0\u00a0+1", 1, "callseqs_total_count", 16);
    assert_row(&page, 2, "q/0-0", 2, "callseqs_total_count", 9);
    assert_row(&page, 3, "leaf/0-0", 3, "callseqs_total_count", 5);
    assert_row(&page, 4, "p/0-0", 2, "callseqs_total_count", 7);
    g_assert_null(row_at(&page, "tree", NULL, 5));
    g_assert_cmpint(cell_int(row_at(&page, "tree", NULL, 1), "callseqs_self_count"), ==, 11);
    g_assert_cmpint(cell_int(row_at(&page, "tree", NULL, 1), "entered_count"), ==, 1);
    page_done(&page);
    fm_open_profile_free(recording);
}

static void the_most_telling_measure(void)
{
    struct fm_open_profile *recording = world_c(NULL); /* 10 samples say too little */
    struct page page = page_of(recording, "tree/auto/down/5/all");
    g_assert_cmpstr(fact_string(&page, "measure"), ==, "calls");
    g_assert_cmpstr(page_text(&page), ==, "Calls\n"); /* the others are links */
    page_done(&page);
    page = page_of(recording, "tree/time/down/5/all");
    assert_row(&page, 1, "main", 1, "entered_count", 1);
    g_assert_cmpfloat_with_epsilon(cell_double(row_at(&page, "tree", NULL, 1), "total_percent"),
                                   100, 1e-9);
    page_done(&page);
    fm_open_profile_free(recording);
}

static void focus(void)
{
    struct fm_open_profile *recording = world_c(NULL);
    struct page page = page_of(recording, "tree/calls/up/5/insert");
    assert_row(&page, 0, "insert", 0, "calls_total_count", 10);
    assert_row(&page, 1, "worker", 1, "calls_total_count", 7);
    assert_row(&page, 2, "main", 1, "calls_total_count", 3);
    g_assert_false(has_column(&page, "tree", "calls_self_count"));
    page_done(&page);
    page = page_of(recording, "tree/calls/down/1/clique/worker/insert");
    assert_row(&page, 0, "insert", 0, "calls_total_count", 7);
    page_done(&page);
    page = page_of(recording, "tree/calls/down/1/clique/insert");
    g_assert_cmpstr(page_title(&page), ==, "Which context?");
    g_assert_cmpstr(cell_string(row_at(&page, "choices", NULL, 0), "spelling"), ==,
                    "tree/calls/down/1/clique/main/insert");
    page_done(&page);
    g_free(page_error(recording, "tree/calls/down/1/nobody", FM_ERROR_NOT_FOUND));
    g_free(page_error(recording, "tree/calls/down/1/clique/4000", FM_ERROR_NOT_FOUND));
    g_free(page_error(recording, "tree/calls/down/1/proc/0", FM_ERROR_NOT_FOUND));
    fm_open_profile_free(recording);
}

/* Rows below the least share are one row, which leads to them. */
static void the_rest(void)
{
    struct fm_open_profile *recording = world_many_callers("many.data");
    struct page page = page_of(recording, "tree/callseqs/down/1-p5/all");
    assert_row(&page, 1, "p07/0-0", 1, "callseqs_total_count", 8);
    assert_row(&page, 2, "44 more", 1, "callseqs_total_count", 88);
    page_done(&page);
    page = page_of(recording, "tree/callseqs/down/1/all");
    g_assert_cmpuint(row_count(&page, "tree", "function"), ==, 45);
    page_done(&page);
    /* Of what the tree begins with: one call of the program's 96 is half of what p01 costs. */
    page = page_of(recording, "tree/callseqs/down/1-p5/p01");
    assert_row(&page, 1, "callee/0-0", 1, "callseqs_total_count", 1);
    page_done(&page);
    fm_open_profile_free(recording);
}

/* What is only known of a recursion is marked in every row that shows it, and nowhere else. */
static void upper_bounds(void)
{
    static const struct {
        const char *query;
        unsigned row;
        const char *path, *role;
        gint64 bytes;
        bool at_most;
    } rows[] = {
        {"tree/bytes/down/5/all", 1, "main", "function", 350, false},
        {"tree/bytes/down/5/all", 2, "\u27f2\u00a0expr\u00a0+1", "recursion", 350, false},
        {"tree/bytes/down/5/all", 3, "expr", "function", 350, false},
        {"tree/bytes/down/5/all", 5, "term", "function", 350, true},
        {"tree/bytes/down/5/term", 0, "term", "function", 350, true},
        {"tree/bytes/down/5/term", 1, "\u27f2\u00a0expr\u00a0+1", "recursion", 100, true},
        {"tree/bytes/down/5/term", 2, "scan", "function", 50, false},
        {"tree/bytes/up/5/term", 0, "term", "function", 350, true},
        {"tree/bytes/up/5/term", 1, "\u27f2\u00a0expr\u00a0+1", "recursion", 350, true},
        {"tree/bytes/up/5/term", 2, "main", "function", 350, true},
        {"tree/bytes/up/5/expr", 0, "expr", "function", 350, false},
        {"tree/bytes/up/5/expr", 1, "\u27f2\u00a0expr\u00a0+1", "recursion", 350, false},
        {"tree/bytes/up/5/scan", 0, "scan", "function", 50, false},
        {"tree/bytes/up/5/scan", 1, "term", "function", 50, false},
    };
    g_autoptr(FmOpenProfile) recording = world_c_recursion();
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct page page = page_of(recording, rows[i].query);
        JsonObject *cells = row_at(&page, "tree", NULL, rows[i].row);
        g_assert_nonnull(cells);
        g_autofree char *found = path_of(cells);
        g_assert_cmpstr(found, ==, rows[i].path);
        g_assert_cmpint(cell_int(cells, "bytes_total_bytes"), ==, rows[i].bytes);
        g_assert_cmpint(json_object_has_member(cells, "bytes_total_bytes_at_most"), ==,
                        rows[i].at_most);
        page_done(&page);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/tree/down", downwards);
    g_test_add_func("/report/tree/measure", the_most_telling_measure);
    g_test_add_func("/report/tree/focus", focus);
    g_test_add_func("/report/tree/rest", the_rest);
    g_test_add_func("/report/tree/upper bounds", upper_bounds);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* flame/...: boxes as numbers, as SVG without scripts, and as a file; names are escaped. */
#include <string.h>

#include "base/error.h"
#include "display/flame.h"
#include "world.h"

static JsonArray *boxes_of(const struct page *page)
{
    return json_object_get_array_member(json_object_get_object_member(page->root, "flame"),
                                        "boxes");
}

static gint64 number(JsonArray *boxes, unsigned box, unsigned field)
{
    return json_array_get_int_element(json_array_get_array_element(boxes, box), field);
}

static void boxes_as_numbers(void)
{
    struct fm_open_profile *recording = world_two_pds();
    struct page page = page_of(recording, "flame/callseqs/down/_/all");
    JsonArray *boxes = boxes_of(&page);
    g_assert_cmpint(fact_int(&page, "box_count"), ==, 4); /* the recursion, q, p, leaf */
    g_assert_cmpuint(json_array_get_length(boxes), ==, 4);
    g_assert_cmpint(number(boxes, 0, 7), ==, 16);
    g_assert_cmpint(number(boxes, 0, 8), ==, 11);
    g_assert_cmpint(number(boxes, 0, 6), ==, FM_BOX_RECURSION);
    g_assert_cmpint(number(boxes, 1, 6), ==, FM_BOX_MEMBER);
    g_assert_cmpint(number(boxes, 1, 2), ==, 562500); /* 9 of 16, in millionths */
    g_assert_cmpint(number(boxes, 2, 0), ==, 2);      /* the leaf, below q */
    g_assert_cmpint(number(boxes, 3, 1), ==, 562500); /* p at q's right */
    g_assert_cmpint(number(boxes, 2, 11), >, 0);      /* the procedure's page */
    JsonObject *flame = json_object_get_object_member(page.root, "flame");
    g_assert_cmpstr(json_object_get_string_member(flame, "measure"), ==, "callseqs");
    g_assert_cmpint(json_object_get_int_member(flame, "whole"), ==, 16);
    g_assert_true(json_object_get_null_member(flame, "unit_seconds"));
    JsonArray *names = json_object_get_array_member(flame, "names"); /* no shares in them */
    g_assert_null(strchr(json_array_get_string_element(names, 0), '%'));
    page_done(&page);
    page = page_of(recording, "flame/callseqs/down/shut/all");
    g_assert_cmpuint(json_array_get_length(boxes_of(&page)), ==, 2);
    page_done(&page);
    page = page_of(recording, "flame/callseqs/up/_/leaf");
    g_assert_cmpstr(fact_string(&page, "direction"), ==, "up");
    g_assert_cmpint(number(boxes_of(&page), 0, 7), ==, 5);
    page_done(&page);
    page = page_of(recording, "flame/time/down/_/all");
    g_assert_cmpint(fact_int(&page, "box_count"), ==, 0);
    g_assert_nonnull(strstr(page_text(&page), "Nothing of this measure was recorded."));
    page_done(&page);
    g_free(page_error(recording, "flame/callseqs/down/_/nobody", FM_ERROR_NOT_FOUND));
    fm_open_profile_free(recording);
}

/* A box that stands for a part of its recursion tells the total, too, and if that is a bound. */
static void totals_in_a_recursion(void)
{
    g_autoptr(FmOpenProfile) recording = world_c_recursion();
    struct page page = page_of(recording, "flame/bytes/down/open/all");
    JsonArray *boxes = boxes_of(&page);
    g_assert_cmpint(number(boxes, 1, 6), ==, FM_BOX_RECURSION);
    g_assert_cmpint(number(boxes, 2, 6), ==, FM_BOX_MEMBER | FM_BOX_AT_MOST); /* term */
    g_assert_cmpint(number(boxes, 2, 7), ==, 250);
    g_assert_cmpint(number(boxes, 2, 13), ==, 350);
    g_assert_cmpint(number(boxes, 4, 6), ==, FM_BOX_MEMBER); /* expr, which is entered */
    g_assert_cmpint(number(boxes, 4, 7), ==, 100);
    g_assert_cmpint(number(boxes, 4, 13), ==, 350);
    page_done(&page);
    page = page_of(recording, "flame/bytes/up/_/term");
    boxes = boxes_of(&page);
    for (guint i = 0; i < json_array_get_length(boxes); i++) {
        g_assert_cmpint(number(boxes, i, 13), ==, 350);
        g_assert_cmpint(number(boxes, i, 6) & FM_BOX_AT_MOST, ==, FM_BOX_AT_MOST);
    }
    page_done(&page);
    struct fm_query query = {0};
    struct fm_display *display = NULL;
    struct fm_preferences preferences;
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) svg = g_string_new(NULL);
    const struct fm_html_options options = {.url_prefix = "?", .url_suffix = "&f"};
    g_assert_true(fm_query_parse("flame/bytes/down/open/all", &query, &error));
    g_assert_true(fm_pages_make(recording, &query, &preferences, &display, &error));
    g_assert_true(fm_flame_write_svg(display, &options, svg));
    g_assert_nonnull(strstr(svg->str, "total \u2264 350 bytes  100.0 %"));
    g_assert_nonnull(strstr(svg->str, "of the recursion&#39;s 250 bytes"));
    fm_display_free(display);
    fm_query_done(&query);
}

static void pictures(void)
{
    struct fm_open_profile *recording = world_c(NULL);
    struct fm_query query = {0};
    struct fm_display *display = NULL;
    struct fm_preferences preferences;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_query_parse("flame/calls/down/_/all", &query, &error));
    g_assert_true(fm_pages_make(recording, &query, &preferences, &display, &error));
    const struct fm_html_options options = {.url_prefix = "?", .url_suffix = "&f"};
    g_autoptr(GString) html = g_string_new(NULL);
    g_autoptr(GString) svg = g_string_new(NULL);
    fm_html_write(display, NULL, &options, html);
    g_assert_nonnull(strstr(html->str, "<figure class=\"flame\" id=\"flame\" "
                                       "data-query=\"flame/calls/down/_/all\">"));
    g_assert_nonnull(strstr(html->str, "href=\"?flame/calls/down/_/clique/"));
    g_assert_nonnull(strstr(html->str, "x=\"0%\" width="));
    g_assert_null(strstr(html->str, "style=")); /* the pages' policy allows none */
    g_assert_true(fm_flame_write_svg(display, &options, svg));
    g_assert_true(g_str_has_prefix(svg->str, "<svg xmlns="));
    g_assert_null(strstr(svg->str, "href"));
    g_assert_nonnull(strstr(svg->str, "insert"));
    fm_display_free(display);
    fm_query_done(&query);
    fm_open_profile_free(recording);
}

/* Of a procedure with very many contexts callers of the dearest are followed; the others are one
 * box, and all add up. Asked for again, it is the same picture. */
static void many_contexts_are_bounded(void)
{
    g_autoptr(FmOpenProfile) recording = world_hub();
    for (int again = 0; again < 2; again++) {
        struct page page = page_of(recording, "flame/callseqs/up/_/hub");
        JsonArray *boxes = boxes_of(&page);
        gint64 whole = number(boxes, 0, 7), callers = 0;
        for (guint i = 1; i < json_array_get_length(boxes); i++)
            callers += number(boxes, i, 0) == 1 ? number(boxes, i, 7) : 0;
        g_assert_cmpint(whole, >, 10000);
        g_assert_cmpint(callers, ==, whole);
        page_done(&page);
    }
    struct page tree = page_of(recording, "tree/callseqs/up/1/hub");
    gint64 whole = cell_int(row_at(&tree, "tree", NULL, 0), "callseqs_total_count");
    gint64 callers = 0;
    for (unsigned i = 1; i < row_count(&tree, "tree", NULL); i++)
        callers += cell_int(row_at(&tree, "tree", NULL, i), "callseqs_total_count");
    g_assert_cmpint(callers, ==, whole);
    g_assert_nonnull(row_at(&tree, "tree", "rest", 0));
    page_done(&tree);
}

/* Where calls are many, graphs and contexts have them from the sums of sites. */
static void many_calls_are_counted(void)
{
    g_autoptr(FmOpenProfile) recording = world_hub();
    struct page page = page_of(recording, "graph/callseqs/proc/hub");
    gint64 calls = 0;
    for (unsigned i = 0; i < row_count(&page, "calls", NULL); i++)
        calls += cell_int(row_at(&page, "calls", NULL, i), "calls_count");
    struct page hub = page_of(recording, "proc/hub"), contexts = page_of(recording, "contexts/hub");
    g_assert_cmpint(calls, >=, fact_int(&hub, "calls_count"));
    g_assert_cmpint(fact_int(&contexts, "path_count"), >, 1000);
    gint64 before = G_MAXINT64;
    for (unsigned i = 0; i < row_count(&contexts, "contexts", "context"); i++) {
        gint64 total =
            cell_int(row_at(&contexts, "contexts", "context", i), "callseqs_total_count");
        g_assert_cmpint(total, <=, before);
        before = total;
    }
    page_done(&page);
    page_done(&hub);
    page_done(&contexts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/flame/numbers", boxes_as_numbers);
    g_test_add_func("/report/flame/pictures", pictures);
    g_test_add_func("/report/flame/totals in a recursion", totals_in_a_recursion);
    g_test_add_func("/report/flame/many contexts are bounded", many_contexts_are_bounded);
    g_test_add_func("/report/flame/many calls are counted", many_calls_are_counted);
    return g_test_run();
}

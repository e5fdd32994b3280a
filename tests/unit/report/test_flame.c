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
    struct fm_deep_recording *recording = world_two_pds();
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
    g_assert_nonnull(strstr(page_text(&page), "Nothing of it was recorded."));
    page_done(&page);
    g_free(page_error(recording, "flame/callseqs/down/_/nobody", FM_ERROR_NOT_FOUND));
    fm_deep_recording_free(recording);
}

static void pictures(void)
{
    struct fm_deep_recording *recording = world_c(NULL);
    struct fm_query query = {0};
    struct fm_display *display = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_query_parse("flame/calls/down/_/all", &query, &error));
    g_assert_true(fm_report(recording, &query, &display, &error));
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
    fm_query_clear(&query);
    fm_deep_recording_free(recording);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/flame/numbers", boxes_as_numbers);
    g_test_add_func("/report/flame/pictures", pictures);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings and forms: in HTML as SVG without markup of names, in other formats not at all. */
#include <math.h>
#include <string.h>

#include "display/drawing.h"

static struct fm_display *make_page(void)
{
    struct fm_display *display = fm_display_new("Page");
    struct fm_list *body = fm_display_body(display);
    struct fm_drawing *drawing = fm_add_drawing(body, "lanes", "Lanes & \"more\"", 1000);
    fm_drawing_tick(drawing, 0.5, "5 s");
    fm_drawing_row(drawing, &(struct fm_drawing_row){.label = "<i>a</i>",
                                                     .note = "12 %",
                                                     .url = "?a=1&b=2",
                                                     .title = "t<",
                                                     .height = 17,
                                                     .levels = 2});
    fm_drawing_box(drawing, &(struct fm_drawing_box){.from = 0.25,
                                                     .to = 0.75,
                                                     .level = 1,
                                                     .colour = 3,
                                                     .text = "<b>name</b>",
                                                     .title = "</title>"});
    fm_drawing_box(drawing,
                   &(struct fm_drawing_box){.from = -5, .to = 7, .level = 99, .colour = 99});
    fm_drawing_row(drawing, &(struct fm_drawing_row){.label = "b", .height = 20, .levels = 1});
    fm_drawing_line(drawing, (const double[]){0, (double)NAN, 1, 0.5}, 4);
    fm_drawing_mark(drawing, 0.1, "mark", NULL);
    const struct fm_query peak = {.command = {.id = FM_CMD_MEMORY, .memory = FM_QUERY_AT_PEAK}};
    fm_drawing_mark_page(drawing, 0.2, "the <peak>", &peak);
    fm_drawing_arrow(drawing, 0, 0.1, 1, 0.2, "1 ms");
    fm_drawing_cursor(drawing, 0.3, "3 s");
    fm_drawing_window(drawing, 0.2, 0.9);
    struct fm_form *form = fm_add_form(body, "form", "What is shown");
    fm_form_hidden(form, "file", "a\"b");
    fm_form_text(form, "filter", "Filter", "x < \"y\"", "example", 20, "wrong at <5>");
    fm_form_submit(form, "Show");
    return display;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        g_error("'%s' is not in: %s", part, text);
}

static void test_html(void)
{
    g_autoptr(FmDisplay) display = make_page();
    g_autoptr(GString) out = g_string_new(NULL);
    fm_html_write(display, NULL, NULL, out);
    assert_has(
        out->str,
        "<div class=\"drawing\" id=\"lanes\" tabindex=\"0\"><svg role=\"group\" aria-label=\"Lanes "
        "&amp; &quot;more&quot;\"");
    assert_has(out->str, "&lt;i&gt;a&lt;/i&gt;");
    assert_has(out->str, "<a href=\"?a=1&amp;b=2\"><text class=\"label\"");
    assert_has(out->str, "<rect class=\"k3\" x=\"470\" y=\"37\" width=\"500\" height=\"16\">"
                         "<title>&lt;/title&gt;</title></rect>");
    assert_has(out->str, "&lt;b&gt;name&lt;/b&gt;</text>");
    /* Places beyond the axis, levels and colours beyond the last are brought back. */
    assert_has(out->str, "<rect class=\"k27\" x=\"220\" y=\"37\" width=\"1000\"");
    assert_has(out->str,
               "<a href=\"memory/peak\" aria-label=\"the &lt;peak&gt;\"><path class=\"mark\"");
    assert_has(out->str, "<title>the &lt;peak&gt;</title></path></a>");
    assert_has(out->str, "class=\"cursor\" x1=\"520\"");
    assert_has(out->str, "<rect class=\"shade\" x=\"220\"");
    assert_has(out->str, "<path class=\"line\" d=\"M220 ");
    assert_has(out->str, "<input type=\"hidden\" name=\"file\" value=\"a&quot;b\">");
    assert_has(out->str, "value=\"x &lt; &quot;y&quot;\" placeholder=\"example\" size=\"20\" "
                         "aria-invalid=\"true\"><strong class=\"problem\" role=\"alert\">wrong at "
                         "&lt;5&gt;</strong>");
    g_assert_null(strstr(out->str, "style="));
    g_assert_null(strstr(out->str, "nan"));
}

static void test_others(void)
{
    g_autoptr(FmDisplay) display = make_page();
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) csv = g_string_new(NULL);
    g_autoptr(GString) json = g_string_new(NULL);
    fm_text_write(display, NULL, NULL, text);
    fm_csv_write(display, NULL, csv);
    fm_json_write(display, NULL, json);
    g_assert_null(strstr(text->str, "name"));
    g_assert_cmpstr(csv->str, ==, "");
    g_assert_null(strstr(json->str, "Filter"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/drawing/html", test_html);
    g_test_add_func("/drawing/others", test_others);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "small_page.h"

#define ESCAPED                                                                                   \
    "a&lt;b&gt;&amp;&quot;&#39;\xEF\xBF\xBD.<wbr>c_<wbr>d/<wbr>e::<wbr>f\xE2\x90\x9B\xE2\x90\x8A" \
    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz"

static void the_table_of_the_small_page(void)
{
    struct fm_html_options options = {.url_prefix = "/view?", .url_suffix = "&/d/Deep.data"};
    g_autoptr(FmDisplay) display = small_page(FM_BOX_ALWAYS);
    g_autofree char *html = as_html(display, NULL, &options);
    g_autofree char *table = between(html, "<table", "</main>");

    g_assert_cmpstr(
        table, ==,
        "<table class=\"boxed\">\n"
        "<caption>top modules</caption>\n"
        "<colgroup span=\"1\"></colgroup>\n"
        "<colgroup span=\"2\" class=\"tint\"></colgroup>\n"
        "<thead>\n"
        "<tr><th scope=\"col\" rowspan=\"2\" class=\"module_name\">Module</th>"
        "<th scope=\"colgroup\" colspan=\"2\" class=\"group\">Calls</th></tr>\n"
        "<tr><th scope=\"col\" class=\"callseqs\"><a class=\"sort\" "
        "aria-label=\"Self, Calls\" href=\"/view?clique/3&amp;/d/Deep.data\">Self</a></th>"
        "<th scope=\"col\" class=\"callseqs\">%</th></tr>\n"
        "</thead>\n"
        "<tbody>\n"
        "<tr class=\"section\"><th scope=\"rowgroup\" colspan=\"3\"><b>Part one:</b></th></tr>\n"
        "<tr class=\"sep\"><td colspan=\"3\"></td></tr>\n"
        "<tr class=\"r-module\"><th scope=\"row\" class=\"module_name\"><b><a "
        "href=\"/view?clique/3&amp;/d/Deep.data\">list.<wbr>sort</a></b></th>"
        "<td class=\"callseqs\">1,234,567</td><td class=\"callseqs pct p26\">25.50</td></tr>\n"
        "<tr><th scope=\"row\" class=\"module_name\" colspan=\"2\">" ESCAPED "</th>"
        "<td class=\"callseqs\"></td></tr>\n"
        "</tbody>\n"
        "</table>\n"
        "</div>\n");
}

static void the_frame(void)
{
    struct fm_html_options options = {.recording_name = "<Deep>.data",
                                      .url_prefix = "?",
                                      .asset_prefix = "/assets/",
                                      .home_url = "/?a&b"};
    g_autoptr(FmDisplay) display = fm_display_new("A & B");

    fm_display_set_name(display, "menu");
    fm_display_set_incomplete(display, "<1 s>");
    fm_add_text(fm_display_body(display), "</p><script>");
    g_autofree char *html = as_html(display, NULL, &options);
    g_assert_cmpstr(html, ==,
                    "<!DOCTYPE html>\n"
                    "<html lang=\"en\">\n"
                    "<head>\n"
                    "<meta charset=\"utf-8\">\n"
                    "<title>A &amp; B - &lt;Deep&gt;.data - fathom</title>\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>\n"
                    "<link rel=\"stylesheet\" href=\"/assets/style.css\">\n"
                    "<script src=\"/assets/fathom.js\" defer></script>\n"
                    "</head>\n"
                    "<body>\n"
                    "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n"
                    "<header>\n"
                    "<a class=\"brand\" href=\"/?a&amp;b\">fathom</a>\n"
                    "<span class=\"recording\">&lt;Deep&gt;.<wbr>data</span>\n"
                    "<nav aria-label=\"Recording\">\n"
                    "<ul>\n"
                    "<li><a id=\"nav-menu\" href=\"?menu\" aria-current=\"page\">Menu</a></li>\n"
                    "<li><a id=\"nav-flame\" href=\"?flame/auto/down/_/all\">Flame "
                    "graph</a></li>\n"
                    "<li><a id=\"nav-tree\" href=\"?tree/auto/down/3/all\">Tree</a></li>\n"
                    "<li><a id=\"nav-root\" href=\"?root/no\">Root</a></li>\n"
                    "<li><a id=\"nav-modules\" href=\"?program_modules\">Modules</a></li>\n"
                    "<li><a id=\"nav-top\" href=\"?top_procs/1-100/callseqs/self/oa\">Top "
                    "procedures</a></li>\n"
                    "<li><a id=\"nav-help\" href=\"?help/all\">Help</a></li>\n"
                    "</ul>\n"
                    "</nav>\n"
                    "</header>\n"
                    "<main id=\"main\" tabindex=\"-1\">\n"
                    "<h1>A &amp; B</h1>\n"
                    "<p class=\"incomplete\" role=\"status\">&lt;1 s&gt;</p>\n"
                    "<p>&lt;/p&gt;&lt;script&gt;</p>\n"
                    "</main>\n"
                    "</body>\n"
                    "</html>\n");
}

static void a_page_can_stand_alone(void)
{
    struct fm_html_options options = {
        .inline_assets = true, .asset_prefix = "/assets/", .no_navigation = true};
    g_autoptr(FmDisplay) display = fm_display_new(NULL);

    fm_add_heading(fm_display_body(display), "There is no such clique.");
    g_autofree char *html = as_html(display, NULL, &options);
    g_assert_nonnull(strstr(html, "<style>\n/* SPDX-License-Identifier: Apache-2.0 */"));
    g_assert_nonnull(strstr(html, "</style>\n</head>"));
    g_assert_null(strstr(html, "/assets/"));
    g_assert_null(strstr(html, "<script"));
    g_assert_null(strstr(html, "<nav"));
    g_assert_nonnull(strstr(html, "<title>fathom</title>"));
    g_assert_nonnull(strstr(html, "<h1>There is no such clique.</h1>"));
    g_autofree char *bare = as_html(display, NULL, NULL);
    g_assert_null(strstr(bare, "<link"));
    g_assert_null(strstr(bare, "<style"));
}

static void controls_form_one_panel_with_stable_ids(void)
{
    struct fm_query query = small_query(FM_CMD_MENU, 0);
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_list *body = fm_display_body(display);
    struct fm_list *list;

    list = fm_add_list(body, FM_LIST_HORIZONTAL_EXCEPT_TITLE, "Toggle:");
    fm_add_control(list, &query, "Box", "box");
    fm_add_control(list, &query, "Again", "box");
    fm_add_control(fm_add_developer(list), &query, "Raw", "raw");
    list = fm_add_list(body, FM_LIST_PLAIN, "Fields:");
    list = fm_add_list(list, FM_LIST_HORIZONTAL, NULL);
    fm_add_control(list, &query, "Ports", "main");
    list = fm_add_list(body, FM_LIST_HORIZONTAL, "Only for developers:");
    fm_add_control(fm_add_developer(list), &query, "Raw", NULL);
    fm_add_text(body, "end");
    g_autofree char *html = as_html(display, NULL, NULL);
    g_autofree char *controls = between(html, "<nav class=\"controls\"", "<p>end");
    g_assert_cmpstr(controls, ==,
                    "<nav class=\"controls\" id=\"controls\" aria-label=\"Controls\">\n"
                    "<div class=\"list\">\n"
                    "<h2>Toggle:</h2>\n"
                    "<ul class=\"horizontal\">\n"
                    "<li><a class=\"control\" id=\"box\" href=\"menu\">Box</a></li>\n"
                    "<li><a class=\"control\" href=\"menu\">Again</a></li>\n"
                    "</ul>\n"
                    "</div>\n"
                    "<div class=\"list\">\n"
                    "<h2>Fields:</h2>\n"
                    "<ul class=\"vertical\">\n"
                    "<li><div class=\"list line\">\n"
                    "<ul class=\"horizontal\">\n"
                    "<li><a class=\"control\" href=\"menu\">Ports</a></li>\n"
                    "</ul>\n"
                    "</div>\n"
                    "</li>\n"
                    "</ul>\n"
                    "</div>\n"
                    "</nav>\n");
}

static void preferences_decide_boxes_colours_and_developer_items(void)
{
    g_autoptr(FmDisplay) display = small_page(FM_BOX_IF_PREFERRED);
    struct fm_preferences preferences;

    fm_preferences_default(&preferences, true, false);
    g_autofree char *boxed = as_html(display, &preferences, NULL);
    g_assert_nonnull(strstr(boxed, "<table class=\"boxed\">"));
    g_assert_null(strstr(boxed, "<i>"));
    preferences.box = false;
    preferences.developer = true;
    g_autofree char *plain = as_html(display, &preferences, NULL);
    g_assert_nonnull(strstr(plain, "<table class=\"plain\">"));
    g_assert_nonnull(strstr(plain, "<tr class=\"r-secret dev\"><th scope=\"row\" "
                                   "class=\"module_name\"><i><u>dev</u></i></th>"
                                   "<td colspan=\"2\"></td></tr>"));
}

static void groups_alternate_where_they_may_be_coloured(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);
    struct fm_preferences preferences;
    static const enum fm_colour colours[] = {FM_COLOUR_NEVER, FM_COLOUR_IF_PREFERRED,
                                             FM_COLOUR_IF_PREFERRED, FM_COLOUR_ALWAYS};

    for (unsigned i = 0; i < G_N_ELEMENTS(colours); i++) {
        fm_table_group(table, "G", FM_COLUMN_NUMBER, colours[i]);
        fm_table_column(table, NULL, NULL, NULL);
    }
    fm_preferences_default(&preferences, true, false);
    g_autofree char *html = as_html(display, &preferences, NULL);
    g_autofree char *groups = between(html, "<colgroup", "<thead>");
    g_assert_cmpstr(groups, ==,
                    "<colgroup span=\"1\"></colgroup>\n"
                    "<colgroup span=\"1\" class=\"tint\"></colgroup>\n"
                    "<colgroup span=\"1\"></colgroup>\n"
                    "<colgroup span=\"1\" class=\"tint\"></colgroup>\n");
    preferences.colour = false;
    g_autofree char *faded = as_html(display, &preferences, NULL);
    g_autofree char *faded_groups = between(faded, "<colgroup", "<thead>");
    g_assert_cmpstr(faded_groups, ==,
                    "<colgroup span=\"1\"></colgroup>\n"
                    "<colgroup span=\"1\"></colgroup>\n"
                    "<colgroup span=\"1\"></colgroup>\n"
                    "<colgroup span=\"1\" class=\"tint\"></colgroup>\n");
}

static void the_heading_that_sorts_the_page_says_so(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);
    struct fm_query query = small_query(FM_CMD_CLIQUE, 1);
    struct fm_preferences preferences;

    fm_preferences_default(&preferences, true, false);
    query.has_preferences = true;
    query.preferences = preferences;
    query.preferences.order = FM_ORDER_NAME;
    fm_table_group(table, "Procedure", FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "procedure", &query);
    query.preferences.order = FM_ORDER_COST;
    fm_table_group(table, "Calls", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "calls_count", &query);
    g_autofree char *by_context = as_html(display, &preferences, NULL);
    g_assert_null(strstr(by_context, "aria-sort"));
    preferences.order = FM_ORDER_NAME;
    g_autofree char *by_name = as_html(display, &preferences, NULL);
    g_assert_nonnull(strstr(by_name, "class=\"proc\" aria-sort=\"ascending\"><a"));
    preferences.order = FM_ORDER_COST;
    g_autofree char *by_cost = as_html(display, &preferences, NULL);
    g_assert_nonnull(strstr(by_cost, "class=\"number\" aria-sort=\"descending\"><a"));
    g_assert_nonnull(strstr(by_cost, "href=\"clique/1&amp;p-q-s-_-w/box/cols/5/20/nosum/"
                                     "cost-callseqs-both-oa/nc/th/mqwd/hhh/nodev\""));
}

static void lists_texts_and_verbatim(void)
{
    struct fm_query module = {.command = {.id = FM_CMD_MODULE, .module = (char[]){"a&b %\"<"}}};
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_list *body = fm_display_body(display);
    struct fm_list *list = fm_add_list(body, FM_LIST_BULLETS, "Start <here>:");

    fm_add_link(list, &module, "a&b.c");
    fm_add_list(list, FM_LIST_PLAIN, "empty");
    fm_add_text(fm_add_developer(body), "hidden");
    fm_add_link(body, &module, "alone");
    fm_add_paragraph_break(body);
    fm_add_verbatim(body, "\n\t<x>\r\n");
    g_autofree char *html = as_html(display, NULL, NULL);
    g_autofree char *items = between(html, "<div class=\"list\">", "</main>");
    g_assert_cmpstr(items, ==,
                    "<div class=\"list\">\n"
                    "<h2>Start &lt;here&gt;:</h2>\n"
                    "<ul class=\"bullets\">\n"
                    "<li><a class=\"link\" href=\"module/a%26b%20%25%22%3C\">a&amp;b.c</a></li>\n"
                    "</ul>\n"
                    "</div>\n"
                    "<p><a class=\"link\" href=\"module/a%26b%20%25%22%3C\">alone</a></p>\n"
                    "<div class=\"break\"></div>\n"
                    "<pre tabindex=\"0\">\n\n\t&lt;x&gt;\xE2\x90\x8D\n</pre>\n");
}

static void numbers_that_show_as_zero_are_faint(void)
{
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);

    fm_table_group(table, "N", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    for (unsigned i = 0; i < 12; i++)
        fm_table_column(table, "n", NULL, NULL);
    fm_table_row(table, NULL, false);
    fm_cell_int(table, 0);
    fm_cell_int(table, -1);
    fm_cell_percent(table, 0.00004);
    fm_cell_percent(table, 0.00006);
    fm_cell_float(table, -0.004);
    fm_cell_float(table, 0.006);
    fm_cell_time(table, 0);
    fm_cell_time(table, 1e-9);
    fm_cell_memory(table, 0.4, 8, FM_UNIT_WORDS, 0);
    fm_cell_memory(table, 0.4, 8, FM_UNIT_WORDS, 2);
    fm_cell_float(table, 0.0 / 0.0);
    fm_cell_percent(table, 0.0 / 0.0);
    g_autofree char *html = as_html(display, NULL, NULL);
    g_autofree char *row = between(html, "<td", "</tr>");
    g_assert_cmpstr(row, ==,
                    "<td class=\"number zero\">0</td><td class=\"number\">-1</td>"
                    "<td class=\"number zero\">0.00</td><td class=\"number pct p0\">0.01</td>"
                    "<td class=\"number zero\">0.00</td><td class=\"number\">0.01</td>"
                    "<td class=\"number zero\">0</td><td class=\"number\">1.0ns</td>"
                    "<td class=\"number zero\">0</td><td class=\"number\">0.40</td>"
                    "<td class=\"number\">nan</td><td class=\"number\">nan</td>");
}

static void other_formats_are_linked(void)
{
    static const struct fm_html_alternate alternates[] = {
        {"JSON", "application/json", "/deep.json?menu&x"}, {NULL, NULL, NULL}};
    struct fm_html_options options = {.alternates = alternates};
    g_autoptr(FmDisplay) display = fm_display_new("T");
    g_autofree char *html = as_html(display, NULL, &options);

    g_assert_nonnull(strstr(html, "<link rel=\"alternate\" type=\"application/json\" "
                                  "href=\"/deep.json?menu&amp;x\">\n</head>"));
    g_assert_nonnull(strstr(html, "</main>\n<footer>\n<nav aria-label=\"Formats\">This page as\n"
                                  "<ul>\n<li><a type=\"application/json\" "
                                  "href=\"/deep.json?menu&amp;x\">JSON</a></li>\n</ul>\n</nav>\n"
                                  "</footer>\n</body>"));
}

static void a_cell_may_say_more(void)
{
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, "t");

    fm_table_column(table, NULL, "a", NULL);
    fm_cell_full(table, "there is no cell yet");
    fm_cell_string(table, "v<int>", FM_STYLE_PLAIN);
    fm_cell_full(table, "v<int, \"a\">");
    fm_table_row(table, NULL, false);
    fm_cell_string(table, "w", FM_STYLE_PLAIN);
    fm_cell_full(table, NULL);
    g_autofree char *html = as_html(display, NULL, NULL);
    g_assert_nonnull(strstr(html, " title=\"v&lt;int, &quot;a&quot;&gt;\">"));
    g_assert_null(strstr(html, "no cell"));
    g_autofree char *json = as_json(display, NULL);
    g_assert_nonnull(
        strstr(json, "\"cells\": {\"a\": \"v<int>\", \"a_full\": \"v<int, \\\"a\\\">\"}}"));
    g_assert_nonnull(strstr(json, "\"cells\": {\"a\": \"w\"}}"));
}

static void a_row_may_be_empty(void)
{
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, "t");

    fm_table_column(table, NULL, "a", NULL);
    fm_table_column(table, NULL, "b", NULL);
    fm_table_row(table, NULL, false);
    g_autofree char *html = as_html(display, NULL, NULL);
    g_assert_nonnull(strstr(html, "<tbody>\n<tr><td colspan=\"2\"></td></tr>\n</tbody>"));
    g_autofree char *json = as_json(display, NULL);
    g_assert_nonnull(strstr(json, "\"cells\": {\"a\": null, \"b\": null}}"));
    g_autofree char *csv = as_csv(display, NULL);
    g_assert_cmpstr(csv, ==, "a,b\r\n,\r\n");
    g_autofree char *text = as_text(display, NULL, 0, false);
    g_assert_cmpstr(text, ==, "T\n=\n\n\n");
}

static void a_source_listing(void)
{
    static const struct fm_source_line lines[] = {
        {9, "\tif (a < b)", 1234, 0.4, 99.7}, {10, NULL, -1, -1, -1}, {11, "x", 0, 0.004, 0}};
    g_autoptr(FmDisplay) display = fm_display_new("T");

    fm_add_source(fm_display_body(display), "a<b>.c", lines, 3);
    fm_add_source(fm_display_body(display), NULL, lines, 1);
    g_autofree char *html = as_html(display, NULL, NULL);
    g_autofree char *table = between(html, "<table",
                                     "<div class=\"wide\" tabindex=\"0\">\n<table "
                                     "class=\"source\">\n<caption>source");
    g_assert_cmpstr(
        table, ==,
        "<table class=\"source\">\n<caption>a&lt;b&gt;.c</caption>\n"
        "<thead><tr><th scope=\"col\">Line</th><th scope=\"col\">Calls</th>"
        "<th scope=\"col\">Self %</th><th scope=\"col\">Total %</th>"
        "<th scope=\"col\" class=\"code\">Source</th></tr></thead>\n"
        "<tbody>\n"
        "<tr><th scope=\"row\" id=\"L9\">9</th><td>1,234</td><td class=\"pct p0\">0.40</td>"
        "<td class=\"pct p100\">99.70</td><td class=\"code\"><code>\tif (a &lt; b)</code></td>"
        "</tr>\n"
        "<tr class=\"dead\"><th scope=\"row\" id=\"L10\">10</th><td></td><td></td><td></td>"
        "<td class=\"code\"><code></code></td></tr>\n"
        "<tr><th scope=\"row\" id=\"L11\">11</th><td class=\"zero\">never</td>"
        "<td class=\"zero\">0.00</td><td class=\"zero\">0.00</td>"
        "<td class=\"code\"><code>x</code></td></tr>\n"
        "</tbody>\n</table>\n</div>\n");
    /* Ids stay unique: only the first listing has them. */
    g_assert_null(strstr(strstr(html, "<caption>source"), " id="));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/html/table", the_table_of_the_small_page);
    g_test_add_func("/display/html/frame", the_frame);
    g_test_add_func("/display/html/alone", a_page_can_stand_alone);
    g_test_add_func("/display/html/controls", controls_form_one_panel_with_stable_ids);
    g_test_add_func("/display/html/preferences",
                    preferences_decide_boxes_colours_and_developer_items);
    g_test_add_func("/display/html/colours", groups_alternate_where_they_may_be_coloured);
    g_test_add_func("/display/html/sort", the_heading_that_sorts_the_page_says_so);
    g_test_add_func("/display/html/lists", lists_texts_and_verbatim);
    g_test_add_func("/display/html/zero", numbers_that_show_as_zero_are_faint);
    g_test_add_func("/display/html/formats", other_formats_are_linked);
    g_test_add_func("/display/html/a-cell-may-say-more", a_cell_may_say_more);
    g_test_add_func("/display/html/empty", a_row_may_be_empty);
    g_test_add_func("/display/html/source", a_source_listing);
    return g_test_run();
}

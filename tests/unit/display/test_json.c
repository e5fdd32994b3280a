/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "small_page.h"

static void the_whole_small_page(void)
{
    g_autoptr(FmDisplay) display = small_page(FM_BOX_ALWAYS);
    g_autofree char *json = as_json(display, NULL);

    g_assert_cmpstr(
        json, ==,
        "{\n"
        "  \"page\": \"program_modules\",\n"
        "  \"title\": \"Modules of <x>:\",\n"
        "  \"incomplete\": null,\n"
        "  \"facts\": {},\n"
        "  \"text\": [],\n"
        "  \"tables\": [\n"
        "    {\n"
        "      \"name\": \"top_modules\",\n"
        "      \"columns\": [\n"
        "        {\"name\": \"module\", \"group\": \"Module\", \"title\": null, \"unit\": null},\n"
        "        {\"name\": \"callseqs_self_count\", \"group\": \"Calls\", \"title\": \"Self\", "
        "\"unit\": \"count\"},\n"
        "        {\"name\": \"callseqs_self_percent\", \"group\": \"Calls\", \"title\": \"%\", "
        "\"unit\": \"percent\"}\n"
        "      ],\n"
        "      \"rows\": [\n"
        "        {\"role\": \"module\", \"section\": \"Part one:\", \"cells\": {\"module\": "
        "\"list.sort\", \"module_query\": \"clique/3\", \"callseqs_self_count\": 1234567, "
        "\"callseqs_self_percent\": 25.5}},\n"
        "        {\"role\": null, \"section\": \"Part one:\", \"cells\": {\"module\": "
        "\"a<b>&\\\"'\xEF\xBF\xBD.c_d/e::f\\u001b\\n\\u0085\xE2\x80\xAE"
        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\", "
        "\"callseqs_self_count\": null, \"callseqs_self_percent\": null}}\n"
        "      ]\n"
        "    }\n"
        "  ],\n"
        "  \"sources\": [],\n"
        "  \"links\": [],\n"
        "  \"controls\": []\n"
        "}\n");
}

static void facts_and_incomplete(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);

    fm_display_set_incomplete(display, "computing \\");
    fm_display_fact_int(display, "nodes", INT64_MIN);
    fm_display_fact_double(display, "seconds", 0.1);
    fm_display_fact_double(display, "bad", (double)NAN);
    fm_display_fact_double(display, "endless", -HUGE_VAL);
    fm_display_fact_string(display, "program", "a\"b\xE2\x80\xA8");
    fm_display_fact_string(display, "none", NULL);
    fm_display_fact_bool(display, "recursive", true);
    fm_display_fact_bool(display, "threads", false);
    g_autofree char *json = as_json(display, NULL);
    g_assert_cmpstr(json, ==,
                    "{\n"
                    "  \"page\": null,\n"
                    "  \"title\": null,\n"
                    "  \"incomplete\": \"computing \\\\\",\n"
                    "  \"facts\": {\n"
                    "    \"nodes\": -9223372036854775808,\n"
                    "    \"seconds\": 0.1,\n"
                    "    \"bad\": null,\n"
                    "    \"endless\": null,\n"
                    "    \"program\": \"a\\\"b\\u2028\",\n"
                    "    \"none\": null,\n"
                    "    \"recursive\": true,\n"
                    "    \"threads\": false\n"
                    "  },\n"
                    "  \"text\": [],\n"
                    "  \"tables\": [],\n"
                    "  \"sources\": [],\n"
                    "  \"links\": [],\n"
                    "  \"controls\": []\n"
                    "}\n");
}

static void links_controls_and_texts_stand_apart(void)
{
    struct fm_query menu = small_query(FM_CMD_MENU, 0);
    struct fm_query module = {.command = {.id = FM_CMD_MODULE, .module = (char[]){"a&b"}}};
    static const struct fm_source_line lines[] = {{1, "\tx", 2, 12.5, -1}};
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_list *body = fm_display_body(display);
    struct fm_list *list = fm_add_list(body, FM_LIST_BULLETS, "Start:");

    fm_add_link(list, &module, "A module");
    fm_add_link(fm_add_developer(list), &menu, "hidden");
    fm_add_heading(body, "H");
    fm_add_verbatim(body, "V\n");
    fm_add_control(fm_add_list(list, FM_LIST_PLAIN, NULL), &menu, "Menu", "menu");
    fm_add_source(body, NULL, lines, 1);
    fm_add_text(fm_add_developer(body), "for developers");
    g_autofree char *json = as_json(display, NULL);
    const char *from_text = strstr(json, "  \"text\"");
    g_assert_cmpstr(from_text, ==,
                    "  \"text\": [\n"
                    "    {\"kind\": \"heading\", \"text\": \"H\"},\n"
                    "    {\"kind\": \"verbatim\", \"text\": \"V\\n\"}\n"
                    "  ],\n"
                    "  \"tables\": [],\n"
                    "  \"sources\": [\n"
                    "    {\n"
                    "      \"file\": null,\n"
                    "      \"lines\": [\n"
                    "        {\"line\": 1, \"calls_count\": 2, \"self_percent\": 12.5, "
                    "\"total_percent\": null, \"text\": \"\\tx\"}\n"
                    "      ]\n"
                    "    }\n"
                    "  ],\n"
                    "  \"links\": [\n"
                    "    {\"list\": \"Start:\", \"text\": \"A module\", \"query\": "
                    "\"module/a&b&\"}\n"
                    "  ],\n"
                    "  \"controls\": [\n"
                    "    {\"id\": \"menu\", \"list\": \"Start:\", \"text\": \"Menu\", \"query\": "
                    "\"menu\"}\n"
                    "  ]\n"
                    "}\n");
}

static void spans_cover_their_columns_with_null(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);

    fm_table_column(table, NULL, "a", NULL);
    fm_table_column(table, NULL, "b_seconds", NULL);
    fm_table_column(table, NULL, "c_bytes", NULL);
    fm_table_column(table, NULL, "d_words", NULL);
    fm_table_row(table, NULL, false);
    fm_cell_empty(table);
    fm_cell_time(table, 0.25);
    fm_cell_memory(table, 2, 8, FM_UNIT_BYTES, 0);
    fm_cell_memory(table, 2.5, 8, FM_UNIT_WORDS, 2);
    fm_table_row(table, NULL, false);
    fm_cell_int(table, 1);
    fm_cell_span(table, 3);
    fm_cell_float(table, 1e300);
    g_autofree char *json = as_json(display, NULL);
    g_assert_nonnull(strstr(json, "\"cells\": {\"a\": null, \"b_seconds\": 0.25, \"c_bytes\": 16, "
                                  "\"d_words\": 2.5}}"));
    g_assert_nonnull(strstr(json, "\"cells\": {\"a\": 1, \"b_seconds\": null, \"c_bytes\": null, "
                                  "\"d_words\": 1e+300}}"));
    g_assert_nonnull(strstr(json, "\"c_bytes\", \"group\": null, \"title\": null, \"unit\": "
                                  "\"bytes\""));
}

/* Links that are no queries, and the notice, which is there only when it is set. */
static void notice_and_href(void)
{
    g_autoptr(FmDisplay) display = fm_display_new("T");
    fm_display_set_notice(display, "not the page");
    fm_add_href(fm_display_body(display), "deep?a&b", "go");
    g_autoptr(GString) json = g_string_new(NULL);
    fm_json_write(display, NULL, json);
    g_assert_nonnull(strstr(json->str, "\"notice\": \"not the page\""));
    g_assert_nonnull(strstr(json->str, "\"deep?a&b\""));
    g_autoptr(GString) html = g_string_new(NULL);
    fm_html_write(display, NULL, NULL, html);
    g_assert_nonnull(strstr(html->str, "<p class=\"notice\" role=\"status\">not the page</p>"));
    g_assert_nonnull(strstr(html->str, "href=\"deep?a&amp;b\">go</a>"));
    g_autoptr(GString) text = g_string_new(NULL);
    fm_text_write(display, NULL, NULL, text);
    g_assert_nonnull(strstr(text->str, "Note: not the page"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/json/page", the_whole_small_page);
    g_test_add_func("/display/json/notice-and-href", notice_and_href);
    g_test_add_func("/display/json/facts", facts_and_incomplete);
    g_test_add_func("/display/json/links", links_controls_and_texts_stand_apart);
    g_test_add_func("/display/json/spans", spans_cover_their_columns_with_null);
    return g_test_run();
}

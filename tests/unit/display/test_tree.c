/* SPDX-License-Identifier: Apache-2.0 */
/* Building pages: what the builders copy, fill in and put right. */
#include <string.h>

#include "small_page.h"

static void strings_are_copied(void)
{
    char title[] = "title", cell[] = "cell", name[] = "name", role[] = "role", list[] = "list";
    g_autoptr(FmDisplay) display = fm_display_new(title);
    struct fm_table *table = fm_add_table(
        fm_add_list(fm_display_body(display), FM_LIST_PLAIN, list), FM_BOX_NEVER, name);
    struct fm_query query = {.command = {.id = FM_CMD_MODULE, .module = g_strdup("m")}};
    char *const strings[] = {title, cell, name, role, list};

    fm_table_column(table, cell, name, &query);
    fm_table_section(table, cell, false);
    fm_table_row(table, role, false);
    fm_cell_string(table, cell, FM_STYLE_PLAIN);
    fm_table_row(table, role, false);
    fm_cell_link(table, &query, cell, FM_STYLE_PLAIN);
    fm_add_text(fm_display_body(display), cell);
    fm_query_done(&query);
    for (unsigned i = 0; i < G_N_ELEMENTS(strings); i++)
        memset(strings[i], 'X', strlen(strings[i]));
    g_autofree char *json = as_json(display, NULL);
    g_autofree char *html = as_html(display, NULL, NULL);
    g_assert_null(strstr(json, "XX"));
    g_assert_null(strstr(html, "XX"));
    g_assert_nonnull(strstr(json,
                            "{\"role\": \"role\", \"section\": \"cell\", \"cells\": {\"name\": "
                            "\"cell\", \"name_query\": \"module/m\"}}"));
}

/* Many strings, and strings larger than a piece of the arena. */
static void large_pages_keep_every_cell(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, "t");
    g_autofree char *large = g_strnfill(200000, 'y');

    fm_table_column(table, NULL, "a", NULL);
    fm_table_column(table, NULL, "b", NULL);
    for (unsigned i = 0; i < 20000; i++) {
        g_autofree char *text = g_strdup_printf("name %u", i);

        fm_table_row(table, i % 2 ? "odd" : "even", false);
        fm_cell_string(table, text, FM_STYLE_PLAIN);
        fm_cell_int(table, i);
        if (i % 5000 == 0)
            fm_add_text(fm_display_body(display), large);
    }
    g_autofree char *csv = as_csv(display, NULL);
    const char *at = strchr(csv, '\n') + 1;
    for (unsigned i = 0; i < 20000; i++) {
        g_autofree char *want = g_strdup_printf("%s,name %u,%u\r\n", i % 2 ? "odd" : "even", i, i);

        g_assert_true(g_str_has_prefix(at, want));
        at += strlen(want);
    }
    g_assert_cmpstr(at, ==, "");
    g_autofree char *html = as_html(display, NULL, NULL);
    g_autofree char *paragraph = g_strconcat("<p>", large, "</p>", NULL);
    const char *first = strstr(html, paragraph);
    g_assert_nonnull(first);
    g_assert_nonnull(strstr(first + 1, paragraph));
}

static void links_with_many_preferences_keep_their_own(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_query query = {.command = {.id = FM_CMD_MENU}, .has_preferences = true};

    fm_preferences_default(&query.preferences, true, false);
    for (unsigned i = 0; i < 100; i++) {
        query.preferences.ancestors = i % 30;
        fm_add_link(fm_display_body(display), &query, "x");
    }
    g_autofree char *json = as_json(display, NULL);
    const char *at = json;
    for (unsigned i = 0; i < 100; i++) {
        g_autofree char *want = g_strdup_printf(
            "\"query\": \"menu&p-q-s-_-w/box/cols/%u/20/nosum/context/nc/th/mqwd/hhh/nodev\"}",
            i % 30);

        at = strstr(at, "\"query\"");
        g_assert_nonnull(at);
        g_assert_true(g_str_has_prefix(at, want));
        at++;
    }
}

static void what_is_missing_is_filled_in(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);

    /* No group, no names, names twice, no row, a span of nothing. */
    fm_table_column(table, NULL, NULL, NULL);
    fm_table_column(table, "A", "a", NULL);
    fm_table_column(table, "B", "a", NULL);
    fm_table_column(table, "C", "a", NULL);
    fm_cell_span(table, 3);
    fm_cell_string(table, NULL, FM_STYLE_PLAIN);
    fm_cell_span(table, 0);
    fm_table_section(table, NULL, false);
    fm_cell_int(table, 1);
    fm_cell_link(table, &(struct fm_query){.command = {.id = FM_CMD_MENU}}, NULL, FM_STYLE_PLAIN);
    fm_cell_int(table, 3);
    fm_cell_int(table, 4);
    fm_cell_int(table, 5);
    g_autofree char *csv = as_csv(display, NULL);
    g_assert_cmpstr(csv, ==,
                    "section,column_1,a,a_2,a_3,column_5\r\n"
                    ",,,,,\r\n"
                    ",1,,3,4,5\r\n");
}

static void developer_lists_belong_to_the_list_around_them(void)
{
    struct fm_query query = {.command = {.id = FM_CMD_MENU}};
    struct fm_preferences preferences;
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_list *list = fm_add_list(fm_display_body(display), FM_LIST_BULLETS, "Reports:");

    fm_add_link(list, &query, "Procedure");
    fm_add_link(fm_add_developer(list), &query, "Raw");
    list = fm_add_list(fm_display_body(display), FM_LIST_BULLETS, "For developers:");
    fm_add_link(fm_add_developer(list), &query, "Dump");
    fm_preferences_default(&preferences, true, false);
    g_autofree char *shown = as_text(display, &preferences, 0, false);
    g_assert_cmpstr(shown, ==, "T\n=\n\nReports:\n  * Procedure\n");
    preferences.developer = true;
    g_autofree char *all = as_text(display, &preferences, 0, false);
    g_assert_cmpstr(all, ==,
                    "T\n=\n\nReports:\n  * Procedure\n  * Raw\n\nFor developers:\n  * Dump\n");
    g_autofree char *html = as_html(display, &preferences, NULL);
    g_assert_nonnull(strstr(html, "<li><a class=\"link\" href=\"menu\">Procedure</a></li>\n"
                                  "<li><a class=\"link\" href=\"menu\">Raw</a></li>\n</ul>"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/tree/copies", strings_are_copied);
    g_test_add_func("/display/tree/large", large_pages_keep_every_cell);
    g_test_add_func("/display/tree/preferences", links_with_many_preferences_keep_their_own);
    g_test_add_func("/display/tree/missing", what_is_missing_is_filled_in);
    g_test_add_func("/display/tree/developer", developer_lists_belong_to_the_list_around_them);
    return g_test_run();
}

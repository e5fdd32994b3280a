/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "small_page.h"

static void the_small_page_boxed(void)
{
    g_autoptr(FmDisplay) display = small_page(FM_BOX_ALWAYS);
    g_autofree char *text = as_text(display, NULL, 0, false);

    g_assert_cmpstr(text, ==,
                    "Modules of <x>:\n"
                    "===============\n"
                    "\n"
                    "              |      Calls\n"
                    "Module        |      Self      %\n"
                    "--------------+-----------------\n"
                    "Part one:\n"
                    "\n"
                    "list.sort     | 1,234,567  25.50\n"
                    "a<b>&\"'\xEF\xBF\xBD.c_d/e::f\xE2\x90\x9B\xE2\x90\x8A\xEF\xBF\xBD"
                    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\n");
}

static void preferences_decide_lines_and_developer_rows(void)
{
    g_autoptr(FmDisplay) display = small_page(FM_BOX_IF_PREFERRED);
    struct fm_preferences preferences;

    fm_preferences_default(&preferences, true, false);
    preferences.box = false;
    preferences.developer = true;
    g_autofree char *text = as_text(display, &preferences, 0, false);
    g_assert_nonnull(strstr(text, "\nModule               Self      %\n"
                                  "--------------  ---------  -----\n"));
    g_assert_true(g_str_has_suffix(text, "\ndev\n"));
}

/* Rank and name, then three groups of numbers. */
static struct fm_display *wide_page(const char *name)
{
    static const char *const titles[] = {"One", "Two", "Three"};
    struct fm_display *display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_ALWAYS, NULL);

    fm_table_group(table, "Rank", FM_COLUMN_ORDINAL_RANK, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "rank", NULL);
    fm_table_group(table, "Name", FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "name", NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(titles); i++) {
        fm_table_group(table, titles[i], FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
        fm_table_column(table, "A", NULL, NULL);
        fm_table_column(table, "B", NULL, NULL);
    }
    fm_table_row(table, NULL, false);
    fm_cell_int(table, 1);
    fm_cell_string(table, name, FM_STYLE_PLAIN);
    for (unsigned i = 0; i < 6; i++)
        fm_cell_int(table, (int64_t)(i + 1) * 1000);
    return display;
}

static void long_names_are_wrapped_when_that_is_enough(void)
{
    g_autoptr(FmDisplay) display = wide_page("hlds.goal_util.a_procedure/3");
    g_autofree char *whole = as_text(display, NULL, 0, false);
    g_autofree char *narrow = as_text(display, NULL, 74, false);

    g_assert_cmpstr(
        whole, ==,
        "     |                              |     One      |     Two      |    Three\n"
        "Rank | Name                         |     A      B |     A      B |     A      "
        "B\n"
        "-----+------------------------------+--------------+--------------+----------"
        "---\n"
        "   1 | hlds.goal_util.a_procedure/3 | 1,000  2,000 | 3,000  4,000 | 5,000  "
        "6,000\n");
    g_assert_cmpstr(narrow, ==,
                    "     |                        |     One      |     Two      |    Three\n"
                    "Rank | Name                   |     A      B |     A      B |     A      B\n"
                    "-----+------------------------+--------------+--------------+-------------\n"
                    "   1 | hlds.goal_util.a_      | 1,000  2,000 | 3,000  4,000 | 5,000  6,000\n"
                    "     | procedure/3            |              |              |\n");
}

static void too_wide_tables_are_written_in_parts(void)
{
    g_autoptr(FmDisplay) display = wide_page("a_rather_long_name_of_it");
    g_autofree char *text = as_text(display, NULL, 64, false);

    g_assert_cmpstr(text, ==,
                    "     |                          |     One      |     Two\n"
                    "Rank | Name                     |     A      B |     A      B\n"
                    "-----+--------------------------+--------------+-------------\n"
                    "   1 | a_rather_long_name_of_it | 1,000  2,000 | 3,000  4,000\n"
                    "\n"
                    "     |                          |    Three\n"
                    "Rank | Name                     |     A      B\n"
                    "-----+--------------------------+-------------\n"
                    "   1 | a_rather_long_name_of_it | 5,000  6,000\n");
}

/* Every cell is there, however narrow the terminal. */
static void nothing_is_lost_at_any_width(void)
{
    g_autoptr(FmDisplay) display = wide_page("verylongnamewithoutanyplacetobreakit");

    for (unsigned width = 1; width < 130; width++) {
        g_autofree char *text = as_text(display, NULL, width, false);
        GString *letters = g_string_new(NULL);

        for (const char *c = text; *c; c++) {
            if (g_ascii_islower(*c))
                g_string_append_c(letters, *c);
        }
        g_assert_nonnull(strstr(letters->str, "verylongnamewithoutanyplacetobreakit"));
        g_string_free(letters, TRUE);
        for (unsigned i = 1; i <= 6; i++) {
            g_autofree char *number = g_strdup_printf("%u,000", i);
            g_assert_nonnull(strstr(text, number));
        }
    }
}

static void wide_and_combining_characters_stay_aligned(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);
    static const char *const names[] = {"\xE6\xBC\xA2\xE5\xAD\x97", "e\xCC\x81t\xC3\xA9", "abcd"};

    fm_table_group(table, "N", FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, NULL, NULL);
    fm_table_group(table, "C", FM_COLUMN_NUMBER, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, NULL, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        fm_table_row(table, NULL, false);
        fm_cell_string(table, names[i], FM_STYLE_PLAIN);
        fm_cell_int(table, i);
    }
    g_autofree char *text = as_text(display, NULL, 0, false);
    g_assert_cmpstr(text, ==,
                    "N     C\n"
                    "----  -\n"
                    "\xE6\xBC\xA2\xE5\xAD\x97  0\n"
                    "e\xCC\x81t\xC3\xA9   1\n"
                    "abcd  2\n");
}

static void colours_mark_style_and_share(void)
{
    g_autoptr(FmDisplay) display = fm_display_new("T");
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);

    fm_table_row(table, NULL, false);
    fm_cell_string(table, "x\x1By", FM_STYLE_BOLD | FM_STYLE_UNDERLINE);
    fm_cell_percent(table, 0.5);
    fm_cell_percent(table, 0.06);
    fm_cell_percent(table, 0.01);
    g_autofree char *text = as_text(display, NULL, 0, true);
    g_assert_cmpstr(text, ==,
                    "\033[1mT\033[0m\n"
                    "=\n"
                    "\n"
                    "\033[1m\033[4mx\xE2\x90\x9By\033[0m  \033[31m50.00\033[0m  "
                    "\033[33m6.00\033[0m  1.00\n");
}

static void lists_are_shown_and_controls_are_not(void)
{
    struct fm_query menu = small_query(FM_CMD_MENU, 0);
    g_autoptr(FmDisplay) display = fm_display_new("Menu");
    struct fm_list *body = fm_display_body(display);
    struct fm_list *list = fm_add_list(body, FM_LIST_BULLETS, "You can start here:");

    fm_display_set_incomplete(display, "3 of 4 modules.");
    fm_add_link(list, &menu, "The root of the whole program that was recorded.");
    fm_add_link(list, &menu, "Modules.");
    fm_add_text(body, "Some words.");
    list = fm_add_list(body, FM_LIST_HORIZONTAL, "Related:");
    fm_add_link(list, &menu, "One");
    fm_add_link(list, &menu, "Two");
    list = fm_add_list(body, FM_LIST_HORIZONTAL, "General commands:");
    fm_add_control(list, &menu, "Quit", "quit");
    fm_add_heading(body, "Raw");
    fm_add_verbatim(body, "a\tb\n  c \n\nlast");
    g_autofree char *text = as_text(display, NULL, 30, false);
    g_assert_cmpstr(text, ==,
                    "Menu\n"
                    "====\n"
                    "\n"
                    "Incomplete: 3 of 4 modules.\n"
                    "\n"
                    "You can start here:\n"
                    "  * The root of the whole\n"
                    "    program that was recorded.\n"
                    "  * Modules.\n"
                    "Some words.\n"
                    "\n"
                    "Related: One, Two\n"
                    "\n"
                    "Raw\n"
                    "---\n"
                    "\n"
                    "a       b\n"
                    "  c\n"
                    "\n"
                    "last\n");
}

static void a_source_listing(void)
{
    static const struct fm_source_line lines[] = {{9, "\tif (a\x01)", 1234, 0.4, 99.7},
                                                  {10, NULL, -1, -1, -1}};
    g_autoptr(FmDisplay) display = fm_display_new(NULL);

    fm_add_source(fm_display_body(display), "a.c", lines, 2);
    g_autofree char *text = as_text(display, NULL, 0, false);
    g_assert_cmpstr(text, ==,
                    "a.c\n"
                    "   Line          Calls  Self %  Total%  Source\n"
                    "      9          1,234    0.40   99.70          if (a\xE2\x90\x81)\n"
                    "     10\n");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/text/boxed", the_small_page_boxed);
    g_test_add_func("/display/text/preferences", preferences_decide_lines_and_developer_rows);
    g_test_add_func("/display/text/wrap", long_names_are_wrapped_when_that_is_enough);
    g_test_add_func("/display/text/parts", too_wide_tables_are_written_in_parts);
    g_test_add_func("/display/text/whole", nothing_is_lost_at_any_width);
    g_test_add_func("/display/text/width", wide_and_combining_characters_stay_aligned);
    g_test_add_func("/display/text/colour", colours_mark_style_and_share);
    g_test_add_func("/display/text/lists", lists_are_shown_and_controls_are_not);
    g_test_add_func("/display/text/source", a_source_listing);
    return g_test_run();
}

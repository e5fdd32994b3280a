/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "small_page.h"

#define NONE "\xEF\xBF\xBD"

static void a_table_has_names_roles_and_sections(void)
{
    g_autoptr(FmDisplay) display = small_page(FM_BOX_ALWAYS);
    g_autofree char *csv = as_csv(display, NULL);

    g_assert_cmpstr(csv, ==,
                    "section,role,module,callseqs_self_count,callseqs_self_percent\r\n"
                    "Part one:,module,list.sort,1234567,25.5\r\n"
                    "Part one:,,\"a<b>&\"\"'" NONE
                    ".c_d/e::f\xE2\x90\x9B\xE2\x90\x8A" NONE NONE NONE NONE NONE "z\",,\r\n");
}

static void developer_rows_come_in_developer_mode(void)
{
    g_autoptr(FmDisplay) display = small_page(FM_BOX_ALWAYS);
    struct fm_preferences preferences;

    fm_preferences_default(&preferences, true, false);
    preferences.developer = true;
    g_autofree char *csv = as_csv(display, &preferences);
    g_assert_nonnull(strstr(csv, "\r\nPart one:,secret,dev,,\r\n"));
}

static void every_kind_of_number_is_plain(void)
{
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);

    fm_table_row(table, NULL, false);
    fm_cell_int(table, -1234);
    fm_cell_float(table, 1234.5678);
    fm_cell_percent(table, 0.125);
    fm_cell_time(table, 0.01);
    fm_cell_memory(table, 1000, 8, FM_UNIT_BYTES, 0);
    fm_cell_memory(table, 1000.25, 8, FM_UNIT_WORDS, 2);
    fm_cell_float(table, 0.0 / 0.0);
    g_autofree char *csv = as_csv(display, NULL);
    g_assert_cmpstr(csv, ==,
                    "column_1,column_2,column_3,column_4,column_5,column_6,column_7\r\n"
                    "-1234,1234.5678,12.5,0.01,8000,1000.25,\r\n");
}

/* What is no UTF-8, what a terminal obeys, what a spreadsheet takes for a formula. Numbers stay. */
static void texts_of_recordings_do_no_harm(void)
{
    static const char *const texts[][2] = {
        {"=1+1", "'=1+1"},
        {"+cmd", "'+cmd"},
        {"-1", "'-1"},
        {"@sum", "'@sum"},
        {"a=b", "a=b"},
        {"=\"x\",y", "\"'=\"\"x\"\",y\""},
        {"a\033[31mb\a\r\n", "a\xe2\x90\x9b[31mb\xe2\x90\x87\xe2\x90\x8d\xe2\x90\x8a"},
        {"\xff\xc3\xa4\xc3", "\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd"},
        {"\xc2\x9b", "\xef\xbf\xbd"},
        {"", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(FmDisplay) display = fm_display_new(NULL);
        struct fm_table *table = fm_add_table(fm_display_body(display), FM_BOX_NEVER, NULL);
        fm_table_row(table, NULL, false);
        fm_cell_int(table, -7);
        fm_cell_string(table, texts[i][0], FM_STYLE_PLAIN);
        g_autofree char *csv = as_csv(display, NULL);
        g_autofree char *expected = g_strdup_printf("column_1,column_2\r\n-7,%s\r\n", texts[i][1]);
        g_assert_cmpstr(csv, ==, expected);
    }
}

static void tables_are_set_off_by_a_blank_line(void)
{
    static const struct fm_source_line lines[] = {{7, "x = \"y\", z;", 3, 0.5, 100},
                                                  {8, NULL, -1, -1, -1}};
    g_autoptr(FmDisplay) display = fm_display_new(NULL);
    struct fm_list *list = fm_add_list(fm_display_body(display), FM_LIST_BULLETS, "t");
    struct fm_table *table = fm_add_table(list, FM_BOX_NEVER, "one");

    fm_table_column(table, "A", "a", NULL);
    fm_table_column(table, "A", "a", NULL);
    fm_table_column(table, "B", NULL, NULL);
    fm_add_source(fm_display_body(display), "f,g.c", lines, G_N_ELEMENTS(lines));
    g_autofree char *csv = as_csv(display, NULL);
    g_assert_cmpstr(csv, ==,
                    "a,a_2,column_3\r\n"
                    "\r\n"
                    "file,line,calls_count,self_percent,total_percent,text\r\n"
                    "\"f,g.c\",7,3,0.5,100,\"x = \"\"y\"\", z;\"\r\n"
                    "\"f,g.c\",8,,,,\r\n");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/csv/table", a_table_has_names_roles_and_sections);
    g_test_add_func("/display/csv/developer", developer_rows_come_in_developer_mode);
    g_test_add_func("/display/csv/numbers", every_kind_of_number_is_plain);
    g_test_add_func("/display/csv/several", tables_are_set_off_by_a_blank_line);
    g_test_add_func("/display/csv/texts", texts_of_recordings_do_no_harm);
    return g_test_run();
}

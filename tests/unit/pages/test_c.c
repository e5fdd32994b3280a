/* SPDX-License-Identifier: Apache-2.0 */
/* The words, columns and source text of pages of C programs. */
#include "base/error.h"
#include "world.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static void pages_speak_of_functions(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "proc/2&p-q-s-a-b/box/cols/5/20/nosum/context/nc/th/mqwd/"
                                          "shh/nodev");
    g_assert_cmpstr(page_title(&page), ==, "Summary of function main.c:main");
    JsonObject *row = row_at(&page, "proc", "proc", 0);
    g_assert_cmpstr(cell_string(row, "proc"), ==, "main");
    g_assert_cmpstr(cell_string(row, "source"), ==, "main.c:3");
    g_assert_false(has_column(&page, "proc", "fails_count"));
    g_assert_false(has_column(&page, "proc", "redos_count"));
    g_assert_true(has_column(&page, "proc", "exits_count"));
    g_assert_cmpint(cell_int(row, "excps_count"), ==, 1);
    g_assert_cmpint(cell_int(row, "calls_count"), ==, 1);
    g_assert_nonnull(row_where(&page, "proc", "proc", "btree.c:insert"));
    g_assert_nonnull(row_where(&page, "proc", "proc", "callback from qsort"));
    g_assert_nonnull(row_where(&page, "proc", "proc", "call of malloc"));
    JsonObject *unknown = row_where(&page, "proc", "proc", "unknown function");
    g_assert_cmpint(cell_int(unknown, "calls_count"), ==, 0);
    g_assert_null(control(&page, "sort-redos"));
    g_assert_null(control(&page, "memory-words"));
    page_done(&page);
    page = page_of(recording, "top_procs/1-9/callseqs/both/oa");
    g_assert_cmpstr(page_title(&page), ==, "Top functions ordered by total calls overall");
    page_done(&page);
    page = page_of(recording, "proc/5"); /* worker */
    g_assert_nonnull(row_where(&page, "proc", "proc", "call through pointer"));
    page_done(&page);
}

static void the_menu_tells_phases_and_notes(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "menu");
    JsonObject *row = row_where(&page, "phases", "phase", "before the first");
    g_assert_cmpfloat(cell_double(row, "lasted_seconds"), ==, 1.0);
    g_assert_cmpfloat(cell_double(row, "cpu_seconds"), ==, 0.1);
    row = row_where(&page, "phases", "phase", "load"); /* up to the next phase, not the snapshot */
    g_assert_cmpfloat(cell_double(row, "lasted_seconds"), ==, 1.0);
    g_assert_cmpfloat(cell_double(row, "cpu_seconds"), ==, 0.2);
    row = row_where(&page, "phases", "phase", "sort");
    g_assert_cmpfloat(cell_double(row, "begin_seconds"), ==, 2.0);
    g_assert_cmpfloat(cell_double(row, "lasted_seconds"), ==, 3.0);
    g_assert_cmpfloat(cell_double(row, "cpu_seconds"), ==, 0.1);
    g_assert_cmpfloat(cell_double(row, "cpu_percent"), ==, 25.0);
    g_assert_nonnull(strstr(page_text(&page), "three threads are not in it"));
    g_assert_nonnull(strstr(page_text(&page), "half: after 1.500 s, c.snap1.rec"));
    page_done(&page);
    page = page_of(recording, "top_procs/1-9/callseqs/both/oa");
    g_assert_cmpstr(control(&page, "sort-callseqs-self"), !=, NULL);
    page_done(&page);
}

static void memory_is_bytes_and_further_measures_follow(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "proc/3");
    JsonObject *insert = row_at(&page, "proc", "proc", 0);
    g_assert_cmpint(cell_int(insert, "memory_self_bytes"), ==, 4096);
    g_assert_cmpint(cell_int(insert, "freed_bytes_self_bytes"), ==, 1024);
    g_assert_false(has_column(&page, "proc", "frees_self_count")); /* without allocations */
    struct page allocs = page_of(recording, control(&page, "allocs"));
    insert = row_at(&allocs, "proc", "proc", 0);
    g_assert_cmpint(cell_int(insert, "frees_self_count"), ==, 2);
    g_assert_cmpfloat(cell_double(insert, "frees_total_percent"), ==, 100);
    page_done(&allocs);
    g_assert_false(has_column(&page, "proc", "never_self_count")); /* all zero */
    page_done(&page);
}

static void threads_are_roots(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "root/no");
    g_assert_cmpuint(row_count(&page, "clique", "callee"), ==, 2);
    g_assert_nonnull(row_where(&page, "clique", "proc", "threads (summary)"));
    g_assert_nonnull(row_where(&page, "clique", "proc", "main.c:main"));
    g_assert_nonnull(row_where(&page, "clique", "proc", "main.c:worker"));
    g_assert_null(control(&page, "clique")); /* it is this very page */
    page_done(&page);
    page = page_of(recording, "proc_callers/2/cl/1/20/nc");
    g_assert_cmpstr(cell_string(row_at(&page, "callers", "caller", 0), "members"), ==,
                    "the system");
    page_done(&page);
    page = page_of(recording, "program_modules");
    g_assert_cmpuint(row_count(&page, "modules", "module"), ==, 2);
    page_done(&page);
}

/* Nine tenths of the time are insert's; of the calls no callee has so many. */
static void the_action_is_where_the_time_goes(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    static const struct {
        const char *query, *proc;
    } rows[] = {
        {"root/90", "insert"},
        {"root/90&p-qtp-S-A-W/box/cols/5/20/nosum/cost-time-both-oa/nc/th/mqwd/hhh/nodev",
         "insert"},
        {"root/90&p-qtp-S-A-W/box/cols/5/20/nosum/cost-words-both-oa/nc/th/mqwd/hhh/nodev",
         "insert"},
        {"root/90&p-qtp-S-A-W/box/cols/5/20/nosum/cost-callseqs-both-oa/nc/th/mqwd/hhh/nodev",
         "threads"},
        {"root/90&p-qtp-S-A-W/box/cols/5/20/nosum/cost-redos-both-oa/nc/th/mqwd/hhh/nodev",
         "threads"},
        {"root/no", "threads"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct page page = page_of(recording, rows[i].query);
        JsonObject *first = row_at(&page, "clique", "proc", 0);
        g_test_message("%s", rows[i].query);
        g_assert_cmpstr(cell_string(first, "proc"), ==, rows[i].proc);
        page_done(&page);
    }
}

static JsonArray *source_lines(struct page *page)
{
    JsonArray *sources = json_object_get_array_member(page->root, "sources");
    g_assert_cmpuint(json_array_get_length(sources), ==, 1);
    return json_object_get_array_member(json_array_get_object_element(sources, 0), "lines");
}

static void lines_without_text_show_where_files_are_missing(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "proc/2");
    g_assert_nonnull(strstr(page_text(&page), "The source file main.c cannot be shown: No such"));
    g_assert_false(fact_bool(&page, "source_shown"));
    JsonArray *lines = source_lines(&page);
    g_assert_cmpuint(json_array_get_length(lines), ==, 3); /* the lines with call sites */
    JsonObject *line = json_array_get_object_element(lines, 0);
    g_assert_cmpint(json_object_get_int_member(line, "line"), ==, 6);
    page_done(&page);
}

static const char main_c[] = "int compare(const void *a, const void *b) { return 0; }\n"
                             "/* } */\n"
                             "int main(void)\n" /* 3 */
                             "{\n"
                             "    for (int i = 0; i < 3; i++) { // '{'\n"
                             "        insert(\"}\", '}');\n" /* 6 */
                             "    }\n"
                             "    qsort(a, 3, sizeof *a, compare);\n"
                             "    puts(\"\\\"}\");\n"
                             "}\n" /* 10 */
                             "\n"
                             "void worker(void)\n"
                             "{\n"
                             "    call();\n"
                             "}\n";

static void source_text_ends_with_the_function(void)
{
    GError *error = NULL;
    g_autofree char *folder = g_dir_make_tmp("fathom-source-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(folder, "main.c", NULL);
    g_assert_true(g_file_set_contents(path, main_c, -1, &error));
    g_autoptr(FmOpenProfile) recording = world_c(folder);
    struct page page = page_of(recording, "proc/2");
    g_assert_true(fact_bool(&page, "source_shown"));
    JsonArray *lines = source_lines(&page);
    g_assert_cmpuint(json_array_get_length(lines), ==, 8); /* 3 to 10 */
    JsonObject *first = json_array_get_object_element(lines, 0);
    g_assert_cmpint(json_object_get_int_member(first, "line"), ==, 3);
    g_assert_cmpstr(json_object_get_string_member(first, "text"), ==, "int main(void)");
    JsonObject *insert = json_array_get_object_element(lines, 3);
    g_assert_cmpint(json_object_get_int_member(insert, "line"), ==, 6);
    g_assert_cmpstr(json_object_get_string_member(insert, "text"), ==,
                    "        insert(\"}\", '}');");
    g_assert_cmpint(json_object_get_int_member(insert, "calls_count"), ==, 3);
    g_assert_cmpfloat(json_object_get_double_member(insert, "self_percent"), ==, 90);
    JsonObject *last = json_array_get_object_element(lines, 7);
    g_assert_cmpstr(json_object_get_string_member(last, "text"), ==, "}");
    page_done(&page);
    page = page_of(recording, "proc/3"); /* btree.c is not there */
    g_assert_false(fact_bool(&page, "source_shown"));
    page_done(&page);
    g_unlink(path);
    g_rmdir(folder);
}

static void names_do_not_repeat_whole_paths(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "paths");
    uint32_t system = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION});
    uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                     .name = "begin",
                                                     .decl_module = "/usr/include/vector.h",
                                                     .file = "/usr/include/vector.h",
                                                     .line = 7});
    fm_build_css(build, system, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t root = fm_build_pd(build, system);
    uint32_t csd = fm_build_csd(build, root, 0, fm_build_pd(build, ps));
    fm_build_add(build, csd, FM_EXITS, 1);
    fm_build_add(build, csd, FM_CALLSEQS, 1);
    struct fm_profile *profile = NULL;
    g_autoptr(FmOpenProfile) recording = NULL;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    g_assert_true(fm_open_profile_new("paths.data", profile, NULL, &recording, NULL));
    struct page page = page_of(recording, "top_procs/1-9/callseqs/self/oa");
    g_assert_cmpstr(cell_string(row_at(&page, "procs", "proc", 0), "proc"), ==, "vector.h:begin");
    struct page always = page_of(recording, control(&page, "qualify-always"));
    g_assert_cmpstr(cell_string(row_at(&always, "procs", "proc", 0), "proc"), ==,
                    "/usr/include/vector.h:begin");
    page_done(&always);
    page_done(&page);
}

static void only_source_files_are_opened(void)
{
    GError *error = NULL;
    g_autofree char *folder = g_dir_make_tmp("fathom-source-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(folder, "main.c", NULL);
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    g_autoptr(FmOpenProfile) recording = world_c(folder);
    struct page page = page_of(recording, "proc/2");
    g_assert_nonnull(strstr(page_text(&page), "not a regular file"));
    page_done(&page);
    g_rmdir(path);
    /* A link with such a name to something else. */
    g_autofree char *secret = g_build_filename(folder, "secret", NULL);
    g_assert_true(g_file_set_contents(secret, main_c, -1, NULL));
    g_assert_cmpint(symlink("secret", path), ==, 0);
    page = page_of(recording, "proc/2");
    g_assert_nonnull(strstr(page_text(&page), "it is a link to something that does not look like"));
    g_assert_false(fact_bool(&page, "source_shown"));
    page_done(&page);
    g_remove(path);
    g_remove(secret);
    g_rmdir(folder);

    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "leak");
    uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                     .name = "f",
                                                     .decl_module = "f",
                                                     .file = "/etc/passwd",
                                                     .line = 1});
    fm_build_pd(build, ps);
    struct fm_profile *profile = NULL;
    struct fm_open_profile *leak = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    g_assert_true(fm_open_profile_new("leak.data", profile, NULL, &leak, &error));
    page = page_of(leak, "proc/1");
    g_assert_nonnull(strstr(page_text(&page), "does not look like source"));
    g_assert_false(fact_bool(&page, "source_shown"));
    page_done(&page);
    fm_open_profile_free(leak);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/c/pages speak of functions", pages_speak_of_functions);
    g_test_add_func("/c/the menu tells phases and notes", the_menu_tells_phases_and_notes);
    g_test_add_func("/c/memory is bytes and further measures follow",
                    memory_is_bytes_and_further_measures_follow);
    g_test_add_func("/c/threads are roots", threads_are_roots);
    g_test_add_func("/c/the action is where the time goes", the_action_is_where_the_time_goes);
    g_test_add_func("/c/lines without text show where files are missing",
                    lines_without_text_show_where_files_are_missing);
    g_test_add_func("/c/source text ends with the function", source_text_ends_with_the_function);
    g_test_add_func("/c/names do not repeat whole paths", names_do_not_repeat_whole_paths);
    g_test_add_func("/c/only source files are opened", only_source_files_are_opened);
    return g_test_run();
}

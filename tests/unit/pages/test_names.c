/* SPDX-License-Identifier: Apache-2.0 */
/* Queries by name: one meaning, several, none; contexts by path; search. */
#include <string.h>

#include "base/error.h"
#include "world.h"

/* A C program: main -> parse -> (expr <-> term) -> insert of a.c; main -> insert of b.c twice, once
 * below load; a thread with work below worker. */
static struct fm_open_profile *program(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "names");
    static const struct {
        const char *unit, *name;
        uint32_t line;
    } functions[] = {
        {"", "the program", 0}, {"", "main thread", 0}, {"", "thread 2 (worker)", 0},
        {"a.c", "main", 1},     {"a.c", "parse", 10},   {"a.c", "expr", 20},
        {"a.c", "term", 30},    {"a.c", "insert", 40},  {"lib/b.c", "insert", 5},
        {"lib/b.c", "load", 9}, {"a.c", "worker", 50},  {"a.c", "work", 60},
    };
    uint32_t ps[G_N_ELEMENTS(functions)], pd[G_N_ELEMENTS(functions) + 1];
    for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++) {
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = functions[i].unit,
                                                   .def_module = functions[i].unit,
                                                   .name = functions[i].name,
                                                   .raw_name = functions[i].name,
                                                   .arity = 0,
                                                   .file = functions[i].unit,
                                                   .line = functions[i].line});
        for (unsigned slot = 0; slot < 3; slot++)
            fm_build_css(build, ps[i], &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = i});
        pd[i] = fm_build_pd(build, ps[i]);
    }
    pd[12] = fm_build_pd(build, ps[8]); /* insert of b.c below load */
    static const struct {
        unsigned from, slot, to;
        uint64_t calls;
    } edges[] = {
        {0, 0, 1, 1},   {0, 1, 2, 1},  {1, 0, 3, 1},   {3, 0, 4, 2}, {4, 0, 5, 2},
        {5, 0, 6, 8},   {6, 0, 5, 6},  {6, 1, 7, 40},  {3, 1, 8, 3}, {3, 2, 9, 4},
        {9, 0, 12, 90}, {2, 0, 10, 1}, {10, 0, 11, 7},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++) {
        uint32_t csd = fm_build_csd(build, pd[edges[i].from], edges[i].slot, pd[edges[i].to]);
        fm_build_add(build, csd, FM_EXITS, edges[i].calls);
        fm_build_add(build, csd, FM_CALLSEQS, edges[i].calls);
    }
    struct fm_profile *profile = NULL;
    struct fm_open_profile *recording = NULL;
    g_autoptr(GError) error = NULL;
    bool ok = fm_build_finish(build, &profile, &error) &&
              fm_open_profile_new("/nowhere/names.data", profile, NULL, &recording, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return recording;
}

static void assert_is_proc(const struct fm_open_profile *recording, const char *query,
                           const char *qualified_name)
{
    struct page page = page_of(recording, query);
    g_assert_cmpstr(fact_string(&page, "qualified_name"), ==, qualified_name);
    page_done(&page);
}

static void one_meaning(void)
{
    struct fm_open_profile *recording = program();
    assert_is_proc(recording, "proc/parse", "a.c:parse");
    assert_is_proc(recording, "proc/a.c:insert", "a.c:insert");
    assert_is_proc(recording, "proc/b.c:insert", "lib/b.c:insert");
    assert_is_proc(recording, "proc/lib/b.c:insert", "lib/b.c:insert");
    assert_is_proc(recording, "proc_callers/lib%2Fb.c:insert/pr/1/100/nc", "lib/b.c:insert");
    assert_is_proc(recording, "proc_callers/load/cs/1/100/nc", "lib/b.c:load");
    fm_open_profile_free(recording);
}

/* Of Mercury: with module and arity, with slashes in the name. */
static void mercury_names(void)
{
    struct fm_open_profile *recording = world_undetected_recursion();
    assert_is_proc(recording, "proc/map", "list.map/3-0");
    assert_is_proc(recording, "proc/list.map", "list.map/3-0");
    assert_is_proc(recording, "proc/map/3-0", "list.map/3-0");
    assert_is_proc(recording, "proc/list.map/3-0", "list.map/3-0");
    struct page page = page_of(recording, "clique/main/2-0/map/3-0/f");
    g_assert_cmpstr(page_title(&page), ==, "Clique 3");
    page_done(&page);
    fm_open_profile_free(recording);
}

static void several_meanings(void)
{
    struct fm_open_profile *recording = program();
    struct page page = page_of(recording, "proc/insert");
    g_assert_cmpstr(page_title(&page), ==, "Which function?");
    g_assert_cmpint(fact_int(&page, "found_count"), ==, 2);
    JsonObject *dearest = row_at(&page, "choices", NULL, 0),
               *other = row_at(&page, "choices", NULL, 1);
    g_assert_cmpstr(cell_string(dearest, "proc"), ==, "b.c:insert");
    g_assert_cmpstr(cell_string(dearest, "spelling"), ==, "proc/b.c:insert");
    g_assert_cmpint(cell_int(dearest, "calls_count"), ==, 93);
    g_assert_cmpstr(cell_string(other, "spelling"), ==, "proc/a.c:insert");
    g_assert_cmpint(cell_int(other, "callseqs_self_count"), ==, 40);
    page_done(&page);
    /* What chooses one keeps the rest of the command. */
    page = page_of(recording, "proc_callers/insert/pr/1/7/nc");
    g_assert_cmpstr(cell_string(row_at(&page, "choices", NULL, 0), "spelling"), ==,
                    "proc_callers/b.c:insert/pr/1/7/nc");
    page_done(&page);
    fm_open_profile_free(recording);
}

static gint64 clique_of(const struct fm_open_profile *recording, const char *query)
{
    struct page page = page_of(recording, query);
    gint64 clique = fact_int(&page, "clique");
    page_done(&page);
    return clique;
}

static void contexts_by_path(void)
{
    struct fm_open_profile *recording = program();
    gint64 below_load = clique_of(recording, "clique/main/load/insert");
    gint64 recursion = clique_of(recording, "clique/expr");
    g_assert_cmpint(clique_of(recording, "clique/load/insert"), ==, below_load);
    g_assert_cmpint(clique_of(recording, "clique/main/parse/term"), ==, recursion);
    g_assert_cmpint(clique_of(recording, "clique/parse/expr/term"), ==, recursion);
    /* Right below main is meant where there is one, though another has load in between. */
    g_assert_cmpint(clique_of(recording, "clique/main/b.c:insert"), !=, below_load);
    /* With gaps only where nothing else has the path. */
    g_assert_cmpint(clique_of(recording, "clique/main/a.c:insert"), ==,
                    clique_of(recording, "clique/term/insert"));
    struct page page = page_of(recording, "clique/insert");
    g_assert_cmpstr(page_title(&page), ==, "Which context?");
    g_assert_cmpint(fact_int(&page, "found_count"), ==, 3);
    JsonObject *first = row_at(&page, "choices", NULL, 0),
               *second = row_at(&page, "choices", NULL, 1);
    g_assert_cmpstr(cell_string(first, "path"), ==, "main \u203a load \u203a insert");
    g_assert_cmpstr(cell_string(first, "spelling"), ==, "clique/main/load/insert");
    g_assert_cmpstr(cell_string(second, "path"), ==,
                    "main \u203a parse \u203a \u27f2\u00a0expr\u00a0+1 \u203a insert");
    g_autofree char *spelling = g_strdup(cell_string(second, "spelling"));
    page_done(&page);
    g_assert_cmpint(clique_of(recording, spelling), ==, clique_of(recording, "clique/term/insert"));
    g_free(page_error(recording, "clique/load/parse", FM_ERROR_NOT_FOUND));
    g_free(page_error(recording, "clique/worker/main", FM_ERROR_NOT_FOUND));
    /* Threads are no part of a path. */
    g_free(page_error(recording, "clique/main thread", FM_ERROR_NOT_FOUND));
    fm_open_profile_free(recording);
}

/* The function's page has its contexts as paths, dearest first. */
static void contexts_of_a_function(void)
{
    struct fm_open_profile *recording = program();
    struct page page = page_of(recording, "proc/b.c:insert");
    g_assert_cmpint(fact_int(&page, "path_count"), ==, 2);
    JsonObject *dearest = row_at(&page, "contexts", "context", 0);
    JsonArray *path = json_object_get_array_member(dearest, "path");
    g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(path, 0), "name"),
                    ==, "main \u203a load \u203a insert");
    g_assert_cmpint(cell_int(dearest, "calls_total_count"), ==, 90);
    g_assert_cmpint(cell_int(row_at(&page, "contexts", "context", 1), "calls_count"), ==, 3);
    page_done(&page);
    page = page_of(recording, "proc/load"); /* one context: nothing to tell apart */
    g_assert_null(strstr(page_text(&page), "Contexts by"));
    page_done(&page);
    fm_open_profile_free(recording);
}

static void no_meaning(void)
{
    struct fm_open_profile *recording = program();
    g_autofree char *near = page_error(recording, "proc/pase", FM_ERROR_NOT_FOUND);
    g_assert_cmpstr(near, ==,
                    "names.data: there is no function named 'pase'; is it parse, main or expr?");
    g_autofree char *path = page_error(recording, "clique/main/nothing", FM_ERROR_NOT_FOUND);
    g_assert_cmpstr(path, ==, "names.data: there is no context with the path 'main/nothing'");
    g_free(page_error(recording, "proc/a.c:load", FM_ERROR_NOT_FOUND));
    fm_open_profile_free(recording);
}

static void search(void)
{
    struct fm_open_profile *recording = program();
    struct page page = page_of(recording, "find/In");
    static const char *const names[] = {"insert", "insert", "main"}; /* inside, dearest first */
    g_assert_cmpint(fact_int(&page, "found_count"), ==, 3);
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_cmpstr(cell_string(row_at(&page, "found", NULL, i), "name"), ==, names[i]);
    page_done(&page);
    page = page_of(recording, "find/work"); /* exact, then the start */
    g_assert_cmpstr(cell_string(row_at(&page, "found", NULL, 0), "name"), ==, "work");
    g_assert_cmpstr(cell_string(row_at(&page, "found", NULL, 1), "name"), ==, "worker");
    page_done(&page);
    page = page_of(recording, "find/b.c"); /* a file and what is in it */
    g_assert_cmpint(fact_int(&page, "found_count"), ==, 3);
    g_assert_cmpstr(cell_string(row_at(&page, "found", "module", 0), "name"), ==, "lib/b.c");
    page_done(&page);
    page = page_of(recording, "find/insret"); /* nothing: the nearest three */
    g_assert_cmpint(fact_int(&page, "found_count"), ==, 0);
    g_assert_cmpuint(row_count(&page, "found", NULL), ==, 3);
    g_assert_cmpstr(cell_string(row_at(&page, "found", NULL, 0), "name"), ==, "insert");
    page_done(&page);
    page = page_of(recording, "find/");
    g_assert_cmpint(fact_int(&page, "found_count"), ==, 0);
    page_done(&page);
    fm_open_profile_free(recording);
}

/* Calls to each, most first: two overloads, a method of the same name elsewhere, a long one. */
static struct fm_open_profile *overloads(void)
{
    static const struct {
        const char *name, *raw;
        uint64_t calls;
    } functions[] = {
        {"main", "main", 1},
        {"Log::write(int, char const*)", "_ZN3Log5writeEiPKc", 90},
        {"Log::write(int, double)", "_ZN3Log5writeEid", 80},
        {"net::Log::write(int)", "_ZN3net3Log5writeEi", 70},
        {"std::_Sp_counted_ptr_inplace<a::Very::Long::Name::Of::A::Type::That::Does::Not::End, "
         "std::allocator<b::Another::Long::Name> >::_M_dispose()",
         "_x", 60},
    };
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "names");
    uint32_t pd[G_N_ELEMENTS(functions) + 1];
    uint32_t root = fm_build_ps(build, &(struct fm_ps){.decl_module = "", .name = "the program"});
    fm_build_css(build, root, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    pd[0] = fm_build_pd(build, root);
    for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++) {
        uint32_t ps = fm_build_ps(build, &(struct fm_ps){.decl_module = "a.cc",
                                                         .name = functions[i].name,
                                                         .raw_name = functions[i].raw,
                                                         .file = "a.cc",
                                                         .line = i + 1});
        for (unsigned slot = 0; slot < 4; slot++)
            fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = i});
        pd[i + 1] = fm_build_pd(build, ps);
        uint32_t csd = i == 0 ? fm_build_csd(build, pd[0], 0, pd[1])
                              : fm_build_csd(build, pd[1], i - 1, pd[i + 1]);
        fm_build_add(build, csd, FM_EXITS, functions[i].calls);
        fm_build_add(build, csd, FM_CALLSEQS, functions[i].calls);
    }
    struct fm_profile *profile = NULL;
    struct fm_open_profile *recording = NULL;
    g_autoptr(GError) error = NULL;
    bool ok = fm_build_finish(build, &profile, &error) &&
              fm_open_profile_new("/nowhere/names.data", profile, NULL, &recording, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return recording;
}

/* The names of the rows of a page of functions, and what they shorten. */
static void assert_names(const struct fm_open_profile *recording, unsigned rows, bool full,
                         const char *const *expected)
{
    g_autofree char *text = g_strdup_printf("functions/calls/self/%u", rows);
    struct fm_query query = {0};
    struct fm_preferences preferences;
    g_autoptr(FmDisplay) display = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_query_parse(text, &query, &error));
    query.full_names = full;
    bool made = fm_pages_make(recording, &query, &preferences, &display, &error);
    g_assert_no_error(error);
    g_assert_true(made);
    g_autoptr(GString) out = g_string_new(NULL);
    fm_text_write(display, &preferences, &(struct fm_text_options){0}, out);
    const char *at = out->str;
    for (unsigned i = 0; i < rows; i++) {
        g_autofree char *cell = g_strconcat("  ", expected[i], "  a.cc\n", NULL);
        const char *found = strstr(at, cell);
        if (found == NULL)
            g_error("no '%s' in\n%s", expected[i], at);
        at = found + strlen(cell) - 1;
    }
    fm_query_done(&query);
}

static void test_apart_on_the_page(void)
{
    struct fm_open_profile *recording = overloads();
    assert_names(recording, 1, false, (const char *const[]){"Log::write"});
    assert_names(
        recording, 2, false,
        (const char *const[]){"Log::write(\u2026, char const*)", "Log::write(\u2026, double)"});
    assert_names(recording, 4, false,
                 (const char *const[]){"Log::write(\u2026, char const*)",
                                       "Log::write(\u2026, double)", "Log::write(\u2026)",
                                       "std::_Sp_counted_ptr_inplace::_M_dispose"});
    assert_names(recording, 2, true,
                 (const char *const[]){"Log::write(int, char const*)", "Log::write(int, double)"});
    struct page page = page_of(recording, "functions/calls/self/2");
    JsonArray *path = json_object_get_array_member(row_at(&page, "functions", NULL, 1), "path");
    JsonObject *step = json_array_get_object_element(path, 0);
    g_assert_cmpstr(json_object_get_string_member(step, "full"), ==, "Log::write(int, double)");
    page_done(&page);
    fm_open_profile_free(recording);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/names/one", one_meaning);
    g_test_add_func("/report/names/mercury", mercury_names);
    g_test_add_func("/report/names/several", several_meanings);
    g_test_add_func("/report/names/paths", contexts_by_path);
    g_test_add_func("/report/names/contexts", contexts_of_a_function);
    g_test_add_func("/report/names/none", no_meaning);
    g_test_add_func("/report/names/search", search);
    g_test_add_func("/report/names/apart-on-the-page", test_apart_on_the_page);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a real recording through the pages. */
#include "base/error.h"
#include "world.h"

#include <string.h>

static struct fm_open_profile *recording; /* NULL when the file is not here */

static void menu(void)
{
    struct page page = page_of(recording, "menu");
    static const struct {
        const char *name;
        gint64 value;
    } expected[] = {
        {"csd_count", 211},        {"css_count", 21992},
        {"pd_count", 185},         {"ps_count", 8584},
        {"cliques", 185},          {"module_count", 119},
        {"ticks_per_second", 100}, {"user_quanta", 110},
        {"quanta", 156},           {"instrumentation_quanta", 46},
        {"callseqs", 202594363},   {"word_size_bytes", 8},
        {"format_version", 8},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++)
        g_assert_cmpint(fact_int(&page, expected[i].name), ==, expected[i].value);
    g_assert_cmpstr(fact_string(&page, "program_name"), ==, "./mandelbrot");
    g_assert_true(fact_bool(&page, "invariants_hold"));
    page_done(&page);
}

static void procedures(void)
{
    static const struct {
        unsigned ps;
        const char *name;
        gint64 calls, quanta, callseqs, allocs, words, total_quanta, total_callseqs, total_allocs,
            total_words;
    } expected[] = {
        {3, "mandelbrot.main/2-0", 1, 0, 1, 2, 4, 110, 202594348, 140833, 221456},
        {57, "mandelbrot.my_map/3-0", 201, 0, 201, 200, 400, 110, 202353073, 139939, 219817},
        {60, "mandelbrot.draw_row_2/4-0", 40200, 0, 40200, 19939, 59817, 110, 202352472, 139739,
         219417},
        {61, "mandelbrot.escape/7-0", 100976685, 52, 100976685, 0, 0, 110, 201933309, 0, 0},
        {62, "math.sqrt/2+1-0", 100996502, 58, 100996502, 0, 0, 58, 100996502, 0, 0},
        {69, "mandelbrot.write_ppm/3-0", 1, 0, 1, 2, 8, 0, 240105, 24, 65},
        {88, "cord.foldl_node_pred/4-2", 79999, 0, 79999, 0, 0, 0, 239999, 0, 0},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autofree char *query = g_strdup_printf(
            "proc/%u&p-q-s-a-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev", expected[i].ps);
        struct page page = page_of(recording, query);
        g_assert_cmpstr(fact_string(&page, "qualified_name"), ==, expected[i].name);
        JsonObject *row = row_at(&page, "proc", "proc", 0);
        g_assert_cmpint(cell_int(row, "calls_count"), ==, expected[i].calls);
        g_assert_cmpint(cell_int(row, "time_self_ticks"), ==, expected[i].quanta);
        g_assert_cmpint(cell_int(row, "callseqs_self_count"), ==, expected[i].callseqs);
        g_assert_cmpint(cell_int(row, "allocs_self_count"), ==, expected[i].allocs);
        g_assert_cmpint(cell_int(row, "memory_self_words"), ==, expected[i].words);
        g_assert_cmpint(cell_int(row, "time_total_ticks"), ==, expected[i].total_quanta);
        g_assert_cmpint(cell_int(row, "callseqs_total_count"), ==, expected[i].total_callseqs);
        g_assert_cmpint(cell_int(row, "allocs_total_count"), ==, expected[i].total_allocs);
        g_assert_cmpint(cell_int(row, "memory_total_words"), ==, expected[i].total_words);
        page_done(&page);
    }
}

static void call_sites(void)
{
    struct page page = page_of(recording, "proc/57"); /* my_map */
    JsonObject *site = row_where(&page, "proc", "source", "mandelbrot.m:296");
    g_assert_cmpstr(cell_string(site, "proc"), ==, "higher order call");
    g_assert_cmpint(cell_int(site, "calls_count"), ==, 200);
    g_assert_cmpint(cell_int(site, "callseqs_total_count"), ==, 202352872);
    page_done(&page);
    page = page_of(recording, "proc/60");
    site = row_where(&page, "proc", "source", "mandelbrot.m:222");
    g_assert_cmpint(cell_int(site, "calls_count"), ==, 40000);
    g_assert_cmpint(cell_int(site, "callseqs_total_count"), ==, 40000 + 201893309);
    page_done(&page);
}

static void modules(void)
{
    static const struct {
        const char *name;
        gint64 quanta, callseqs, words;
    } expected[] = {{"mandelbrot", 52, 101117726, 61036},
                    {"math", 58, 100996502, 0},
                    {"io", 0, 120027, 16},
                    {"cord", 0, 120401, 160197}};
    struct page page = page_of(recording, "program_modules");
    g_assert_cmpuint(row_count(&page, "modules", "module"), ==, 20);
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        JsonObject *row = row_where(&page, "modules", "module", expected[i].name);
        g_assert_cmpint(cell_int(row, "time_self_ticks"), ==, expected[i].quanta);
        g_assert_cmpint(cell_int(row, "callseqs_self_count"), ==, expected[i].callseqs);
        g_assert_cmpint(cell_int(row, "memory_self_words"), ==, expected[i].words);
    }
    struct page all = page_of(recording, control(&page, "inactive-modules-show"));
    g_assert_cmpuint(row_count(&all, "modules", "module"), ==,
                     118); /* all but the runtime's; 3 are in the bodies' file alone */
    page_done(&all);
    page_done(&page);
    static const struct {
        const char *name;
        gint64 count;
    } sizes[] = {{"mandelbrot", 28}, {"math", 37}, {"io", 453}, {"cord", 87}};
    for (unsigned i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autofree char *query = g_strconcat("module/", sizes[i].name, NULL);
        page = page_of(recording, query);
        g_assert_cmpint(fact_int(&page, "ps_count"), ==, sizes[i].count);
        page_done(&page);
    }
}

static void callers(void)
{
    struct page page = page_of(recording, "proc_callers/62/pr/1/20/nc"); /* square root */
    g_assert_cmpint(cell_int(row_where(&page, "callers", "proc", "mandelbrot.escape/7-0"),
                             "callseqs_self_count"),
                    ==, 100956624);
    g_assert_cmpint(cell_int(row_where(&page, "callers", "proc", "mandelbrot.draw_row_2/4-0"),
                             "callseqs_self_count"),
                    ==, 39878);
    page_done(&page);
    page = page_of(recording, "proc_callers/61/pr/1/20/nc"); /* escape: not by itself */
    g_assert_cmpuint(row_count(&page, "callers", "caller"), ==, 1);
    JsonObject *row = row_where(&page, "callers", "proc", "draw_row_2/4-0");
    g_assert_cmpint(cell_int(row, "callseqs_total_count"), ==, 40000 + 201893309);
    page_done(&page);
    page = page_of(recording, "proc_callers/54/cl/1/20/nc"); /* float conversion */
    static const struct {
        const char *clique;
        gint64 callseqs;
    } cliques[] = {{"100", 39878}, {"104", 39878}, {"108", 39878}, {"110", 39878}, {"166", 2}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cliques); i++)
        g_assert_cmpint(cell_int(row_where(&page, "callers", "clique", cliques[i].clique),
                                 "callseqs_self_count"),
                        ==, cliques[i].callseqs);
    page_done(&page);
    page = page_of(recording, "proc_callers/3/cl/1/20/nc"); /* the program's entry */
    g_assert_cmpstr(cell_string(row_at(&page, "callers", "caller", 0), "members"), ==,
                    "the runtime");
    page_done(&page);
}

static void top_procedures(void)
{
    static const struct {
        const char *query, *first_six;
        unsigned count;
    } expected[] = {
        {"top_procs/1-100/calls/self/oa", "62 61 54 86 88 63", 98},
        {"top_procs/1-100/redos/self/oa", "10 11", 2},
        {"top_procs/1-100/time/self/oa", "62 61", 2},
        {"top_procs/1-100/time/both/oa", "3 53 57 58 60 61 62", 7},
        {"top_procs/1-100/callseqs/both/oa", "3 53 57 58 60 61", 97},
        {"top_procs/1-100/callseqs/both/pc", "3 53 58 57 69 87", 97},
        {"top_procs/1-100/allocs/self/oa", "65 60 56 68 57 22", 34},
        {"top_procs/1-100/words/both/oa", "3 53 57 58 60 65", 55},
        {"top_procs/p0.1/callseqs/both/oa", NULL, 11},
        {"top_procs/p1/callseqs/both/oa", NULL, 7},
        {"top_procs/p10/callseqs/both/oa", NULL, 7},
        {"top_procs/v1000000/callseqs/both/oa", NULL, 7},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        struct page page = page_of(recording, expected[i].query);
        g_assert_cmpuint(row_count(&page, "procs", "proc"), ==, expected[i].count);
        g_auto(GStrv) ids = g_strsplit(expected[i].first_six ? expected[i].first_six : "", " ", -1);
        for (unsigned n = 0; ids[n]; n++) {
            g_autofree char *query = g_strconcat("proc/", ids[n], NULL);
            g_assert_cmpstr(cell_string(row_at(&page, "procs", "proc", n), "proc_query"), ==,
                            query);
        }
        page_done(&page);
    }
}

static void cliques(void)
{
    struct page page = page_of(recording, "root/90");
    g_assert_cmpint(fact_int(&page, "clique"), ==, 91);
    page_done(&page);
    page = page_of(recording, "root/50");
    g_assert_cmpint(fact_int(&page, "clique"), ==, 91);
    page_done(&page);
    page = page_of(recording, "root/no");
    g_assert_cmpint(fact_int(&page, "clique"), ==, 185);
    g_assert_cmpuint(row_count(&page, "clique", "callee"), ==, 5);
    page_done(&page);
    /* The ancestors of the square root below escape, outermost first. */
    static const char *const callers[] = {"167", "166", "112", "111", "110", "91"};
    page =
        page_of(recording, "clique/90&p-q-s-_-w/box/cols/no/20/nosum/context/nc/th/mqwd/hhh/nodev");
    g_assert_cmpuint(row_count(&page, "clique", "ancestor"), ==, G_N_ELEMENTS(callers));
    for (unsigned i = 0; i < G_N_ELEMENTS(callers); i++) {
        g_autofree char *prefix = g_strdup_printf("clique/%s&", callers[i]);
        g_assert_true(g_str_has_prefix(
            cell_string(row_at(&page, "clique", "ancestor", i), "proc_query"), prefix));
    }
    page_done(&page);
}

static void getters_of_modules(void)
{
    unsigned with_any = 0;
    for (uint32_t i = 0; i < recording->analysis->module_count; i++) {
        g_autofree char *query =
            g_strconcat("module_getter_setters/", recording->analysis->modules[i].name, NULL);
        struct page page = page_of(recording, query);
        with_any += fact_int(&page, "accessors_count") > 0;
        page_done(&page);
    }
    g_assert_cmpuint(with_any, ==, 13);
    struct page page = page_of(recording, "module_getter_setters/io");
    g_assert_cmpint(fact_int(&page, "accessors_count"), ==, 1);
    g_assert_cmpstr(cell_string(row_at(&page, "accessors", "setter", 0), "field"), ==,
                    "globals setter");
    page_done(&page);
}

static void not_here(void)
{
    g_test_skip("the real recordings are not here (FATHOM_SAMPLE_DATA)");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*test)(void);
    } tests[] = {
        {"/sample/menu", menu},
        {"/sample/procedures", procedures},
        {"/sample/call sites", call_sites},
        {"/sample/modules", modules},
        {"/sample/callers", callers},
        {"/sample/top procedures", top_procedures},
        {"/sample/cliques", cliques},
        {"/sample/getters and setters", getters_of_modules},
    };
    g_test_init(&argc, &argv, NULL);
    g_autofree char *path = sample_file("Deep.data");
    GError *error = NULL;
    if (path && !fm_open_profile_open(path, NULL, &recording, &error))
        g_error("%s", error->message);
    for (unsigned i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add_func(tests[i].name, path ? tests[i].test : not_here);
    int result = g_test_run();
    fm_open_profile_free(recording);
    return result;
}

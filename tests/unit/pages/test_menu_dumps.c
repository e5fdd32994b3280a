/* SPDX-License-Identifier: Apache-2.0 */
/* menu, the dumps, pages that do not exist, performance columns and the controls of every page. */
#include "base/error.h"
#include "world.h"

#include <string.h>

static void menu_tells_counts_and_invariants(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "menu");
    g_assert_cmpstr(fact_string(&page, "program_name"), ==, "b");
    g_assert_cmpint(fact_int(&page, "csd_count"), ==, 6);
    g_assert_cmpint(fact_int(&page, "pd_count"), ==, 5);
    g_assert_cmpint(fact_int(&page, "css_count"), ==, 5);
    g_assert_cmpint(fact_int(&page, "ps_count"), ==, 4);
    g_assert_cmpint(fact_int(&page, "cliques"), ==, 3);
    g_assert_cmpint(fact_int(&page, "callseqs"), ==, 16);
    g_assert_cmpint(fact_int(&page, "quanta"), ==, 0);
    g_assert_true(fact_bool(&page, "invariants_hold"));
    g_assert_cmpuint(row_count(&page, "invariants", "invariant"), >=, 4);
    for (unsigned i = 0; i < row_count(&page, "invariants", "invariant"); i++)
        g_assert_cmpstr(cell_string(row_at(&page, "invariants", "invariant", i), "holds"), ==,
                        "yes");
    page_done(&page);
}

static bool has_link(const struct page *page, const char *query)
{
    JsonArray *links = json_object_get_array_member(page->root, "links");
    for (guint i = 0; i < json_array_get_length(links); i++) {
        JsonObject *link = json_array_get_object_element(links, i);
        if (strcmp(json_object_get_string_member(link, "query"), query) == 0)
            return true;
    }
    return false;
}

static void menu_offers_times_when_they_tell_something(void)
{
    g_autoptr(FmOpenProfile) few = world_two_pds();
    struct page page = page_of(few, "menu");
    g_assert_false(has_link(&page, "top_procs/1-100/time/self/oa"));
    g_assert_true(has_link(&page, "top_procs/1-100/callseqs/self/oa"));
    g_assert_true(has_link(&page, "top_procs/p1/callseqs/both/oa"));
    g_assert_true(has_link(&page, "program_modules"));
    g_assert_nonnull(strstr(control(&page, "developer"), "/dev"));
    page_done(&page);
    g_autoptr(FmOpenProfile) many = world_c(NULL); /* 40 ticks */
    page = page_of(many, "menu");
    g_assert_true(has_link(&page, "top_procs/1-100/time/self/oa"));
    g_assert_true(has_link(&page, "top_procs/v100/time/both/oa"));
    g_assert_cmpint(fact_int(&page, "user_quanta"), ==, 40);
    page_done(&page);
}

/* Of a C program: what it cost, in words, and where; then the rest. */
static void the_answer_comes_first(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "menu");
    g_assert_cmpstr(page_title(&page), ==, "btree");
    g_assert_nonnull(strstr(page_text(&page), "400 ms of CPU time in 17 calls of 4 functions"));
    g_assert_nonnull(strstr(page_text(&page), "4,096 bytes allocated in 3 blocks"));
    g_assert_nonnull(strstr(page_text(&page), "\u2713 all figures agree"));
    g_assert_nonnull(
        strstr(page_text(&page), "In the rest it waited, or other programs had the processor"));
    JsonObject *path = row_at(&page, "hot_paths", "path", 0);
    g_assert_cmpint(cell_int(path, "calls_self_count"), ==, 7); /* worker > insert */
    g_assert_cmpuint(json_array_get_length(json_object_get_array_member(path, "path")), ==, 2);
    JsonObject *function = row_at(&page, "hot_functions", "function", 0);
    g_assert_cmpint(cell_int(function, "calls_self_count"), ==, 10); /* insert in all contexts */
    JsonObject *allocator = row_at(&page, "hot_allocators", "path", 0);
    g_assert_cmpint(cell_int(allocator, "bytes_self_bytes"), ==, 4096);
    g_assert_true(json_object_has_member(page.root, "flame"));
    g_assert_true(has_link(&page, "flame/calls/down/_/all"));
    g_assert_true(has_link(&page, "tree/calls/down/3/all"));
    g_assert_true(has_link(&page, "program_modules"));
    page_done(&page);
    page = page_of(recording, "recursions/calls");
    g_assert_nonnull(strstr(page_text(&page), "No recursion has anything of this measure."));
    page_done(&page);
    page = page_of(recording, "about");
    g_assert_true(fact_bool(&page, "invariants_hold"));
    page_done(&page);
}

static void dumps_show_nodes(void)
{
    g_autoptr(FmOpenProfile) recording = world_undetected_recursion();
    struct page page = page_of(recording, "dump_proc_static/3");
    g_assert_cmpstr(fact_string(&page, "raw_name"), ==, "list.map/3-0");
    g_assert_cmpstr(fact_string(&page, "unqualified_name"), ==, "map/3-0");
    g_assert_cmpint(fact_int(&page, "line"), ==, 20);
    g_assert_cmpint(fact_int(&page, "call_site_count"), ==, 2);
    g_assert_cmpuint(row_count(&page, "call_sites", "call_site"), ==, 2);
    page_done(&page);
    page = page_of(recording, "dump_proc_dynamic/3");
    g_assert_cmpint(fact_int(&page, "ps"), ==, 3);
    g_assert_cmpint(fact_int(&page, "clique"), ==, 4);
    g_assert_cmpstr(cell_string(row_at(&page, "call_site_dynamics", "slot", 0), "csd"), ==,
                    "multi, 1 csds (zeroed)");
    g_assert_cmpstr(cell_string(row_at(&page, "call_site_dynamics", "csd", 0), "csd_query"), ==,
                    "dump_call_site_dynamic/3");
    g_assert_cmpstr(cell_string(row_at(&page, "call_site_dynamics", "slot", 1), "csd_query"), ==,
                    "dump_call_site_dynamic/4");
    page_done(&page);
    page = page_of(recording, "dump_proc_dynamic/4");
    g_assert_cmpstr(cell_string(row_at(&page, "call_site_dynamics", "slot", 1), "csd"), ==, "none");
    page_done(&page);
    page = page_of(recording, "dump_call_site_static/3");
    g_assert_cmpint(fact_int(&page, "container_ps"), ==, 3);
    g_assert_cmpint(fact_int(&page, "slot"), ==, 0);
    g_assert_cmpstr(fact_string(&page, "kind"), ==, "higher_order_call");
    g_assert_cmpstr(fact_string(&page, "file"), ==, "list.m");
    page_done(&page);
    page = page_of(recording, "dump_call_site_static/4");
    g_assert_cmpint(fact_int(&page, "callee_ps"), ==, 3);
    page_done(&page);
    page = page_of(recording, "dump_call_site_dynamic/2");
    g_assert_cmpint(fact_int(&page, "caller_pd"), ==, 2);
    g_assert_cmpint(fact_int(&page, "callee_pd"), ==, 3);
    JsonObject *costs = row_at(&page, "costs", "csd", 0);
    g_assert_cmpint(cell_int(costs, "callseqs_self_count"), ==, 1);
    g_assert_cmpint(cell_int(costs, "callseqs_total_count"), ==, 1); /* own costs only */
    g_assert_cmpstr(cell_string(costs, "call_site"), ==, "a.main/2-0 @  #0");
    page_done(&page);
    page = page_of(recording, "dump_raw_clique/4");
    g_assert_cmpint(fact_int(&page, "caller_csd"), ==, 2);
    g_assert_cmpuint(row_count(&page, "members", "pd"), ==, 1);
    page_done(&page);
    page = page_of(recording, "dump_raw_clique/6"); /* the runtime's: nobody called it */
    g_assert_true(fact_is_null(&page, "caller_csd"));
    g_assert_cmpstr(fact_string(&page, "caller"), ==, "none: the runtime starts here");
    page_done(&page);
}

static void bad_ids_are_not_found(void)
{
    static const struct {
        const char *query, *message;
    } bad[] = {
        {"proc/5", "two.data: invalid proc_static index 5, expected 1 to 4"},
        {"proc/0", "two.data: invalid proc_static index 0, expected 1 to 4"},
        {"proc_callers/5/pr/1/20/nc", "two.data: invalid proc_static index 5, expected 1 to 4"},
        {"dump_proc_static/5", "two.data: invalid proc_static index 5, expected 1 to 4"},
        {"dump_proc_dynamic/6", "two.data: invalid proc_dynamic index 6, expected 1 to 5"},
        {"dump_call_site_static/6", "two.data: invalid call_site_static index 6, expected 1 to 5"},
        {"dump_call_site_dynamic/7",
         "two.data: invalid call_site_dynamic index 7, expected 1 to 6"},
        {"dump_raw_clique/4294967295",
         "two.data: invalid clique index 4294967295, expected 1 to 3"},
        {"module/nix", "two.data: there is no module named 'nix'"},
        {"module_getter_setters/nix", "two.data: there is no module named 'nix'"},
    };
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *message = page_error(recording, bad[i].query, FM_ERROR_NOT_FOUND);
        g_assert_cmpstr(message, ==, bad[i].message);
    }
}

static void later_pages_say_why_they_are_not_there(void)
{
    static const char *const later[] = {"recursion_type_freq", "module_rep/b",
                                        "proc_static_coverage/1", "proc_dynamic_coverage/1",
                                        "call_site_dynamic_var_use/1"};
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    for (unsigned i = 0; i < G_N_ELEMENTS(later); i++) {
        g_autofree char *message = page_error(recording, later[i], FM_ERROR_UNAVAILABLE);
        g_assert_true(g_str_has_prefix(message, "two.data: not available for this file: "));
        g_assert_cmpuint(strlen(message), >, 60); /* why, too */
    }
    static const char *const server[] = {"quit", "restart", "timeout/5"};
    for (unsigned i = 0; i < G_N_ELEMENTS(server); i++)
        g_free(page_error(recording, server[i], FM_ERROR_USAGE));
}

/* Which columns each choice of item 1 of the preferences brings. */
static void columns_follow_the_preferences(void)
{
    static const struct {
        const char *columns;
        const char *there; /* separated by spaces */
        const char *absent;
    } cases[] = {
        {"_-_-_-_-_", "source proc",
         "calls_count time_self_ticks callseqs_self_count allocs_self_count memory_self_words"},
        {"p-q-s-a-w",
         "calls_count exits_count fails_count redos_count excps_count time_self_ticks "
         "time_self_percent time_total_ticks callseqs_self_count callseqs_total_percent "
         "allocs_self_count allocs_total_count memory_self_words memory_total_percent",
         "time_self_seconds callseqs_self_per_call_count memory_self_bytes"},
        {"_-t-_-_-_", "time_self_seconds time_total_percent",
         "time_self_ticks time_self_per_call_seconds"},
        {"_-qt-_-_-_", "time_self_seconds time_self_ticks", "time_self_per_call_seconds"},
        {"_-tp-_-_-_", "time_self_seconds time_self_per_call_seconds time_total_per_call_seconds",
         "time_self_ticks"},
        {"_-qtp-_-_-_", "time_self_ticks time_self_seconds time_self_per_call_seconds", ""},
        {"_-_-S-A-B",
         "callseqs_self_per_call_count callseqs_total_per_call_count allocs_self_per_call_count "
         "memory_self_bytes memory_total_per_call_bytes",
         "memory_self_words"},
        {"_-_-_-_-W", "memory_self_words memory_self_per_call_words", "memory_self_bytes"},
        {"_-_-_-_-b", "memory_self_bytes", "memory_self_per_call_bytes"},
    };
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *query = g_strdup_printf(
            "clique/2&%s/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev", cases[i].columns);
        struct page page = page_of(recording, query);
        g_auto(GStrv) there = g_strsplit(cases[i].there, " ", -1);
        g_auto(GStrv) absent = g_strsplit(cases[i].absent, " ", -1);
        for (unsigned n = 0; there[n]; n++)
            if (!has_column(&page, "clique", there[n]))
                g_error("%s: no column %s", query, there[n]);
        for (unsigned n = 0; absent[n]; n++)
            if (has_column(&page, "clique", absent[n]))
                g_error("%s: column %s", query, absent[n]);
        page_done(&page);
    }
}

static void amounts_are_shared_out(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page =
        page_of(recording, "proc/3&p-qtp-S-A-B/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev");
    JsonObject *q = row_at(&page, "proc", "proc", 0); /* 4 calls, own 4, total 9 of 16 */
    g_assert_cmpfloat(cell_double(q, "callseqs_self_percent"), ==, 25);
    g_assert_cmpfloat(cell_double(q, "callseqs_total_percent"), ==, 56.25);
    g_assert_cmpfloat(cell_double(q, "callseqs_self_per_call_count"), ==, 1);
    g_assert_cmpfloat(cell_double(q, "callseqs_total_per_call_count"), ==, 2.25);
    g_assert_cmpfloat(cell_double(q, "time_self_percent"), ==, 0); /* of nothing */
    page_done(&page);
    g_autoptr(FmOpenProfile) c = world_c(NULL);
    page = page_of(c, "proc/3&p-qtp-S-A-B/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev");
    JsonObject *insert = row_at(&page, "proc", "proc", 0); /* 36 ticks at 100 Hz in 10 calls */
    g_assert_cmpint(cell_int(insert, "time_self_ticks"), ==, 36);
    g_assert_cmpfloat_with_epsilon(cell_double(insert, "time_self_seconds"), 0.36, 1e-12);
    g_assert_cmpfloat_with_epsilon(cell_double(insert, "time_self_per_call_seconds"), 0.036, 1e-12);
    g_assert_cmpfloat(cell_double(insert, "time_self_percent"), ==, 90);
    g_assert_cmpfloat_with_epsilon(cell_double(insert, "memory_self_per_call_bytes"), 409.6, 1e-9);
    page_done(&page);
}

/* No control leads to the page that it stands on, and no two have one name. */
static void controls_change_something(void)
{
    static const char *const queries[] = {"menu",
                                          "root/no",
                                          "clique/2",
                                          "proc/3",
                                          "proc_callers/2/pr/1/20/nc",
                                          "program_modules",
                                          "module/b",
                                          "module_getter_setters/b",
                                          "top_procs/1-100/callseqs/both/oa"};
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    for (unsigned i = 0; i < G_N_ELEMENTS(queries); i++) {
        struct fm_query self = {0};
        g_assert_true(fm_query_parse(queries[i], &self, NULL));
        self.has_preferences = false;
        fm_page_preferences_of(recording, &self, &self.preferences);
        self.has_preferences = true;
        g_autoptr(GHashTable) ids = g_hash_table_new(g_str_hash, g_str_equal);
        struct page page = page_of(recording, queries[i]);
        JsonArray *controls = json_object_get_array_member(page.root, "controls");
        g_assert_cmpuint(json_array_get_length(controls), >, 2);
        for (guint c = 0; c < json_array_get_length(controls); c++) {
            JsonObject *one = json_array_get_object_element(controls, c);
            const char *id = json_object_get_string_member(one, "id");
            struct fm_query query = {0};
            g_assert_true(
                fm_query_parse(json_object_get_string_member(one, "query"), &query, NULL));
            g_assert_false(fm_query_equal(&query, &self));
            g_assert_true(g_hash_table_add(ids, (void *)(guintptr)id));
            fm_query_done(&query);
        }
        page_done(&page);
        fm_query_done(&self);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/menu/answer", the_answer_comes_first);
    g_test_add_func("/menu/tells counts and invariants", menu_tells_counts_and_invariants);
    g_test_add_func("/menu/offers times when they tell something",
                    menu_offers_times_when_they_tell_something);
    g_test_add_func("/dumps/show nodes", dumps_show_nodes);
    g_test_add_func("/errors/bad ids are not found", bad_ids_are_not_found);
    g_test_add_func("/errors/later pages say why they are not there",
                    later_pages_say_why_they_are_not_there);
    g_test_add_func("/columns/follow the preferences", columns_follow_the_preferences);
    g_test_add_func("/columns/amounts are shared out", amounts_are_shared_out);
    g_test_add_func("/controls/change something", controls_change_something);
    return g_test_run();
}

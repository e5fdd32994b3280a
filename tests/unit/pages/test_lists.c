/* SPDX-License-Identifier: Apache-2.0 */
/* The pages that list modules and procedures: program_modules, module, getters and setters, top. */
#include "base/error.h"
#include "world.h"

#include <string.h>

static void modules_show_own_costs_only(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "program_modules");
    g_assert_cmpuint(row_count(&page, "modules", "module"), ==, 2); /* not the runtime's */
    JsonObject *b = row_where(&page, "modules", "module", "b");
    g_assert_cmpint(cell_int(b, "callseqs_self_count"), ==, 11);
    g_assert_cmpint(cell_int(b, "rank"), ==, 1);
    g_assert_cmpstr(cell_string(b, "module_query"), ==, "module/b");
    g_assert_false(has_column(&page, "modules", "callseqs_total_count"));
    page_done(&page);
    /* An order by self + descendants is one by self. */
    page = page_of(recording, "program_modules&p-_-s-_-w/box/cols/5/20/nosum/"
                              "cost-callseqs-both-oa/nc/th/mqwd/hhh/nodev");
    g_assert_cmpstr(cell_string(row_at(&page, "modules", "module", 0), "module"), ==, "b");
    g_assert_cmpstr(cell_string(row_at(&page, "modules", "module", 1), "module"), ==, "other");
    page_done(&page);
}

static void inactive_procedures_show_on_demand(void)
{
    g_autoptr(FmOpenProfile) recording = world_c(NULL);
    struct page page = page_of(recording, "module/main.c");
    g_assert_cmpuint(row_count(&page, "procs", "proc"), ==, 3);
    g_assert_cmpint(fact_int(&page, "ps_count"), ==, 4);
    struct page all = page_of(recording, control(&page, "inactive-procs-show"));
    g_assert_cmpuint(row_count(&all, "procs", "proc"), ==, 4);
    g_assert_nonnull(row_where(&all, "procs", "proc", "unused"));
    page_done(&all);
    page_done(&page);
    g_autofree char *message = page_error(recording, "module/nix.c", FM_ERROR_NOT_FOUND);
    g_assert_cmpstr(message, ==, "c.data: there is no file named 'nix.c'");
}

struct flat_proc {
    const char *name;
    enum fm_label_kind kind;
    uint32_t arity;
    uint64_t callseqs;
};

/* The runtime calls each of them, from one site. */
static struct fm_open_profile *flat(const struct flat_proc *procs, unsigned count)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "accessors");
    uint32_t runtime = fm_build_ps(
        build, &(struct fm_ps){.decl_module = "Mercury runtime", .name = "Mercury runtime"});
    fm_build_css(build, runtime, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    uint32_t root = fm_build_pd(build, runtime);
    for (unsigned i = 0; i < count; i++) {
        uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = procs[i].kind,
                                                         .decl_module = "m",
                                                         .def_module = "m",
                                                         .name = procs[i].name,
                                                         .arity = procs[i].arity});
        uint32_t csd = fm_build_csd(build, root, 0, fm_build_pd(build, ps));
        fm_build_add(build, csd, FM_EXITS, procs[i].callseqs);
        fm_build_add(build, csd, FM_CALLSEQS, procs[i].callseqs);
    }
    struct fm_profile *profile = NULL;
    struct fm_open_profile *recording = NULL;
    GError *error = NULL;
    bool ok = fm_build_finish(build, &profile, &error) &&
              fm_open_profile_new("accessors.data", profile, NULL, &recording, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return recording;
}

/* 7 of 100 are 7 %, though 7 / 100 * 100 is more than 7 in binary fractions. */
static void limits_include_what_is_just_at_them(void)
{
    static const struct flat_proc procs[] = {
        {"small", FM_LABEL_PREDICATE, 0, 7},
        {"tiny", FM_LABEL_PREDICATE, 0, 6},
        {"large", FM_LABEL_PREDICATE, 0, 87},
    };
    g_autoptr(FmOpenProfile) recording = flat(procs, G_N_ELEMENTS(procs));
    static const struct {
        const char *query;
        unsigned rows;
    } cases[] = {
        {"top_procs/p7/callseqs/self/oa", 2},         {"top_procs/p7.000001/callseqs/self/oa", 1},
        {"top_procs/p6/callseqs/both/oa", 3},         {"top_procs/p87/callseqs/self/oa", 1},
        {"top_procs/p87.000001/callseqs/self/oa", 0}, {"top_procs/v7/callseqs/self/oa", 2},
        {"top_procs/v7.000001/callseqs/self/oa", 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct page page = page_of(recording, cases[i].query);
        g_test_message("%s", cases[i].query);
        g_assert_cmpint(fact_int(&page, "procs_shown_count"), ==, cases[i].rows);
        page_done(&page);
    }
}

static struct fm_open_profile *accessors(void)
{
    static const struct flat_proc procs[] = {
        {"tree_get_left", FM_LABEL_PREDICATE, 2, 10},  {"tree_set_left", FM_LABEL_PREDICATE, 3, 5},
        {"tree_get_right", FM_LABEL_FUNCTION, 2, 30},  {"tree_get_right", FM_LABEL_PREDICATE, 2, 1},
        {"info_set_get_x", FM_LABEL_PREDICATE, 3, 2},  {"tree_get_wide", FM_LABEL_PREDICATE, 3, 9},
        {"widget_set_up", FM_LABEL_PREDICATE, 2, 100},
    };
    return flat(procs, G_N_ELEMENTS(procs));
}

static void getters_and_setters_are_paired(void)
{
    g_autoptr(FmOpenProfile) recording = accessors();
    struct page page = page_of(recording, "module_getter_setters/m");
    g_assert_cmpint(fact_int(&page, "accessors_count"), ==, 5); /* two have the wrong arity */
    /* Structures and fields in alphabetical order; "_set_" comes first in info_set_get_x. */
    JsonObject *x = row_at(&page, "accessors", "setter", 0);
    g_assert_cmpstr(cell_string(x, "field"), ==, "get_x setter");
    g_assert_cmpint(cell_int(x, "rank"), ==, 1);
    JsonObject *left = row_where(&page, "accessors", "field", "left summary");
    g_assert_cmpint(cell_int(left, "callseqs_self_count"), ==, 15);
    g_assert_cmpint(cell_int(left, "rank"), ==, 2);
    g_assert_cmpint(
        cell_int(row_where(&page, "accessors", "field", "left getter"), "callseqs_self_count"), ==,
        10);
    g_assert_cmpstr(
        cell_string(row_where(&page, "accessors", "field", "left setter"), "field_query"), ==,
        "proc/3");
    /* Two getters of one field are added up. */
    JsonObject *right = row_where(&page, "accessors", "field", "right summary");
    g_assert_cmpint(cell_int(right, "callseqs_self_count"), ==, 31);
    g_assert_nonnull(row_where(&page, "accessors", "field", "right getter (tree_get_right/2+1-0)"));
    g_assert_nonnull(row_where(&page, "accessors", "field", "right getter (tree_get_right/2-0)"));
    struct page by_cost = page_of(recording, control(&page, "sort-callseqs-self"));
    g_assert_cmpstr(cell_string(row_at(&by_cost, "accessors", "field", 0), "field"), ==,
                    "right summary");
    page_done(&by_cost);
    page_done(&page);
    page = page_of(recording, "module_getter_setters/Mercury runtime");
    g_assert_nonnull(strstr(page_text(&page), "has no getters and setters"));
    page_done(&page);
}

static void the_most_expensive_stand_first(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "top_procs/1-2/callseqs/self/oa");
    g_assert_cmpstr(page_title(&page), ==,
                    "Top procedures ordered by self call sequence numbers overall");
    g_assert_cmpuint(row_count(&page, "procs", "proc"), ==, 2);
    JsonObject *first = row_at(&page, "procs", "proc", 0);
    g_assert_cmpstr(cell_string(first, "proc"), ==, "b.p/0-0");
    g_assert_cmpint(cell_int(first, "callseqs_self_count"), ==, 7);
    g_assert_cmpstr(cell_string(row_at(&page, "procs", "proc", 1), "proc"), ==, "other.leaf/0-0");
    /* With preferences it is they that say how the rows stand. */
    struct page by_name = page_of(recording, "top_procs/1-3/callseqs/self/oa&p-_-s-_-w/box/cols/5/"
                                             "20/nosum/name/nc/th/mqn/hhh/nodev");
    g_assert_cmpstr(cell_string(row_at(&by_name, "procs", "proc", 0), "proc"), ==, "leaf/0-0");
    page_done(&by_name);
    page_done(&page);
}

static void criteria_change_one_thing_each(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "top_procs/1-100/callseqs/self/oa");
    g_assert_null(control(&page, "top-100"));
    g_assert_null(control(&page, "top-callseqs"));
    g_assert_true(g_str_has_prefix(control(&page, "top-10"), "top_procs/1-10/callseqs/self/oa&"));
    g_assert_true(
        g_str_has_prefix(control(&page, "top-0.1-percent"), "top_procs/p0.1/callseqs/self/oa&"));
    const char *total = control(&page, "top-total");
    g_assert_true(g_str_has_prefix(total, "top_procs/1-100/callseqs/both/oa&"));
    g_assert_nonnull(strstr(total, "/cost-callseqs-both-oa/")); /* the order follows */
    g_assert_true(
        g_str_has_prefix(control(&page, "top-per-call"), "top_procs/1-100/callseqs/self/pc&"));
    g_assert_true(g_str_has_prefix(control(&page, "top-words"), "top_procs/1-100/words/self/oa&"));
    page_done(&page);
    /* Calls have no descendants; the page says what it does. */
    page = page_of(recording, "top_procs/1-100/calls/both/pc");
    g_assert_cmpstr(page_title(&page), ==, "Top procedures ordered by number of calls");
    g_assert_cmpstr(cell_string(row_at(&page, "procs", "proc", 0), "proc"), ==, "b.p/0-0");
    g_assert_null(control(&page, "top-calls"));
    page_done(&page);
}

static void thresholds_and_ranks_limit(void)
{
    g_autoptr(FmOpenProfile) recording = world_two_pds();
    struct page page = page_of(recording, "top_procs/p50/callseqs/both/oa");
    g_assert_cmpuint(row_count(&page, "procs", "proc"), ==, 1); /* q: 9 of 16 */
    page_done(&page);
    page = page_of(recording, "top_procs/p30/callseqs/both/oa"); /* q 9, p 7, leaf 5 */
    g_assert_cmpuint(row_count(&page, "procs", "proc"), ==, 3);
    page_done(&page);
    page = page_of(recording, "top_procs/2-2/callseqs/both/oa");
    g_assert_cmpstr(cell_string(row_at(&page, "procs", "proc", 0), "proc"), ==, "b.p/0-0");
    page_done(&page);
    page = page_of(recording, "top_procs/50-60/callseqs/both/oa");
    g_assert_cmpuint(row_count(&page, "procs", "proc"), ==, 0);
    page_done(&page);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/modules/show own costs only", modules_show_own_costs_only);
    g_test_add_func("/top/limits include what is just at them",
                    limits_include_what_is_just_at_them);
    g_test_add_func("/module/inactive procedures show on demand",
                    inactive_procedures_show_on_demand);
    g_test_add_func("/getters/are paired with setters", getters_and_setters_are_paired);
    g_test_add_func("/top/the most expensive stand first", the_most_expensive_stand_first);
    g_test_add_func("/top/criteria change one thing each", criteria_change_one_thing_each);
    g_test_add_func("/top/thresholds and ranks limit", thresholds_and_ranks_limit);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios 31 to 35 of the schedulers, and what the header promises. */
#include "trace/core/hook.h"

struct tracer {
    GString *log;
    const char *label;
    bool result;
};

static GString *call_log;

static bool trace(void *hook_data, void *call_data)
{
    struct tracer *tracer = hook_data;
    (void)call_data;
    g_string_append_printf(call_log, "%s ", tracer->label);
    return tracer->result;
}

static bool trace_other(void *hook_data, void *call_data)
{
    return trace(hook_data, call_data);
}

#define assert_log(expected)                          \
    do {                                              \
        g_assert_cmpstr(call_log->str, ==, expected); \
        g_string_truncate(call_log, 0);               \
    } while (0)

static void test_31_an_entry_added_twice_is_called_once(void)
{
    struct fm_hooks *hooks = fm_hooks_new();
    struct tracer a = {NULL, "a", false};
    g_assert_true(fm_hooks_add(hooks, trace, &a, 50));
    g_assert_true(fm_hooks_add(hooks, trace, &a, 50));
    g_assert_false(fm_hooks_call(hooks, NULL));
    assert_log("a ");
    fm_hooks_remove(hooks, trace, &a);
    fm_hooks_call(hooks, NULL);
    assert_log("a ");
    fm_hooks_remove(hooks, trace, &a);
    fm_hooks_call(hooks, NULL);
    assert_log("");
    fm_hooks_remove(hooks, trace, &a); /* absent: no effect */
    fm_hooks_free(hooks);
}

static void test_32_data_is_part_of_the_identity(void)
{
    struct fm_hooks *hooks = fm_hooks_new();
    struct tracer a = {NULL, "a", false}, b = {NULL, "b", false};
    fm_hooks_add(hooks, trace, &a, 50);
    fm_hooks_add(hooks, trace, &b, 50);
    g_assert_cmpuint(fm_hooks_count(hooks), ==, 2);
    fm_hooks_remove(hooks, trace, &a);
    fm_hooks_call(hooks, NULL);
    assert_log("b ");
    fm_hooks_free(hooks);
}

static void test_33_priority_orders_and_merges(void)
{
    struct fm_hooks *hooks = fm_hooks_new();
    struct tracer fifty = {NULL, "50", false}, twenty_five = {NULL, "25", false};
    struct tracer other_fifty = {NULL, "50'", false}, zero = {NULL, "0", false};
    fm_hooks_add(hooks, trace, &fifty, 50);
    fm_hooks_add(hooks, trace, &twenty_five, 25);
    fm_hooks_add(hooks, trace, &other_fifty, 50);
    fm_hooks_add(hooks, trace, &zero, 0);
    fm_hooks_call(hooks, NULL);
    assert_log("0 25 50 50' ");
    g_assert_false(fm_hooks_add(hooks, trace, &zero, 1)); /* the same entry elsewhere */
    fm_hooks_call(hooks, NULL);
    assert_log("0 25 50 50' ");
    fm_hooks_free(hooks);

    struct fm_hooks *left = fm_hooks_new(), *right = fm_hooks_new();
    struct tracer a25 = {NULL, "25a", false}, a50 = {NULL, "50a", false};
    struct tracer b25 = {NULL, "25b", false}, b30 = {NULL, "30b", true};
    fm_hooks_add(left, trace, &a25, 25);
    fm_hooks_add(left, trace, &a50, 50);
    fm_hooks_add(right, trace, &b25, 25);
    fm_hooks_add(right, trace, &b30, 30);
    g_assert_true(fm_hooks_call_merge(left, NULL, right, NULL));
    assert_log("25a 25b 30b 50a ");
    g_assert_true(fm_hooks_call_check_merge(left, NULL, right, NULL));
    assert_log("25a 25b 30b ");
    g_assert_true(fm_hooks_call_merge(NULL, NULL, right, NULL));
    assert_log("25b 30b ");
    g_assert_false(fm_hooks_call_merge(NULL, NULL, NULL, NULL));
    fm_hooks_free(left);
    fm_hooks_free(right);
}

static void test_34_removing_by_function_gives_data_back_when_deleted(void)
{
    struct fm_hooks *hooks = fm_hooks_new();
    struct tracer a = {NULL, "a", false};
    fm_hooks_add(hooks, trace, &a, 50);
    fm_hooks_add(hooks, trace, &a, 50);
    g_assert_null(fm_hooks_remove_function(hooks, trace));
    g_assert_true(fm_hooks_remove_function(hooks, trace) == &a);
    g_assert_null(fm_hooks_remove_function(hooks, trace));
    fm_hooks_free(hooks);
}

static void test_35_a_list_gives_one_reference_an_entry(void)
{
    struct fm_hooks *from = fm_hooks_new(), *to = fm_hooks_new();
    struct tracer a = {NULL, "a", false};
    fm_hooks_add(from, trace, &a, 50);
    fm_hooks_add(from, trace, &a, 50);
    fm_hooks_add_list(to, from);
    g_assert_cmpuint(fm_hooks_references(to, trace, &a), ==, 1);
    fm_hooks_remove_list(to, from);
    g_assert_cmpuint(fm_hooks_count(to), ==, 0);
    fm_hooks_free(from);
    fm_hooks_free(to);
}

struct changer {
    struct fm_hooks *hooks;
    struct tracer *remove, *add;
};

static bool change(void *hook_data, void *call_data)
{
    struct changer *changer = hook_data;
    (void)call_data;
    g_string_append(call_log, "change ");
    if (changer->remove != NULL)
        fm_hooks_remove(changer->hooks, trace, changer->remove);
    if (changer->add != NULL)
        fm_hooks_add(changer->hooks, trace_other, changer->add, 10);
    return false;
}

static void test_a_list_may_change_while_it_is_called(void)
{
    struct fm_hooks *hooks = fm_hooks_new();
    struct tracer late = {NULL, "late", false}, added = {NULL, "added", false};
    struct changer changer = {hooks, &late, &added};
    fm_hooks_add(hooks, change, &changer, 5);
    fm_hooks_add(hooks, trace, &late, 50);
    fm_hooks_call(hooks, NULL);
    assert_log("change "); /* late was removed before its turn, added comes the next time */
    changer.add = NULL;
    fm_hooks_call(hooks, NULL);
    assert_log("change added ");
    fm_hooks_free(hooks);
}

static void test_lists_by_event_are_made_on_demand(void)
{
    struct fm_hooks_by_id *table = fm_hooks_by_id_new();
    g_assert_null(fm_hooks_by_id_find(table, "kernel", 3));
    struct fm_hooks *hooks = fm_hooks_by_id_get(table, "kernel", 3);
    g_assert_true(fm_hooks_by_id_get(table, "kernel", 3) == hooks);
    g_assert_true(fm_hooks_by_id_find(table, "kernel", 3) == hooks);
    g_assert_null(fm_hooks_by_id_find(table, "kernel", 4));
    g_assert_null(fm_hooks_by_id_find(table, "fs", 3));
    fm_hooks_by_id_free(table);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    call_log = g_string_new(NULL);
    g_test_add_func("/hook/31", test_31_an_entry_added_twice_is_called_once);
    g_test_add_func("/hook/32", test_32_data_is_part_of_the_identity);
    g_test_add_func("/hook/33", test_33_priority_orders_and_merges);
    g_test_add_func("/hook/34", test_34_removing_by_function_gives_data_back_when_deleted);
    g_test_add_func("/hook/35", test_35_a_list_gives_one_reference_an_entry);
    g_test_add_func("/hook/change-while-called", test_a_list_may_change_while_it_is_called);
    g_test_add_func("/hook/by-id", test_lists_by_event_are_made_on_demand);
    int status = g_test_run();
    g_string_free(call_log, TRUE);
    return status;
}

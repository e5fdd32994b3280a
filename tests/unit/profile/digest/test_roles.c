/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/processes/roles.h"

#include "made.h"

#define PART(COMMAND, FORKED, FORKED_IN, TIMES, CALLS)                                   \
    {                                                                                    \
        .process = {.command = (COMMAND), .forked = (FORKED), .forked_in = (FORKED_IN)}, \
        .has_cost = true, .calls = (CALLS), .times = (TIMES)                             \
    }

/* One program, begun in every way, and a second one: in no order. */
static struct fm_part parts[] = {
    PART("./web -x", true, "spawn_worker", 3, 10), PART("./web -y", false, NULL, 1, 1),
    PART("./web", true, "spawn_helper", 2, 100),   PART("./web -z", true, "spawn_worker", 1, 7),
    PART("./other", true, "spawn_worker", 1, 40),  PART("./web", true, NULL, 4, 1000),
};
static const struct fm_profile profile = {
    .run_info = {.parts = parts, .part_count = G_N_ELEMENTS(parts)}};

static void test_each_way_is_a_role(void)
{
    static const struct {
        const char *text;
        uint64_t processes, calls;
    } expected[] = {
        {"web", 1, 1},
        {"other, forked in spawn_worker", 1, 40},
        {"web, forked", 4, 4000},
        {"web, forked in spawn_helper", 2, 200},
        {"web, forked in spawn_worker", 4, 37},
    };
    g_autoptr(GArray) roles = fm_run_roles(&profile);
    g_assert_cmpuint(roles->len, ==, G_N_ELEMENTS(expected));
    for (unsigned i = 0; i < G_N_ELEMENTS(expected); i++) {
        const struct fm_role *role = &g_array_index(roles, struct fm_role, i);
        g_autofree char *text = fm_run_role_text(role);
        g_assert_cmpstr(text, ==, expected[i].text);
        g_assert_cmpuint(role->processes, ==, expected[i].processes);
        g_assert_true(role->has_cost);
        g_assert_cmpuint(role->calls, ==, expected[i].calls);
    }
}

static void test_sentence(void)
{
    g_autofree char *text = fm_run_roles_sentence(&profile);
    g_assert_cmpstr(text, ==,
                    "12 processes: 1 web; 1 other, forked in spawn_worker; 4 web, forked; 2 web, "
                    "forked in spawn_helper; 4 web, forked in spawn_worker");
    g_assert_null(fm_run_roles_sentence(&(struct fm_profile){0}));
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/digest/roles/each-way", test_each_way_is_a_role);
    g_test_add_func("/digest/roles/sentence", test_sentence);
    return g_test_run();
}

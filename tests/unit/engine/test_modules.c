/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

static unsigned begun;

static bool count_begun(struct fm_engine *engine, GError **error)
{
    (void)engine;
    (void)error;
    begun++;
    return true;
}

static void test_modules_are_required_with_prerequisites(void)
{
    static const char *const needs_state[] = {"state", NULL};
    static const char *const needs_missing[] = {"state", "missing", NULL};
    const struct fm_schedule_module state = {"state", "", count_begun, NULL};
    const struct fm_schedule_module stats = {"stats", "", count_begun, needs_state};
    const struct fm_schedule_module broken = {"broken", "", count_begun, needs_missing};
    const struct fm_schedule_module *const modules[] = {&state, &stats, &broken, NULL};
    struct world *world = world_new(4);
    g_autoptr(GError) error = NULL;
    begun = 0;
    fm_engine_add_modules(world->engine, modules);
    g_assert_true(fm_engine_require(world->engine, "stats", &error));
    g_assert_cmpuint(begun, ==, 2);
    g_assert_true(fm_engine_require(world->engine, "state", &error)); /* once */
    g_assert_false(fm_engine_require(world->engine, "broken", &error));
    g_assert_cmpstr(error->message, ==, "module broken: module missing is not loaded");
    g_assert_cmpuint(begun, ==, 2);
    world_free(world);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/modules", test_modules_are_required_with_prerequisites);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The engine on a main loop: what is more urgent goes first, and no work means no turns. */
#include "engine/source.h"
#include "world.h"

struct fixture {
    struct world *world;
    struct fm_trace *trace;
    GSource *source;
};

static void set_up(struct fixture *f, gconstpointer data)
{
    (void)data;
    f->world = world_new(4);
    f->trace = world_open(f->world, "x", ten_events);
    f->source = fm_engine_source_new(f->world->engine);
    g_source_attach(f->source, NULL);
}

static void tear_down(struct fixture *f, gconstpointer data)
{
    (void)data;
    g_source_destroy(f->source);
    g_source_unref(f->source);
    world_free(f->world);
}

static void run(void)
{
    while (g_main_context_iteration(NULL, FALSE)) {
    }
}

static void all_work_is_done(struct fixture *f, gconstpointer data)
{
    (void)data;
    world_module(f->world, "A", f->trace);
    g_assert_false(g_main_context_pending(NULL)); /* asleep */
    fm_background_request(f->world->engine, f->trace, "A");
    g_assert_true(g_main_context_pending(NULL)); /* nobody had to wake it */
    run();
    g_assert_true(fm_background_is_ready(f->trace, "A"));
    g_assert_null(fm_engine_check(f->world->engine));
    g_assert_false(g_main_context_pending(NULL));
}

/* A step a turn: the event hook of each one takes longer than a turn. */
static bool take_long(void *hook_data, void *call_data)
{
    gint64 end = g_get_monotonic_time() + FM_ENGINE_TURN_US + 100;
    (void)call_data;
    while (g_get_monotonic_time() < end) {
    }
    ++*(unsigned *)hook_data;
    return true;
}

static gboolean count_turn(gpointer user)
{
    unsigned *numbers = user;
    g_assert_cmpuint(numbers[0], <=,
                     numbers[1] + 1); /* never two chunks without a request between */
    numbers[1]++;
    return numbers[0] < 10;
}

/* A request that arrives while the pass goes on is served after at most one step. */
static void requests_come_between_steps(struct fixture *f, gconstpointer data)
{
    unsigned numbers[2] = {0, 0};
    struct fm_computation computation = {.chunk = {.event = fm_hooks_new()}};
    (void)data;
    fm_hooks_add(computation.chunk.event, take_long, &numbers[0], FM_HOOK_DEFAULT);
    g_assert_true(fm_engine_register_computation(f->world->engine, "slow", &computation));
    fm_background_request(f->world->engine, f->trace, "slow");
    /* Like a socket that always has something to read, but gives the others a chance. */
    g_idle_add_full(FM_ENGINE_PRIORITY, count_turn, numbers, NULL);
    run();
    g_assert_cmpuint(numbers[0], ==, 10);
    g_assert_cmpuint(numbers[1], >=, 10);
    g_assert_true(fm_background_is_ready(f->trace, "slow"));
}

static gboolean urgent(gpointer user)
{
    unsigned *numbers = user;
    g_assert_cmpuint(numbers[0], ==, 0); /* the pass has not had a turn */
    return ++numbers[1] < 20;
}

static void what_is_urgent_goes_first(struct fixture *f, gconstpointer data)
{
    unsigned numbers[2] = {0, 0};
    struct fm_computation computation = {.chunk = {.event = fm_hooks_new()}};
    (void)data;
    fm_hooks_add(computation.chunk.event, take_long, &numbers[0], FM_HOOK_DEFAULT);
    g_assert_true(fm_engine_register_computation(f->world->engine, "slow", &computation));
    fm_background_request(f->world->engine, f->trace, "slow");
    g_idle_add_full(G_PRIORITY_DEFAULT, urgent, numbers, NULL);
    run();
    g_assert_cmpuint(numbers[1], ==, 20);
    g_assert_cmpuint(numbers[0], ==, 10);
}

static void a_disabled_engine_sleeps(struct fixture *f, gconstpointer data)
{
    (void)data;
    world_module(f->world, "A", f->trace);
    fm_background_request(f->world->engine, f->trace, "A");
    fm_engine_disable(f->world->engine);
    g_assert_false(g_main_context_pending(NULL));
    fm_engine_enable(f->world->engine);
    g_assert_true(g_main_context_pending(NULL));
    run();
    g_assert_true(fm_background_is_ready(f->trace, "A"));
}

#define SCENARIO(name, function) \
    g_test_add("/schedule/source/" name, struct fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    SCENARIO("all-work", all_work_is_done);
    SCENARIO("between-steps", requests_come_between_steps);
    SCENARIO("urgent-first", what_is_urgent_goes_first);
    SCENARIO("disabled", a_disabled_engine_sleeps);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Work in steps, as deep profiles have it: passes of their own, in the order of what needs what. */
#include <string.h>

#include "base/error.h"
#include "world.h"

#define STEPS 3

/* One module's work: three steps; everything that is called is written to the world's log. */
struct work {
    struct world *world;
    const char *name;
    unsigned fail_at; /* 0 = never */
    GHashTable *done; /* trace -> steps */
};

struct fixture {
    struct world *world;
    struct fm_engine *engine;
    struct fm_trace *trace, *other;
    struct work load, sums, pages;
};

static unsigned steps_of(struct work *work, struct fm_trace *trace)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(work->done, trace));
}

static enum fm_step_state step(struct fm_trace *trace, void *user, unsigned budget_us,
                               GError **error)
{
    struct work *work = user;
    unsigned steps = steps_of(work, trace) + 1;
    g_autofree char *file = g_path_get_basename(trace->path);
    g_assert_cmpuint(budget_us, >, 0);
    g_assert_true(fm_background_is_in_progress(trace, work->name));
    g_assert_false(fm_background_is_ready(trace, work->name));
    g_hash_table_insert(work->done, trace, GUINT_TO_POINTER(steps));
    g_string_append_printf(work->world->log, "%s.%s%u ", file, work->name, steps);
    if (steps == work->fail_at) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED, "%s ends", file);
        return FM_STEP_FAILED;
    }
    return steps == STEPS ? FM_STEP_DONE : FM_STEP_MORE;
}

static double fraction(struct fm_trace *trace, void *user)
{
    return steps_of(user, trace) / (double)STEPS;
}

static void discard(struct fm_trace *trace, void *user)
{
    struct work *work = user;
    if (steps_of(work, trace) > 0)
        g_string_append_printf(work->world->log, "D.%s ", work->name);
    g_hash_table_remove(work->done, trace);
}

static bool write_before(void *hook_data, void *call_data)
{
    struct work *work = hook_data;
    const struct fm_context *context = call_data;
    g_assert_true(fm_background_is_in_progress(context->traces[0].trace, work->name));
    g_string_append_printf(work->world->log, "BR.%s ", work->name);
    return false;
}

static bool write_after(void *hook_data, void *call_data)
{
    struct work *work = hook_data;
    const struct fm_context *context = call_data;
    struct fm_trace *trace = context->traces[0].trace;
    g_assert_false(fm_background_is_in_progress(trace, work->name));
    g_string_append_printf(work->world->log, "AR.%s%s ", work->name,
                           fm_background_is_ready(trace, work->name)        ? "+"
                           : fm_background_error(trace, work->name) != NULL ? "!"
                                                                            : "-");
    return false;
}

static struct fm_hooks *one_hook(fm_hook_function *function, void *data)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, function, data, FM_HOOK_DEFAULT);
    return hooks;
}

static void register_work(struct fixture *f, struct work *work, const char *name,
                          const char *const *needs)
{
    *work = (struct work){f->world, name, 0, g_hash_table_new(NULL, NULL)};
    struct fm_computation computation = {
        .before_request = one_hook(write_before, work),
        .after_request = one_hook(write_after, work),
        .work = {step, fraction, discard, work},
        .needs = needs,
    };
    g_assert_true(fm_engine_register_computation(f->engine, name, &computation));
}

static void set_up(struct fixture *f, gconstpointer data)
{
    static const char *const sums_need[] = {"load", NULL}, *const pages_need[] = {"sums", NULL};
    (void)data;
    f->world = world_new(4);
    f->engine = f->world->engine;
    f->trace = world_open(f->world, "x", no_events);
    f->other = world_open(f->world, "y", no_events);
    register_work(f, &f->load, "load", NULL);
    register_work(f, &f->sums, "sums", sums_need);
    register_work(f, &f->pages, "pages", pages_need);
}

static void tear_down(struct fixture *f, gconstpointer data)
{
    (void)data;
    world_free(f->world);
    struct work *all[] = {&f->load, &f->sums, &f->pages};
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++)
        g_hash_table_unref(all[i]->done);
}

static enum fm_request_result ask(struct fixture *f, const char *module)
{
    enum fm_request_result result = fm_background_request(f->engine, f->trace, module);
    g_assert_null(fm_engine_check(f->engine));
    return result;
}

static void one_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    g_assert_cmpint(ask(f, "load"), ==, FM_REQUEST_QUEUED);
    g_assert_cmpint(ask(f, "load"), ==, FM_REQUEST_QUEUED_BEFORE);
    fm_background_notify_queue(f->engine, f, f->trace, FM_TIME_INF, NULL,
                               world_notify(f->world, "v1"));
    g_assert_cmpfloat(fm_background_progress(f->engine, f->trace), <, 0);
    g_assert_null(fm_background_current(f->engine, f->trace));
    world_expect(f->world, "BR.load x.load1 ->T");
    g_assert_cmpint(ask(f, "load"), ==, FM_REQUEST_IN_PROGRESS);
    g_assert_true(fm_background_notify_current(f->engine, f, f->trace, FM_TIME_INF, NULL,
                                               world_notify(f->world, "v2")));
    g_assert_cmpstr(fm_background_current(f->engine, f->trace), ==, "load");
    g_assert_cmpfloat(fm_background_progress(f->engine, f->trace), ==, 1 / 3.0);
    world_expect(f->world, "x.load2 ->T");
    world_expect(f->world, "x.load3 AR.load+ N(v1) N(v2) ->F");
    g_assert_cmpint(ask(f, "load"), ==, FM_REQUEST_READY);
    g_assert_false(fm_engine_has_work(f->engine));
}

static void what_is_needed_goes_first(struct fixture *f, gconstpointer data)
{
    (void)data;
    g_assert_cmpint(ask(f, "pages"), ==, FM_REQUEST_QUEUED);
    g_assert_true(fm_background_find(f->engine, f->trace, "load"));
    g_assert_true(fm_background_find(f->engine, f->trace, "sums"));
    g_assert_cmpint(ask(f, "sums"), ==, FM_REQUEST_QUEUED_BEFORE);
    world_expect(f->world, "BR.load x.load1 ->T");
    world_expect(f->world, "x.load2 ->T");
    world_expect(f->world, "x.load3 AR.load+ ->T");
    world_expect(f->world, "BR.sums x.sums1 ->T");
    g_assert_true(fm_background_is_ready(f->trace, "load")); /* known while others go on */
    world_expect(f->world, "x.sums2 ->T");
    world_expect(f->world, "x.sums3 AR.sums+ ->T");
    world_expect(f->world, "BR.pages x.pages1 ->T");
    world_expect(f->world, "x.pages2 ->T");
    world_expect(f->world, "x.pages3 AR.pages+ ->F");
}

static void two_profiles_take_turns(struct fixture *f, gconstpointer data)
{
    (void)data;
    ask(f, "load");
    fm_background_request(f->engine, f->other, "load");
    world_expect(f->world, "BR.load x.load1 ->T");
    world_expect(f->world, "BR.load y.load1 ->T");
    world_expect(f->world, "x.load2 ->T");
    world_expect(f->world, "y.load2 ->T");
    world_expect(f->world, "x.load3 AR.load+ ->T");
    world_expect(f->world, "y.load3 AR.load+ ->F");
}

/* An ad hoc request on a trace goes before the pass over a profile, which then goes on where it
 * was. */
static void requests_go_first(struct fixture *f, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    const char *path = world_file(f->world, "z", ten_events);
    struct fm_engine_reader *reader = fm_engine_reader_new(f->engine);
    (void)data;
    g_assert_true(fm_engine_reader_add_trace(reader, path, &error));
    ask(f, "load");
    world_expect(f->world, "BR.load x.load1 ->T");
    g_assert_true(fm_engine_reader_request(reader, world_request(f->world, "V", 1, 6)));
    world_expect(f->world, "BR.V BC.V V:1-4 AC.V ->T");
    world_expect(f->world, "BC.V V:5 AC.V AR.V ->T");
    world_expect(f->world, "x.load2 ->T");
    fm_engine_reader_free(reader);
    world_expect(f->world, "x.load3 AR.load+ ->F");
}

static void closing_in_mid_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    ask(f, "sums");
    fm_background_request(f->engine, f->other, "load");
    fm_background_notify_queue(f->engine, f, f->trace, FM_TIME_INF, NULL,
                               world_notify(f->world, "v"));
    world_expect(f->world, "BR.load x.load1 ->T");
    world_expect(f->world, "BR.load y.load1 ->T");
    fm_engine_close(f->engine, f->trace);
    world_expect_log(f->world, "AR.load-"); /* no notification, no further step of x */
    world_expect(f->world, "y.load2 ->T");
    world_expect(f->world, "y.load3 AR.load+ ->F");
}

static void failure(struct fixture *f, gconstpointer data)
{
    (void)data;
    f->load.fail_at = 2;
    ask(f, "pages");
    fm_background_notify_queue(f->engine, f, f->trace, FM_TIME_INF, NULL,
                               world_notify(f->world, "v"));
    world_expect(f->world, "BR.load x.load1 ->T");
    world_expect(f->world, "x.load2 AR.load! N(v) ->F"); /* what needs it does not run */
    static const char *const names[] = {"load", "sums", "pages"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        g_assert_error(fm_background_error(f->trace, names[i]), FM_ERROR, FM_ERROR_TRUNCATED);
        g_assert_cmpstr(fm_background_error(f->trace, names[i])->message, ==, "x ends");
        g_assert_cmpint(ask(f, names[i]), ==, FM_REQUEST_FAILED);
        g_assert_false(fm_background_is_ready(f->trace, names[i]));
    }
    g_assert_null(fm_background_error(f->other, "load"));
    f->load.fail_at = 0; /* the file is mended */
    fm_background_discard(f->engine, f->trace);
    g_assert_null(fm_background_error(f->trace, "pages"));
    world_expect_log(f->world, "D.load");
    g_assert_cmpint(ask(f, "load"), ==, FM_REQUEST_QUEUED);
    world_expect(f->world, "BR.load x.load1 ->T");
    world_expect(f->world, "x.load2 ->T");
    world_expect(f->world, "x.load3 AR.load+ ->F");
}

/* The file has changed while it was worked on. */
static void discarding_in_mid_pass(struct fixture *f, gconstpointer data)
{
    (void)data;
    ask(f, "sums");
    for (unsigned i = 0; i < STEPS; i++)
        fm_engine_step(f->engine);
    g_string_truncate(f->world->log, 0);
    world_expect(f->world, "BR.sums x.sums1 ->T");
    g_assert_true(fm_background_notify_current(f->engine, f, f->trace, FM_TIME_INF, NULL,
                                               world_notify(f->world, "v")));
    fm_background_discard(f->engine, f->trace);
    g_assert_false(fm_background_is_ready(f->trace, "load"));
    g_assert_null(fm_engine_check(f->engine));
    g_assert_true(g_str_has_prefix(f->world->log->str, "AR.sums- D."));
    g_string_truncate(f->world->log, 0);
    world_expect(f->world, "BR.load x.load1 ->T"); /* asked for again, with what it needs */
    world_expect(f->world, "x.load2 ->T");
    world_expect(f->world, "x.load3 AR.load+ N(v) ->T");
    world_expect(f->world, "BR.sums x.sums1 ->T");
}

/* Events are read in passes of their own, before or after. */
static void both_kinds(struct fixture *f, gconstpointer data)
{
    (void)data;
    struct fm_trace *trace = world_open(f->world, "z", eight_events);
    world_module(f->world, "A", trace);
    world_module(f->world, "B", trace);
    fm_background_request(f->engine, trace, "A");
    fm_background_request(f->engine, trace, "load");
    fm_background_request(f->engine, trace, "B");
    world_expect(f->world, "ip+A BR.A BC.A A:1-4 AC.A ->T");
    world_expect(f->world, "BC.A A:5-8 AC.A ip-A rdyA AR.A ->T");
    world_expect(f->world, "BR.load z.load1 ->T");
    world_expect(f->world, "z.load2 ->T");
    world_expect(f->world, "z.load3 AR.load+ ->T");
    world_expect(f->world, "ip+B BR.B BC.B B:1-4 AC.B ->T");
    world_expect(f->world, "BC.B B:5-8 AC.B ip-B rdyB AR.B ->F");
}

static bool write_progress(void *hook_data, void *call_data)
{
    struct fixture *f = hook_data;
    struct fm_notify *notify = call_data;
    double now = fm_background_progress(f->engine, notify->trace);
    g_string_append_printf(f->world->log, "W%.0f ", now < 0 ? -1 : now * 100);
    if (now < 0)
        fm_background_notify_remove(f->engine, notify->owner); /* its own */
    return false;
}

static void watching(struct fixture *f, gconstpointer data)
{
    (void)data;
    ask(f, "load");
    fm_background_watch(f->engine, f, f->trace, one_hook(write_progress, f));
    world_expect(f->world, "BR.load x.load1 W33 ->T");
    world_expect(f->world, "x.load2 W67 ->T");
    world_expect(f->world, "x.load3 AR.load+ W-1 ->F");
    ask(f, "sums");
    world_expect(f->world, "BR.sums x.sums1 ->T"); /* removed */
    fm_background_watch(f->engine, f, f->trace, one_hook(write_progress, f));
    fm_background_notify_remove(f->engine, f);
    world_expect(f->world, "x.sums2 ->T");
}

static bool note_progress(void *user, const char *module, uint64_t done, uint64_t total)
{
    struct fixture *f = user;
    g_string_append_printf(f->world->log, "P%s:%u/%u ", module, (unsigned)done, (unsigned)total);
    return f->sums.fail_at != 99;
}

static void running_to_the_end(struct fixture *f, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    const struct fm_progress progress = {note_progress, f};
    (void)data;
    g_assert_true(fm_background_run(f->engine, f->trace, "load", &progress, &error));
    world_expect_log(f->world, "BR.load x.load1 Pload:333/1000 x.load2 Pload:666/1000 x.load3 "
                               "AR.load+");
    g_assert_true(fm_background_run(f->engine, f->trace, "load", NULL, &error)); /* at once */
    f->sums.fail_at = 99;
    g_assert_false(fm_background_run(f->engine, f->trace, "sums", &progress, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_CANCELLED);
    g_clear_error(&error);
    f->sums.fail_at = 3;
    g_assert_false(fm_background_run(f->engine, f->trace, "pages", NULL, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
    g_clear_error(&error);
    g_assert_false(fm_background_run(f->engine, f->trace, "no such", NULL, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_NOT_FOUND);
}

/* --- random operations --- */

#define OPERATIONS 20000

struct promise { /* of a notification: it comes once, when no flag of its pass is in progress */
    unsigned asked, came;
};

static bool keep_promise(void *hook_data, void *call_data)
{
    struct promise *promise = hook_data;
    const struct fm_notify *notify = call_data;
    static const char *const names[] = {"load", "sums", "pages"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_false(fm_background_is_in_progress(notify->trace, names[i]));
    promise->came++;
    g_assert_cmpuint(promise->came, <=, promise->asked);
    return false;
}

static void ask_at_random(struct fixture *f, struct fm_trace *trace, GRand *chance,
                          struct promise *promise)
{
    static const char *const names[] = {"load", "sums", "pages"};
    const char *name = names[g_rand_int_range(chance, 0, 3)];
    bool ready = fm_background_is_ready(trace, name);
    bool failed = fm_background_error(trace, name) != NULL;
    bool running = fm_background_is_in_progress(trace, name);
    enum fm_request_result result = fm_background_request(f->engine, trace, name);
    g_assert_cmpint(result == FM_REQUEST_READY, ==, ready);
    g_assert_cmpint(result == FM_REQUEST_IN_PROGRESS, ==, running);
    if (failed)
        g_assert_cmpint(result, ==, FM_REQUEST_FAILED);
    if (result == FM_REQUEST_QUEUED) {
        promise->asked++;
        fm_background_notify_queue(f->engine, promise, trace, FM_TIME_INF, NULL,
                                   one_hook(keep_promise, promise));
    } else if (running && fm_background_notify_current(f->engine, promise, trace, FM_TIME_INF, NULL,
                                                       one_hook(keep_promise, promise))) {
        promise->asked++;
    }
}

static void one_operation(struct fixture *f, struct fm_trace *trace, GRand *chance,
                          struct promise *promise)
{
    struct work *works[] = {&f->load, &f->sums, &f->pages};
    switch (g_rand_int_range(chance, 0, 12)) {
    case 0:
    case 1:
        ask_at_random(f, trace, chance, promise);
        break;
    case 2:
        if (g_rand_int_range(chance, 0, 4) == 0)
            fm_background_discard(f->engine, trace);
        break;
    case 3: /* from now on this module's work fails, or does no more */
        works[g_rand_int_range(chance, 0, 3)]->fail_at =
            (unsigned)g_rand_int_range(chance, 0, 2 * STEPS);
        break;
    case 4:
        if (g_rand_int_range(chance, 0, 20) == 0) { /* everything at once */
            while (fm_engine_step(f->engine))
                g_assert_cmpstr(fm_engine_check(f->engine), ==, NULL);
        }
        break;
    default:
        fm_engine_step(f->engine);
    }
    g_assert_cmpstr(fm_engine_check(f->engine), ==, NULL);
}

static unsigned count_words(const char *text, const char *word)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    return count;
}

static void random_operations(struct fixture *f, gconstpointer data)
{
    GRand *chance = g_rand_new_with_seed(20261122);
    struct fm_trace *traces[] = {f->trace, f->other};
    struct promise promises[2] = {{0, 0}, {0, 0}};
    (void)data;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        unsigned which = (unsigned)g_rand_int_range(chance, 0, 2);
        one_operation(f, traces[which], chance, &promises[which]);
    }
    while (fm_engine_step(f->engine)) {
    }
    /* Every pass that began has ended. */
    g_assert_cmpuint(count_words(f->world->log->str, "BR."), >, 500);
    g_assert_cmpuint(count_words(f->world->log->str, "BR."), ==,
                     count_words(f->world->log->str, "AR."));
    static const char *const endings[] = {"+ ", "! ", "- "}; /* ready, failed, broken off */
    for (unsigned i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *word = g_strdup_printf("AR.sums%s", endings[i]);
        g_assert_cmpuint(count_words(f->world->log->str, word), >, 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        g_assert_cmpuint(promises[i].asked, >, 100);
        g_assert_cmpuint(promises[i].came, >, promises[i].asked / 2);
    }
    g_rand_free(chance);
}

#define SCENARIO(name, function) \
    g_test_add("/schedule/work/" name, struct fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    SCENARIO("one-pass", one_pass);
    SCENARIO("needs", what_is_needed_goes_first);
    SCENARIO("turns", two_profiles_take_turns);
    SCENARIO("requests-first", requests_go_first);
    SCENARIO("close", closing_in_mid_pass);
    SCENARIO("failure", failure);
    SCENARIO("discard", discarding_in_mid_pass);
    SCENARIO("both-kinds", both_kinds);
    SCENARIO("watch", watching);
    SCENARIO("run", running_to_the_end);
    SCENARIO("random", random_operations);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* State at a time after restoring and reading on = state there after reading all. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "base/error.h"
#include "random_program.h"
#include "trace/state/checkpoint_internal.h"
#include "trace/format/open.h"

#define U(x) ((uint64_t)(x))
enum { TIMES = 1000, BUDGET = 64 << 20 };

/* --- reading --- */

static void read_until(struct fm_context *context, struct fm_state *state, uint64_t time)
{
    struct fm_chunk_hooks hooks = {.event = fm_hooks_new()};
    fm_hooks_add(hooks.event, fm_state_hook, state, FM_HOOK_STATE);
    fm_context_begin(context, &hooks, -1);
    fm_context_middle(context, time, UINT64_MAX, NULL);
    fm_context_detach(context, &hooks, -1);
    fm_hooks_free(hooks.event);
}

static struct fm_checkpoints *record(struct fm_trace *trace, uint64_t interval, size_t budget)
{
    struct fm_checkpoints *checkpoints = fm_checkpoints_new(trace, budget);
    fm_checkpoints_set_interval(checkpoints, interval);
    struct fm_state *state = fm_state_new(trace);
    fm_checkpoints_record(checkpoints, state);
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, fm_checkpoints_hook, checkpoints, FM_HOOK_STATE);
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    fm_trace_each_event(trace, 0, FM_TIME_INF, hooks);
    fm_checkpoints_end(checkpoints, trace->end_time);
    fm_state_free(state);
    return checkpoints;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Random times, ascending; the first and the last are the trace's ends. */
static uint64_t *random_times(const struct fm_trace *trace, uint32_t seed)
{
    GRand *rand = g_rand_new_with_seed(seed);
    uint64_t *times = g_new(uint64_t, TIMES);
    double length = (double)(trace->end_time - trace->start_time);
    for (unsigned i = 0; i < TIMES; i++)
        times[i] = trace->start_time + (uint64_t)(g_rand_double(rand) * length);
    times[0] = trace->start_time;
    times[1] = trace->end_time;
    qsort(times, TIMES, sizeof *times, by_value);
    g_rand_free(rand);
    return times;
}

/* The states at the times, by reading once from begin to end. */
static char **sequential_states(struct fm_trace *trace, const uint64_t *times)
{
    char **texts = g_new0(char *, TIMES + 1);
    struct fm_state *state = fm_state_new(trace);
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    for (unsigned i = 0; i < TIMES; i++) {
        read_until(context, state, times[i]);
        texts[i] = describe_state(state);
    }
    fm_context_free(context);
    fm_state_free(state);
    return texts;
}

static void compare_restored(struct fm_trace *trace, struct fm_checkpoints *checkpoints,
                             const uint64_t *times, char **expected, unsigned least_restored)
{
    struct fm_state *state = fm_state_new(trace);
    struct fm_context *context = fm_context_new(&trace, 1);
    unsigned restored = 0;
    for (unsigned n = 0; n < TIMES; n++) {
        unsigned i = n * 617 % TIMES; /* in some other order */
        restored += fm_checkpoints_restore(checkpoints, context, times[i], state);
        g_assert_true(fm_state_is_complete(state));
        read_until(context, state, times[i]);
        char *text = describe_state(state);
        if (strcmp(text, expected[i]) != 0)
            g_test_message("time %" G_GUINT64_FORMAT ":\n%s\n---- expected\n%s", times[i], text,
                           expected[i]);
        g_assert_true(strcmp(text, expected[i]) == 0);
        g_free(text);
    }
    g_assert_cmpuint(restored, >=, least_restored);
    fm_context_free(context);
    fm_state_free(state);
}

static void check_trace(struct fm_trace *trace, uint64_t interval, size_t budget)
{
    struct fm_checkpoints *checkpoints = record(trace, interval, budget);
    uint64_t *times = random_times(trace, 42);
    char **expected = sequential_states(trace, times);
    g_assert_cmpuint(fm_checkpoints_count(checkpoints), >, 1);
    compare_restored(trace, checkpoints, times, expected, TIMES / 2);
    g_strfreev(expected);
    g_free(times);
    fm_checkpoints_free(checkpoints);
}

static void check_list(struct event_list *list, uint64_t interval, size_t budget)
{
    struct fm_trace *trace = event_list_trace(list);
    check_trace(trace, interval, budget);
    fm_trace_free(trace);
    event_list_free(list);
}

static void test_c_program(void)
{
    check_list(random_program_c(1), 1000, BUDGET);
    check_list(random_program_c(2), 7, BUDGET);
}

static void test_haskell_program(void)
{
    check_list(random_program_haskell(3), 1000, BUDGET);
    check_list(random_program_haskell(4), 7, BUDGET);
}

static void test_budget(void)
{
    struct event_list *list = random_program_c(5);
    struct fm_trace *trace = event_list_trace(list);
    struct fm_checkpoints *large = record(trace, 20, BUDGET);
    struct fm_checkpoints *small = record(trace, 20, 60000);
    g_assert_cmpuint(fm_checkpoints_count(large), ==, (event_list_count(list) - 1) / 20);
    g_assert_cmpuint(fm_checkpoints_interval(large), ==, 20);
    g_assert_cmpuint(fm_checkpoints_interval(small), >, 20);
    g_assert_cmpuint(fm_checkpoints_count(small), <, fm_checkpoints_count(large) / 2);
    g_assert_cmpuint(fm_checkpoints_memory(small), <, 90000);
    uint64_t *times = random_times(trace, 6);
    char **expected = sequential_states(trace, times);
    compare_restored(trace, small, times, expected, TIMES / 2);
    g_strfreev(expected);
    g_free(times);
    fm_checkpoints_free(small);
    fm_checkpoints_free(large);
    fm_trace_free(trace);
    event_list_free(list);
    check_list(random_program_haskell(7), 20, 30000);
}

static void check_sample(const char *name, uint64_t interval)
{
    char *path = g_build_filename(g_getenv("FATHOM_SAMPLE_DATA"), "eventlog", name, NULL);
    GError *error = NULL;
    char *identity = fm_trace_identity(path, &error);
    g_assert_no_error(error);
    struct fm_trace *trace = fm_trace_open(path, identity, &error);
    g_assert_no_error(error);
    check_trace(trace, interval, BUDGET);
    fm_trace_free(trace);
    g_free(identity);
    g_free(path);
}

static void test_samples(void)
{
    if (g_getenv("FATHOM_SAMPLE_DATA") == NULL) {
        g_test_skip("FATHOM_SAMPLE_DATA is not set");
        return;
    }
    check_sample("sparks.eventlog", 2000);
    check_sample("profhc.eventlog", 500);
    check_sample("marks.eventlog", 500);
}

/* Before anything is known the state is unknown, and reading begins at the time itself. */
static void test_not_yet_known(void)
{
    struct event_list *list = random_program_c(8);
    struct fm_trace *trace = event_list_trace(list);
    struct fm_checkpoints *checkpoints = fm_checkpoints_new(trace, BUDGET);
    struct fm_state *state = fm_state_new(trace);
    struct fm_context *context = fm_context_new(&trace, 1);
    uint64_t middle = trace->end_time / 2;
    g_assert_false(fm_checkpoints_restore(checkpoints, context, middle, state));
    g_assert_cmpuint(fm_context_time(context), >=, middle);
    g_assert_false(fm_state_is_complete(state));
    g_assert_cmpuint(fm_state_origin(state), ==, middle);
    g_assert_false(fm_checkpoints_restore(checkpoints, context, trace->start_time, state));
    g_assert_cmpuint(fm_context_time(context), ==, trace->start_time);
    g_assert_true(fm_state_is_complete(state));
    fm_context_free(context);
    fm_state_free(state);
    fm_checkpoints_free(checkpoints);
    fm_trace_free(trace);
    event_list_free(list);
}

/* --- files --- */

struct files {
    char *folder, *trace_path, *cache, *state_path;
};

/* Where the states of a file are kept, as the cache stands beside it. */
static char *state_path_of(const char *trace_path, const char *cache)
{
    struct stat status;
    g_assert_cmpint(stat(trace_path, &status), ==, 0);
    return g_strdup_printf("%s/states/%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x.fathom-state",
                           cache, (guint64)status.st_dev, (guint64)status.st_ino);
}

static void make_files(struct files *files)
{
    GError *error = NULL;
    files->folder = g_dir_make_tmp("fathom-XXXXXX", &error);
    g_assert_no_error(error);
    files->trace_path = g_build_filename(files->folder, "a.eventlog", NULL);
    g_assert_true(g_file_set_contents(files->trace_path, "log", 3, NULL));
    files->cache = g_build_filename(files->folder, "cache", NULL);
    g_setenv("FATHOM_CACHE", files->cache, true);
    files->state_path = state_path_of(files->trace_path, files->cache);
}

static void remove_files(struct files *files)
{
    g_autofree char *states = g_path_get_dirname(files->state_path);
    g_unlink(files->state_path);
    g_rmdir(states);
    g_rmdir(files->cache);
    g_unlink(files->trace_path);
    g_assert_cmpint(g_rmdir(files->folder), ==, 0); /* nothing else was left beside the trace */
    g_free(files->folder);
    g_free(files->cache);
    g_free(files->trace_path);
    g_free(files->state_path);
}

static struct fm_trace *trace_at(const struct event_list *list, const char *path)
{
    struct fm_trace *trace = event_list_trace(list);
    g_free(trace->path);
    trace->path = g_strdup(path);
    return trace;
}

static void save(struct event_list *list, const char *path, uint64_t interval)
{
    struct fm_trace *trace = trace_at(list, path);
    struct fm_checkpoints *checkpoints = record(trace, interval, BUDGET);
    GError *error = NULL;
    g_assert_true(fm_checkpoints_write(checkpoints, &error));
    g_assert_no_error(error);
    fm_checkpoints_free(checkpoints);
    fm_trace_free(trace);
}

static void check_saved(struct event_list *list)
{
    struct files files;
    make_files(&files);
    save(list, files.trace_path, 700);
    struct fm_trace *trace = event_list_trace(list);
    uint64_t *times = random_times(trace, 9);
    char **expected = sequential_states(trace, times);
    fm_trace_free(trace);
    trace = trace_at(list, files.trace_path); /* opened anew: nothing of it has been read */
    GError *error = NULL;
    struct fm_checkpoints *checkpoints = fm_checkpoints_read(trace, BUDGET, &error);
    g_assert_no_error(error);
    g_assert_nonnull(checkpoints);
    g_assert_true(fm_checkpoints_is_complete(checkpoints));
    g_assert_cmpuint(fm_checkpoints_count(checkpoints), ==, (event_list_count(list) - 1) / 700);
    compare_restored(trace, checkpoints, times, expected, TIMES / 2);
    fm_checkpoints_free(checkpoints);
    fm_trace_free(trace);
    /* The trace has changed: another length. */
    g_assert_true(g_file_set_contents(files.trace_path, "longer", 6, NULL));
    trace = trace_at(list, files.trace_path);
    g_assert_null(fm_checkpoints_read(trace, BUDGET, &error));
    g_assert_no_error(error);
    fm_trace_free(trace);
    g_strfreev(expected);
    g_free(times);
    remove_files(&files);
    event_list_free(list);
}

static void test_saved(void)
{
    check_saved(random_program_c(10));
    check_saved(random_program_haskell(11));
}

static void test_damaged(void)
{
    struct event_list *list = random_program_c(12);
    struct files files;
    make_files(&files);
    save(list, files.trace_path, 700);
    char *bytes;
    size_t length;
    g_assert_true(g_file_get_contents(files.state_path, &bytes, &length, NULL));
    for (unsigned i = 0; i < 40; i++) {
        size_t at = i * (length - 1) / 39;
        bytes[at] ^= 0x10;
        g_assert_true(g_file_set_contents(files.state_path, bytes, (gssize)length, NULL));
        bytes[at] ^= 0x10;
        struct fm_trace *trace = trace_at(list, files.trace_path);
        GError *error = NULL;
        g_assert_null(fm_checkpoints_read(trace, BUDGET, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
        g_assert_nonnull(strstr(error->message, files.state_path));
        g_assert_nonnull(strstr(error->message, "offset"));
        g_clear_error(&error);
        fm_trace_free(trace);
    }
    /* Cut, and whole again. */
    g_assert_true(g_file_set_contents(files.state_path, bytes, (gssize)(length / 2), NULL));
    struct fm_trace *trace = trace_at(list, files.trace_path);
    GError *error = NULL;
    g_assert_null(fm_checkpoints_read(trace, BUDGET, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_clear_error(&error);
    fm_trace_free(trace);
    /* Without the checksum's help every byte may be anything: no crash, and no false state that
     * would not end. */
    for (unsigned i = 0; i < 300; i++) {
        size_t at = 14 + (size_t)i * 7919 % (length - 30);
        uint8_t *copy = g_memdup2(bytes, length);
        copy[at] = (uint8_t)(i * 37);
        trace = trace_at(list, files.trace_path);
        struct fm_checkpoints *checkpoints =
            fm_checkpoints_parse(trace, copy, length - 8, NULL, "copy", BUDGET, NULL);
        if (checkpoints != NULL) {
            struct fm_state *state = fm_state_new(trace);
            struct fm_context *context = fm_context_new(&trace, 1);
            for (uint64_t time = 0; time < trace->end_time; time += trace->end_time / 9) {
                fm_checkpoints_restore(checkpoints, context, time, state);
                read_until(context, state, time);
            }
            fm_context_free(context);
            fm_state_free(state);
            fm_checkpoints_free(checkpoints);
        }
        fm_trace_free(trace);
        g_free(copy);
    }
    g_free(bytes);
    remove_files(&files);
    event_list_free(list);
}

/* Where there is to be no cache nothing is kept, and the oldest go where there are too many. */
static void test_cache(void)
{
    struct event_list *list = random_program_c(13);
    struct files files;
    GError *error = NULL;
    make_files(&files);
    g_setenv("FATHOM_CACHE", "off", true);
    save(list, files.trace_path, 5000);
    struct fm_trace *trace = trace_at(list, files.trace_path);
    g_assert_null(fm_checkpoints_read(trace, BUDGET, &error));
    g_assert_no_error(error);
    g_assert_false(g_file_test(files.cache, G_FILE_TEST_EXISTS));
    fm_trace_free(trace);

    g_autofree char *states = g_path_get_dirname(files.state_path);
    g_autofree char *old = g_build_filename(states, "1-2.fathom-state", NULL);
    g_autofree char *other = g_build_filename(states, "other", NULL);
    const struct utimbuf long_ago = {.actime = 1000, .modtime = 1000};
    g_setenv("FATHOM_CACHE", files.cache, true);
    g_assert_cmpint(g_mkdir_with_parents(states, 0700), ==, 0);
    g_assert_true(g_file_set_contents(old, "old", 3, NULL));
    g_assert_true(g_file_set_contents(other, "other", 5, NULL));
    g_assert_cmpint(utime(old, &long_ago), ==, 0);
    save(list, files.trace_path, 5000);
    g_assert_true(g_file_test(old, G_FILE_TEST_EXISTS));
    struct stat status;
    g_assert_cmpint(stat(files.state_path, &status), ==, 0);
    g_autofree char *limit = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)status.st_size + 1);
    g_setenv("FATHOM_CACHE_SIZE", limit, true);
    save(list, files.trace_path, 5000);
    g_unsetenv("FATHOM_CACHE_SIZE");
    g_assert_false(g_file_test(old, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(other, G_FILE_TEST_EXISTS)); /* not ours */
    trace = trace_at(list, files.trace_path);
    struct fm_checkpoints *checkpoints = fm_checkpoints_read(trace, BUDGET, &error);
    g_assert_no_error(error);
    g_assert_nonnull(checkpoints);
    g_assert_cmpuint(fm_checkpoints_count(checkpoints), ==, (event_list_count(list) - 1) / 5000);
    fm_checkpoints_free(checkpoints);
    fm_trace_free(trace);
    g_unlink(other);
    remove_files(&files);
    event_list_free(list);
}

static void test_not_a_file(void)
{
    struct event_list *list = random_program_c(14);
    struct fm_trace *trace = trace_at(list, "/nonexistent/a.eventlog");
    struct fm_checkpoints *checkpoints = record(trace, 1000, BUDGET);
    GError *error = NULL;
    g_assert_false(fm_checkpoints_write(checkpoints, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_NOT_FOUND);
    g_clear_error(&error);
    g_assert_null(fm_checkpoints_read(trace, BUDGET, &error));
    g_assert_no_error(error);
    fm_checkpoints_free(checkpoints);
    fm_trace_free(trace);
    event_list_free(list);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/checkpoint/C program", test_c_program);
    g_test_add_func("/checkpoint/Haskell program", test_haskell_program);
    g_test_add_func("/checkpoint/budget", test_budget);
    g_test_add_func("/checkpoint/samples", test_samples);
    g_test_add_func("/checkpoint/not yet known", test_not_yet_known);
    g_test_add_func("/checkpoint/saved", test_saved);
    g_test_add_func("/checkpoint/damaged", test_damaged);
    g_test_add_func("/checkpoint/cache", test_cache);
    g_test_add_func("/checkpoint/not a file", test_not_a_file);
    return g_test_run();
}

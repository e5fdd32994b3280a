/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input: one clear error, nothing else. */
#include <string.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "maker.h"

/* Reads everything; NULL when that went well. */
static GError *read_all(const uint8_t *bytes, size_t size)
{
    struct fm_procrep *procrep = NULL;
    GError *error = NULL;
    if (!fm_procrep_read_bytes("bad", bytes, size, &procrep, &error)) {
        g_assert_null(procrep);
        g_assert_nonnull(error);
        return error;
    }
    for (uint32_t i = 0; error == NULL && i < procrep->proc_count; i++) {
        struct fm_body *body = NULL;
        bool done = fm_procrep_body(procrep, i, &body, &error);
        g_assert_true(done == (error == NULL));
        g_assert_true(done == (body != NULL));
        if (done) {
            g_autoptr(GString) out = g_string_new(NULL);
            fm_body_print(out, procrep, i, body, NULL);
        }
        fm_body_free(body);
    }
    fm_procrep_free(procrep);
    return error;
}

static void assert_clear(const GError *error)
{
    g_assert_cmpuint(error->domain, ==, FM_ERROR);
    g_assert_true(g_str_has_prefix(error->message, "bad: "));
    g_assert_cmpuint(strlen(error->message), <, 500);
}

static GBytes *shop(unsigned version)
{
    GBytes *bytes;
    g_autoptr(FmBody) body = maker_shop();
    struct fm_body *bodies[] = {body};
    fm_procrep_free(maker_procrep("shop", &maker_shop_label, bodies, 1, version, &bytes));
    return bytes;
}

static struct fm_procrep *read_in_steps(const char *data_path, uint32_t procs, GError **error)
{
    struct fm_procrep_job *job;
    struct fm_procrep *procrep = NULL;
    enum fm_job_state state = FM_JOB_MORE;
    unsigned steps = 0;
    g_assert_true(fm_procrep_job_new_beside(NULL, data_path, &job, error));
    for (; state == FM_JOB_MORE; steps++)
        state = fm_procrep_job_step(job, procs, error);
    if (state == FM_JOB_DONE) {
        g_assert_cmpuint(steps, >=,
                         procs == 1 ? 6 : 1); /* version, module, procedures, both ends */
        procrep = fm_procrep_job_take(job);
    }
    fm_procrep_job_free(job);
    return procrep;
}

/* In steps of one procedure as at once: the same index, the same error; ended in the middle. */
static void test_steps(void)
{
    g_autofree char *data = g_build_filename(g_get_tmp_dir(), "steps.data", NULL);
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "steps.procrep", NULL);
    g_autoptr(GBytes) whole = shop(6);
    gsize size;
    const char *bytes = g_bytes_get_data(whole, &size);
    for (gsize cut = 0; cut <= size; cut += cut + 40 < size ? 7 : 1) {
        g_autoptr(GError) error = NULL, once_error = NULL;
        g_assert_true(g_file_set_contents(path, bytes, (gssize)cut, NULL));
        g_autoptr(FmProcrep) steps = read_in_steps(data, 1, &error), once = NULL;
        bool ok = fm_procrep_read_beside(NULL, data, &once, &once_error);
        g_assert_true(ok == (steps != NULL));
        g_assert_true(ok == (cut == size));
        if (!ok) {
            g_assert_cmpstr(error->message, ==, once_error->message);
            g_assert_cmpint(error->code, ==, once_error->code);
            continue;
        }
        g_assert_cmpuint(steps->proc_count, ==, 1);
        g_assert_cmpint(fm_procrep_find(steps, &maker_shop_label), ==, 0);
        struct fm_proc_label other = maker_shop_label;
        other.mode++;
        g_assert_cmpint(fm_procrep_find(steps, &other), ==, -1);
    }
    struct fm_procrep_job *job;
    g_assert_true(fm_procrep_job_new_beside(NULL, data, &job, NULL));
    for (unsigned i = 0; i < 3; i++)
        g_assert_cmpint(fm_procrep_job_step(job, 1, NULL), ==, FM_JOB_MORE);
    fm_procrep_job_free(job);
    g_remove(path);
}

static void test_truncated(void)
{
    for (unsigned version = 5; version <= 6; version++) {
        g_autoptr(GBytes) whole = shop(version);
        for (size_t size = 0; size < g_bytes_get_size(whole); size++) {
            g_autofree uint8_t *copy =
                g_memdup2(g_bytes_get_data(whole, NULL), MAX(size, 1)); /* exact, for sanitizers */
            g_autoptr(GError) error = read_all(copy, size);
            g_assert_nonnull(error);
            assert_clear(error);
            g_assert_nonnull(strstr(error->message, "offset "));
        }
    }
}

static void test_changed(void)
{
    unsigned refused = 0, accepted = 0;
    for (unsigned version = 5; version <= 6; version++) {
        g_autoptr(GBytes) whole = shop(version);
        size_t size = g_bytes_get_size(whole);
        g_autofree uint8_t *copy = g_memdup2(g_bytes_get_data(whole, NULL), size);
        for (size_t at = 0; at < size; at++) {
            uint8_t before = copy[at];
            for (unsigned i = 0; i < 11; i++) {
                const uint8_t others[] = {0, 0x80, 0xff};
                copy[at] = i < 8 ? (uint8_t)(before ^ 1u << i) : others[i - 8];
                g_autoptr(GError) error = read_all(copy, size);
                if (error != NULL)
                    assert_clear(error);
                *(error != NULL ? &refused : &accepted) += 1;
            }
            copy[at] = before;
        }
    }
    g_assert_cmpuint(refused, >, 1000);
    g_assert_cmpuint(accepted, >, 100);
}

/* A million negations, one in the other, are read, found, printed to the deepest level's path and
 * written again, on a stack of the usual size. */
static void test_deep_nesting(void)
{
    enum { DEPTH = 1000000 };
    struct maker *maker = maker_new();
    for (int i = 0; i < DEPTH; i++)
        maker_open(maker, FM_GOAL_NEGATION, FM_DETISM_SEMIDET);
    maker_atomic(maker, FM_GOAL_SIMPLE_TEST, FM_DETISM_SEMIDET, 1, "", "1", "");
    for (int i = 0; i < DEPTH; i++)
        maker_close(maker);
    g_autoptr(FmBody) body = maker_done(maker, FM_DETISM_SEMIDET);
    const struct fm_proc_label label = {FM_LABEL_PREDICATE, "m", "m", "deep", "", 0, 0};
    struct fm_body *bodies[] = {body};
    GBytes *bytes;
    g_autoptr(FmProcrep) procrep = maker_procrep("m", &label, bodies, 1, 6, &bytes);
    g_autoptr(FmBody) read = NULL;
    g_assert_true(fm_procrep_body(procrep, 0, &read, NULL));
    g_assert_cmpuint(read->goal_count, ==, DEPTH + 1);
    g_assert_cmpuint(read->depth, ==, DEPTH + 1);
    g_autoptr(GString) path = g_string_new(NULL);
    fm_body_append_path(path, read, DEPTH);
    g_assert_cmpuint(path->len, ==, 2 * DEPTH);
    g_assert_cmpuint(fm_body_find(read, path->str), ==, DEPTH);
    struct fm_writer *writer = fm_writer_new_memory();
    g_assert_true(fm_procrep_encode(procrep, 6, writer, NULL));
    g_autoptr(GBytes) again = fm_writer_finish_memory(writer);
    g_assert_true(g_bytes_equal(again, bytes));
    g_bytes_unref(bytes);
}

static void test_duplicates(void)
{
    g_autoptr(FmBody) body = maker_shop();
    struct fm_procrep_module module = {.name = "shop"};
    for (int modules = 1; modules <= 2; modules++) {
        struct fm_writer *memory = fm_writer_new_memory();
        struct fm_procrep_writer *writer = fm_procrep_writer_new(5, memory);
        for (int i = 0; i < modules; i++) {
            fm_procrep_writer_module(writer, &module, NULL, 0);
            for (int j = modules; j <= 2; j++)
                fm_procrep_writer_proc(writer, &maker_shop_label, body);
        }
        fm_procrep_writer_finish(writer);
        g_autoptr(GBytes) bytes = fm_writer_finish_memory(memory);
        g_autoptr(GError) error = read_all(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
        g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
        g_assert_nonnull(strstr(error->message, modules == 1 ? "a second body of pred shop.pick/5-0"
                                                             : "two modules are named 'shop'"));
    }
}

/* Counts of items that cannot be there take no memory. */
static void test_counts(void)
{
    g_autoptr(GBytes) whole = shop(5);
    size_t size = g_bytes_get_size(whole);
    for (size_t at = 0; at + 4 < size; at++) {
        g_autofree uint8_t *copy = g_memdup2(g_bytes_get_data(whole, NULL), size);
        memset(copy + at, 0x7f, 4);
        g_autoptr(GError) error = read_all(copy, size);
        if (error != NULL)
            assert_clear(error);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/procrep/steps", test_steps);
    g_test_add_func("/procrep/truncated", test_truncated);
    g_test_add_func("/procrep/changed", test_changed);
    g_test_add_func("/procrep/deep_nesting", test_deep_nesting);
    g_test_add_func("/procrep/duplicates", test_duplicates);
    g_test_add_func("/procrep/counts", test_counts);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "traces_world.h"

#include <glib/gstdio.h>
#include <string.h>

#include "trace_log.h"

#define WHOLE_HOUR_US (INT64_C(3600) * 1000000)

void write_log(const char *path, const GByteArray *bytes)
{
    g_assert_true(g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, NULL));
}

void write_small(const char *path, bool end)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write(bytes, end);
    write_log(path, bytes);
}

static void set_up(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GError) error = NULL;
    const struct fm_server_options options = {.patience_us = WHOLE_HOUR_US};
    f->folder = g_dir_make_tmp("fathom-traces-XXXXXX", &error);
    g_assert_no_error(error);
    f->log = g_build_filename(f->folder, "small.eventlog", NULL);
    write_small(f->log, true);
    f->server = fm_server_new(&options);
    bool added = fm_server_add(f->server, f->log, &error);
    g_assert_no_error(error);
    g_assert_true(added);
}

static void remove_all(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_remove(path) != 0)
            remove_all(path);
    }
    g_remove(folder);
}

static void tear_down(struct fixture *f, gconstpointer user)
{
    (void)user;
    fm_server_free(f->server);
    remove_all(f->folder);
    g_free(f->folder);
    g_free(f->log);
}

/* --- asking --- */

char *ask(struct fixture *f, const char *path, const char *query, unsigned status)
{
    struct fm_response response;
    const struct fm_request request = {.method = "GET", .path = path, .query = query};
    fm_server_handle(f->server, &request, &response);
    gsize size;
    const char *bytes = g_bytes_get_data(response.body, &size);
    char *body = g_strndup(bytes == NULL ? "" : bytes, size);
    if (response.status != status)
        g_test_message("%s?%s: %s", path, query, body);
    g_assert_cmpuint(response.status, ==, status);
    fm_response_done(&response);
    return body;
}

/* The path, with "file=LOG&" before the query. */
char *ask_log(struct fixture *f, const char *path, const char *query, unsigned status)
{
    g_autofree char *whole = g_strdup_printf("file=%s&%s", f->log, query);
    return ask(f, path, whole, status);
}

void assert_has(const char *body, const char *text)
{
    if (strstr(body, text) == NULL)
        g_error("'%s' is not in: %s", text, body);
}

void assert_has_not(const char *body, const char *text)
{
    if (strstr(body, text) != NULL)
        g_error("'%s' is in: %s", text, body);
}

unsigned count(const char *body, const char *text)
{
    unsigned found = 0;
    for (const char *at = body; (at = strstr(at, text)) != NULL; at += strlen(text))
        found++;
    return found;
}

/* The text between two others; caller frees. */
char *between(const char *body, const char *before, const char *after)
{
    const char *start = strstr(body, before);
    g_assert_nonnull(start);
    start += strlen(before);
    const char *end = strstr(start, after);
    g_assert_nonnull(end);
    return g_strndup(start, (gsize)(end - start));
}

int traces_run(int argc, char **argv, const struct traces_test *tests, unsigned count_of_tests)
{
    g_test_init(&argc, &argv, NULL);
    for (unsigned i = 0; i < count_of_tests; i++) {
        g_autofree char *path = g_strconcat("/traces/", tests[i].name, NULL);
        g_test_add(path, struct fixture, NULL, set_up, tests[i].run, tear_down);
    }
    return g_test_run();
}

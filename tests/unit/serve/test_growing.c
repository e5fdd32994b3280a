/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a profile that is made anew again and again, as that of a program that runs is, for who
 * asks now and then without hearing of generations: each time one is met that nobody has read. */
#include <glib/gstdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/serve.h"
#include "small_profile.h"

struct fixture {
    char *folder, *file;
    struct fm_server *server;
};

static void set_up(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autoptr(GError) error = NULL;
    f->folder = g_dir_make_tmp("fathom-growing-XXXXXX", &error);
    g_assert_no_error(error);
    f->file = g_build_filename(f->folder, "one.data", NULL);
    write_small_c_profile(f->file, "./one");
    f->server = fm_server_new(&(struct fm_server_options){.background = true});
    g_assert_true(fm_server_add(f->server, f->file, &error));
}

static void tear_down(struct fixture *f, gconstpointer user)
{
    (void)user;
    fm_server_free(f->server);
    g_remove(f->file);
    g_rmdir(f->folder);
    g_free(f->folder);
    g_free(f->file);
}

static void next_generation(struct fixture *f)
{
    write_small_c_profile(f->file, "./one");
    fm_server_grow(f->server, f->file, "It runs.", true);
}

static void ask(struct fixture *f, const char *path, const char *query, struct fm_response *ret)
{
    const struct fm_request request = {
        .method = "GET", .path = path, .query = query, .can_stream = true};
    fm_server_handle(f->server, &request, ret);
    g_assert_cmpstr(fm_engine_check(fm_server_engine(f->server)), ==, NULL);
}

static void pages_are_whole(struct fixture *f, gconstpointer user)
{
    static const char *const commands[] = {"waits", "menu", "leaks", "recursion_type_freq",
                                           "top_procs/1-20/calls/self/oa"};
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *query = g_strdup_printf("%s&%s", commands[i], f->file);
        struct fm_response response;
        next_generation(f);
        ask(f, user, query, &response);
        gsize size;
        const char *bytes = g_bytes_get_data(response.body, &size);
        g_autofree char *body = g_strndup(bytes, size);
        if (response.status != 200 || strstr(body, "unfinished") != NULL ||
            strstr(body, "class=\"incomplete\"") != NULL ||
            strstr(body, "Not all is known") != NULL || strstr(body, "It runs.") == NULL)
            g_error("%s?%s: status %u: %s", (const char *)user, query, response.status, body);
        fm_response_done(&response);
    }
}

static void functions_are_found(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *fields = g_strdup_printf("text=main&file=%s", f->file);
    struct fm_response response;
    next_generation(f);
    ask(f, "/find", fields, &response);
    g_assert_cmpuint(response.status, ==, 303);
    g_assert_true(g_str_has_prefix(response.location, "deep?proc/"));
    fm_response_done(&response);
}

#define TEST(name, function, user) \
    g_test_add("/serve/growing/" name, struct fixture, user, set_up, function, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TEST("page", pages_are_whole, "/deep");
    TEST("json", pages_are_whole, "/deep.json");
    TEST("text", pages_are_whole, "/deep.txt");
    TEST("find", functions_are_found, NULL);
    return g_test_run();
}

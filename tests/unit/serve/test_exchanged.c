/* SPDX-License-Identifier: Apache-2.0 */
/* Files below a served folder, exchanged all the time for links to others outside of it: nothing of
 * those is ever shown. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/serve.h"
#include "small_profile.h"
#include "trace_log.h"

#define ROUNDS 400
#define RENAME_EXCHANGE_FLAG 2

/* in/NAME, and in/other, a link to out/NAME. */
struct world {
    char *top, *in, *out, *name, *link;
    struct fm_server *server;
    GThread *thread;
    gint stop;
};

static gpointer exchange(gpointer data)
{
    struct world *world = data;
    while (!g_atomic_int_get(&world->stop))
        syscall(SYS_renameat2, AT_FDCWD, world->name, AT_FDCWD, world->link, RENAME_EXCHANGE_FLAG);
    return NULL;
}

static void set_up(struct world *world)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *made = g_dir_make_tmp("fathom-exchanged-XXXXXX", NULL);
    world->top = realpath(made, NULL);
    world->in = g_build_filename(world->top, "in", NULL);
    world->out = g_build_filename(world->top, "out", NULL);
    g_assert_cmpint(g_mkdir(world->in, 0700), ==, 0);
    g_assert_cmpint(g_mkdir(world->out, 0700), ==, 0);
    world->server = fm_server_new(NULL);
    g_assert_true(fm_server_add_root(world->server, world->in, &error));
    g_assert_no_error(error);
}

static void begin(struct world *world, const char *name)
{
    g_autofree char *target = g_build_filename(world->out, name, NULL);
    world->name = g_build_filename(world->in, name, NULL);
    world->link = g_build_filename(world->in, "other", NULL);
    g_assert_cmpint(symlink(target, world->link), ==, 0);
    world->thread = g_thread_new("exchange", exchange, world);
}

static void remove_all(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_remove(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
}

static void end(struct world *world)
{
    g_atomic_int_set(&world->stop, 1);
    g_thread_join(world->thread);
    fm_server_free(world->server);
    remove_all(world->in);
    remove_all(world->out);
    g_rmdir(world->top);
    g_free(world->in);
    g_free(world->out);
    g_free(world->name);
    g_free(world->link);
    free(world->top);
}

/* Whether the answer holds a text. */
static bool answer_has(struct world *world, const char *path, const char *query, const char *text)
{
    const struct fm_request request = {.method = "GET", .path = path, .query = query};
    struct fm_response response;
    gsize size;
    fm_server_handle(world->server, &request, &response);
    const char *body = g_bytes_get_data(response.body, &size);
    bool has = g_strstr_len(body, (gssize)size, text) != NULL;
    fm_response_clear(&response);
    return has;
}

static void check(struct world *world, const char *path, const char *query, const char *ours,
                  const char *foreign)
{
    unsigned shown = 0, leaked = 0;
    gint64 last = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
    for (unsigned i = 0; i < ROUNDS || (shown == 0 && g_get_monotonic_time() < last); i++) {
        shown += answer_has(world, path, query, ours);
        leaked += answer_has(world, path, query, foreign);
    }
    g_test_message("shown %u times", shown);
    g_assert_cmpuint(leaked, ==, 0);
    /* It stands under its name half the time. */
    g_assert_cmpuint(shown, >, 0);
}

static void profiles(void)
{
    struct world world = {0};
    set_up(&world);
    g_autofree char *ours = g_build_filename(world.in, "a.data", NULL);
    g_autofree char *foreign = g_build_filename(world.out, "a.data", NULL);
    write_small_profile(ours, "./ours", "main", "hello", "hello.m", 1000);
    write_small_profile(foreign, "./FOREIGN", "main", "hello", "hello.m", 2000);
    begin(&world, "a.data");
    check(&world, "/deep.txt", "menu&a.data", "./ours", "./FOREIGN");
    end(&world);
}

/* A contour file that cannot be read is told with its words. */
static void contours(void)
{
    struct world world = {0};
    set_up(&world);
    g_autofree char *profile = g_build_filename(world.in, "a.data", NULL);
    g_autofree char *ours = g_build_filename(world.in, "a.contour", NULL);
    g_autofree char *foreign = g_build_filename(world.out, "a.contour", NULL);
    write_small_profile(profile, "./ours", "main", "hello", "hello.m", 1000);
    g_assert_true(g_file_set_contents(ours, "nonsense ours_unknown\n", -1, NULL));
    g_assert_true(g_file_set_contents(foreign, "nonsense FOREIGN_SECRET\n", -1, NULL));
    begin(&world, "a.contour");
    check(&world, "/deep.txt", "proc_callers/2/pr/1/100/ac&a.data", "ours_unknown",
          "FOREIGN_SECRET");
    end(&world);
}

static void logs(void)
{
    struct world world = {0};
    set_up(&world);
    g_autofree char *ours = g_build_filename(world.in, "a.eventlog", NULL);
    g_autofree char *foreign = g_build_filename(world.out, "a.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new(), others = g_byte_array_new();
    trace_log_write(bytes, true);
    trace_log_write_long(others, 3);
    g_assert_true(g_file_set_contents(ours, (char *)bytes->data, bytes->len, NULL));
    g_assert_true(g_file_set_contents(foreign, (char *)others->data, others->len, NULL));
    begin(&world, "a.eventlog");
    check(&world, "/trace.json", "view=events&file=a.eventlog", "\"parse\"", "\"b\"");
    end(&world);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/exchanged/profiles", profiles);
    g_test_add_func("/serve/exchanged/contours", contours);
    g_test_add_func("/serve/exchanged/logs", logs);
    return g_test_run();
}

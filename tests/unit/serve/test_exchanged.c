/* SPDX-License-Identifier: Apache-2.0 */
/* Files below a served folder, exchanged for links to others outside of it at each moment of their
 * opening: nothing of those is ever shown. */
#include <dlfcn.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "serve/serve.h"
#include "small_profile.h"
#include "trace/format/open.h"
#include "trace_log.h"

#define LENGTH_MAX 5
#define RENAME_EXCHANGE_FLAG 2

/* in/NAME, and in/other, a link to out/NAME. The two are exchanged before the first-th and the
 * second-th of the calls by which a program looks at names, counted from watch() on. */
struct world {
    char *top, *in, *out, *name, *link;
    unsigned first, second, calls;
};

static struct world *watched;

static void exchange(const struct world *world)
{
    g_assert_cmpint(
        syscall(SYS_renameat2, AT_FDCWD, world->name, AT_FDCWD, world->link, RENAME_EXCHANGE_FLAG),
        ==, 0);
}

static void before_call(void)
{
    struct world *world = g_steal_pointer(&watched); /* not for calls of its own */
    if (world == NULL)
        return;
    world->calls++;
    if (world->calls == world->first || world->calls == world->second)
        exchange(world);
    watched = world;
}

/* In place of the system library's, for the program and for GLib. */
#define WRAP(type, name, parameters, ...)              \
    type wrapped_##name parameters __asm__(#name);     \
    type wrapped_##name parameters                     \
    {                                                  \
        static type(*real) parameters;                 \
        if (real == NULL)                              \
            *(void **)&real = dlsym(RTLD_NEXT, #name); \
        before_call();                                 \
        return real(__VA_ARGS__);                      \
    }
WRAP(int, open64, (const char *path, int flags, mode_t mode), path, flags, mode)
WRAP(int, openat64, (int fd, const char *path, int flags, mode_t mode), fd, path, flags, mode)
WRAP(int, stat64, (const char *path, void *status), path, status)
WRAP(int, lstat64, (const char *path, void *status), path, status)
WRAP(int, access, (const char *path, int mode), path, mode)
WRAP(FILE *, fopen64, (const char *path, const char *mode), path, mode)
WRAP(char *, realpath, (const char *path, char *resolved), path, resolved)

static void watch(struct world *world, unsigned first, unsigned second)
{
    world->first = first;
    world->second = second;
    world->calls = 0;
    watched = world;
}

static void set_up(struct world *world)
{
    g_autofree char *made = g_dir_make_tmp("fathom-exchanged-XXXXXX", NULL);
    world->top = realpath(made, NULL);
    world->in = g_build_filename(world->top, "in", NULL);
    world->out = g_build_filename(world->top, "out", NULL);
    g_assert_cmpint(g_mkdir(world->in, 0700), ==, 0);
    g_assert_cmpint(g_mkdir(world->out, 0700), ==, 0);
}

static void begin(struct world *world, const char *name)
{
    g_autofree char *target = g_build_filename(world->out, name, NULL);
    world->name = g_build_filename(world->in, name, NULL);
    world->link = g_build_filename(world->in, "other", NULL);
    g_assert_cmpint(symlink(target, world->link), ==, 0);
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
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void end(struct world *world)
{
    remove_all(world->in);
    remove_all(world->out);
    g_rmdir(world->top);
    g_free(world->in);
    g_free(world->out);
    g_free(world->name);
    g_free(world->link);
    free(world->top);
}

static char *answer(struct fm_server *server, const char *path, const char *query)
{
    const struct fm_request request = {.method = "GET", .path = path, .query = query};
    struct fm_response response;
    gsize size;
    fm_server_handle(server, &request, &response);
    const char *body = g_bytes_get_data(response.body, &size);
    char *text = g_strndup(body, size);
    fm_response_done(&response);
    return text;
}

static struct fm_server *new_server(const struct world *world)
{
    static const struct fm_server_options options = {.patience_us = 60 * G_USEC_PER_SEC};
    struct fm_server *server = fm_server_new(&options);
    g_assert_true(fm_server_add_root(server, world->in, NULL));
    return server;
}

enum before {
    NOT_OPENED,
    OPENED_THEN_CHANGED, /* the file has another time since */
    OPENED_THEN_REPLACED /* its name is another file's */
};

struct question {
    const char *path, *query, *ours, *foreign;
    enum before before;
};

static void open_before(struct fm_server *server, const struct world *world,
                        const struct question *question)
{
    if (question->before == NOT_OPENED)
        return;
    g_autofree char *body = answer(server, question->path, question->query);
    g_assert_nonnull(strstr(body, question->ours));
    if (question->before == OPENED_THEN_REPLACED) {
        g_autofree char *copy = g_strconcat(world->name, ".new", NULL), *bytes = NULL;
        gsize size;
        g_assert_true(g_file_get_contents(world->name, &bytes, &size, NULL));
        g_assert_true(g_file_set_contents(copy, bytes, (gssize)size, NULL));
        g_assert_cmpint(g_rename(copy, world->name), ==, 0);
    } else {
        static time_t seconds = 1700000000;
        seconds++;
        const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
        g_assert_cmpint(utimensat(AT_FDCWD, world->name, times, 0), ==, 0);
    }
}

/* Once, with the files exchanged before these calls, and at_first before all of them; the number of
 * calls in *ret. True: shown. */
static bool ask_once(struct world *world, const struct question *question, bool at_first,
                     unsigned first, unsigned second, unsigned *ret)
{
    struct fm_server *server = new_server(world);
    open_before(server, world, question);
    if (at_first)
        exchange(world);
    watch(world, first, second);
    g_autofree char *body = answer(server, question->path, question->query);
    watched = NULL;
    *ret = world->calls;
    if (at_first ^ (first <= world->calls) ^ (second <= world->calls))
        exchange(world);
    if (strstr(body, question->foreign) != NULL)
        g_error("exchanged before calls %u and %u: %s", first, second, body);
    bool shown = strstr(body, question->ours) != NULL;
    fm_server_free(server);
    return shown;
}

/* With the files exchanged before each of the calls that opening makes, for good, or for as long as
 * up to LENGTH_MAX further calls: what is shown may be ours only. */
static void check(struct world *world, const struct question *question)
{
    unsigned shown = 0, asked = 0, calls, made;
    g_assert_true(ask_once(world, question, false, UINT_MAX, UINT_MAX, &calls));
    for (unsigned first = 1; first <= calls; first++) {
        for (unsigned length = 1; length <= LENGTH_MAX; length++) {
            unsigned second = length == LENGTH_MAX ? UINT_MAX : first + length;
            shown += ask_once(world, question, false, first, second, &made);
            asked++;
        }
    }
    g_test_message("shown %u times of %u", shown, asked);
    g_assert_cmpuint(asked, >=, 3 * LENGTH_MAX);
    g_assert_cmpuint(shown, >, 0);
    /* The link has its place when files are compared with what they were, and not in between. */
    for (unsigned first = 1; question->before == NOT_OPENED && first <= calls; first++)
        for (unsigned second = first + 1; second <= calls; second++)
            (void)ask_once(world, question, true, first, second, &made);
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
    struct question question = {"/deep.txt", "menu&a.data", "./ours", "./FOREIGN", NOT_OPENED};
    check(&world, &question);
    question.before = OPENED_THEN_CHANGED;
    check(&world, &question);
    question.before = OPENED_THEN_REPLACED;
    check(&world, &question);
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
    const struct question question = {"/deep.txt", "proc_callers/2/pr/1/100/ac&a.data",
                                      "ours_unknown", "FOREIGN_SECRET", NOT_OPENED};
    check(&world, &question);
    end(&world);
}

/* Lines and bodies that cannot be read are told with their words. */
static void lines(void)
{
    static const char of[] = "fathom source lines version 1\n";
    struct world world = {0};
    set_up(&world);
    g_autofree char *profile = g_build_filename(world.in, "a.data", NULL);
    g_autofree char *ours = g_build_filename(world.in, "a.lines", NULL);
    g_autofree char *foreign = g_build_filename(world.out, "a.lines", NULL);
    g_autofree char *our_bytes = g_strconcat(of, "\x04", "ours", "0123456789abcdef", NULL);
    g_autofree char *foreign_bytes = g_strconcat(of, "\x07", "FOREIGN", "0123456789abcdef", NULL);
    write_small_c_profile(profile, "prog");
    g_assert_true(g_file_set_contents(ours, our_bytes, -1, NULL));
    g_assert_true(g_file_set_contents(foreign, foreign_bytes, -1, NULL));
    begin(&world, "a.lines");
    const struct question question = {"/deep.txt", "proc/2&a.data", "another profile: of ours",
                                      "FOREIGN", NOT_OPENED};
    check(&world, &question);
    end(&world);
}

static void bodies(void)
{
    struct world world = {0};
    set_up(&world);
    g_autofree char *profile = g_build_filename(world.in, "a.data", NULL);
    g_autofree char *ours = g_build_filename(world.in, "a.procrep", NULL);
    g_autofree char *foreign = g_build_filename(world.out, "a.procrep", NULL);
    write_small_profile(profile, "./ours", "main", "hello", "hello.m", 1000);
    g_assert_true(g_file_set_contents(ours, "Mercury deep profiler procrep version 7\n", -1, NULL));
    g_assert_true(g_file_set_contents(foreign, "FOREIGN", -1, NULL));
    begin(&world, "a.procrep");
    const struct question question = {"/deep.txt", "module_rep/hello&a.data",
                                      "a version that is not known", "not a program representation",
                                      NOT_OPENED};
    check(&world, &question);
    end(&world);
}

/* The same log, but for the text of a message. */
static void write_logs(const struct world *world, bool end)
{
    static const char text[] = "hello <script>", foreign_text[] = "FOREIGN SECRET";
    g_autofree char *ours = g_build_filename(world->in, "a.eventlog", NULL);
    g_autofree char *foreign = g_build_filename(world->out, "a.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_write(bytes, end);
    g_assert_true(g_file_set_contents(ours, (char *)bytes->data, bytes->len, NULL));
    guint8 *at = memmem(bytes->data, bytes->len, text, sizeof text - 1);
    memcpy(at, foreign_text, sizeof text - 1);
    g_assert_true(g_file_set_contents(foreign, (char *)bytes->data, bytes->len, NULL));
}

static void logs(void)
{
    struct world world = {0};
    set_up(&world);
    write_logs(&world, true);
    begin(&world, "a.eventlog");
    const struct question question = {"/trace.json", "view=events&file=a.eventlog",
                                      "hello <script>", "FOREIGN SECRET", NOT_OPENED};
    check(&world, &question);
    end(&world);
}

/* One that may still grow is opened again when its name is another file's. */
static void logs_that_grow(void)
{
    struct world world = {0};
    set_up(&world);
    write_logs(&world, false);
    begin(&world, "a.eventlog");
    g_autofree char *query = g_strdup_printf("view=events&file=%s", world.name);
    const struct question question = {"/trace.json", query, "hello <script>", "FOREIGN SECRET",
                                      OPENED_THEN_REPLACED};
    check(&world, &question);
    end(&world);
}

/* Whether a folder is a trace is told of the folder beneath only. */
static void folders(void)
{
    struct world world = {0};
    set_up(&world);
    g_autofree char *ours = g_build_filename(world.in, "a", NULL);
    g_autofree char *foreign = g_build_filename(world.out, "a", NULL);
    g_autofree char *metadata = g_build_filename(foreign, "metadata", NULL);
    g_assert_cmpint(g_mkdir(ours, 0700), ==, 0);
    g_assert_cmpint(g_mkdir(foreign, 0700), ==, 0);
    g_assert_true(g_file_set_contents(metadata, "/* CTF 1.8 */\n", -1, NULL));
    begin(&world, "a");
    g_autoptr(FmRoots) roots = fm_roots_new();
    g_assert_true(fm_roots_add(roots, world.in, NULL));
    watch(&world, UINT_MAX, UINT_MAX);
    g_assert_false(fm_trace_recognise_below(roots, ours));
    unsigned calls = world.calls;
    g_assert_cmpuint(calls, >, 1);
    for (unsigned first = 1; first <= calls; first++) {
        watch(&world, first, UINT_MAX);
        bool recognised = fm_trace_recognise_below(roots, ours);
        watched = NULL;
        if (first <= world.calls)
            exchange(&world);
        g_assert_false(recognised);
    }
    g_assert_true(fm_trace_recognise(foreign));
    g_remove(metadata);
    end(&world);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/exchanged/profiles", profiles);
    g_test_add_func("/serve/exchanged/contours", contours);
    g_test_add_func("/serve/exchanged/lines", lines);
    g_test_add_func("/serve/exchanged/bodies", bodies);
    g_test_add_func("/serve/exchanged/logs", logs);
    g_test_add_func("/serve/exchanged/logs-that-grow", logs_that_grow);
    g_test_add_func("/serve/exchanged/folders", folders);
    return g_test_run();
}

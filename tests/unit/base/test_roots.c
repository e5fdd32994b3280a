/* SPDX-License-Identifier: Apache-2.0 */
/* Files opened beneath folders: by names that lead out of them, and while somebody exchanges them
 * for links that do. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/roots.h"

#define ROUNDS 4000

/* A folder to be served, "in", with in/deep/file and in/file; and beside it out/file. */
struct world {
    char *top, *in, *out;
    struct fm_roots *roots;
};

static char *below(const char *folder, const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    g_autofree char *path = below(folder, name);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void link_to(const struct world *world, const char *target, const char *name)
{
    g_autofree char *path = below(world->in, name);
    g_assert_cmpint(symlink(target, path), ==, 0);
}

static void set_up(struct world *world, gconstpointer unused)
{
    (void)unused;
    g_autofree char *made = g_dir_make_tmp("fathom-roots-XXXXXX", NULL);
    g_assert_nonnull(made);
    world->top = g_canonicalize_filename(made, NULL);
    world->in = below(world->top, "in");
    world->out = below(world->top, "out");
    g_autofree char *deep = below(world->in, "deep");
    g_assert_cmpint(g_mkdir(world->out, 0700), ==, 0);
    g_assert_cmpint(g_mkdir_with_parents(deep, 0700), ==, 0);
    write_file(world->in, "file", "inside");
    write_file(deep, "file", "inside");
    write_file(world->out, "file", "OUTSIDE");
    world->roots = fm_roots_new();
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_roots_add(world->roots, world->in, &error));
    g_assert_no_error(error);
}

static void remove_tree(const char *path)
{
    GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *child = below(path, name);
        remove_tree(child);
    }
    if (dir != NULL)
        g_dir_close(dir);
    g_remove(path);
}

static void tear_down(struct world *world, gconstpointer unused)
{
    (void)unused;
    fm_roots_unref(world->roots);
    remove_tree(world->top);
    g_free(world->in);
    g_free(world->out);
    g_free(world->top);
}

/* What is read there; NULL when it cannot be opened, *ret_error then. */
static char *read_name(const struct fm_roots *roots, const char *name, GError **ret_error)
{
    int fd = fm_roots_open(roots, name, 0, ret_error);
    if (fd < 0)
        return NULL;
    char text[16] = "";
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    g_assert_cmpint(got, >=, 0);
    return g_strdup(text);
}

static void assert_inside(const struct world *world, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = read_name(world->roots, name, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(text, ==, "inside");
}

static void assert_not_found(const struct world *world, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = read_name(world->roots, name, &error);
    g_assert_null(text);
    g_assert_error(error, FM_ERROR, FM_ERROR_NOT_FOUND);
    g_autofree char *expected =
        g_strdup_printf("%s: there is no such file below the served folders", name);
    g_assert_cmpstr(error->message, ==, expected);
    g_assert_null(fm_roots_find(world->roots, name));
}

static void check_names(struct world *world)
{
    link_to(world, "deep/file", "near");
    link_to(world, "../out/file", "away");
    link_to(world, "../in/file", "roundabout");
    link_to(world, "../out", "door");
    g_autofree char *absolute = below(world->in, "deep/file");
    g_autofree char *outside = below(world->out, "file");
    link_to(world, absolute, "absolute");
    assert_inside(world, "file");
    assert_inside(world, "deep/../deep/file");
    assert_inside(world, "near");
    assert_inside(world, "roundabout");
    assert_inside(world, "absolute");
    assert_inside(world, absolute);
    assert_not_found(world, "away");
    assert_not_found(world, "door/file");
    assert_not_found(world, "../out/file");
    assert_not_found(world, "nothing");
    assert_not_found(world, "file/nothing");
    assert_not_found(world, ".");
    assert_not_found(world, outside);
    assert_not_found(world, "/etc/passwd");
    assert_not_found(world, world->in);
}

static void test_names(struct world *world, gconstpointer unused)
{
    (void)unused;
    check_names(world);
}

static void test_folders(struct world *world, gconstpointer unused)
{
    (void)unused;
    g_autoptr(GError) error = NULL;
    g_autofree char *file = below(world->in, "file");
    g_autofree char *none = below(world->in, "none");
    g_autofree char *beginning = g_strconcat(world->in, "side", NULL);
    g_assert_false(fm_roots_add(world->roots, file, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_clear_error(&error);
    g_assert_false(fm_roots_add(world->roots, none, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_clear_error(&error);
    g_assert_cmpuint(fm_roots_count(world->roots), ==, 1);
    g_assert_cmpstr(fm_roots_folder(world->roots, 0), ==, world->in);

    /* "inside" is not below "in". */
    g_assert_cmpint(g_mkdir(beginning, 0700), ==, 0);
    write_file(beginning, "file", "OUTSIDE");
    g_autofree char *there = below(beginning, "file");
    assert_not_found(world, there);

    int fd = fm_roots_open(world->roots, "deep", O_DIRECTORY, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fcntl(fd, F_GETFD), ==, FD_CLOEXEC);
    close(fd);
    g_assert_cmpint(fm_roots_open(world->roots, "file", O_DIRECTORY, NULL), ==, -1);

    /* Without folders nothing can be opened, without roots everything. */
    g_autoptr(FmRoots) nowhere = fm_roots_new();
    g_assert_cmpint(fm_roots_open(nowhere, file, 0, NULL), ==, -1);
    g_autofree char *text = read_name(NULL, file, &error);
    g_assert_cmpstr(text, ==, "inside");
    g_assert_cmpint(fm_roots_open(NULL, none, 0, &error), ==, -1);
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
}

static void test_fifo(struct world *world, gconstpointer unused)
{
    (void)unused;
    g_autofree char *path = below(world->in, "fifo");
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    int fd = fm_roots_open(world->roots, "fifo", 0, NULL); /* does not wait for a writer */
    g_assert_cmpint(fd, >=, 0);
    close(fd);
}

/* --- while they are exchanged --- */

struct swapper {
    char *here, *link;
    gint stop;
    unsigned swapped;
};

static gpointer swap(gpointer data)
{
    struct swapper *swapper = data;
    while (!g_atomic_int_get(&swapper->stop)) {
        if (syscall(SYS_renameat2, AT_FDCWD, swapper->here, AT_FDCWD, swapper->link,
                    2 /* RENAME_EXCHANGE */) == 0)
            swapper->swapped++;
    }
    return NULL;
}

/* In turns a file and a link to another outside stand at `here`. */
static void check_swapping(struct world *world, const char *here, const char *target,
                           const char *opened)
{
    struct swapper swapper = {below(world->in, here), below(world->in, "link"), 0, 0};
    unsigned inside = 0, refused = 0, outside = 0;
    link_to(world, target, "link");
    GThread *thread = g_thread_new("swapper", swap, &swapper);
    for (unsigned i = 0; i < ROUNDS; i++) {
        g_autofree char *text = read_name(world->roots, opened, NULL);
        inside += g_strcmp0(text, "inside") == 0;
        outside += g_strcmp0(text, "OUTSIDE") == 0;
        refused += text == NULL;
    }
    g_atomic_int_set(&swapper.stop, 1);
    g_thread_join(thread);
    g_test_message("%u inside, %u refused, exchanged %u times", inside, refused, swapper.swapped);
    g_assert_cmpuint(outside, ==, 0);
    g_assert_cmpuint(inside + refused, ==, ROUNDS);
    g_free(swapper.here);
    g_free(swapper.link);
}

static void test_swapped_file(struct world *world, gconstpointer unused)
{
    (void)unused;
    check_swapping(world, "file", "../out/file", "file");
}

static void test_swapped_folder(struct world *world, gconstpointer unused)
{
    (void)unused;
    check_swapping(world, "deep", "../out", "deep/file");
}

/* --- a kernel without openat2() --- */

static bool hide_openat2(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {G_N_ELEMENTS(filter), filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void test_old_kernel(struct world *world, gconstpointer unused)
{
    (void)unused;
    pid_t child = fork();
    if (child == 0) {
        if (!hide_openat2())
            _exit(77);
        check_names(world);
        check_swapping(world, "file", "../out/file", "file");
        g_autofree char *link = below(world->in, "link");
        g_assert_cmpint(g_unlink(link), ==, 0);
        check_swapping(world, "deep", "../out", "deep/file");
        _exit(0);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        g_test_skip("system calls cannot be filtered here");
    else
        g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/base/roots/names", struct world, NULL, set_up, test_names, tear_down);
    g_test_add("/base/roots/folders", struct world, NULL, set_up, test_folders, tear_down);
    g_test_add("/base/roots/fifo", struct world, NULL, set_up, test_fifo, tear_down);
    g_test_add("/base/roots/swapped-file", struct world, NULL, set_up, test_swapped_file,
               tear_down);
    g_test_add("/base/roots/swapped-folder", struct world, NULL, set_up, test_swapped_folder,
               tear_down);
    g_test_add("/base/roots/old-kernel", struct world, NULL, set_up, test_old_kernel, tear_down);
    return g_test_run();
}

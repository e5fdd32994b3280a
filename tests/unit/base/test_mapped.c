/* SPDX-License-Identifier: Apache-2.0 */
/* Files mapped for reading, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/mapped.h"

static char *folder;

static char *file_of(const char *name, size_t size)
{
    char *path = g_build_filename(folder, name, NULL);
    g_autofree char *contents = g_strnfill(size, 'x');
    g_assert_true(g_file_set_contents(path, contents, (gssize)size, NULL));
    return path;
}

static void assert_refused(const char *path, const char *message_end)
{
    struct fm_mapped_file *file = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_mapped_file_open(path, &file, &error));
    g_assert_null(file);
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_true(g_str_has_prefix(error->message, path));
    if (!g_str_has_suffix(error->message, message_end))
        g_test_message("%s", error->message);
    g_assert_true(g_str_has_suffix(error->message, message_end));
}

static void test_contents(void)
{
    g_autofree char *path = file_of("plain", 100000);
    g_autoptr(FmMappedFile) file = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_mapped_file_open(path, &file, &error));
    g_assert_cmpuint(file->size, ==, 100000);
    for (size_t i = 0; i < file->size; i++)
        g_assert_cmpint(file->bytes[i], ==, 'x');
    fm_mapped_file_release_before(file, 65536);
    g_assert_cmpint(file->bytes[0], ==, 'x');
    g_assert_true(fm_mapped_file_check(file, &error));
    g_unlink(path);
}

static void test_in_order(void)
{
    g_autofree char *path = file_of("in-order", 100000);
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    char bytes[9000];
    g_assert_cmpint(pwrite(descriptor, "0123456789abcdef", 16, 4090), ==, 16);
    for (size_t from = 4085; from < 4100; from++) /* on no bound of a word or page, and on each */
        for (size_t size = 0; size < 20; size++) {
            memset(bytes, '-', sizeof bytes);
            g_assert_cmpint(fm_mapped_read_in_order(descriptor, bytes, size, from), ==, size);
            g_assert_cmpint(bytes[size], ==, '-');
            for (size_t i = 0; i < size; i++)
                g_assert_cmpint(bytes[i], ==,
                                from + i < 4090 || from + i >= 4106
                                    ? 'x'
                                    : "0123456789abcdef"[from + i - 4090]);
        }
    g_assert_cmpint(fm_mapped_read_in_order(descriptor, bytes, sizeof bytes, 99000), ==, 1000);
    g_assert_cmpint(fm_mapped_read_in_order(descriptor, bytes, sizeof bytes, 100000), ==, 0);
    g_assert_cmpint(fm_mapped_read_in_order(descriptor, bytes, sizeof bytes, 1u << 30), ==, 0);
    close(descriptor);
    g_assert_cmpint(fm_mapped_read_in_order(descriptor, bytes, sizeof bytes, 0), ==, -1);
    g_assert_cmpint(errno, ==, EBADF);
    g_unlink(path);
}

/* Cut short and made longer again, all the while it is read. */
static gpointer cut(gpointer data)
{
    const int *descriptor = data;
    for (int i = 0; i < 2000; i++) {
        g_assert_cmpint(ftruncate(*descriptor, 8192), ==, 0);
        g_assert_cmpint(ftruncate(*descriptor, 1000000), ==, 0);
    }
    return NULL;
}

static void test_in_order_shrinks(void)
{
    g_autofree char *path = file_of("cut", 1000000), *bytes = g_malloc(1000000);
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    GThread *thread = g_thread_new("cut", cut, &descriptor);
    for (int i = 0; i < 500; i++) {
        ssize_t got = fm_mapped_read_in_order(descriptor, bytes, 1000000, 0);
        g_assert_true(got == 8192 || got == 1000000);
        g_assert_cmpint(bytes[8191], ==, 'x');
    }
    g_thread_join(thread);
    close(descriptor);
    g_unlink(path);
}

static void test_empty(void)
{
    g_autofree char *path = file_of("empty", 0);
    g_autoptr(FmMappedFile) file = NULL;
    g_assert_true(fm_mapped_file_open(path, &file, NULL));
    g_assert_cmpuint(file->size, ==, 0);
    g_assert_true(fm_mapped_file_check(file, NULL));
    g_unlink(path);
}

static void test_refused(void)
{
    g_autofree char *fifo = g_build_filename(folder, "fifo", NULL);
    g_autofree char *missing = g_build_filename(folder, "missing", NULL);
    g_autofree char *secret = file_of("secret", 10);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    assert_refused(folder, "is a directory, expected a regular file");
    assert_refused(fifo, "is a FIFO, expected a regular file");
    assert_refused("/dev/null", "is a device, expected a regular file");
    assert_refused(missing, "No such file or directory");
    g_assert_cmpint(chmod(secret, 0), ==, 0);
    if (geteuid() != 0)
        assert_refused(secret, "Permission denied");
    else
        g_test_message("root may read everything: no permission is not tested");
    g_unlink(fifo);
    g_unlink(secret);
}

/* The file becomes shorter while it is mapped: zeros and an error, no signal. */
static void test_shrinks(void)
{
    g_autofree char *path = file_of("shrinks", 1000000);
    g_autofree char *other_path = file_of("stays", 50000);
    g_autoptr(FmMappedFile) file = NULL, other = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_mapped_file_open(path, &file, &error));
    g_assert_true(fm_mapped_file_open(other_path, &other, &error));
    g_assert_true(fm_mapped_file_check(file, &error));
    g_assert_cmpint(truncate(path, 999990), ==, 0); /* no page is lost */
    g_assert_false(fm_mapped_file_check(file, NULL));
    g_assert_cmpint(truncate(path, 5000), ==, 0);
    g_assert_cmpint(file->bytes[4000], ==, 'x');
    g_assert_cmpint(file->bytes[500000], ==, 0);
    g_assert_cmpint(file->bytes[999999], ==, 0);
    g_assert_cmpint(file->bytes[20000], ==, 0); /* a second fault, before the first */
    g_assert_false(fm_mapped_file_check(file, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_true(g_strrstr(error->message, "became shorter") != NULL);
    g_assert_true(fm_mapped_file_check(other, NULL));
    g_assert_cmpint(other->bytes[49999], ==, 'x');
    g_clear_pointer(&file, fm_mapped_file_free);

    /* The guard is taken again and says nothing about the new file. */
    g_assert_true(fm_mapped_file_open(other_path, &file, NULL));
    g_assert_true(fm_mapped_file_check(file, NULL));
    g_unlink(path);
    g_unlink(other_path);
}

/* A SIGBUS that is none of ours still ends the process. */
static void test_foreign_fault(void)
{
    if (g_test_subprocess()) {
        g_autofree char *own = file_of("own", 8192);
        struct fm_mapped_file *file = NULL;
        g_assert_true(fm_mapped_file_open(own, &file, NULL));
        g_unlink(own);
        g_autofree char *path = file_of("foreign", 8192);
        int descriptor = open(path, O_RDWR | O_CLOEXEC);
        const volatile char *bytes = mmap(NULL, 8192, PROT_READ, MAP_SHARED, descriptor, 0);
        g_unlink(path);
        g_assert_cmpint(ftruncate(descriptor, 0), ==, 0);
        g_rmdir(folder);
        exit(bytes[5000]);
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("fathom-mapped-XXXXXX", NULL);
    g_test_add_func("/mapped/contents", test_contents);
    g_test_add_func("/mapped/in-order", test_in_order);
    g_test_add_func("/mapped/in-order-shrinks", test_in_order_shrinks);
    g_test_add_func("/mapped/empty", test_empty);
    g_test_add_func("/mapped/refused", test_refused);
    g_test_add_func("/mapped/shrinks", test_shrinks);
    g_test_add_func("/mapped/foreign-fault", test_foreign_fault);
    int result = g_test_run();
    g_rmdir(folder);
    g_free(folder);
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded reading, writing, strings. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/reader.h"
#include "base/files/unfinished.h"
#include "base/files/writer.h"
#include "base/memory.h"
#include "base/text/strings.h"

static struct fm_reader reader_of(const void *bytes, size_t size)
{
    const uint8_t *start = bytes;
    return (struct fm_reader){.start = start, .at = start, .end = start + size, .name = "x"};
}

static void test_num_round_trip(void)
{
    static const uint64_t values[] = {0,          1,          127,        128,
                                      16383,      16384,      UINT32_MAX, 1ull << 35,
                                      1ull << 56, 1ull << 63, UINT64_MAX, (1ull << 63) - 1};
    static const size_t lengths[] = {1, 1, 1, 2, 2, 3, 5, 6, 9, 10, 10, 9};
    for (unsigned i = 0; i < G_N_ELEMENTS(values); i++) {
        struct fm_writer *writer = fm_writer_new_memory();
        fm_writer_num(writer, values[i]);
        g_assert_cmpuint(fm_writer_offset(writer), ==, lengths[i]);
        for (unsigned j = 0; j < FM_NUM_BYTES_MAX; j++)
            fm_writer_byte(writer, 7); /* so that the quick path is taken too */
        g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
        for (size_t size = lengths[i]; size <= g_bytes_get_size(bytes); size += 10) {
            struct fm_reader reader = reader_of(g_bytes_get_data(bytes, NULL), size);
            uint64_t value = 99;
            g_autoptr(GError) error = NULL;
            g_assert_true(fm_reader_num(&reader, "number", &value, &error));
            g_assert_cmpuint(value, ==, values[i]);
            g_assert_cmpuint(fm_reader_offset(&reader), ==, lengths[i]);
        }
    }
}

static void test_num_errors(void)
{
    static const struct {
        const char *why, *bytes;
        size_t size;
        int code;
        const char *message;
    } cases[] = {
        {"nothing there", "", 0, FM_ERROR_TRUNCATED,
         "x: offset 0: unexpected end of file, expected number"},
        {"cut", "\x81\xff", 2, FM_ERROR_TRUNCATED,
         "x: offset 2: unexpected end of file, expected number"},
        {"not the shortest form", "\x80\x01", 2, FM_ERROR_FORMAT,
         "x: offset 0: number begins with 0x80, expected number in the shortest form"},
        {"the same far from the end", "\x80\x01zzzzzzzzzzzz", 14, FM_ERROR_FORMAT,
         "x: offset 0: number begins with 0x80, expected number in the shortest form"},
        {"65 bits", "\x82\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, FM_ERROR_FORMAT,
         "x: offset 0: number of more than 64 bits, expected number"},
        {"no end", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12, FM_ERROR_FORMAT,
         "x: offset 0: number of more than 64 bits, expected number"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_reader reader = reader_of(cases[i].bytes, cases[i].size);
        uint64_t value;
        g_autoptr(GError) error = NULL;
        g_test_message("%s", cases[i].why);
        g_assert_false(fm_reader_num(&reader, "number", &value, &error));
        g_assert_error(error, FM_ERROR, cases[i].code);
        g_assert_cmpstr(error->message, ==, cases[i].message);
        g_assert_cmpuint(fm_reader_offset(&reader), ==, 0);
    }
}

static void test_others(void)
{
    static const uint8_t bytes[] = {3, 'a', 'b', 'c', 8, 7, 6, 5, 4, 3, 2, 1, 0, 2, 'x', 0, 200};
    struct fm_reader reader = reader_of(bytes, sizeof(bytes));
    const char *string;
    size_t length;
    uint64_t value;
    uint32_t count;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_reader_string(&reader, "s", &string, &length, &error));
    g_assert_cmpuint(length, ==, 3);
    g_assert_true(memcmp(string, "abc", 3) == 0);
    g_assert_true(fm_reader_fixed(&reader, "f", &value, &error));
    g_assert_cmphex(value, ==, 0x0102030405060708);
    g_assert_true(fm_reader_string(&reader, "s", &string, &length, &error));
    g_assert_cmpuint(length, ==, 0);
    g_assert_false(fm_reader_string(&reader, "s", &string, &length, &error));
    g_assert_cmpstr(error->message, ==, "x: offset 15: NUL byte in s");
    g_clear_error(&error);
    reader.at = bytes + 13;
    g_assert_false(fm_reader_count(&reader, "things", 2, &count, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
    g_clear_error(&error);
    g_assert_true(fm_reader_count(&reader, "things", 1, &count, &error));
    g_assert_cmpuint(count, ==, 2);
    g_assert_false(fm_reader_fixed(&reader, "f", &value, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
    g_clear_error(&error);
    reader = reader_of("\x90\x80\x80\x80\x00", 5);
    g_assert_false(fm_reader_u32(&reader, "n", &count, &error));
    g_assert_cmpstr(error->message, ==,
                    "x: offset 0: n is 4294967296, expected at most 4294967295");
    g_clear_error(&error);
    reader = reader_of("\x8a\x80\x80\x00zzz", 7);
    g_assert_false(fm_reader_string(&reader, "s", &string, &length, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
}

static void test_writer_file(void)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-writer-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "out", NULL);
    g_autoptr(GError) error = NULL;
    struct fm_writer *writer;
    g_assert_true(fm_writer_new(path, &writer, &error));
    fm_writer_fixed(writer, 0x1122334455667788);
    for (unsigned i = 0; i < 200000; i++)
        fm_writer_string(writer, "abc");
    g_assert_cmpuint(fm_writer_offset(writer), ==, 800008);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_true(fm_writer_finish(writer, &error));
    g_autofree char *contents = NULL;
    size_t size;
    g_assert_true(g_file_get_contents(path, &contents, &size, NULL));
    g_assert_cmpuint(size, ==, 800008);
    g_assert_cmpmem(contents, 12,
                    "\x88\x77\x66\x55\x44\x33\x22\x11\x03"
                    "abc",
                    12);
    g_assert_cmpmem(contents + 800004, 4,
                    "\x03"
                    "abc",
                    4);

    /* A discarded one leaves the old file and nothing else. */
    g_assert_true(fm_writer_new(path, &writer, &error));
    fm_writer_num(writer, 1);
    fm_writer_discard(writer);
    struct stat status;
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_size, ==, 800008);
    g_assert_false(fm_writer_new(folder, &writer, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_clear_error(&error);
    g_autofree char *nowhere = g_build_filename(folder, "none", "out", NULL);
    g_assert_false(fm_writer_new(nowhere, &writer, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* so no temporary file is left */
}

static char *read_fifo(int fd)
{
    char bytes[64] = "";
    ssize_t n = read(fd, bytes, sizeof(bytes) - 1);
    return g_strndup(bytes, n > 0 ? (gsize)n : 0);
}

static void write_word(const char *path, const char *word)
{
    struct fm_writer *writer;
    GError *error = NULL;
    g_assert_true(fm_writer_new(path, &writer, &error));
    g_assert_no_error(error);
    fm_writer_bytes(writer, word, strlen(word));
    g_assert_true(fm_writer_finish(writer, &error));
    g_assert_no_error(error);
}

/* What is there and is no regular file stays what it is: a FIFO, a device, a link. */
static void test_writer_keeps_what_is_there(void)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-writer-XXXXXX", NULL);
    g_autofree char *fifo = g_build_filename(folder, "fifo", NULL);
    g_autofree char *device = g_build_filename(folder, "null", NULL);
    g_autofree char *sub = g_build_filename(folder, "sub", NULL);
    g_autofree char *file = g_build_filename(sub, "file", NULL);
    g_autofree char *link = g_build_filename(folder, "link", NULL);
    g_autofree char *nowhere = g_build_filename(folder, "nowhere", NULL);
    g_autofree char *content = NULL, *passed = NULL;
    struct stat st;

    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    int fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    write_word(fifo, "into the pipe");
    passed = read_fifo(fd);
    close(fd);
    g_assert_cmpstr(passed, ==, "into the pipe");
    g_assert_true(lstat(fifo, &st) == 0 && S_ISFIFO(st.st_mode));

    g_assert_cmpint(g_mkdir(sub, 0700), ==, 0);
    g_assert_cmpint(symlink("sub/file", link), ==, 0);
    write_word(link, "made"); /* it leads to nothing yet */
    write_word(link, "made again");
    g_assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    g_assert_true(g_file_get_contents(file, &content, NULL, NULL));
    g_assert_cmpstr(content, ==, "made again");
    g_assert_cmpint(symlink("null", nowhere), ==, 0);

    if (mknod(device, S_IFCHR | 0666, makedev(1, 3)) == 0) { /* root may */
        write_word(device, "gone");
        write_word(nowhere, "gone too");
        g_assert_true(lstat(device, &st) == 0 && S_ISCHR(st.st_mode));
        g_assert_true(lstat(nowhere, &st) == 0 && S_ISLNK(st.st_mode));
        g_assert_cmpint(g_unlink(device), ==, 0);
    }
    const char *const made[] = {nowhere, link, file, fifo};
    for (gsize i = 0; i < G_N_ELEMENTS(made); i++)
        g_assert_cmpint(g_unlink(made[i]), ==, 0);
    g_assert_cmpint(g_rmdir(sub), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* so no temporary file is left */
}

/* A device that takes the place of the path while it is being written is not taken away. */
static void test_writer_loses_its_place(void)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-writer-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "out", NULL);
    struct fm_writer *writer;
    GError *error = NULL;
    struct stat st;
    g_assert_true(fm_writer_new(path, &writer, &error));
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    g_assert_false(fm_writer_finish(writer, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_clear_error(&error);
    g_assert_true(lstat(path, &st) == 0 && S_ISFIFO(st.st_mode));
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void test_writer_full(void)
{
    if (!g_file_test("/dev/full", G_FILE_TEST_EXISTS)) {
        g_test_skip("no /dev/full");
        return;
    }
    /* The temporary file's own descriptor is replaced by one to a full device. */
    g_autofree char *folder = g_dir_make_tmp("fathom-writer-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "out", NULL);
    g_autofree char *temporary = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_writer *writer;
    g_assert_true(fm_writer_new(path, &writer, &error));
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    temporary = g_build_filename(folder, g_dir_read_name(dir), NULL);
    for (int descriptor = 3; descriptor < 100; descriptor++) {
        g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", descriptor);
        g_autofree char *target = g_file_read_link(link, NULL);
        if (g_strcmp0(target, temporary) != 0)
            continue;
        int full = g_open("/dev/full", O_WRONLY, 0);
        g_assert_cmpint(dup2(full, descriptor), ==, descriptor);
        close(full);
    }
    fm_writer_string(writer, "lost");
    g_assert_false(fm_writer_finish(writer, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_true(g_strrstr(error->message, g_strerror(ENOSPC)) != NULL);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void test_strings(void)
{
    struct fm_strings *strings = fm_strings_new();
    const char *first = fm_strings_add(strings, "append");
    g_assert_cmpstr(first, ==, "append");
    g_assert_true(fm_strings_add_bytes(strings, "appendix", 6) == first);
    g_assert_true(fm_strings_add(strings, "appendi") != first);
    g_assert_cmpstr(fm_strings_add(strings, ""), ==, "");
    g_autofree char *giant = g_strnfill(200000, 'g');
    const char *kept = fm_strings_add(strings, giant);
    g_assert_cmpstr(kept, ==, giant);
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (unsigned i = 0; i < 20000; i++) {
        g_autofree char *text = g_strdup_printf("name %u", i);
        g_ptr_array_add(all, (void *)(uintptr_t)fm_strings_add(strings, text));
    }
    for (unsigned i = 0; i < 20000; i++) {
        g_autofree char *text = g_strdup_printf("name %u", i);
        g_assert_cmpstr(g_ptr_array_index(all, i), ==, text);
        g_assert_true(fm_strings_add(strings, text) == g_ptr_array_index(all, i));
    }
    g_assert_true(fm_strings_add(strings, giant) == kept);
    g_assert_cmpuint(fm_strings_memory_bytes(strings), <, 2 * 1024 * 1024);
    fm_strings_free(strings);
    fm_strings_free(NULL);
}

static void test_memory(void)
{
    uint32_t *array = fm_memory_try_array(5000000, sizeof(*array));
    g_assert_nonnull(array);
    for (size_t i = 0; i < 5000000; i += 1000)
        g_assert_cmpuint(array[i], ==, 0);
    array[4999999] = 7;
    array = fm_memory_try_resize(array, 9000000, sizeof(*array));
    g_assert_cmpuint(array[4999999], ==, 7);
    array[8999999] = 1;
    g_free(array);
    g_assert_null(fm_memory_try_array(SIZE_MAX, 2));
    g_assert_null(fm_memory_try_resize(NULL, SIZE_MAX / 4, 8));
}

/* What the process cannot end with: no part of a file stays, nor what was there. */
static void test_remove_unfinished(void)
{
    g_autofree char *folder = g_dir_make_tmp("writer-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "file", NULL);
    struct fm_writer *writers[3];
    for (unsigned i = 0; i < G_N_ELEMENTS(writers); i++)
        g_assert_true(fm_writer_new(path, &writers[i], NULL));
    fm_writer_string(writers[0], "whole");
    g_assert_true(fm_writer_finish(writers[0], NULL));
    fm_unfinished_remove();
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    g_assert_cmpstr(g_dir_read_name(dir), ==, "file"); /* the one that was complete */
    g_assert_null(g_dir_read_name(dir));
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_writer_finish(writers[1], &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    fm_writer_discard(writers[2]);
    g_assert_cmpint(g_remove(path), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* In a process of its own: writes half a file and is sent a signal. */
static int sent(int number, const char *path, const char *folder, bool ignored)
{
    pid_t child = fork();
    if (child == 0) {
        struct fm_writer *writer;
        signal(number, ignored ? SIG_IGN : SIG_DFL);
        fm_unfinished_remove_at_signals();
        char *name = g_strdup(folder);
        fm_unfinished_note(name);
        if (g_mkdir(folder, 0700) != 0 || !fm_writer_new(path, &writer, NULL))
            _exit(2);
        fm_writer_string(writer, "half");
        raise(number);
        _exit(fm_writer_finish(writer, NULL) ? 0 : 3);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    return status;
}

static void test_ended_by_signal(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    g_autofree char *above = g_dir_make_tmp("writer-XXXXXX", NULL);
    g_autofree char *folder = g_build_filename(above, "made", NULL);
    g_autofree char *path = g_build_filename(folder, "file", NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(ending); i++) {
        int status = sent(ending[i], path, folder, false);
        g_assert_true(WIFSIGNALED(status));
        g_assert_cmpint(WTERMSIG(status), ==, ending[i]);
        g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS));
    }
    /* Whoever has it ignored, as nohup has, goes on. */
    int status = sent(SIGHUP, path, folder, true);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 0);
    g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
    g_assert_cmpint(g_remove(path), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    g_assert_cmpint(g_rmdir(above), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/bytes/num-round-trip", test_num_round_trip);
    g_test_add_func("/bytes/num-errors", test_num_errors);
    g_test_add_func("/bytes/others", test_others);
    g_test_add_func("/bytes/writer-file", test_writer_file);
    g_test_add_func("/bytes/writer-full", test_writer_full);
    g_test_add_func("/bytes/writer-keeps-what-is-there", test_writer_keeps_what_is_there);
    g_test_add_func("/bytes/writer-loses-its-place", test_writer_loses_its_place);
    g_test_add_func("/bytes/strings", test_strings);
    g_test_add_func("/bytes/memory", test_memory);
    g_test_add_func("/writer/remove-unfinished", test_remove_unfinished);
    g_test_add_func("/writer/ended-by-signal", test_ended_by_signal);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Logs from files and pipes, and files that change while they are read. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/log/log.h"
#include "eventlog/input/source.h"
#include "support.h"

enum { MESSAGES = 40000 };

/* 40,000 messages of 100 bytes: 4.5 MB, many windows. */
static char *big_file(void)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-source-XXXXXX", NULL);
    char *path = g_build_filename(folder, "big.eventlog", NULL);
    g_autoptr(GByteArray) log = g_byte_array_new();
    struct fm_eventlog_header *header = sample_header();
    struct fm_eventlog_writer *writer = fm_eventlog_writer_new(fm_eventlog_write_bytes, log);
    char text[100];
    memset(text, 'x', sizeof text);
    g_assert_true(fm_eventlog_writer_header(writer, header, NULL));
    for (int block = 0; block < 40; block++) {
        uint64_t time = 1000 + (uint64_t)block * 1000;
        for (int i = 0; i < MESSAGES / 40; i++)
            put_event(writer, 0, 19, time + (uint64_t)i, text, sizeof text);
        g_assert_true(fm_eventlog_writer_end_block(writer, NULL));
    }
    g_assert_true(fm_eventlog_writer_end(writer, NULL));
    fm_eventlog_header_unref(header);
    fm_eventlog_writer_free(writer);
    g_assert_true(g_file_set_contents(path, (const char *)log->data, (gssize)log->len, NULL));
    return path;
}

static void remove_file(char *path)
{
    unlink(path);
    g_autofree char *folder = g_path_get_dirname(path);
    rmdir(folder);
    g_free(path);
}

static uint64_t count_events(struct fm_eventlog_source *source, GError **error)
{
    struct fm_eventlog_event event;
    enum fm_eventlog_status status;
    uint64_t events = 0;
    while ((status = fm_eventlog_source_next(source, &event, error)) != FM_EVENTLOG_FINISHED &&
           status != FM_EVENTLOG_FAILED)
        events += status == FM_EVENTLOG_HAS_EVENT && event.number == 19;
    return events;
}

static void a_file_gives_every_event(void)
{
    char *path = big_file();
    g_autoptr(GError) error = NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(fm_eventlog_source_size(source), >, MESSAGES * 112);
    g_assert_cmpuint(count_events(source, &error), ==, MESSAGES);
    g_assert_no_error(error);
    fm_eventlog_source_free(source);
    remove_file(path);
}

static void a_file_cut_while_it_is_read_is_one_error(void)
{
    char *path = big_file();
    g_autoptr(GError) error = NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, &error);
    struct fm_eventlog_event event;
    for (int i = 0; i < 10; i++)
        g_assert_cmpint(fm_eventlog_source_next(source, &event, &error), !=, FM_EVENTLOG_FAILED);
    g_assert_cmpint(truncate(path, 300000), ==, 0); /* behind the first window */
    count_events(source, &error);
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "offset 300000"));
    g_assert_nonnull(strstr(error->message, "truncated while it was read"));
    g_clear_error(&error);
    fm_eventlog_source_free(source);

    source = fm_eventlog_source_open(path, &error); /* from the beginning it is just unfinished */
    g_assert_cmpuint(count_events(source, &error), >, 2000);
    g_assert_no_error(error);
    fm_eventlog_source_free(source);
    remove_file(path);
}

static void a_file_that_grows_after_opening_is_read_to_its_old_end(void)
{
    char *path = big_file();
    g_autoptr(GError) error = NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, &error);
    int fd = open(path, O_WRONLY | O_APPEND);
    g_assert_cmpint(write(fd, "junk", 4), ==, 4);
    close(fd);
    g_assert_cmpuint(count_events(source, &error), ==, MESSAGES);
    g_assert_no_error(error);
    g_assert_cmpuint(fm_eventlog_reader_tail(fm_eventlog_source_reader(source))->length, ==, 0);
    fm_eventlog_source_free(source);
    remove_file(path);
}

static void a_log_cut_after_its_blocks_were_found_is_one_error(void)
{
    char *path = big_file();
    g_autoptr(GError) error = NULL;
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, &error);
    g_assert_no_error(error);
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(log);
    struct fm_eventlog_event event;
    g_assert_true(fm_eventlog_merge_next(merge, &event, &error));
    g_assert_cmpint(truncate(path, 1000000), ==, 0);
    while (fm_eventlog_merge_next(merge, &event, &error)) {
    }
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "truncated"));
    fm_eventlog_merge_free(merge);
    fm_eventlog_log_free(log);
    remove_file(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/source/file", a_file_gives_every_event);
    g_test_add_func("/source/cut-while-read", a_file_cut_while_it_is_read_is_one_error);
    g_test_add_func("/source/grows-meanwhile",
                    a_file_that_grows_after_opening_is_read_to_its_old_end);
    g_test_add_func("/source/cut-after-scan", a_log_cut_after_its_blocks_were_found_is_one_error);
    return g_test_run();
}

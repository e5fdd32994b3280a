/* SPDX-License-Identifier: Apache-2.0 */
#include "ctf_importing.h"

#include <glib/gstdio.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventlog/output/format.h"

struct ctf_import ctf_import_opened(const char *folder, int opened)
{
    struct ctf_import import = {.fd = memfd_create("log", MFD_CLOEXEC)};
    GError *error = NULL;
    g_assert_true(fm_ctf_importer_start(&import.importer, folder, opened, import.fd, &error));
    g_assert_no_error(error);
    while (!import.importer.done || import.importer.process > 0) {
        struct pollfd wait = {.fd = import.importer.status, .events = POLLIN};
        poll(&wait, 1, -1);
        fm_ctf_importer_listen(&import.importer);
    }
    import.error = import.importer.error;
    if (import.error == NULL) {
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", import.fd);
        import.log = fm_eventlog_log_open(path, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpuint(import.log->gaps->len, ==, 0);
    }
    return import;
}

struct ctf_import ctf_import_folder(const char *folder)
{
    return ctf_import_opened(folder, -1);
}

void ctf_import_done(struct ctf_import *import)
{
    fm_eventlog_log_free(import->log);
    fm_ctf_importer_done(&import->importer);
    close(import->fd);
}

char *ctf_events_of(const struct ctf_import *import)
{
    GString *out = g_string_new(NULL);
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(import->log);
    struct fm_eventlog_event event;
    while (fm_eventlog_merge_next(merge, &event, NULL))
        fm_eventlog_format_event(out, FM_EVENTLOG_AS_TEXT, &event, fm_eventlog_merge_header(merge),
                                 NULL);
    fm_eventlog_merge_free(merge);
    return g_string_free(out, FALSE);
}

static void remove_tree(const char *folder)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR))
            remove_tree(path);
        else
            g_unlink(path);
    }
    if (dir != NULL)
        g_dir_close(dir);
    g_rmdir(folder);
}

char *ctf_parent_new(void)
{
    char *parent = g_dir_make_tmp("fathom-test-ctf-XXXXXX", NULL);
    g_autofree char *temporary = g_build_filename(parent, "temporary", NULL);
    g_mkdir(temporary, 0700);
    g_setenv("TMPDIR", temporary, TRUE);
    return parent;
}

void ctf_parent_remove(const char *parent)
{
    g_autofree char *temporary = g_build_filename(parent, "temporary", NULL);
    g_assert_cmpint(g_rmdir(temporary), ==, 0);
    remove_tree(parent);
    g_unsetenv("TMPDIR");
}

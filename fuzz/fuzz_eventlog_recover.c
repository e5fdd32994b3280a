/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a log and its file of live buffers: recovery either reports an error and leaves both
 * unchanged, or makes a log that can be read to its end mark. The first four bytes are the length
 * of the log, big-endian; the rest is the other file. */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "eventlog/reader/eventlog.h"
#include "eventlog/input/live.h"
#include "eventlog/log/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *folder, *path, *live;

static void remove_all(void)
{
    g_unlink(live);
    g_unlink(path);
    g_rmdir(folder);
}

static void make_folder(void)
{
    folder = g_dir_make_tmp("fathom-fuzz-XXXXXX", NULL);
    if (folder == NULL)
        g_error("cannot make a folder");
    path = g_build_filename(folder, "log", NULL);
    live = g_strconcat(path, ".live", NULL);
    atexit(remove_all);
}

/* Every recovered block is complete. before: length of the log's own bytes, damaged or not. */
static void check_log(uint64_t before)
{
    GError *error = NULL;
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, &error);
    if (log == NULL)
        g_error("the recovered log does not open: %s", error->message);
    for (guint i = 0; i < log->gaps->len; i++)
        if (g_array_index(log->gaps, struct fm_eventlog_gap, i).offset >= before)
            g_error("the recovered part has a gap");
    if (!log->tail.end_mark)
        g_error("the recovered log has no end mark");
    fm_eventlog_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_eventlog_recovered result;
    GError *error = NULL;
    if (folder == NULL)
        make_folder();
    if (size < 4)
        return 0;
    size_t length = fm_eventlog_get32(data);
    data += 4;
    size -= 4;
    length = MIN(length, size);
    if (!g_file_set_contents(path, (const char *)data, (gssize)length, NULL) ||
        !g_file_set_contents(live, (const char *)data + length, (gssize)(size - length), NULL))
        g_error("cannot make the input");
    if (!fm_eventlog_live_recover(path, &result, &error)) {
        g_assert(error != NULL);
        g_error_free(error);
        return 0;
    }
    if (fm_eventlog_live_recover(path, &result, NULL) || g_access(live, F_OK) == 0)
        g_error("it is recovered twice");
    check_log(length - MIN(result.cut, length));
    return 0;
}

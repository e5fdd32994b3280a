/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/log/run.h"
#include "eventlog/input/source.h"

static void take_block(void *user, const struct fm_eventlog_block *block)
{
    struct fm_eventlog_log *log = user;
    g_array_append_val(log->blocks, *block);
}

/* One step of the pass; false at its end. */
static bool scan_step(struct fm_eventlog_log *log, struct fm_eventlog_source *source,
                      const struct fm_progress *progress, GError **error)
{
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    switch (fm_eventlog_count(reader, log->counts, error)) {
    case FM_EVENTLOG_HAS_HEADER:
        g_ptr_array_add(log->headers, fm_eventlog_header_ref(fm_eventlog_reader_header(reader)));
        g_ptr_array_add(log->steps, fm_eventlog_header_steps(fm_eventlog_reader_header(reader)));
        return true;
    case FM_EVENTLOG_HAS_GAP:
        g_array_append_val(log->gaps, *fm_eventlog_reader_gap(reader));
        return true;
    case FM_EVENTLOG_MORE:
        if (progress != NULL && progress->report != NULL &&
            !progress->report(progress->user, "scanning", fm_eventlog_reader_offset(reader),
                              fm_eventlog_source_size(source))) {
            g_set_error(error, FM_ERROR, FM_ERROR_CANCELLED, "%s: cancelled", log->name);
            return false;
        }
        return fm_eventlog_source_fill(source, -1, NULL, error) != FM_EVENTLOG_FILL_FAILED;
    case FM_EVENTLOG_HAS_END:
    case FM_EVENTLOG_HAS_EVENT:
        return true;
    case FM_EVENTLOG_FINISHED:
    case FM_EVENTLOG_FAILED:
        break;
    }
    return false;
}

/* When a damaged header follows a readable log, the rest of the file becomes a gap, not an
 * error. */
static void keep_what_was_read(struct fm_eventlog_log *log, struct fm_eventlog_source *source,
                               GError **error)
{
    struct fm_eventlog_gap gap = {
        .offset = fm_eventlog_reader_offset(fm_eventlog_source_reader(source)),
        .capability = FM_EVENTLOG_NO_CAPABILITY,
        .time_ns = log->counts->last_ns,
    };
    gap.length = fm_eventlog_source_size(source) - gap.offset;
    g_strlcpy(gap.reason, (*error)->message, sizeof gap.reason);
    g_array_append_val(log->gaps, gap);
    g_clear_error(error);
}

static void free_facts(void *facts)
{
    fm_eventlog_facts_free(facts);
}

struct fm_eventlog_log *fm_eventlog_log_new(int fd, const char *name)
{
    struct fm_eventlog_log *log = g_new0(struct fm_eventlog_log, 1);
    log->fd = fd;
    log->name = g_strdup(name);
    log->headers = g_ptr_array_new_with_free_func((GDestroyNotify)fm_eventlog_header_unref);
    log->steps = g_ptr_array_new_with_free_func(g_free);
    log->blocks = g_array_new(FALSE, FALSE, sizeof(struct fm_eventlog_block));
    log->facts = g_ptr_array_new_with_free_func(free_facts);
    log->gaps = g_array_new(FALSE, FALSE, sizeof(struct fm_eventlog_gap));
    log->spare_windows = g_ptr_array_new_with_free_func(g_free);
    log->counts = fm_eventlog_counts_new();
    return log;
}

struct fm_eventlog_log *fm_eventlog_log_open(const char *path, const struct fm_progress *progress,
                                             GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat;
    if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path,
                    fd < 0 ? g_strerror(errno)
                           : "is not a regular file, which reading in time order needs");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct fm_eventlog_log *log = fm_eventlog_log_new(fd, path);
    log->counts->on_block = take_block;
    log->counts->user = log;
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, error);
    GError *failure = NULL;
    while (source != NULL && scan_step(log, source, progress, &failure)) {
    }
    if (failure != NULL && log->headers->len > 0 &&
        !g_error_matches(failure, FM_ERROR, FM_ERROR_CANCELLED) &&
        !g_error_matches(failure, FM_ERROR, FM_ERROR_IO))
        keep_what_was_read(log, source, &failure);
    if (source != NULL) {
        log->tail = *fm_eventlog_reader_tail(fm_eventlog_source_reader(source));
        log->size = log->counts->bytes;
        fm_eventlog_source_free(source);
    }
    if (source == NULL || failure != NULL) {
        if (failure != NULL)
            g_propagate_error(error, failure);
        fm_eventlog_log_free(log);
        return NULL;
    }
    return log;
}

void fm_eventlog_log_free(struct fm_eventlog_log *log)
{
    if (log == NULL)
        return;
    close(log->fd);
    g_free(log->name);
    g_ptr_array_unref(log->headers);
    g_ptr_array_unref(log->steps);
    g_array_unref(log->blocks);
    g_ptr_array_unref(log->facts);
    g_ptr_array_unref(log->spare_windows);
    if (log->scan != NULL)
        log->free_scan(log->scan);
    g_array_unref(log->gaps);
    fm_eventlog_counts_free(log->counts);
    g_free(log);
}

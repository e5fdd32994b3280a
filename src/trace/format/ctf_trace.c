/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of CTF traces as a trace: the importer writes an event log without a name, which is read
 * as a log that grows. */
#include "trace/format/ctf.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/writer.h"
#include "trace/format/eventlog_trace.h"
#include "trace/state/state.h"

/* How long opening waits for the first events. A damaged folder is tried file by file, which may
 * take minutes: its trace is opened without events, and they come by growing. */
enum { PATIENCE_US = 250000 };

static const char importer_path[] = "ctf/importer";

static void free_importer(void *data)
{
    fm_ctf_importer_done(data);
    g_free(data);
}

static struct ctf_importer *importer_of(const struct fm_trace *trace)
{
    return fm_attributes_get(trace->attributes, importer_path);
}

static char *damage(const struct fm_trace *trace)
{
    const struct ctf_importer *importer = importer_of(trace);
    g_autofree char *of_log = fm_eventlog_trace_damage(trace);
    /* While it is being written the log has no end mark: that is no damage. */
    return g_strconcat(importer->notes->str, importer->error != NULL ? importer->error : "",
                       importer->error != NULL ? "\n" : "", importer->done ? of_log : "", NULL);
}

static bool grow(struct fm_trace *trace, bool *ret_ended, GError **error)
{
    struct ctf_importer *importer = importer_of(trace);
    struct fm_eventlog_trace *log = trace->implementation;
    fm_ctf_importer_listen(importer);
    if (importer->done && importer->process == 0)
        log->closed = true; /* nothing more comes, with or without an end mark */
    if (importer->begun)
        return fm_eventlog_trace_grow(trace, ret_ended, error);
    *ret_ended = log->closed;
    if (log->closed && importer->error != NULL)
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s", importer->error);
    return false;
}

static enum fm_trace_growth growth(const struct fm_trace *trace)
{
    const struct fm_eventlog_trace *log = trace->implementation;
    bool nothing = log->closed && !importer_of(trace)->begun;
    return nothing ? FM_TRACE_WHOLE : fm_eventlog_trace_growth(trace);
}

static bool epoch(const struct fm_trace *trace, int64_t *ret_ns)
{
    const struct ctf_importer *importer = importer_of(trace);
    g_assert(importer->begun || !importer->has_epoch);
    *ret_ns = importer->epoch_ns;
    return importer->begun && importer->has_epoch;
}

static int poll_fd(const struct fm_trace *trace)
{
    const struct ctf_importer *importer = importer_of(trace);
    return importer->process > 0 ? importer->status : -1;
}

static const struct fm_trace_class ctf_class = {
    .format = "ctf",
    .damage = damage,
    .grow = grow,
    .growth = growth,
    .extent = fm_eventlog_trace_extent,
    .pending = fm_eventlog_trace_pending,
    .epoch = epoch,
    .poll_fd = poll_fd,
};

/* A second description of the file, with a place of its own. */
static int open_again(int fd, GError **error)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    if (again < 0)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    return again;
}

static struct fm_trace *open_log(struct ctf_importer *importer, const char *path, int log,
                                 GError **error)
{
    fm_ctf_importer_wait(importer, PATIENCE_US);
    if (!importer->begun && importer->error != NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s", importer->error);
        return NULL;
    }
    int fd = open_again(log, error);
    if (fd < 0)
        return NULL;
    struct fm_trace *trace = fm_eventlog_trace_open_rounds(path, fd);
    bool ended;
    GError *failure = NULL;
    if (importer->begun)
        fm_eventlog_trace_grow(trace, &ended, &failure);
    if (failure == NULL)
        return trace;
    g_propagate_error(error, failure);
    fm_trace_free(trace);
    return NULL;
}

struct fm_trace *fm_ctf_open(const char *path, int folder, GError **error)
{
    int log = fm_nameless_file(error);
    if (log < 0)
        return NULL;
    struct ctf_importer *importer = g_new0(struct ctf_importer, 1);
    importer->status = -1;
    struct fm_trace *trace = !fm_ctf_importer_start(importer, path, folder, log, error)
                                 ? NULL
                                 : open_log(importer, path, log, error);
    close(log);
    if (trace == NULL) {
        free_importer(importer);
        return NULL;
    }
    trace->class_ = &ctf_class;
    trace->state_model = &fm_state_model_kernel;
    fm_attributes_set(trace->attributes, importer_path, importer, free_importer);
    return trace;
}

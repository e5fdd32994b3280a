/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/format/open.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/format/ctf.h"
#include "trace/format/eventlog_trace.h"
#include "trace/clock/clock.h"

static bool is_address(const char *path)
{
    return g_str_has_prefix(path, "unix:") || g_str_has_prefix(path, "tcp:");
}

char *fm_trace_identity(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) == 0)
        return g_strdup_printf("%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    if (is_address(path))
        return g_strdup(path);
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    return NULL;
}

bool fm_trace_recognise_below(const struct fm_roots *roots, const char *path)
{
    struct stat status;
    char begin[4];
    int fd = fm_roots_open(roots, path, 0, NULL);
    if (fd < 0)
        return false;
    bool there = fstat(fd, &status) == 0;
    bool recognised = there && S_ISREG(status.st_mode) &&
                      pread(fd, begin, sizeof begin, 0) == sizeof begin &&
                      memcmp(begin, "hdrb", sizeof begin) == 0;
    recognised |=
        there && S_ISDIR(status.st_mode) && fm_ctf_is_trace(fd, path, roots != NULL, NULL);
    close(fd);
    return recognised;
}

bool fm_trace_recognise(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return is_address(path);
    return fm_trace_recognise_below(NULL, path);
}

static struct fm_trace *open_any(struct fm_roots *roots, const char *path, GError **error)
{
    if (roots == NULL && is_address(path) && !g_file_test(path, G_FILE_TEST_EXISTS))
        return fm_eventlog_trace_connect(path, error);
    struct stat status;
    int fd = fm_roots_open(roots, path, 0, error);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode))
        return fm_eventlog_trace_open(roots, path, fd, error);
    struct fm_trace *trace = NULL;
    GError *unlike = NULL; /* for a folder without a trace, the importer's reason */
    if (fm_ctf_is_trace(fd, path, roots != NULL, &unlike) || unlike == NULL)
        trace = fm_ctf_open(path, roots == NULL ? -1 : fd, error);
    else
        g_propagate_error(error, unlike);
    close(fd);
    return trace;
}

struct fm_trace *fm_trace_open(const char *path, const char *identity, GError **error)
{
    return fm_trace_open_below(NULL, path, identity, error);
}

struct fm_trace *fm_trace_open_below(struct fm_roots *roots, const char *path, const char *identity,
                                     GError **error)
{
    struct fm_trace *trace = open_any(roots, path, error);
    if (trace == NULL)
        return NULL;
    if (trace->identity == NULL) /* not that of what was opened */
        trace->identity = g_strdup(identity);
    fm_trace_apply_expected(trace);
    return trace;
}

/* --- what the formats answer --- */

const char *fm_trace_format(const struct fm_trace *trace)
{
    return trace->class_ != NULL ? trace->class_->format : "memory";
}

char *fm_trace_damage(const struct fm_trace *trace)
{
    bool tells = trace->class_ != NULL && trace->class_->damage != NULL;
    return tells ? trace->class_->damage(trace) : g_strdup("");
}

bool fm_trace_grow(struct fm_trace *trace, bool *ret_ended, GError **error)
{
    *ret_ended = true;
    bool can = trace->class_ != NULL && trace->class_->grow != NULL;
    return can && trace->class_->grow(trace, ret_ended, error);
}

enum fm_trace_growth fm_trace_growth(const struct fm_trace *trace)
{
    bool tells = trace->class_ != NULL && trace->class_->growth != NULL;
    return tells ? trace->class_->growth(trace) : FM_TRACE_WHOLE;
}

bool fm_trace_grows(const struct fm_trace *trace)
{
    return fm_trace_growth(trace) != FM_TRACE_WHOLE;
}

uint64_t fm_trace_extent(const struct fm_trace *trace)
{
    bool tells = trace->class_ != NULL && trace->class_->extent != NULL;
    return tells ? trace->class_->extent(trace) : 0;
}

uint64_t fm_trace_pending(const struct fm_trace *trace)
{
    bool tells = trace->class_ != NULL && trace->class_->pending != NULL;
    return tells ? trace->class_->pending(trace) : 0;
}

bool fm_trace_epoch(const struct fm_trace *trace, int64_t *ret_ns)
{
    *ret_ns = 0;
    return trace->class_ != NULL && trace->class_->epoch != NULL &&
           trace->class_->epoch(trace, ret_ns);
}

int fm_trace_poll_fd(const struct fm_trace *trace)
{
    bool has = trace->class_ != NULL && trace->class_->poll_fd != NULL;
    return has ? trace->class_->poll_fd(trace) : -1;
}

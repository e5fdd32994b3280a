/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the recording that a process writes, and the state of its program. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process.h"
#include "record/raw/bytes.h"
#include "record/raw/recording.h"
#include "record/running/control.h"
#include "record/running/internal.h"

bool fm_running_header(int file, const char *path, struct fm_rec_header *ret, GError **error)
{
    struct stat status;
    if (fstat(file, &status) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: is not a file, expected a recording",
                    path);
        return false;
    }
    struct fm_raw_bytes bytes = {.path = path};
    return fm_raw_bytes_read_header(&bytes, file, ret, error);
}

/* Whether the file is the recording that this process writes. */
static bool is_written_by(const char *path, const struct stat *mapped, unsigned pid)
{
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    struct fm_rec_header header;
    bool same = file >= 0 && fstat(file, &status) == 0 && status.st_ino == mapped->st_ino &&
                fm_running_header(file, path, &header, NULL) && header.snapshot_of == 0 &&
                header.state == FM_REC_RUNNING && fm_raw_header_writer(&header) == (int)pid;
    if (file >= 0)
        close(file);
    return same;
}

/* A line of /proc/PID/maps, "START-END rw-s OFFSET DEVICE INODE      PATH", if it maps a recording.
 * In a container the path is one below its root: NULL = ours. */
static char *recording_in_line(const char *line, unsigned pid, const char *root, bool *ret_removed)
{
    static const char removed[] = ".rec (deleted)";
    g_auto(GStrv) words = g_strsplit(line, " ", 6);
    if (g_strv_length(words) < 6 || !g_str_has_prefix(words[1], "rw") || words[1][3] != 's')
        return NULL;
    const char *path = g_strchug(words[5]);
    if (g_str_has_suffix(path, removed))
        *ret_removed = true;
    struct stat mapped = {.st_ino = g_ascii_strtoull(words[4], NULL, 10)};
    if (!g_str_has_suffix(path, ".rec"))
        return NULL;
    if (is_written_by(path, &mapped, pid))
        return g_strdup(path);
    g_autofree char *below = root == NULL ? NULL : g_strconcat(root, path, NULL);
    return below != NULL && is_written_by(below, &mapped, pid) ? g_steal_pointer(&below) : NULL;
}

static bool path_of_process(unsigned pid, char **ret, GError **error)
{
    g_autofree char *folder = g_strdup_printf("/proc/%u", pid);
    g_autofree char *maps_path = g_strdup_printf("/proc/%u/maps", pid);
    g_autofree char *maps = NULL;
    struct stat status;
    if (stat(folder, &status) != 0 || fm_raw_process_start((int)pid) == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "there is no process %u", pid);
        return false;
    }
    if (status.st_uid != geteuid()) {
        g_set_error(
            error, FM_ERROR, FM_ERROR_UNAVAILABLE,
            "process %u belongs to user %u, and only that user may control it (this is user %u)",
            pid, (unsigned)status.st_uid, (unsigned)geteuid());
        return false;
    }
    if (!g_file_get_contents(maps_path, &maps, NULL, NULL)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "cannot examine process %u: %s is not readable", pid, maps_path);
        return false;
    }
    g_auto(GStrv) lines = g_strsplit(maps, "\n", -1);
    g_autofree char *root = fm_process_root((int)pid);
    bool removed = false;
    for (char **line = lines; *line != NULL; line++) {
        *ret = recording_in_line(*line, pid, root, &removed);
        if (*ret != NULL)
            return true;
    }
    if (removed) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "process %u is recorded, but its recording file has been removed", pid);
        return false;
    }
    g_set_error(
        error, FM_ERROR, FM_ERROR_NOT_FOUND,
        "process %u is not recorded: it was not started by `fathom record`, and is "
        "not built with `fathom cc` or has called no function with hooks yet; "
        "`fathom record --pid %u` samples it, and so do `fathom top %u` and `fathom view %u`",
        pid, pid, pid, pid);
    return false;
}

bool fm_control_pid(const char *name, uint32_t *ret)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    bool marked = g_str_has_prefix(name, "pid:");
    guint64 pid;
    if (!g_ascii_string_to_unsigned(marked ? name + 4 : name, 10, 1, G_MAXINT, &pid, NULL) ||
        (!marked && g_file_test(name, G_FILE_TEST_EXISTS)))
        return false;
    *ret = (uint32_t)pid;
    return true;
}

bool fm_control_path(const char *name, char **ret, GError **error)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    uint32_t pid;
    if (fm_control_pid(name, &pid))
        return path_of_process(pid, ret, error);
    if (g_str_has_prefix(name, "pid:")) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "\"%s\": expected pid: and a process's number",
                    name);
        return false;
    }
    *ret = g_strdup(name);
    return true;
}

static char state_of_process(int pid)
{
    g_autofree char *stat = fm_process_text(pid, "stat");
    const char *state = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_STATE);
    return state == NULL ? 0 : *state;
}

/* Lists are limited by what fits in the file. */
static void count_lists(const struct fm_raw_bytes *bytes, const struct fm_rec_header *header,
                        struct fm_control_status *ret)
{
    const struct fm_rec_thread *thread;
    const struct fm_rec_mark *mark;
    size_t size = offsetof(struct fm_rec_thread, charges), steps = bytes->size / FM_REC_UNIT;
    for (uint32_t ref = header->first_thread;
         ref != 0 && (thread = fm_raw_bytes_at(bytes, ref, size)) != NULL && steps-- > 0;
         ref = thread->next) {
        ret->threads++;
        ret->threads_ended += thread->state == FM_REC_THREAD_ENDED;
    }
    for (uint32_t ref = header->first_mark;
         ref != 0 && (mark = fm_raw_bytes_at(bytes, ref, sizeof *mark)) != NULL && steps-- > 0;
         ref = mark->next) {
        ret->marks += mark->snapshot == 0;
        ret->snapshots += mark->snapshot != 0;
    }
    const struct fm_rec_control *control =
        header->version < 3 || header->control == 0
            ? NULL
            : fm_raw_bytes_at(bytes, header->control, sizeof *control);
    if (control == NULL)
        return;
    ret->listens = true;
    ret->pending = control->asked - control->done;
}

static void take_header(const struct fm_rec_header *header, struct fm_control_status *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    *ret = (struct fm_control_status){
        .running = fm_raw_header_is_live(header),
        .state = header->state,
        .recording = header->recording_on != 0,
        .ticks = header->tick_source != FM_REC_TICK_NONE,
        .pid = fm_raw_header_process(header),
        .bytes = header->bytes_used,
    };
    uint64_t end = ret->running ? now_ns : header->end_monotonic_ns;
    ret->seconds_ns = end > header->start_monotonic_ns ? end - header->start_monotonic_ns : 0;
    ret->process_state = ret->running ? state_of_process((int)ret->pid) : 0;
}

bool fm_control_status(const char *path, struct fm_control_status *ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    struct fm_raw_bytes bytes;
    struct fm_rec_header header;
    if (!fm_raw_bytes_read(&bytes, path, &header, error))
        return false;
    take_header(&header, ret);
    ret->program = g_strdup(fm_raw_bytes_text(&bytes, header.program));
    count_lists(&bytes, &header, ret);
    fm_raw_bytes_done(&bytes);
    return true;
}

bool fm_control_status_brief(const char *path, struct fm_control_status *ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    struct fm_rec_header header;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    bool ok = fm_running_header(file, path, &header, error);
    close(file);
    if (ok)
        take_header(&header, ret);
    return ok;
}

void fm_control_status_done(struct fm_control_status *status)
{
    g_clear_pointer(&status->program, g_free);
}

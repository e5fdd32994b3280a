/* SPDX-License-Identifier: Apache-2.0 */
#include "record/running/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "record/raw/bytes.h"
#include "record/raw/recording.h"
#include "record/running/internal.h"

#define PAUSE_US 500u /* pause between two checks for the answer */
#define SNAPSHOTS_MAX 100000u

struct fm_control {
    char *path;
    int file;
    struct fm_rec_header *header;   /* mapped: a page of its own */
    struct fm_rec_control *mailbox; /* in another mapping */
    void *mapped;
    size_t mapped_bytes;
};

static bool fail(GError **error, enum fm_error code, const char *path, const char *what)
{
    g_set_error(error, FM_ERROR, code, "%s: %s", path, what);
    return false;
}

/* Says why nothing can be asked of it; true when it can. */
static bool check_program(const struct fm_control *control, GError **error)
{
    const struct fm_rec_header *header = control->header;
    if (header->snapshot_of != 0)
        return fail(error, FM_ERROR_UNAVAILABLE, control->path,
                    "is a snapshot: the program writes another file");
    if (header->state == FM_REC_EXECED)
        return fail(error, FM_ERROR_UNAVAILABLE, control->path,
                    "the process has become another program (exec), which writes another file");
    if (!fm_raw_header_is_live(header))
        return fail(error, FM_ERROR_UNAVAILABLE, control->path,
                    "the program has ended: `fathom finish` makes its profile");
    if (header->version < 3 || header->control == 0)
        return fail(error, FM_ERROR_VERSION, control->path,
                    "the program was linked with an older libfathom, which handles no requests: "
                    "build it again with `fathom cc`");
    return true;
}

static bool map(struct fm_control *control, uint64_t size, GError **error)
{
    control->header = mmap(NULL, FM_REC_HEADER_BYTES, PROT_READ, MAP_SHARED, control->file, 0);
    if (control->header == MAP_FAILED) {
        control->header = NULL;
        return fail(error, FM_ERROR_IO, control->path, g_strerror(errno));
    }
    if (!check_program(control, error))
        return false;
    uint64_t offset = (uint64_t)control->header->control * FM_REC_UNIT;
    if (offset < FM_REC_HEADER_BYTES || offset + sizeof *control->mailbox > size) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %zu: the mailbox is at %" G_GUINT64_FORMAT
                    ", expected %u to %" G_GUINT64_FORMAT,
                    control->path, offsetof(struct fm_rec_header, control), (guint64)offset,
                    FM_REC_HEADER_BYTES, (guint64)size);
        return false;
    }
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = offset / page * page;
    control->mapped_bytes = (size_t)(offset - start + sizeof *control->mailbox);
    control->mapped = mmap(NULL, control->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                           control->file, (off_t)start);
    if (control->mapped == MAP_FAILED) {
        control->mapped = NULL;
        return fail(error, FM_ERROR_IO, control->path, g_strerror(errno));
    }
    control->mailbox =
        (struct fm_rec_control *)(void *)((char *)control->mapped + (offset - start));
    return true;
}

bool fm_control_open(const char *path, struct fm_control **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    g_autoptr(FmControl) control = g_new0(struct fm_control, 1);
    struct stat status;
    control->path = g_strdup(path);
    control->file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (control->file < 0 && errno == ELOOP)
        return fail(error, FM_ERROR_UNAVAILABLE, path,
                    "is a symbolic link: name the recording itself");
    if (control->file < 0)
        return fail(error, FM_ERROR_IO, path, g_strerror(errno));
    if (fstat(control->file, &status) != 0)
        return fail(error, FM_ERROR_IO, path, g_strerror(errno));
    struct fm_rec_header header;
    if (!fm_running_header(control->file, path, &header, error))
        return false;
    if (status.st_uid != geteuid()) {
        g_set_error(
            error, FM_ERROR, FM_ERROR_UNAVAILABLE,
            "%s: belongs to user %u, and only that user may control its program (this is user %u)",
            path, (unsigned)status.st_uid, (unsigned)geteuid());
        return false;
    }
    if (!map(control, (uint64_t)status.st_size, error))
        return false;
    *ret = g_steal_pointer(&control);
    return true;
}

void fm_control_free(struct fm_control *control)
{
    if (control == NULL)
        return;
    if (control->header != NULL)
        munmap(control->header, FM_REC_HEADER_BYTES);
    if (control->mapped != NULL)
        munmap(control->mapped, control->mapped_bytes);
    if (control->file >= 0)
        close(control->file);
    g_free(control->path);
    g_free(control);
}

bool fm_control_check_label(const char *label, GError **error)
{
    const char *bad;
    if (label[0] == '\0') {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_USAGE,
                            "the label is empty: expected a name for what begins then");
        return false;
    }
    if (strlen(label) > FM_REC_LABEL_BYTES) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "the label has %zu bytes, expected at most %u",
                    strlen(label), FM_REC_LABEL_BYTES);
        return false;
    }
    if (!g_utf8_validate(label, -1, &bad)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "the label is not UTF-8 at byte %td",
                    bad - label);
        return false;
    }
    for (const char *at = label; *at != '\0'; at = g_utf8_find_next_char(at, NULL)) {
        if (!g_unichar_iscntrl(g_utf8_get_char(at)))
            continue;
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "the label has a control character at byte %td", at - label);
        return false;
    }
    return true;
}

/* A lock that is released when this process ends, however it ends. */
static bool lock(const struct fm_control *control, uint64_t until_us, GError **error)
{
    while (flock(control->file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail(error, FM_ERROR_IO, control->path, g_strerror(errno));
        if ((uint64_t)g_get_monotonic_time() >= until_us)
            return fail(error, FM_ERROR_UNAVAILABLE, control->path,
                        "another process is sending a request: try again");
        g_usleep(PAUSE_US);
    }
    return true;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool has_room(const struct fm_rec_control *mailbox)
{
    uint32_t asked = __atomic_load_n(&mailbox->asked, __ATOMIC_RELAXED);
    return asked - __atomic_load_n(&mailbox->done, __ATOMIC_ACQUIRE) < FM_REC_REQUESTS;
}

/* *ret: how many requests there are with it. The caller holds the lock. */
static bool put(struct fm_control *control, struct fm_rec_request *request, uint64_t until_us,
                uint32_t *ret, GError **error)
{
    struct fm_rec_control *mailbox = control->mailbox;
    while (!has_room(mailbox) && (uint64_t)g_get_monotonic_time() < until_us)
        g_usleep(PAUSE_US);
    if (!has_room(mailbox)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: %u requests are already pending, as process %u has not run since",
                    control->path, FM_REC_REQUESTS, control->header->pid);
        return false;
    }
    uint32_t asked = __atomic_load_n(&mailbox->asked, __ATOMIC_RELAXED);
    request->monotonic_ns = now_ns();
    mailbox->requests[asked % FM_REC_REQUESTS] = *request;
    __atomic_store_n(&mailbox->asked, asked + 1, __ATOMIC_RELEASE);
    *ret = asked + 1;
    return true;
}

static enum fm_control_answer wait_for(const struct fm_control *control, uint32_t number,
                                       uint64_t until_us, GError **error)
{
    const struct fm_rec_control *mailbox = control->mailbox;
    for (;;) {
        uint32_t done = __atomic_load_n(&mailbox->done, __ATOMIC_ACQUIRE);
        if ((int32_t)(done - number) >= 0)
            break;
        if (!fm_raw_header_is_live(control->header)) {
            fail(error, FM_ERROR_UNAVAILABLE, control->path,
                 "the program ended before it handled the request");
            return FM_CONTROL_FAILED;
        }
        if ((uint64_t)g_get_monotonic_time() >= until_us)
            return FM_CONTROL_ASKED;
        g_usleep(PAUSE_US);
    }
    int32_t result = mailbox->requests[(number - 1) % FM_REC_REQUESTS].result;
    if (result == 0)
        return FM_CONTROL_DONE;
    fail(error, FM_ERROR_UNAVAILABLE, control->path,
         result == -ENOSPC ? "there is no room left in the recording"
                           : "the program does not know this request");
    return FM_CONTROL_FAILED;
}

static enum fm_control_answer ask(struct fm_control *control, enum fm_rec_command command,
                                  const char *label, uint32_t value, uint64_t wait_us,
                                  GError **error)
{
    uint64_t until_us = (uint64_t)g_get_monotonic_time() + wait_us;
    uint32_t number;
    struct fm_rec_request request = {
        .command = command, .value = value, .label_bytes = (uint32_t)strlen(label)};
    memcpy(request.label, label, strlen(label));
    if (!lock(control, until_us, error))
        return FM_CONTROL_FAILED;
    bool ok = check_program(control, error) && put(control, &request, until_us, &number, error);
    flock(control->file, LOCK_UN);
    return ok ? wait_for(control, number, until_us, error) : FM_CONTROL_FAILED;
}

enum fm_control_answer fm_control_ask(struct fm_control *control, enum fm_rec_command command,
                                      const char *label, uint64_t wait_us, GError **error)
{
    g_return_val_if_fail(control != NULL && label != NULL, FM_CONTROL_FAILED);
    if (command == FM_REC_COMMAND_MARK && !fm_control_check_label(label, error))
        return FM_CONTROL_FAILED;
    return ask(control, command, label, 0, wait_us, error);
}

/* --- snapshots: the file is copied from outside, so the program is not held up --- */

/* The largest number of a snapshot in this run, 0 = there was none: among marks, and among
 * requested marks. Its file may be gone. */
static uint32_t last_snapshot(const struct fm_control *control)
{
    uint32_t last = 0;
    struct fm_raw_bytes bytes;
    struct fm_rec_header header;
    for (unsigned i = 0; i < FM_REC_REQUESTS; i++) {
        const struct fm_rec_request *request = &control->mailbox->requests[i];
        uint32_t value = __atomic_load_n(&request->value, __ATOMIC_RELAXED);
        if (request->command == FM_REC_COMMAND_SNAPSHOT && value < SNAPSHOTS_MAX)
            last = MAX(last, value);
    }
    if (!fm_raw_bytes_read(&bytes, control->path, &header, NULL))
        return last;
    const struct fm_rec_mark *mark;
    size_t steps = bytes.size / FM_REC_UNIT;
    for (uint32_t ref = header.first_mark;
         ref != 0 && (mark = fm_raw_bytes_at(&bytes, ref, sizeof *mark)) != NULL && steps-- > 0;
         ref = mark->next) {
        if (mark->snapshot < SNAPSHOTS_MAX)
            last = MAX(last, mark->snapshot);
    }
    fm_raw_bytes_done(&bytes);
    return last;
}

static bool make_snapshot(const struct fm_control *control, uint32_t *ret_number, char **ret_path,
                          GError **error)
{
    size_t stem = strlen(control->path) - (g_str_has_suffix(control->path, ".rec") ? 4 : 0);
    for (uint32_t number = last_snapshot(control) + 1; number < SNAPSHOTS_MAX; number++) {
        g_autofree char *path =
            g_strdup_printf("%.*s.snap%u.rec", (int)stem, control->path, number);
        int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (to < 0 && errno == EEXIST)
            continue;
        if (to < 0)
            return fail(error, FM_ERROR_IO, path, g_strerror(errno));
        bool ok = fm_running_copy_to(control->file, control->header, to, number);
        int failure = errno;
        close(to);
        if (!ok) {
            unlink(path);
            return fail(error, FM_ERROR_IO, path, g_strerror(failure));
        }
        *ret_number = number;
        *ret_path = g_steal_pointer(&path);
        return true;
    }
    return fail(error, FM_ERROR_LIMIT, control->path, "has too many snapshots");
}

enum fm_control_answer fm_control_snapshot(struct fm_control *control, const char *label,
                                           uint64_t wait_us, char **ret_path, GError **error)
{
    g_return_val_if_fail(control != NULL && label != NULL && ret_path != NULL, FM_CONTROL_FAILED);
    uint32_t number;
    *ret_path = NULL;
    if (!fm_control_check_label(label, error) || !check_program(control, error) ||
        !make_snapshot(control, &number, ret_path, error))
        return FM_CONTROL_FAILED;
    return ask(control, FM_REC_COMMAND_SNAPSHOT, label, number, wait_us, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads LOG.live: which program wrote it, and which of its slots hold events that the log lacks.
 * live_recover.c makes blocks of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process.h"
#include "eventlog/input/live_internal.h"

static bool failed(GError **error, const char *path, const char *what)
{
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s: %s", path, what, g_strerror(errno));
    return false;
}

/* Whether the process that wrote it still runs: same boot, same start time of the process. */
static bool process_runs(const struct fm_live_head *head)
{
    g_autofree char *stat =
        fm_live_same_boot(head) ? fm_process_text((int)head->pid, "stat") : NULL;
    const char *state = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_STATE);
    const char *start = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_START);
    return start != NULL && *state != 'Z' && *state != 'X' &&
           g_ascii_strtoull(start, NULL, 10) == head->pid_start;
}

bool fm_live_same_boot(const struct fm_live_head *head)
{
    g_autofree char *boot = NULL;
    return g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot, NULL, NULL) &&
           strncmp(boot, head->boot, sizeof head->boot - 1) == 0;
}

static bool running(int fd, const struct fm_live_head *head)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES))
        return true;
    return process_runs(head);
}

enum fm_eventlog_live fm_eventlog_live_look(const char *log_path)
{
    g_autofree char *path = g_strconcat(log_path, FM_LIVE_ENDING, NULL);
    struct fm_live_head head;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FM_EVENTLOG_LIVE_NONE;
    enum fm_eventlog_live result = FM_EVENTLOG_LIVE_NONE;
    if (pread(fd, &head, sizeof head, 0) == sizeof head &&
        memcmp(head.magic, FM_LIVE_MAGIC, sizeof head.magic) == 0) {
        bool locked = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
        result = locked || process_runs(&head) ? FM_EVENTLOG_LIVE_RUNNING : FM_EVENTLOG_LIVE_ENDED;
    }
    close(fd);
    return result;
}

/* ---- slots ------------------------------------------------------------------------------------
 */

static void take_slots(struct fm_live *live)
{
    uint64_t at = FM_LIVE_HEAD_BYTES;
    while (at + FM_LIVE_SLOT_BYTES <= live->bytes) {
        const struct fm_live_slot *slot = (const void *)(live->data + at);
        if (slot->bytes <= FM_LIVE_SLOT_BYTES || slot->bytes % 4096 != 0 ||
            slot->bytes > live->bytes - at)
            break; /* an unfinished slot */
        g_ptr_array_add(live->slots, (gpointer)(uintptr_t)slot);
        at += slot->bytes;
    }
}

const struct fm_live_slot *fm_live_slot_at(const struct fm_live *live, uint64_t offset)
{
    guint low = 0, high = live->slots->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const uint8_t *slot = g_ptr_array_index(live->slots, middle);
        uint64_t at = (uint64_t)(slot - live->data);
        if (at == offset)
            return (const void *)slot;
        if (at < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Whether the head is incomplete: its magic is written last. */
static bool never_began(const struct fm_live *live, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                "%s: offset 0: expected a head of %u bytes: the program ended before it logged an "
                "event, or begins just now; nothing to recover",
                live->path, FM_LIVE_HEAD_BYTES);
    return false;
}

static bool check_head(struct fm_live *live, const struct stat *own, GError **error)
{
    struct stat log;
    static const char none[sizeof live->head->magic];
    live->head = (const void *)live->data;
    if (memcmp(live->head->magic, none, sizeof none) == 0)
        return never_began(live, error);
    bool ours = memcmp(live->head->magic, FM_LIVE_MAGIC, sizeof live->head->magic) == 0;
    if (!ours || live->head->version != FM_LIVE_VERSION) {
        g_set_error(error, FM_ERROR, ours ? FM_ERROR_VERSION : FM_ERROR_FORMAT,
                    "%s: offset 0: expected \"" FM_LIVE_MAGIC "\" and version %u of this fathom%s",
                    live->path, FM_LIVE_VERSION,
                    ours && live->head->version > FM_LIVE_VERSION ? ": a newer fathom wrote it"
                                                                  : "");
        return false;
    }
    if (running(live->fd, live->head)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s: process %u still logs to it",
                    live->log_path, live->head->pid);
        return false;
    }
    if (fstat(live->log_fd, &log) != 0)
        return failed(error, live->log_path, "cannot examine the file");
    /* Copies of the two files have other inode numbers. */
    if (own->st_ino == live->head->own_inode && log.st_ino != live->head->log_inode) {
        g_set_error(
            error, FM_ERROR, FM_ERROR_FORMAT,
            "%s belongs to another file of that name; remove it if its events are not wanted",
            live->path);
        return false;
    }
    live->log_bytes = (uint64_t)log.st_size;
    return true;
}

bool fm_live_open(struct fm_live *live, const char *log_path, GError **error)
{
    struct stat own;
    *live = (struct fm_live){.fd = -1, .log_fd = -1};
    live->log_path = log_path;
    live->path = g_strconcat(log_path, FM_LIVE_ENDING, NULL);
    live->slots = g_ptr_array_new();
    live->fd = open(live->path, O_RDWR | O_CLOEXEC);
    if (live->fd < 0 && errno == ENOENT) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO,
                    "%s: nothing to recover: there is no file %s, which a program leaves when it "
                    "ends without stopping its log",
                    log_path, live->path);
        return false;
    }
    if (live->fd < 0 || fstat(live->fd, &own) != 0)
        return failed(error, live->path, "cannot open");
    live->log_fd = open(log_path, O_RDWR | O_CLOEXEC);
    if (live->log_fd < 0)
        return failed(error, log_path, "cannot open for writing");
    live->bytes = (uint64_t)own.st_size;
    if (live->bytes < FM_LIVE_HEAD_BYTES)
        return never_began(live, error);
    live->data = mmap(NULL, live->bytes, PROT_READ, MAP_PRIVATE, live->fd, 0);
    if (live->data == MAP_FAILED) {
        live->data = NULL;
        return failed(error, live->path, "cannot map");
    }
    if (!check_head(live, &own, error))
        return false;
    take_slots(live);
    return true;
}

void fm_live_close(struct fm_live *live)
{
    if (live->data != NULL)
        munmap((void *)(uintptr_t)live->data, live->bytes);
    if (live->fd >= 0)
        close(live->fd);
    if (live->log_fd >= 0)
        close(live->log_fd);
    g_ptr_array_unref(live->slots);
    g_free(live->path);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a recording that grows, made from outside. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "record/running/control.h"
#include "record/running/internal.h"

#define COPY_BYTES (1u << 20)

static bool write_all(int to, const uint8_t *bytes, size_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t wrote = pwrite(to, bytes, size, (off_t)offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes += wrote;
        size -= (size_t)wrote;
        offset += (uint64_t)wrote;
    }
    return true;
}

/* The header comes first, so that its lists lead to nothing that is copied before it is there, and
 * is written last. */
bool fm_running_copy_to(int from, const struct fm_rec_header *live, int to, uint32_t number)
{
    struct fm_rec_header header = *live;
    header.snapshot_of = number;
    g_autofree uint8_t *buffer = g_malloc(COPY_BYTES);
    uint64_t at = sizeof header;
    /* The copied data refers to nothing beyond the end at that moment. */
    for (uint64_t end; at < (end = __atomic_load_n(&live->bytes_used, __ATOMIC_ACQUIRE));) {
        ssize_t got = fm_mapped_read_in_order(from, buffer, MIN(COPY_BYTES, end - at), at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || !write_all(to, buffer, (size_t)got, at))
            return false;
        at += (uint64_t)got;
    }
    header.bytes_used = at;
    return write_all(to, (const uint8_t *)&header, sizeof header, 0);
}

static bool fail(GError **error, const char *path)
{
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    return false;
}

bool fm_control_copy(const char *path, const char *to, uint32_t number, uint64_t *ret_ns,
                     GError **error)
{
    g_return_val_if_fail(path != NULL && to != NULL && ret_ns != NULL, false);
    struct fm_rec_header header;
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return fail(error, path);
    bool ok = fm_running_header(from, path, &header, error);
    void *live = ok ? mmap(NULL, FM_REC_HEADER_BYTES, PROT_READ, MAP_SHARED, from, 0) : MAP_FAILED;
    if (ok && live == MAP_FAILED)
        ok = fail(error, path);
    int file = ok ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    if (ok && file < 0)
        ok = fail(error, to);
    *ret_ns = (uint64_t)g_get_monotonic_time() * 1000;
    if (ok && !fm_running_copy_to(from, live, file, number)) {
        ok = fail(error, to);
        unlink(to);
    }
    if (file >= 0)
        close(file);
    if (live != MAP_FAILED)
        munmap(live, FM_REC_HEADER_BYTES);
    close(from);
    return ok;
}

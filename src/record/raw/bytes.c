/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "record/raw/recording.h"

#define GROWING_ROUNDS 10000u
#define BEGUN_SECONDS 10 /* a file without a byte that is older is not just being begun */
#define BEGUN_WAITS 200u
#define BEGUN_WAIT_US 5000u

bool fm_raw_bytes_fail(const struct fm_raw_bytes *bytes, uint32_t ref, const char *found,
                       const char *expected, GError **error)
{
    uint64_t size = bytes->size;
    if ((uint64_t)ref * FM_REC_UNIT >= size) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %" G_GUINT64_FORMAT ": beyond the %" G_GUINT64_FORMAT
                    " bytes of the file, expected %s",
                    bytes->path, (guint64)ref * FM_REC_UNIT, (guint64)size, expected);
        return false;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: offset %" G_GUINT64_FORMAT ": %s, expected %s", bytes->path,
                (guint64)ref * FM_REC_UNIT, found, expected);
    return false;
}

/* The bytes at a reference, NULL when they are not all in the file. */
const void *fm_raw_bytes_at(const struct fm_raw_bytes *bytes, uint32_t ref, size_t size)
{
    uint64_t offset = (uint64_t)ref * FM_REC_UNIT;
    if (offset < sizeof(struct fm_rec_header) || offset > bytes->size ||
        bytes->size - offset < size)
        return NULL;
    return bytes->data + offset;
}

const char *fm_raw_bytes_text(const struct fm_raw_bytes *bytes, uint32_t ref)
{
    const struct fm_rec_text *text = fm_raw_bytes_at(bytes, ref, sizeof(struct fm_rec_text) + 1);
    if (ref == 0 || text == NULL)
        return "";
    const char *whole =
        fm_raw_bytes_at(bytes, ref, sizeof(struct fm_rec_text) + 1 + (size_t)text->size);
    if (whole == NULL || text->bytes[text->size] != '\0')
        return "";
    return text->bytes;
}

/* More of the file, up to size. */
static bool read_until(struct fm_raw_bytes *bytes, int file, size_t size, bool in_order,
                       GError **error)
{
    uint8_t *data = g_try_realloc(bytes->data, size);
    if (data != NULL)
        bytes->data = data;
    if (data == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: no memory for %zu bytes", bytes->path,
                    size);
        return false;
    }
    while (bytes->size < size) {
        uint8_t *to = bytes->data + bytes->size;
        ssize_t got = in_order ? fm_mapped_read_in_order(file, to, size - bytes->size, bytes->size)
                               : pread(file, to, size - bytes->size, (off_t)bytes->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", bytes->path, g_strerror(errno));
            return false;
        }
        if (got == 0)
            break;
        bytes->size += (size_t)got;
    }
    return true;
}

bool fm_raw_bytes_check_header(const struct fm_raw_bytes *bytes, const struct fm_rec_header *header,
                               GError **error)
{
    if (memcmp(header->magic, FM_REC_MAGIC, sizeof header->magic) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset 0: this is not a recording of fathom", bytes->path);
        return false;
    }
    if (header->byte_order != FM_REC_BYTE_ORDER) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: offset 12: recorded on a machine of the other byte order", bytes->path);
        return false;
    }
    if (header->version < FM_REC_VERSION_OLDEST || header->version > FM_REC_VERSION ||
        header->header_bytes != FM_REC_HEADER_BYTES) {
        g_set_error(error, FM_ERROR, FM_ERROR_VERSION,
                    "%s: offset 8: version %u with a header of %u bytes, expected %u with %u%s",
                    bytes->path, header->version, header->header_bytes, FM_REC_VERSION,
                    FM_REC_HEADER_BYTES,
                    header->version > FM_REC_VERSION ? ": a newer fathom wrote it" : "");
        return false;
    }
    return true;
}

/* Another process is just creating it. A file that is still empty is judged by its age. */
static bool is_begun(const struct fm_rec_header *header, const struct stat *status)
{
    static const char nothing[sizeof header->magic];
    bool ours = memcmp(header->magic, FM_REC_MAGIC, sizeof header->magic) == 0;
    if (ours ? header->state != 0 : memcmp(header->magic, nothing, sizeof nothing) != 0)
        return false;
    if (ours && header->process_start != 0)
        return fm_raw_header_writer(header) != 0;
    if (ours && header->pid != 0)
        return fm_raw_process_start((int)header->pid) != 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - status->st_mtim.tv_sec < BEGUN_SECONDS;
}

bool fm_raw_bytes_read_header(const struct fm_raw_bytes *bytes, int file, struct fm_rec_header *ret,
                              GError **error)
{
    struct stat status;
    ssize_t got;
    bool begun;
    for (unsigned waits = 0;; waits++) {
        *ret = (struct fm_rec_header){.state = 0};
        got = pread(file, ret, sizeof *ret, 0);
        begun = fstat(file, &status) == 0 && is_begun(ret, &status);
        if (!begun || waits == BEGUN_WAITS)
            break;
        g_usleep(BEGUN_WAIT_US);
    }
    if (begun) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: offset %zu: its program is only beginning to record, the header is not "
                    "complete: try again",
                    bytes->path, offsetof(struct fm_rec_header, state));
        return false;
    }
    bool ours = got < (ssize_t)sizeof ret->magic ||
                memcmp(ret->magic, FM_REC_MAGIC, sizeof ret->magic) == 0;
    if (got != (ssize_t)sizeof *ret && ours) { /* another file is named as one below */
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset %zd: the file ends inside the header of %zu bytes", bytes->path,
                    MAX(got, 0), sizeof *ret);
        return false;
    }
    return fm_raw_bytes_check_header(bytes, ret, error);
}

static bool read_file(struct fm_raw_bytes *bytes, int file, struct fm_rec_header *ret,
                      GError **error)
{
    struct stat status;
    struct fm_rec_header header;
    if (fstat(file, &status) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", bytes->path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: %s, expected a recording", bytes->path,
                    S_ISDIR(status.st_mode) ? "is a folder" : "is not an ordinary file");
        return false;
    }
    if (!fm_raw_bytes_read_header(bytes, file, &header, error))
        return false;
    if (fstat(file, &status) != 0) { /* it may have grown while it was waited for */
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", bytes->path, g_strerror(errno));
        return false;
    }
    /* Data in the file refers only to data that was written before it. So in a growing file,
     * reading on until the end does not change gives a copy without dangling references. */
    bool in_order = fm_raw_header_is_live(&header);
    for (unsigned rounds = 0; rounds < GROWING_ROUNDS; rounds++) {
        /* The file is sparse, and space may be reserved far beyond its contents. */
        uint64_t used = MIN(header.bytes_used, (uint64_t)status.st_size);
        used = MIN(used, (uint64_t)UINT32_MAX * FM_REC_UNIT);
        used = MAX(used, sizeof header);
        if (used <= bytes->size)
            break;
        size_t before = bytes->size;
        if (!read_until(bytes, file, (size_t)used, in_order, error))
            return false;
        if (before == bytes->size || fstat(file, &status) != 0 ||
            pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header)
            break;
    }
    if (bytes->size < sizeof header) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset %zu: the file ends inside the header of %zu bytes", bytes->path,
                    bytes->size, sizeof header);
        return false;
    }
    memcpy(ret, bytes->data, sizeof *ret);
    return fm_raw_bytes_check_header(bytes, ret, error);
}

bool fm_raw_bytes_read(struct fm_raw_bytes *bytes, const char *path, struct fm_rec_header *ret,
                       GError **error)
{
    g_assert(path != NULL && ret != NULL);
    *bytes = (struct fm_raw_bytes){.path = path};
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    if (file < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    bool ok = read_file(bytes, file, ret, error);
    close(file);
    if (!ok)
        fm_raw_bytes_done(bytes);
    return ok;
}

bool fm_raw_bytes_read_again(struct fm_raw_bytes *bytes, int file, struct fm_rec_header *ret,
                             GError **error)
{
    g_assert(bytes->path != NULL && ret != NULL);
    bytes->size = 0; /* its memory stays */
    return read_file(bytes, file, ret, error);
}

void fm_raw_bytes_done(struct fm_raw_bytes *bytes)
{
    g_clear_pointer(&bytes->data, g_free);
    bytes->size = 0;
}

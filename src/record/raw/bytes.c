/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

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

static bool read_whole(struct fm_raw_bytes *bytes, int file, size_t size, GError **error)
{
    bytes->data = g_try_malloc0(size);
    if (bytes->data == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: no memory for %zu bytes", bytes->path,
                    size);
        return false;
    }
    while (bytes->size < size) {
        ssize_t got =
            pread(file, bytes->data + bytes->size, size - bytes->size, (off_t)bytes->size);
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

static bool check_header(const struct fm_raw_bytes *bytes, const struct fm_rec_header *header,
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
                    "%s: offset 8: version %u with a header of %u bytes, expected %u with %u",
                    bytes->path, header->version, header->header_bytes, FM_REC_VERSION,
                    FM_REC_HEADER_BYTES);
        return false;
    }
    return true;
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
    ssize_t got = pread(file, &header, sizeof header, 0);
    if (got != (ssize_t)sizeof header) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset %zd: the file ends inside the header of %zu bytes", bytes->path,
                    MAX(got, 0), sizeof header);
        return false;
    }
    if (!check_header(bytes, &header, error))
        return false;
    /* The file is sparse and may be reserved far beyond what it holds. */
    uint64_t used = MIN(header.bytes_used, (uint64_t)status.st_size);
    used = MIN(used, (uint64_t)UINT32_MAX * FM_REC_UNIT);
    if (used < sizeof header)
        used = sizeof header;
    if (!read_whole(bytes, file, (size_t)used, error))
        return false;
    memcpy(ret, bytes->data, sizeof *ret);
    return check_header(bytes, ret, error);
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

void fm_raw_bytes_done(struct fm_raw_bytes *bytes)
{
    g_clear_pointer(&bytes->data, g_free);
    bytes->size = 0;
}

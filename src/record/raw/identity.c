/* SPDX-License-Identifier: Apache-2.0 */
#include "record/raw/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "record/raw/bytes.h"
#include "record/raw/recording.h"

#define PROGRAM_BYTES_MAX 65536u

static bool fails(const char *path, int code, const char *what, GError **error)
{
    g_set_error(error, FM_ERROR, code, "%s: %s", path, what);
    return false;
}

/* The text at a reference, newly allocated; "" when it is not all there. */
static char *read_text(int file, uint32_t ref)
{
    uint32_t size = 0;
    off_t offset = (off_t)ref * (off_t)FM_REC_UNIT;
    if (ref == 0 || pread(file, &size, sizeof size, offset) != (ssize_t)sizeof size ||
        size > PROGRAM_BYTES_MAX)
        return g_strdup("");
    char *text = g_malloc0((gsize)size + 1);
    offset += (off_t)offsetof(struct fm_rec_text, bytes);
    if (pread(file, text, size, offset) != (ssize_t)size)
        text[0] = '\0';
    return text;
}

static bool identify(int file, const char *path, struct fm_raw_identity *ret, GError **error)
{
    struct stat status;
    struct fm_rec_header header;
    const struct fm_raw_bytes bytes = {.path = path};
    if (fstat(file, &status) != 0)
        return fails(path, FM_ERROR_IO, g_strerror(errno), error);
    if (!S_ISREG(status.st_mode))
        return fails(path, FM_ERROR_FORMAT,
                     S_ISDIR(status.st_mode) ? "is a folder, expected a recording"
                                             : "is not an ordinary file, expected a recording",
                     error);
    ssize_t got = pread(file, &header, sizeof header, 0);
    if (got != (ssize_t)sizeof header)
        return fails(path, FM_ERROR_TRUNCATED,
                     "offset 0: no whole header, expected that of a recording", error);
    if (!fm_raw_bytes_check_header(&bytes, &header, error))
        return false;
    *ret = (struct fm_raw_identity){
        .program = read_text(file, header.program),
        .pid = header.pid,
        .start_ns = header.start_realtime_ns,
        .live = fm_raw_recording_writer(path) != 0,
        .snapshot = header.snapshot_of != 0,
        .forked = (header.grade_flags & FM_REC_FORKED) != 0,
        .execed = header.state == FM_REC_EXECED,
    };
    return true;
}

bool fm_raw_identify(const char *path, struct fm_raw_identity *ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return fails(path, FM_ERROR_IO, g_strerror(errno), error);
    bool ok = identify(file, path, ret, error);
    close(file);
    return ok;
}

void fm_raw_identity_done(struct fm_raw_identity *identity)
{
    g_clear_pointer(&identity->program, g_free);
}

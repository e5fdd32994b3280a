/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/unfinished.h"

#define BUFFER_BYTES ((size_t)256 * 1024)

struct fm_writer {
    uint8_t *buffer;
    size_t used, capacity;
    uint64_t flushed; /* number of bytes already flushed from the buffer */
    int descriptor;   /* -1: to memory */
    int failure;      /* errno of the first failed call */
    char *path;
    char *temporary_path; /* NULL: path is written directly */
    bool done;            /* it has been renamed */
};

static struct fm_writer *writer_alloc(size_t capacity)
{
    struct fm_writer *writer = g_new0(struct fm_writer, 1);
    writer->capacity = capacity;
    writer->buffer = g_malloc(writer->capacity);
    writer->descriptor = -1;
    return writer;
}

/* Path of the file to replace: the target of a link, so that the link stays. NULL: the link is
 * dangling. */
static char *place_of(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISLNK(status.st_mode))
        return g_strdup(path);
    char *real = realpath(path, NULL), *place = g_strdup(real);
    free(real);
    return place;
}

/* Devices and pipes are written to, not replaced. For a dangling link, its target is created. */
static bool open_directly(struct fm_writer *writer, GError **error)
{
    writer->descriptor =
        open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (writer->descriptor < 0)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot open for writing: %s", writer->path,
                    g_strerror(errno));
    return writer->descriptor >= 0;
}

static bool open_temporary(struct fm_writer *writer, GError **error)
{
    static atomic_uint counter;
    g_autofree char *temporary = g_strdup_printf("%s.tmp-%d-%u", writer->path, (int)getpid(),
                                                 atomic_fetch_add(&counter, 1u));
    writer->descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (writer->descriptor < 0)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot create: %s", temporary,
                    g_strerror(errno));
    else
        fm_unfinished_note(writer->temporary_path = g_steal_pointer(&temporary));
    return writer->descriptor >= 0;
}

static bool is_stream(mode_t mode)
{
    return S_ISCHR(mode) || S_ISFIFO(mode);
}

bool fm_writer_is_stream(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && is_stream(status.st_mode);
}

bool fm_writer_new(const char *path, struct fm_writer **ret, GError **error)
{
    struct stat status;
    bool there = stat(path, &status) == 0;
    if (there && !S_ISREG(status.st_mode) && !is_stream(status.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO,
                    "%s: exists and is not a regular file, expected a name for a new file", path);
        return false;
    }
    struct fm_writer *writer = writer_alloc(BUFFER_BYTES);
    writer->path = there && is_stream(status.st_mode) ? NULL : place_of(path);
    bool directly = writer->path == NULL;
    if (directly)
        writer->path = g_strdup(path);
    if (directly ? open_directly(writer, error) : open_temporary(writer, error)) {
        *ret = writer;
        return true;
    }
    fm_writer_discard(writer);
    return false;
}

struct fm_writer *fm_writer_new_memory(void)
{
    return writer_alloc(4096);
}

static void write_all(struct fm_writer *writer, const uint8_t *bytes, size_t size)
{
    while (size > 0 && writer->failure == 0) {
        ssize_t written = write(writer->descriptor, bytes, size);
        if (written < 0) {
            if (errno != EINTR)
                writer->failure = errno;
            continue;
        }
        bytes += written;
        size -= (size_t)written;
    }
}

/* Makes room for size bytes: at most BUFFER_BYTES, except in memory. */
static void make_room(struct fm_writer *writer, size_t size)
{
    if (writer->descriptor >= 0) {
        write_all(writer, writer->buffer, writer->used);
        writer->flushed += writer->used;
        writer->used = 0;
        return;
    }
    while (writer->capacity - writer->used < size)
        writer->capacity *= 2;
    writer->buffer = g_realloc(writer->buffer, writer->capacity);
}

void fm_writer_bytes(struct fm_writer *writer, const void *bytes, size_t size)
{
    if (size > writer->capacity - writer->used)
        make_room(writer, size);
    if (size > writer->capacity - writer->used) {
        write_all(writer, bytes, size);
        writer->flushed += size;
        return;
    }
    if (size > 0)
        memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
}

void fm_writer_byte(struct fm_writer *writer, uint8_t byte)
{
    if (writer->used == writer->capacity)
        make_room(writer, 1);
    writer->buffer[writer->used++] = byte;
}

void fm_writer_num(struct fm_writer *writer, uint64_t value)
{
    uint8_t bytes[10];
    size_t at = sizeof(bytes);
    bytes[--at] = value & 0x7f;
    while (value >>= 7)
        bytes[--at] = (uint8_t)(0x80 | (value & 0x7f));
    fm_writer_bytes(writer, bytes + at, sizeof(bytes) - at);
}

void fm_writer_fixed(struct fm_writer *writer, uint64_t value)
{
    value = GUINT64_TO_LE(value);
    fm_writer_bytes(writer, &value, sizeof(value));
}

void fm_writer_string(struct fm_writer *writer, const char *string)
{
    size_t length = strlen(string);
    fm_writer_num(writer, length);
    fm_writer_bytes(writer, string, length);
}

uint64_t fm_writer_offset(const struct fm_writer *writer)
{
    return writer->flushed + writer->used;
}

/* Replaces a regular file or creates one. If another kind of file came there meanwhile, it
 * stays. */
static void take_place(struct fm_writer *writer)
{
    struct stat status;
    if (lstat(writer->path, &status) == 0 && !S_ISREG(status.st_mode))
        writer->failure = EEXIST;
    else if (rename(writer->temporary_path, writer->path) != 0)
        writer->failure = errno;
}

bool fm_writer_finish(struct fm_writer *writer, GError **error)
{
    make_room(writer, 0);
    if (close(writer->descriptor) != 0 && writer->failure == 0)
        writer->failure = errno;
    writer->descriptor = -1;
    if (writer->failure == 0 && writer->temporary_path != NULL)
        take_place(writer);
    bool done = writer->failure == 0;
    if (!done)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot write: %s", writer->path,
                    g_strerror(writer->failure));
    writer->done = done;
    fm_writer_discard(writer);
    return done;
}

GBytes *fm_writer_finish_memory(struct fm_writer *writer)
{
    GBytes *bytes = g_bytes_new_take(g_steal_pointer(&writer->buffer), writer->used);
    fm_writer_discard(writer);
    return bytes;
}

void fm_writer_discard(struct fm_writer *writer)
{
    if (!writer)
        return;
    if (writer->descriptor >= 0)
        close(writer->descriptor);
    if (writer->temporary_path != NULL) {
        if (!writer->done)
            unlink(writer->temporary_path);
        fm_unfinished_forget(writer->temporary_path);
        g_free(writer->temporary_path);
    }
    g_free(writer->path);
    g_free(writer->buffer);
    g_free(writer);
}

int fm_nameless_file(GError **error)
{
    int fd = -1;
    g_autofree char *path = NULL;
    const char *const folders[] = {"/var/tmp", g_get_tmp_dir()};
    for (unsigned i = 0; i < G_N_ELEMENTS(folders) && fd < 0; i++) {
        g_free(path);
        path = g_build_filename(folders[i], "fathom-live-XXXXXX", NULL);
        fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
    }
    if (fd < 0)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    else
        unlink(path);
    return fd;
}

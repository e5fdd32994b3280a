/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/machine/binary.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/build_id.h"

#define SEGMENTS_MAX 256u
#define NOTES_BYTES_MAX 65536u

struct fm_binary {
    char *path;
    int fd;
    unsigned count;
    Elf64_Phdr *segments;
};

static bool read_at(const struct fm_binary *binary, uint64_t offset, void *bytes, size_t size)
{
    size_t have = 0;
    while (have < size && offset + have <= INT64_MAX) {
        ssize_t got =
            pread(binary->fd, (uint8_t *)bytes + have, size - have, (off_t)(offset + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    return have == size;
}

static char *build_id_of(const struct fm_binary *binary)
{
    char *found = NULL;
    for (unsigned i = 0; i < binary->count && found == NULL; i++) {
        const Elf64_Phdr *segment = &binary->segments[i];
        if (segment->p_type != PT_NOTE || segment->p_filesz > NOTES_BYTES_MAX)
            continue;
        g_autofree uint8_t *notes = g_malloc(segment->p_filesz + 1);
        size_t size;
        const uint8_t *id = read_at(binary, segment->p_offset, notes, segment->p_filesz)
                                ? fm_build_id_in(notes, segment->p_filesz, &size)
                                : NULL;
        if (id != NULL)
            found = fm_build_id_text(id, size);
    }
    return found;
}

static bool read_segments(struct fm_binary *binary)
{
    Elf64_Ehdr head;
    if (!read_at(binary, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > SEGMENTS_MAX)
        return false;
    binary->count = head.e_phnum;
    binary->segments = g_new0(Elf64_Phdr, binary->count + 1u);
    return read_at(binary, head.e_phoff, binary->segments, binary->count * sizeof(Elf64_Phdr));
}

bool fm_binary_open(const char *path, const char *build_id, struct fm_binary **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && build_id != NULL && ret != NULL, false);
    g_autoptr(FmBinary) binary = g_new0(struct fm_binary, 1);
    struct stat status;
    binary->path = g_strdup(path);
    binary->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (binary->fd < 0 || fstat(binary->fd, &status) < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode) || !read_segments(binary)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: is not a 64-bit program", path);
        return false;
    }
    g_autofree char *found = build_id_of(binary);
    if (build_id[0] == '\0' || g_strcmp0(found, build_id) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: %s%s, expected %s", path,
                    found == NULL ? "no build-id" : "build-id ", found == NULL ? "" : found,
                    build_id[0] == '\0'
                        ? "a recorded one, but none was recorded: this may be another program"
                        : build_id);
        return false;
    }
    *ret = g_steal_pointer(&binary);
    return true;
}

void fm_binary_close(struct fm_binary *binary)
{
    if (binary == NULL)
        return;
    if (binary->fd >= 0)
        close(binary->fd);
    g_free(binary->segments);
    g_free(binary->path);
    g_free(binary);
}

bool fm_binary_read(const struct fm_binary *binary, uint64_t address, uint64_t size, uint8_t *bytes,
                    GError **error)
{
    for (unsigned i = 0; i < binary->count; i++) {
        const Elf64_Phdr *segment = &binary->segments[i];
        uint64_t into = address - segment->p_vaddr;
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 ||
            into >= segment->p_filesz || size > segment->p_filesz - into)
            continue;
        if (read_at(binary, segment->p_offset + into, bytes, size))
            return true;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: there is no code at 0x%" G_GINT64_MODIFIER "x to 0x%" G_GINT64_MODIFIER "x",
                binary->path, (guint64)address, (guint64)(address + size));
    return false;
}

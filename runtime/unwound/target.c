/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are started from a preloaded one and do not take our library: those of another C
 * library, of 32 bits, and with a sanitizer that is to come first. They get an environment without
 * it. In children of vfork, too: nothing here is kept. */
#include "../files.h"
#include "unwound.h"

#include <elf.h>
#include <string.h>

#define LOADER "ld-linux-x86-64.so.2"
#define SCRIPTS_MAX 4
#define SEGMENTS_MAX 32u
#define PATH_BYTES 4096u
#define VARIABLE "LD_PRELOAD="
#define LIBRARY "/libfathom-preload.so"

static bool read_all(int fd, void *to, size_t bytes, uint64_t offset)
{
    return fm_file_read_at(fd, to, bytes, offset) == (ssize_t)bytes;
}

static bool ends_with_loader(const char *name)
{
    size_t size = strlen(name), end = sizeof LOADER - 1;
    return size >= end && strcmp(name + size - end, LOADER) == 0;
}

struct segments {
    Elf64_Phdr all[SEGMENTS_MAX];
    unsigned count;
};

static uint64_t offset_of(const struct segments *segments, uint64_t address)
{
    for (unsigned i = 0; i < segments->count; i++) {
        const Elf64_Phdr *at = &segments->all[i];
        if (at->p_type == PT_LOAD && address >= at->p_vaddr && address - at->p_vaddr < at->p_filesz)
            return address - at->p_vaddr + at->p_offset;
    }
    return 0;
}

static bool is_sanitizer(const char *name)
{
    static const char *const names[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Whether it needs the library of a sanitizer. */
static bool has_sanitizer(int fd, const struct segments *segments, const Elf64_Phdr *dynamic)
{
    Elf64_Dyn entry;
    uint64_t names = 0;
    for (int round = 0; round < 2; round++) /* first the place of the names */
        for (uint64_t at = 0; at + sizeof entry <= dynamic->p_filesz; at += sizeof entry) {
            char name[16] = "";
            if (!read_all(fd, &entry, sizeof entry, dynamic->p_offset + at) ||
                entry.d_tag == DT_NULL)
                break;
            if (round == 0 && entry.d_tag == DT_STRTAB)
                names = offset_of(segments, entry.d_un.d_ptr);
            if (round == 1 && names != 0 && entry.d_tag == DT_NEEDED &&
                fm_file_read_at(fd, name, sizeof name - 1, names + entry.d_un.d_val) > 0 &&
                is_sanitizer(name))
                return true;
        }
    return false;
}

static bool elf_takes(int fd, const Elf64_Ehdr *elf)
{
    struct segments segments;
    char loader[64] = "";
    if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != EM_X86_64)
        return false;
    segments.count = elf->e_phnum;
    if (elf->e_phentsize != sizeof segments.all[0] || segments.count > SEGMENTS_MAX ||
        !read_all(fd, segments.all, segments.count * sizeof segments.all[0], elf->e_phoff))
        return true; /* not known */
    for (unsigned i = 0; i < segments.count; i++) {
        const Elf64_Phdr *at = &segments.all[i];
        if (at->p_type == PT_INTERP &&
            (at->p_filesz >= sizeof loader || !read_all(fd, loader, at->p_filesz, at->p_offset) ||
             !ends_with_loader(loader)))
            return false;
        if (at->p_type == PT_DYNAMIC && has_sanitizer(fd, &segments, at))
            return false;
    }
    return true;
}

/* *ret_script: path is that of its interpreter now. */
static bool file_takes(char *path, bool *ret_script)
{
    union {
        Elf64_Ehdr elf;
        char text[256];
    } head = {0};
    int fd = fm_file_open(path, O_RDONLY | O_NONBLOCK);
    ssize_t got = fd >= 0 ? fm_file_read_at(fd, &head, sizeof head - 1, 0) : -1;
    bool takes = true;
    *ret_script = false;
    if (got >= (ssize_t)sizeof head.elf && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0) {
        takes = elf_takes(fd, &head.elf);
    } else if (got > 2 && head.text[0] == '#' && head.text[1] == '!') {
        const char *begin = head.text + 2 + strspn(head.text + 2, " \t");
        size_t size = strcspn(begin, " \t\r\n");
        memcpy(path, begin, size);
        path[size] = '\0';
        *ret_script = size > 0;
    }
    if (fd >= 0)
        fm_file_close(fd);
    return takes;
}

/* As execvp() looks for it. */
static bool find(const char *file, char *path)
{
    struct stat status;
    size_t size = strlen(file);
    const char *folders = fm_getenv("PATH");
    if (strchr(file, '/') != NULL && size < PATH_BYTES) {
        memcpy(path, file, size + 1);
        return true;
    }
    for (const char *at = folders; at != NULL && *at != '\0';) {
        size_t folder = strcspn(at, ":");
        if (folder > 0 && folder + size + 2 <= PATH_BYTES) {
            memcpy(path, at, folder);
            path[folder] = '/';
            memcpy(path + folder + 1, file, size + 1);
            if (fm_system_call(SYS_stat, (long)path, (long)&status, 0, 0) == 0 &&
                S_ISREG(status.st_mode))
                return true;
        }
        at += folder + (at[folder] == ':');
    }
    return false;
}

static bool program_takes(const char *file)
{
    char path[PATH_BYTES];
    int saved_errno = errno;
    bool script = find(file, path), takes = true;
    for (int steps = 0; script && takes && steps <= SCRIPTS_MAX; steps++)
        takes = file_takes(path, &script);
    errno = saved_errno;
    return takes;
}

/* The name of our library in a list of them; NULL: it is not there. *ret_size: with
 * the colon or space behind it. */
static const char *own_name(const char *list, size_t *ret_size)
{
    for (const char *at = list; *at != '\0';) {
        size_t size = strcspn(at, ": "), own = sizeof LIBRARY - 1;
        *ret_size = size + (at[size] != '\0');
        if (size >= own && strncmp(at + size - own, LIBRARY, own) == 0)
            return at;
        at += *ret_size;
    }
    return NULL;
}

static size_t preloads_at(char *const envp[])
{
    size_t at = 0;
    while (envp[at] != NULL && strncmp(envp[at], VARIABLE, sizeof VARIABLE - 1) != 0)
        at++;
    return at;
}

size_t fm_unwound_unfit(const char *file, char *const envp[])
{
    size_t size, at = envp != NULL ? preloads_at(envp) : 0;
    if (file == NULL || envp == NULL || envp[at] == NULL ||
        own_name(envp[at] + sizeof VARIABLE - 1, &size) == NULL || program_takes(file))
        return 0;
    size_t bytes = strlen(envp[at]) + 1;
    while (envp[at] != NULL)
        at++;
    return (at + 1) * sizeof *envp + bytes;
}

char **fm_unwound_without(char *const envp[], void *room)
{
    char **copy = room;
    size_t count = 0, size, at = preloads_at(envp);
    while (envp[count] != NULL)
        count++;
    memcpy(copy, envp, (count + 1) * sizeof *copy);
    const char *entry = envp[at], *list = entry + sizeof VARIABLE - 1, *own = own_name(list, &size);
    if (own == NULL)
        return copy;
    char *text = (char *)(copy + count + 1);
    size_t before = (size_t)(own - entry);
    memcpy(text, entry, before);
    memcpy(text + before, own + size, strlen(own + size) + 1);
    copy[at] = text;
    if (text[sizeof VARIABLE - 1] == '\0') /* none but ours */
        memmove(copy + at, copy + at + 1, (count - at) * sizeof *copy);
    return copy;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/preloadable.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "record/toolchain/toolchain.h"

#define LOADER "ld-linux-x86-64.so.2"
/* Interpreters that are scripts themselves: as many as the kernel follows. */
#define SCRIPTS_MAX 4

static bool is_privileged(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return false;
    return ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) ||
           fgetxattr(file, "security.capability", NULL, 0) > 0;
}

/* Sanitizers of gcc are libraries that end the program unless they come first. */
static bool needs_sanitizer(Elf *elf)
{
    static const char *const names[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so"};
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Dyn entry;
        for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
            const char *name =
                entry.d_tag == DT_NEEDED ? elf_strptr(elf, header.sh_link, entry.d_un.d_val) : NULL;
            for (size_t n = 0; name != NULL && n < G_N_ELEMENTS(names); n++)
                if (g_str_has_prefix(name, names[n]))
                    return true;
        }
    }
    return false;
}

/* The loader that the program asks for; NULL: none. Of elf. */
static const char *loader_of(Elf *elf)
{
    size_t count, size = 0;
    GElf_Phdr header;
    const char *bytes = elf_rawfile(elf, &size);
    if (elf_getphdrnum(elf, &count) != 0)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (gelf_getphdr(elf, (int)i, &header) == NULL || header.p_type != PT_INTERP ||
            header.p_filesz == 0 || header.p_offset > size ||
            header.p_filesz > size - header.p_offset ||
            bytes[header.p_offset + header.p_filesz - 1] != '\0')
            continue;
        return bytes + header.p_offset;
    }
    return NULL;
}

static bool defines(Elf *elf, const char *wanted)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Sym symbol;
        for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++)
            if (symbol.st_shndx != SHN_UNDEF &&
                g_strcmp0(elf_strptr(elf, header.sh_link, symbol.st_name), wanted) == 0)
                return true;
    }
    return false;
}

/* Whether the loader is of a glibc before that which libfathom-preload.so is linked for (2.35):
 * told by a variable of the loader's that came with it. */
static bool is_old(const char *loader)
{
    int file = open(loader, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool old = elf_kind(elf) == ELF_K_ELF && !defines(elf, "__rseq_size");
    elf_end(elf);
    close(file);
    return old;
}

static enum fm_preloadable of_elf(Elf *elf, int file)
{
    GElf_Ehdr header;
    if (gelf_getehdr(elf, &header) == NULL)
        return FM_PRELOADABLE_UNREADABLE;
    if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return FM_PRELOADABLE_MACHINE;
    const char *loader = loader_of(elf);
    if (loader == NULL)
        return FM_PRELOADABLE_STATIC;
    const char *slash = strrchr(loader, '/');
    if (strcmp(slash != NULL ? slash + 1 : loader, LOADER) != 0)
        return FM_PRELOADABLE_LIBC;
    if (is_old(loader))
        return FM_PRELOADABLE_OLD;
    if (is_privileged(file))
        return FM_PRELOADABLE_PRIVILEGED;
    return needs_sanitizer(elf) ? FM_PRELOADABLE_SANITIZER : FM_PRELOADABLE_YES;
}

/* The interpreter of a script: "#! /bin/sh -e"; g_free(). NULL: it is none. */
static char *interpreter_of(int file)
{
    char line[256];
    ssize_t got = pread(file, line, sizeof line - 1, 0);
    if (got < 3 || line[0] != '#' || line[1] != '!')
        return NULL;
    line[got] = '\0';
    const char *begin = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(begin, " \t\r\n");
    return length > 0 ? g_strndup(begin, length) : NULL;
}

/* *ret_next: the file to look at in its place. */
static enum fm_preloadable look(const char *path, char **ret_next)
{
    enum fm_preloadable result = FM_PRELOADABLE_UNREADABLE;
    *ret_next = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return result;
    *ret_next = interpreter_of(file);
    elf_version(EV_CURRENT);
    Elf *elf = *ret_next == NULL ? elf_begin(file, ELF_C_READ, NULL) : NULL;
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
        result = of_elf(elf, file);
    elf_end(elf);
    close(file);
    return result;
}

enum fm_preloadable fm_toolchain_preloadable(const char *path, char **ret_file)
{
    g_return_val_if_fail(path != NULL && ret_file != NULL, FM_PRELOADABLE_UNREADABLE);
    g_autofree char *file = g_strdup(path);
    char *next;
    enum fm_preloadable result = look(file, &next);
    for (int steps = 0; next != NULL && steps < SCRIPTS_MAX; steps++) {
        g_free(file);
        file = next;
        result = look(file, &next);
    }
    g_free(next);
    bool needs_none = result == FM_PRELOADABLE_YES || result == FM_PRELOADABLE_STATIC ||
                      result == FM_PRELOADABLE_SANITIZER || result == FM_PRELOADABLE_OLD;
    if (needs_none && fm_toolchain_is_instrumented(file))
        result = FM_PRELOADABLE_INSTRUMENTED;
    *ret_file = g_steal_pointer(&file);
    return result;
}

const char *fm_preloadable_words(enum fm_preloadable preloadable)
{
    switch (preloadable) {
    case FM_PRELOADABLE_STATIC:
        return "is fully static, so no library can be loaded into it: link it dynamically, or "
               "build it with `fathom cc`";
    case FM_PRELOADABLE_LIBC:
        return "uses another C library than glibc, for which there is no libfathom: build it for "
               "glibc";
    case FM_PRELOADABLE_OLD:
        return "runs with glibc before 2.35, in which libfathom-preload.so cannot be loaded: build "
               "it with `fathom cc`";
    case FM_PRELOADABLE_MACHINE:
        return "is not a program of 64 bits for x86-64: build it for that";
    case FM_PRELOADABLE_PRIVILEGED:
        return "runs with other privileges than yours (set-user-ID, set-group-ID or file "
               "capabilities), so the loader admits no library: run it as its owner, or record a "
               "copy without these";
    case FM_PRELOADABLE_SANITIZER:
        return "is built with a sanitizer, which must be the first library: build it without, or "
               "with `fathom cc`";
    case FM_PRELOADABLE_YES:
    case FM_PRELOADABLE_INSTRUMENTED:
    case FM_PRELOADABLE_UNREADABLE:
        break;
    }
    return NULL;
}

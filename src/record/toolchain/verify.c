/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whose hooks a linked file will call. glibc has empty hooks of the same names; with those
 * nothing is recorded, without any message. */
#include "record/toolchain/toolchain.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

struct linkage {
    bool is_elf;
    bool hooks_defined, hooks_wanted;
    int fathom_at, libc_at; /* places in the list of needed libraries, 0 = absent */
};

static bool is_enter_hook(const char *name)
{
    return strcmp(name, "__cyg_profile_func_enter") == 0;
}

static void look_at_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                            struct linkage *ret)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Sym symbol;
    for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name == NULL || !is_enter_hook(name))
            continue;
        if (symbol.st_shndx == SHN_UNDEF)
            ret->hooks_wanted = true;
        else
            ret->hooks_defined = true;
    }
}

static void look_at_needed(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct linkage *ret)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;
    for (int i = 0; data != NULL && gelf_getdyn(data, i, &entry) != NULL; i++) {
        const char *name =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;
        if (name != NULL && g_str_has_prefix(name, "libfathom.so") && ret->fathom_at == 0)
            ret->fathom_at = i + 1;
        if (name != NULL && g_str_has_prefix(name, "libc.so") && ret->libc_at == 0)
            ret->libc_at = i + 1;
    }
}

static void look(const char *path, struct linkage *ret)
{
    *ret = (struct linkage){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    ret->is_elf = elf != NULL && elf_kind(elf) == ELF_K_ELF;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while (ret->is_elf && (section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL)
            continue;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            look_at_symbols(elf, section, &header, ret);
        else if (header.sh_type == SHT_DYNAMIC)
            look_at_needed(elf, section, &header, ret);
    }
    elf_end(elf);
    close(file);
}

bool fm_toolchain_verify(const char *path, GError **error)
{
    struct linkage linkage;
    look(path, &linkage);
    if (!linkage.is_elf || !linkage.hooks_wanted || linkage.hooks_defined)
        return true;
    if (linkage.fathom_at != 0 && (linkage.libc_at == 0 || linkage.fathom_at < linkage.libc_at))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: the linker took the empty hooks of libc instead of those of libfathom, so "
                "nothing would be recorded; is libfathom.a missing from the command, or "
                "libc named before it?",
                path);
    return false;
}

/* The begin of a hook that is written out in the code (runtime/hot.h). Where an instruction has it
 * as a constant, its opcode is in front. */
static bool holds_hook(const unsigned char *code, size_t size)
{
    static const unsigned char begin[] = {0x0f, 0x1f, 0x84, 0x00, 0x46, 0x54, 0x46, 0x42};
    const unsigned char *at = code;
    while ((at = memmem(at, size - (size_t)(at - code), begin, sizeof begin)) != NULL) {
        bool constant = at >= code + 2 && (at[-2] & 0xf8) == 0x48 && (at[-1] & 0xf8) == 0xb8;
        if (!constant)
            return true;
        at++;
    }
    return false;
}

struct kinds {
    bool slots, others;
};

static void look_at_kinds(Elf *elf, struct kinds *ret)
{
    size_t names = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    bool named = elf_getshdrstrndx(elf, &names) == 0;
    while (named && (section = elf_nextscn(elf, section)) != NULL) {
        if (gelf_getshdr(section, &header) == NULL)
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        if (name == NULL)
            continue;
        ret->slots |= strcmp(name, "fm_slots") == 0 && header.sh_size > 0;
        Elf_Data *data = header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0
                             ? elf_getdata(section, NULL)
                             : NULL;
        ret->others |= data != NULL && data->d_buf != NULL && holds_hook(data->d_buf, data->d_size);
    }
}

bool fm_toolchain_verify_slots(const char *path, bool shared, GError **error)
{
    struct kinds kinds = {false, false};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return true;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF)
        look_at_kinds(elf, &kinds);
    elf_end(elf);
    close(file);
    const char *why = NULL;
    if (kinds.slots && shared)
        why = "a shared object";
    else if (kinds.slots && kinds.others)
        why = "a program with other hooks; build all of its objects with that option, or none";
    if (why == NULL)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "%s: objects compiled with --hooks=slots cannot be in %s", path, why);
    return false;
}

bool fm_toolchain_is_instrumented(const char *path)
{
    struct linkage linkage;
    look(path, &linkage);
    return linkage.hooks_wanted || linkage.hooks_defined;
}

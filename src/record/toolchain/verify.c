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

bool fm_toolchain_is_instrumented(const char *path)
{
    struct linkage linkage;
    look(path, &linkage);
    return linkage.hooks_wanted || linkage.hooks_defined;
}

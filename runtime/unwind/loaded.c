/* SPDX-License-Identifier: Apache-2.0 */
#include "loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

/* New in glibc 2.35: no definition there is one that is not called. The linker gives a weak
 * reference no version, so what is built with a newer glibc runs with an older one. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

struct search {
    uint64_t address;
    struct fm_loaded *ret;
};

#define PAGE_MASK 4095ull

/* 1: it is that object, which ends the iteration. */
static int is_in(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct search *search = data;
    struct fm_loaded *ret = search->ret;
    bool is_it = false;
    (void)size;
    *ret =
        (struct fm_loaded){.start = UINT64_MAX, .bias = info->dlpi_addr, .name = info->dlpi_name};
    for (unsigned i = 0; info->dlpi_phdr != NULL && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uint64_t low = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME)
            ret->header = (const uint8_t *)low;
        if (part->p_type != PT_LOAD)
            continue;
        uint64_t start = low & ~PAGE_MASK, end = low + part->p_memsz;
        ret->start = start < ret->start ? start : ret->start;
        ret->end = end > ret->end ? end : ret->end;
        is_it = is_it || search->address - start < end - start;
    }
    return is_it;
}

bool fm_loaded_at(uint64_t address, struct fm_loaded *ret)
{
    struct search search = {address, ret};
    struct dl_find_object found;
    if (_dl_find_object == NULL)
        return dl_iterate_phdr(is_in, &search) == 1;
    if (_dl_find_object((void *)address, &found) != 0 || found.dlfo_map_start == NULL)
        return false;
    *ret = (struct fm_loaded){
        .start = (uint64_t)found.dlfo_map_start,
        .end = (uint64_t)found.dlfo_map_end,
        .header = found.dlfo_eh_frame,
    };
    if (found.dlfo_link_map != NULL) {
        ret->bias = found.dlfo_link_map->l_addr;
        ret->name = found.dlfo_link_map->l_name;
    }
    return true;
}

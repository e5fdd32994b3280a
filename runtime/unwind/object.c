/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded objects: the object that contains an address, and bounds of its segments. */
#include "loaded.h"
#include "memory.h"
#include "table.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#define SEGMENTS_MAX 64u

/* Start of the object that contains this file. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((weak, visibility("hidden")));

struct object {
    const uint8_t *start, *end; /* range of its mappings; holes between segments are not readable */
    const uint8_t *header;      /* .eh_frame_hdr; NULL: none */
    const ElfW(Phdr) * segments; /* NULL: not known, where a linker left them out */
    unsigned segment_count;
    uint64_t bias;
};

/* Reads the program headers, which are in the first page with all linkers' default settings. */
static bool read_segments(struct object *object)
{
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)(const void *)object->start;
    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phentsize != sizeof(ElfW(Phdr)) ||
        elf->e_phnum > SEGMENTS_MAX || elf->e_phoff % 8 != 0 ||
        elf->e_phoff + elf->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return false;
    object->segments = (const ElfW(Phdr) *)(const void *)(object->start + elf->e_phoff);
    object->segment_count = elf->e_phnum;
    for (unsigned i = 0; i < object->segment_count; i++)
        if (object->segments[i].p_type == PT_LOAD) {
            /* the first segment; the loader maps whole pages */
            object->bias = (uint64_t)object->start - (object->segments[i].p_vaddr & ~4095ull);
            return true;
        }
    return false;
}

/* The bounds of the segment with these flags (PF_R, PF_X) that contains address; only the part from
 * the file, since the rest may not be readable yet. */
static bool segment_of(const struct object *object, uint64_t address, unsigned flags,
                       struct fm_unwind_bounds *ret)
{
    if (object->segments == NULL) { /* the whole is all that is known */
        *ret = (struct fm_unwind_bounds){object->start, object->end};
        return address >= (uint64_t)object->start && address < (uint64_t)object->end;
    }
    for (unsigned i = 0; i < object->segment_count; i++) {
        const ElfW(Phdr) *segment = &object->segments[i];
        uint64_t low = object->bias + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || (segment->p_flags & flags) != flags || address < low ||
            address - low >= segment->p_filesz)
            continue;
        ret->low = (const uint8_t *)low;
        ret->high = ret->low + segment->p_filesz;
        return true;
    }
    return false;
}

/* The loader does not know a fully static program before libc has begun. */
static bool own_object(uint64_t address, struct object *ret)
{
    struct fm_unwind_bounds code;
    if (&__ehdr_start == NULL)
        return false;
    *ret = (struct object){.start = (const uint8_t *)&__ehdr_start};
    if (!read_segments(ret) || !segment_of(ret, address, PF_X, &code))
        return false;
    for (unsigned i = 0; i < ret->segment_count; i++)
        if (ret->segments[i].p_type == PT_GNU_EH_FRAME)
            ret->header = (const uint8_t *)(ret->bias + ret->segments[i].p_vaddr);
    return true;
}

/* Where the loader put the program; 0: not known. */
static uint64_t program_start;

__attribute__((constructor)) static void find_program(void)
{
    program_start = getauxval(AT_PHDR) & ~4095ull;
}

/* Of an object with gaps between its segments (node) the loader tells the segment alone. Its ELF
 * header is at the address that it was moved by, or a program's that was linked for a fixed
 * address. */
static bool read_with_gaps(struct object *object, const struct fm_loaded *loaded)
{
    uint64_t start = loaded->name == NULL ? 0 : loaded->bias != 0 ? loaded->bias : program_start;
    if (start == 0 || start >= (uint64_t)object->start || start % 4096 != 0 ||
        !fm_unwind_is_readable(start) || !fm_unwind_is_readable(start + 4088))
        return false;
    struct object whole = *object;
    struct fm_unwind_bounds code;
    whole.start = (const uint8_t *)start;
    if (!read_segments(&whole) || !segment_of(&whole, (uint64_t)object->start, PF_X, &code))
        return false;
    *object = whole;
    return true;
}

static bool object_of(uint64_t address, struct object *ret)
{
    struct fm_loaded loaded;
    if (!fm_loaded_at(address, &loaded))
        return own_object(address, ret);
    /* A signal may come while dlclose() takes it away: the loader tells of it until then. */
    if (fm_unwind_is_gone(loaded.start))
        return false;
    struct object object = {.start = (const uint8_t *)loaded.start,
                            .end = (const uint8_t *)loaded.end,
                            .header = loaded.header};
    if (!read_segments(&object) && own_object(address, ret))
        return true;
    if (object.segments == NULL)
        read_with_gaps(&object, &loaded);
    *ret = object;
    return true;
}

/* Finds .eh_frame from its header. The address is relative to the field, in objects of all known
 * linkers. */
static const uint8_t *frames_of(const uint8_t *header)
{
    int32_t distance;
    if (header[1] != 0x1b /* relative, signed, 4 bytes */)
        return NULL;
    memcpy(&distance, header + 4, sizeof distance);
    return (const uint8_t *)((uint64_t)header + 4 + (uint64_t)(int64_t)distance);
}

bool fm_unwind_table_of(uint64_t pc, struct fm_unwind_table *ret)
{
    struct object object;
    if (!object_of(pc, &object) || object.header == NULL ||
        !segment_of(&object, (uint64_t)object.header, PF_R, &ret->around) ||
        ret->around.high - object.header < 12)
        return false;
    ret->header = object.header;
    const uint8_t *frames = frames_of(object.header);
    if (frames == NULL || !segment_of(&object, (uint64_t)frames, PF_R, &ret->frames))
        ret->frames = ret->around;
    return true;
}

bool fm_unwind_is_code(uint64_t address, unsigned bytes)
{
    struct object object;
    struct fm_unwind_bounds code;
    if (!object_of(address, &object) || !segment_of(&object, address, PF_X, &code) ||
        (uint64_t)(code.high - (const uint8_t *)address) < bytes)
        return false;
    return object.segments != NULL ||
           (fm_unwind_is_readable(address) && fm_unwind_is_readable(address + bytes - 1));
}

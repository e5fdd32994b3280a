/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/build_id.h"

#include <glib.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define GNU "GNU" /* and its NUL: the note's name */

/* Each note: three words (size of name, size of description, type), then name and description, each
 * padded to four bytes. */
static bool find_in_notes(const unsigned char *at, size_t size, GString *out)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        memcpy(&header, at, sizeof header);
        size_t name = (header.n_namesz + 3u) & ~(size_t)3;
        size_t description = (header.n_descsz + 3u) & ~(size_t)3;
        size_t left = size - sizeof header;
        if (name > left || description > left - name)
            return false;
        const unsigned char *text = at + sizeof header;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof GNU &&
            memcmp(text, GNU, sizeof GNU) == 0 && header.n_descsz > 0) {
            for (size_t i = 0; i < header.n_descsz; i++)
                g_string_append_printf(out, "%02x", text[name + i]);
            return true;
        }
        at = text + name + description;
        size = left - name - description;
    }
    return false;
}

/* The first object is the program itself. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE)
            continue;
        uintptr_t notes = info->dlpi_addr + segment->p_vaddr;
        if (find_in_notes((const unsigned char *)notes, segment->p_memsz, user))
            break;
    }
    return 1;
}

const char *fm_program_build_id(void)
{
    static gsize id;
    if (g_once_init_enter(&id)) {
        GString *text = g_string_new(NULL);
        struct stat status;
        dl_iterate_phdr(look_at_program, text);
        if (text->len == 0 && stat("/proc/self/exe", &status) == 0)
            g_string_printf(text, "%jx%jx%lx", (uintmax_t)status.st_size,
                            (uintmax_t)status.st_mtim.tv_sec,
                            (unsigned long)status.st_mtim.tv_nsec);
        g_once_init_leave(&id, (gsize)g_string_free(text, FALSE));
    }
    return (const char *)id;
}

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
const uint8_t *fm_build_id_in(const uint8_t *at, size_t size, size_t *ret_size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) header;
        memcpy(&header, at, sizeof header);
        size_t name = (header.n_namesz + (size_t)3) & ~(size_t)3;
        size_t description = (header.n_descsz + (size_t)3) & ~(size_t)3;
        size_t left = size - sizeof header;
        if (name > left || description > left - name)
            return NULL;
        const uint8_t *text = at + sizeof header;
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof GNU &&
            memcmp(text, GNU, sizeof GNU) == 0 && header.n_descsz > 0) {
            *ret_size = header.n_descsz;
            return text + name;
        }
        at = text + name + description;
        size = left - name - description;
    }
    return NULL;
}

char *fm_build_id_text(const uint8_t *id, size_t size)
{
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < size; i++)
        g_string_append_printf(text, "%02x", id[i]);
    return g_string_free(text, FALSE);
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
        size_t length;
        const uint8_t *id = fm_build_id_in((const uint8_t *)notes, segment->p_memsz, &length);
        if (id == NULL)
            continue;
        *(char **)user = fm_build_id_text(id, length);
        break;
    }
    return 1;
}

const char *fm_program_build_id(void)
{
    static gsize id;
    if (g_once_init_enter(&id)) {
        char *text = NULL;
        struct stat status;
        dl_iterate_phdr(look_at_program, &text);
        if (text == NULL && stat("/proc/self/exe", &status) == 0)
            text = g_strdup_printf("%jx%jx%lx", (uintmax_t)status.st_size,
                                   (uintmax_t)status.st_mtim.tv_sec,
                                   (unsigned long)status.st_mtim.tv_nsec);
        g_once_init_leave(&id, (gsize)(text == NULL ? g_strdup("") : text));
    }
    return (const char *)id;
}

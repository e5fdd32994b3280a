/* SPDX-License-Identifier: Apache-2.0 */
/* Describes this copy of the library, so that other copies find it. The archive is one object, so
 * this file is linked whenever any other part is. */
#include "core/shared.h"
#include "lanes/lane.h"

#include <link.h>
#include <unistd.h>

enum { VERSION = 2, NOTE_TYPE = 1 };

__attribute__((visibility("hidden"), used))
const struct fm_el_copy fm_el_copy = {.version = VERSION,
                                      .bytes = sizeof(struct fm_el_copy),
                                      .append = fm_el_append,
                                      .follow = fm_el_copies_follow,
#define X(name) .name = fm_eventlog_##name,
                                      FM_EL_CALLS(X)
#undef X
};

/* The note: distance from the note's descriptor to the struct above. */
__asm__(".pushsection .note.fathom.eventlog,\"a\",%note\n"
        ".balign 4\n"
        ".long 7, 8, 1\n"
        ".asciz \"fathom\"\n"
        ".balign 4\n"
        "1: .quad fm_el_copy - 1b\n"
        ".popsection\n");

static const struct fm_el_copy *copy_in_notes(const unsigned char *p, size_t bytes)
{
    const unsigned char *end = p + bytes;
    while ((size_t)(end - p) >= 12) {
        uint32_t name, about, type;
        memcpy(&name, p, 4);
        memcpy(&about, p + 4, 4);
        memcpy(&type, p + 8, 4);
        const unsigned char *text = p + 12, *data = text + ((name + 3) & ~UINT32_C(3));
        if (data > end || about > (size_t)(end - data))
            break;
        if (type == NOTE_TYPE && name == 7 && about == 8 && memcmp(text, "fathom", 7) == 0) {
            int64_t away;
            memcpy(&away, data, sizeof(away));
            return (const struct fm_el_copy *)(const void *)(data + away);
        }
        p = data + ((about + 3) & ~UINT32_C(3));
        if (p > end)
            break;
    }
    return NULL;
}

/* The search ends at the first object with a copy. */
static int find(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    const struct fm_el_copy **found = context;
    for (int i = 0; i < info->dlpi_phnum && !*found; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_NOTE)
            *found =
                copy_in_notes((const unsigned char *)(info->dlpi_addr + h->p_vaddr), h->p_memsz);
    }
    return *found != NULL;
}

/* Runs before the constructors that declare event types. */
__attribute__((constructor(101))) static void join(void)
{
    static const char other[] =
        "fathom: a plugin and its program hold event log libraries of different versions: what "
        "the plugin logs is not in the program's log; link both with -lfathom-eventlog, shared\n";
    const struct fm_el_copy *first = NULL;
    dl_iterate_phdr(find, &first);
    if (!first || first == &fm_el_copy)
        return;
    if (first->version != VERSION || first->bytes != sizeof(*first)) {
        if (write(STDERR_FILENO, other, sizeof(other) - 1) < 0)
            return;
        return;
    }
    fm_el_leader = first;
    first->follow(&fm_eventlog_active_, true);
}

__attribute__((destructor)) static void leave(void)
{
    if (fm_el_leader)
        fm_el_leader->follow(&fm_eventlog_active_, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files of code in a process's memory, as records of mappings, with the build ids that the memory
 * tells: the file at the path may be a newer one. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/files/build_id.h"
#include "record/outside/sample.h"

#define ID_MAX 20u
#define HEADERS 4096u
#define NOTES_MAX 4096u
#define DELETED " (deleted)"

struct build_id {
    uint8_t size, bytes[ID_MAX];
};

static bool take_id(const uint8_t *notes, size_t size, struct build_id *ret)
{
    size_t length;
    const uint8_t *id = fm_build_id_in(notes, size, &length);
    if (id == NULL)
        return false;
    ret->size = (uint8_t)MIN(length, ID_MAX);
    memcpy(ret->bytes, id, ret->size);
    return true;
}

/* start: where the begin of the file is in memory. */
static void read_id(const struct fm_target *target, uint64_t start, struct build_id *ret)
{
    uint8_t head[HEADERS], notes[NOTES_MAX];
    Elf64_Ehdr elf;
    uint64_t bias = start;
    bool has_bias = false;
    ret->size = 0;
    if (fm_target_copy(target, start, head, sizeof head) < sizeof elf)
        return;
    memcpy(&elf, head, sizeof elf);
    if (memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phentsize != sizeof(Elf64_Phdr) ||
        elf.e_phoff > HEADERS || elf.e_phnum > (HEADERS - elf.e_phoff) / sizeof(Elf64_Phdr))
        return;
    for (unsigned i = 0; i < elf.e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, head + elf.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && !has_bias) {
            bias = start - (part.p_vaddr - part.p_offset);
            has_bias = true;
        }
        size_t size = MIN(part.p_filesz, NOTES_MAX);
        if (part.p_type == PT_NOTE &&
            fm_target_copy(target, bias + part.p_vaddr, notes, size) == size &&
            take_id(notes, size, ret))
            return;
    }
}

struct mapping {
    uint64_t low, high, offset;
    bool code;
    char *path;
};

/* "55d0c8a00000-55d0c8a2b000 r-xp 00001000 fe:00 1234    /usr/bin/x". */
static bool parse(char *line, struct mapping *ret)
{
    unsigned long long low, high, offset;
    char access[8];
    int at = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %n", &low, &high, access, &offset, &at) < 4 ||
        at == 0)
        return false;
    *ret = (struct mapping){low, high, offset, strchr(access, 'x') != NULL, line + at};
    if (g_str_has_suffix(ret->path, DELETED))
        ret->path[strlen(ret->path) - strlen(DELETED)] = '\0';
    return true;
}

/* /proc tells files below a root that is a folder of ours by our paths. */
static void cut_root(const struct fm_target *target, struct mapping *mapping)
{
    size_t size = target->rooted_at == NULL ? 0 : strlen(target->rooted_at);
    if (size > 0 && strncmp(mapping->path, target->rooted_at, size) == 0 &&
        mapping->path[size] == '/')
        mapping->path += size;
}

static bool add(struct fm_perf_live *live, pid_t pid, const struct mapping *mapping,
                const struct build_id *id, GError **error)
{
    g_autoptr(GByteArray) body = g_byte_array_new();
    uint32_t who[2] = {(uint32_t)pid, (uint32_t)pid};
    uint64_t place[3] = {mapping->low, mapping->high - mapping->low, mapping->offset};
    uint8_t file[32] = {id->size}; /* size, 3 unused, 20 bytes; protection and flags */
    const char *path = mapping->path[0] == '\0' ? "//anon" : mapping->path;
    memcpy(file + 4, id->bytes, id->size);
    g_byte_array_append(body, (const guint8 *)who, sizeof who);
    g_byte_array_append(body, (const guint8 *)place, sizeof place);
    g_byte_array_append(body, file, sizeof file);
    g_byte_array_append(body, (const guint8 *)path, (guint)strlen(path) + 1);
    return fm_outside_add(live, PERF_RECORD_MMAP2,
                          id->size > 0 ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0, body, error);
}

bool fm_outside_maps(struct fm_perf_live *live, const struct fm_target *target, GError **error)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)target->pid);
    g_autofree char *text = NULL, *of = NULL;
    struct build_id id = {0};
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return true; /* it has ended */
    for (char *line = text, *next; line[0] != '\0'; line = next) {
        struct mapping mapping;
        next = line + strcspn(line, "\n");
        if (next[0] != '\0')
            *next++ = '\0';
        if (!parse(line, &mapping))
            continue;
        cut_root(target, &mapping);
        if (g_strcmp0(mapping.path, of) != 0) {
            g_free(of);
            of = g_strdup(mapping.path);
            id.size = 0;
        }
        if (mapping.path[0] == '/' && mapping.offset == 0)
            read_id(target, mapping.low, &id);
        if (mapping.code && !add(live, target->pid, &mapping, &id, error))
            return false;
    }
    return true;
}

char *fm_outside_python(const struct fm_target *target, uint64_t *ret_start)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/maps", (int)target->pid);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return NULL;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    char *found = NULL;
    for (char **line = lines; *line != NULL; line++) {
        struct mapping mapping;
        if (!parse(*line, &mapping) || mapping.offset != 0)
            continue;
        cut_root(target, &mapping);
        const char *base = strrchr(mapping.path, '/');
        bool library = base != NULL && g_str_has_prefix(base, "/libpython3.");
        if (!library && (base == NULL || found != NULL || !g_str_has_prefix(base, "/python3")))
            continue;
        g_free(found);
        found = g_strdup(mapping.path);
        *ret_start = mapping.low;
        if (library) /* the program is a front of it */
            break;
    }
    return found;
}

bool fm_outside_kernel(struct fm_perf_live *live, GError **error)
{
    static const char symbol[] = " _text\n";
    static const struct build_id none = {0};
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/kallsyms", &text, NULL, NULL))
        return true;
    const char *at = strstr(text, symbol);
    while (at != NULL && at > text && at[-1] != '\n')
        at--;
    uint64_t address = at == NULL ? 0 : g_ascii_strtoull(at, NULL, 16);
    char name[] = "[kernel.kallsyms]_text";
    const struct mapping mapping = {address, UINT64_MAX, address, true, name};
    return address == 0 || add(live, -1, &mapping, &none, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/jit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX ((size_t)256 << 20) /* a file has at most */
#define BACK_MAX 64u                  /* entries that begin before, and may reach to an address */
#define NAME_MAX_BYTES 1024u

/* jitdump's numbers. */
enum {
    DUMP_MAGIC = 0x4A695444,
    DUMP_HEADER = 40,
    RECORD_HEADER = 16,
    CODE_LOAD = 0,
    CODE_MOVE = 1
};
enum { LOAD_FIXED = 40, MOVE_FIXED = 48 }; /* bytes behind the record's header */

struct entry {
    uint64_t start, size;
    const char *name;
    uint32_t number; /* in the order of the file */
};

struct fm_perf_jit {
    int file;
    bool is_dump;
    size_t done;    /* bytes of the file that were read */
    GArray *sorted; /* struct entry, by start, then number */
    uint32_t count;
    GStringChunk *names;
};

/* Another user could put names of his own there. */
static bool is_trusted(const struct stat *status)
{
    return S_ISREG(status->st_mode) &&
           (status->st_uid == geteuid() || status->st_uid == 0 || geteuid() == 0);
}

struct fm_perf_jit *fm_perf_jit_new(const char *path)
{
    struct stat status;
    uint32_t magic = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (file < 0)
        return NULL;
    if (fstat(file, &status) != 0 || !is_trusted(&status)) {
        close(file);
        return NULL;
    }
    struct fm_perf_jit *jit = g_new0(struct fm_perf_jit, 1);
    jit->file = file;
    jit->is_dump =
        pread(file, &magic, sizeof magic, 0) == (ssize_t)sizeof magic && magic == DUMP_MAGIC;
    jit->sorted = g_array_new(FALSE, FALSE, sizeof(struct entry));
    jit->names = g_string_chunk_new(1 << 12);
    return jit;
}

struct fm_perf_jit *fm_perf_jit_beside(const char *file, uint32_t pid)
{
    g_autofree char *folder = g_path_get_dirname(file);
    g_autofree char *path = g_strdup_printf("%s/perf-%u.map", folder, pid);
    return fm_perf_jit_new(path);
}

void fm_perf_jit_free(struct fm_perf_jit *jit)
{
    if (jit == NULL)
        return;
    close(jit->file);
    g_array_unref(jit->sorted);
    g_string_chunk_free(jit->names);
    g_free(jit);
}

static void add(struct fm_perf_jit *jit, uint64_t start, uint64_t size, const char *name,
                size_t name_size)
{
    const char *end = memchr(name, '\0', name_size);
    g_autofree char *text = g_utf8_make_valid(
        name, (gssize)MIN(end == NULL ? name_size : (size_t)(end - name), NAME_MAX_BYTES));
    if (size == 0 || text[0] == '\0')
        return;
    struct entry entry = {start, size, g_string_chunk_insert_const(jit->names, text), jit->count++};
    g_array_append_val(jit->sorted, entry);
}

/* Whole lines; returns the bytes that they have. */
static size_t read_lines(struct fm_perf_jit *jit, const char *text, size_t size)
{
    size_t at = 0;
    const char *end;
    while ((end = memchr(text + at, '\n', size - at)) != NULL) {
        g_autofree char *line = g_strndup(text + at, (size_t)(end - (text + at)));
        char *after, *name;
        uint64_t start = g_ascii_strtoull(line, &after, 16);
        uint64_t length = g_ascii_strtoull(after, &name, 16);
        if (after != line && name != after && name[0] == ' ')
            add(jit, start, length, name + 1, strlen(name + 1));
        at = (size_t)(end - text) + 1;
    }
    return at;
}

/* The name of code that was moved. */
static const struct entry *newest_at(const struct fm_perf_jit *jit, uint64_t start)
{
    for (guint i = jit->sorted->len; i > 0; i--) {
        const struct entry *entry = &g_array_index(jit->sorted, struct entry, i - 1);
        if (entry->start == start)
            return entry;
    }
    return NULL;
}

static void read_record(struct fm_perf_jit *jit, uint32_t id, const uint8_t *body, size_t size)
{
    uint64_t fields[6]; /* process and thread, then addresses */
    if (id == CODE_LOAD && size > LOAD_FIXED) {
        memcpy(fields, body, LOAD_FIXED);
        add(jit, fields[2], fields[3], (const char *)body + LOAD_FIXED, size - LOAD_FIXED);
    } else if (id == CODE_MOVE && size >= MOVE_FIXED) {
        memcpy(fields, body, MOVE_FIXED);
        const struct entry *moved = newest_at(jit, fields[2]);
        if (moved != NULL)
            add(jit, fields[3], fields[4], moved->name, strlen(moved->name));
    }
}

static size_t read_dump(struct fm_perf_jit *jit, const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    if (jit->done == 0) { /* the header says its own size */
        uint32_t header;
        if (size < DUMP_HEADER)
            return 0;
        memcpy(&header, bytes + 8, sizeof header);
        if (header > size)
            return 0;
        at = header;
    }
    while (size - at >= RECORD_HEADER) {
        uint32_t head[2];
        memcpy(head, bytes + at, sizeof head);
        if (head[1] < RECORD_HEADER)
            return size; /* damaged: nothing behind it is known */
        if (head[1] > size - at)
            break;
        read_record(jit, head[0], bytes + at + RECORD_HEADER, head[1] - RECORD_HEADER);
        at += head[1];
    }
    return at;
}

static int by_start(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void read_more(struct fm_perf_jit *jit)
{
    struct stat status;
    if (fstat(jit->file, &status) != 0 || (size_t)status.st_size <= jit->done ||
        (size_t)status.st_size > BYTES_MAX)
        return;
    size_t size = (size_t)status.st_size - jit->done;
    g_autofree uint8_t *bytes = g_malloc(size);
    ssize_t got = pread(jit->file, bytes, size, (off_t)jit->done);
    uint32_t before = jit->count;
    if (got <= 0)
        return;
    jit->done += jit->is_dump ? read_dump(jit, bytes, (size_t)got)
                              : read_lines(jit, (const char *)bytes, (size_t)got);
    if (jit->count > before)
        g_array_sort(jit->sorted, by_start);
}

static const struct entry *find(const struct fm_perf_jit *jit, uint64_t address)
{
    const struct entry *entries = (const struct entry *)(void *)jit->sorted->data, *found = NULL;
    guint first = 0, end = jit->sorted->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (entries[middle].start <= address)
            first = middle + 1;
        else
            end = middle;
    }
    for (guint i = first; i > 0 && first - i < BACK_MAX; i--) {
        const struct entry *entry = &entries[i - 1];
        if (address - entry->start < entry->size &&
            (found == NULL || entry->number > found->number))
            found = entry;
    }
    return found;
}

const char *fm_perf_jit_name(struct fm_perf_jit *jit, uint64_t address, uint32_t *ret_number)
{
    read_more(jit);
    const struct entry *entry = find(jit, address);
    if (entry == NULL)
        return NULL;
    *ret_number = entry->number;
    return entry->name;
}

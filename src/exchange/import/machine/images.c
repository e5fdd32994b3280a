/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/machine/images.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file from which code was mapped. */
struct image {
    char *path;
    bool opened;
    GArray *segments; /* GElf_Phdr */
    GArray *symbols;  /* NULL: not known */
};

struct mapping {
    uint64_t low, high, offset;
    uint32_t image;
};

struct fm_import_images {
    GArray *images;   /* struct image */
    GArray *mappings; /* struct mapping, ascending */
};

static void clear_image(void *of)
{
    struct image *image = of;
    g_free(image->path);
    if (image->segments != NULL)
        g_array_unref(image->segments);
    if (image->symbols != NULL)
        g_array_unref(image->symbols);
}

static uint32_t image_of(struct fm_import_images *images, const char *path)
{
    for (guint i = 0; i < images->images->len; i++) {
        if (strcmp(g_array_index(images->images, struct image, i).path, path) == 0)
            return i;
    }
    struct image image = {.path = g_strdup(path)};
    g_array_append_val(images->images, image);
    return images->images->len - 1;
}

/* "00400000-00402000 r-xp 00001000 08:01 1234    /bin/prog" */
static void read_line(struct fm_import_images *images, const char *line)
{
    struct mapping mapping;
    char *end;
    line += strspn(line, " ");
    mapping.low = g_ascii_strtoull(line, &end, 16);
    if (end == line || *end != '-')
        return;
    line = end + 1;
    mapping.high = g_ascii_strtoull(line, &end, 16);
    if (end == line || mapping.high <= mapping.low)
        return;
    if (end[0] == ':') { /* gperftools' own: "7f01000-7f02000: /lib/libc.so.6" */
        end += 1 + strspn(end + 1, " ");
        g_autofree char *own = g_strchomp(g_strdup(end));
        mapping.offset = 0;
        mapping.image = own[0] == '\0' ? 0 : image_of(images, own);
        if (own[0] != '\0')
            g_array_append_val(images->mappings, mapping);
        return;
    }
    if (end[0] != ' ')
        return;
    g_auto(GStrv) words = g_strsplit(end + 1, " ", 5); /* flags, offset, device, inode, path */
    if (g_strv_length(words) < 5 || strlen(words[0]) < 3 || words[0][2] != 'x')
        return;
    mapping.offset = g_ascii_strtoull(words[1], NULL, 16);
    const char *path = g_strstrip(words[4]);
    if (path[0] == '\0')
        return;
    mapping.image = image_of(images, path);
    g_array_append_val(images->mappings, mapping);
}

static int by_address(const void *a, const void *b)
{
    const struct mapping *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : 0;
}

struct fm_import_images *fm_import_images_new(const char *text, size_t size)
{
    struct fm_import_images *images = g_new0(struct fm_import_images, 1);
    images->images = g_array_new(FALSE, TRUE, sizeof(struct image));
    g_array_set_clear_func(images->images, clear_image);
    images->mappings = g_array_new(FALSE, FALSE, sizeof(struct mapping));
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline == NULL ? size - at : (size_t)(newline - text) - at;
        g_autofree char *line = g_strndup(text + at, length);
        read_line(images, line);
        at += length + 1;
    }
    g_array_sort(images->mappings, by_address);
    return images;
}

void fm_import_images_free(struct fm_import_images *images)
{
    if (images == NULL)
        return;
    g_array_unref(images->images);
    g_array_unref(images->mappings);
    g_free(images);
}

/* Nothing but an ordinary file: a list may name a device, or a pipe that nobody writes to. */
static void open_image(struct image *image)
{
    struct stat status;
    image->opened = true;
    int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    elf_version(EV_CURRENT);
    Elf *elf = fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
                   ? elf_begin(fd, ELF_C_READ_MMAP, NULL)
                   : NULL;
    size_t count = 0;
    if (elf != NULL && elf_kind(elf) == ELF_K_ELF && elf_getphdrnum(elf, &count) == 0) {
        image->segments = g_array_new(FALSE, FALSE, sizeof(GElf_Phdr));
        for (size_t i = 0; i < count; i++) {
            GElf_Phdr segment;
            if (gelf_getphdr(elf, (int)i, &segment) != NULL && segment.p_type == PT_LOAD)
                g_array_append_val(image->segments, segment);
        }
        if (!fm_import_symbols_read(image->path, &image->symbols, NULL))
            image->symbols = NULL;
    }
    elf_end(elf);
    close(fd);
}

static const struct fm_import_symbol *symbol_at(const struct image *image, uint64_t offset)
{
    for (guint i = 0; image->symbols != NULL && i < image->segments->len; i++) {
        const GElf_Phdr *segment = &g_array_index(image->segments, GElf_Phdr, i);
        if (offset >= segment->p_offset && offset - segment->p_offset < segment->p_filesz)
            return fm_import_symbols_at(image->symbols,
                                        offset - segment->p_offset + segment->p_vaddr);
    }
    return NULL;
}

struct fm_import_image_place fm_import_images_at(struct fm_import_images *images, uint64_t address)
{
    guint first = 0, end = images->mappings->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (g_array_index(images->mappings, struct mapping, middle).low <= address)
            first = middle + 1;
        else
            end = middle;
    }
    if (first == 0)
        return (struct fm_import_image_place){NULL, NULL};
    const struct mapping *mapping = &g_array_index(images->mappings, struct mapping, first - 1);
    if (address >= mapping->high)
        return (struct fm_import_image_place){NULL, NULL};
    struct image *image = &g_array_index(images->images, struct image, mapping->image);
    if (!image->opened)
        open_image(image);
    return (struct fm_import_image_place){
        symbol_at(image, address - mapping->low + mapping->offset), image->path};
}

const char *fm_import_images_program(const struct fm_import_images *images)
{
    return images->images->len > 0 ? g_array_index(images->images, struct image, 0).path : NULL;
}

bool fm_import_named_address(const char *line, size_t size, uint64_t *ret_address, char **ret_name)
{
    g_autofree char *text = size == 0 ? g_strdup("") : g_strndup(line, size);
    bool go = text[0] == '#';
    char *at = text + go, *end;
    at += strspn(at, " \t");
    if (!g_str_has_prefix(at, "0x"))
        return false;
    *ret_address = g_ascii_strtoull(at, &end, 16);
    end += strspn(end, " \t");
    char *name = g_strndup(end, go ? strcspn(end, "\t") : strlen(end));
    char *place = go ? g_strrstr(name, "+0x") : g_strrstr(name, " (");
    if (place != NULL && place > name)
        *place = '\0';
    if (name[0] == '\0' || name[0] == '@') {
        g_free(name);
        return false;
    }
    *ret_name = name;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata that the library does not read as it is gets a folder of links with other metadata.
 *
 * The library loops on packetised metadata whose last packet is truncated, or whose sizes are
 * wrong. So the packets are checked first, and the whole declarations are passed on as plain
 * text.
 *
 * A packet: magic number (4 bytes), identity of the trace (16), checksum (4), bits of content
 * (4), bits of the packet (4), five bytes of compression, encryption, checksum and version; then
 * text. */
#include <string.h>

#include "base/files/mapped.h"
#include "trace/ctf/ctf2.h"
#include "trace/ctf/ctf_import.h"

#define PACKET_MAGIC UINT32_C(0x75D11D57)
enum { PACKET_HEADER_BYTES = 37, CONTENT_AT = 24, SIZE_AT = 28 };

static uint32_t number_at(const uint8_t *at, bool swapped)
{
    uint32_t number;
    memcpy(&number, at, sizeof number);
    return swapped ? GUINT32_SWAP_LE_BE(number) : number;
}

/* Appends the texts of the whole packets, and the rest of a truncated last one. Returns the error,
 * with its offset; NULL = none. */
static char *take_packets(const uint8_t *bytes, size_t length, bool swapped, GString *text)
{
    for (size_t at = 0; at < length;) {
        size_t left = length - at;
        if (left < PACKET_HEADER_BYTES)
            return g_strdup_printf("offset %zu: the file is cut: %zu bytes, expected a packet's "
                                   "header of %d bytes",
                                   at, left, PACKET_HEADER_BYTES);
        uint32_t magic = number_at(bytes + at, swapped);
        uint32_t content = number_at(bytes + at + CONTENT_AT, swapped);
        uint32_t size = number_at(bytes + at + SIZE_AT, swapped);
        if (magic != PACKET_MAGIC)
            return g_strdup_printf("offset %zu: found 0x%08x, expected a packet's magic number "
                                   "0x%08x",
                                   at, magic, PACKET_MAGIC);
        if (content % 8 != 0 || size % 8 != 0 || content / 8 < PACKET_HEADER_BYTES ||
            content > size)
            return g_strdup_printf("offset %zu: found a packet of %u bits with %u bits of content, "
                                   "expected whole bytes, the content within the packet",
                                   at, size, content);
        g_string_append_len(text, (const char *)bytes + at + PACKET_HEADER_BYTES,
                            (gssize)MIN(content / 8, left) - PACKET_HEADER_BYTES);
        if (size / 8 > left)
            return g_strdup_printf("offset %zu: the file is cut: a packet of %u bytes, of which "
                                   "%zu are there",
                                   at, size / 8, left);
        at += size / 8;
    }
    return NULL;
}

/* Finds the end of the last whole declaration: a semicolon outside of braces, texts, comments. */
static size_t whole_declarations(const char *text, size_t length)
{
    size_t whole = 0;
    unsigned depth = 0;
    for (size_t at = 0; at < length; at++) {
        const char *end = NULL;
        if (text[at] == '"') {
            for (end = text + at + 1; *end != '\0' && *end != '"'; end++)
                end += *end == '\\' && end[1] != '\0';
        } else if (text[at] == '/' && text[at + 1] == '*') {
            end = strstr(text + at + 2, "*/");
        } else if (text[at] == '/' && text[at + 1] == '/') {
            end = strchr(text + at, '\n');
        } else {
            depth += text[at] == '{';
            depth -= text[at] == '}' && depth > 0;
            whole = text[at] == ';' && depth == 0 ? at + 1 : whole;
            continue;
        }
        if (end == NULL || *end == '\0')
            break;
        at = (size_t)(end - text);
    }
    return whole;
}

static char *write_copy(const char *folder, const GString *text, GString *notes)
{
    char *copy = fm_ctf_folder_like(folder, notes);
    if (copy == NULL)
        return NULL;
    GError *error = NULL;
    g_autofree char *path = g_build_filename(copy, "metadata", NULL);
    if (!g_file_set_contents(path, text->str, (gssize)text->len, &error)) {
        g_string_append_printf(notes, "%s\n", error->message);
        g_clear_error(&error);
    }
    return copy;
}

static char *mend(const char *folder, const char *metadata, const struct fm_mapped_file *file,
                  GString *notes)
{
    uint32_t magic = file->size < 4 ? 0 : number_at(file->bytes, false);
    bool swapped = magic == GUINT32_SWAP_LE_BE(PACKET_MAGIC);
    if (magic != PACKET_MAGIC && !swapped)
        return NULL; /* plain text: the library reports its errors */
    /* plain text begins with this line */
    g_autoptr(GString) text = g_string_new("/* CTF 1.8 */\n");
    g_autofree char *why = take_packets(file->bytes, file->size, swapped, text);
    if (why == NULL)
        return NULL;
    g_string_append_printf(notes, "%s: %s\n", metadata, why);
    g_string_truncate(text, whole_declarations(text->str, strlen(text->str)));
    g_string_append_c(text, '\n');
    return write_copy(folder, text, notes);
}

char *fm_ctf_metadata_mend(const char *folder, const char *name, GString *notes)
{
    g_autofree char *metadata = g_build_filename(folder, "metadata", NULL);
    g_autofree char *told = g_build_filename(name, "metadata", NULL);
    struct fm_mapped_file *file;
    if (!fm_mapped_file_open(metadata, &file, NULL))
        return NULL; /* the library reports the reason */
    char *mended = mend(folder, told, file, notes);
    fm_mapped_file_free(file);
    return mended;
}

bool fm_ctf_metadata_translate(const char *folder, const char *name, char **ret_copy,
                               GString *notes, GError **error)
{
    g_autofree char *metadata = g_build_filename(folder, "metadata", NULL);
    struct fm_mapped_file *file;
    *ret_copy = NULL;
    if (!fm_mapped_file_open(metadata, &file, NULL))
        return true; /* the library reports the reason */
    bool good = true;
    if (fm_ctf_is_2((const char *)file->bytes, file->size)) {
        g_autoptr(GString) text = g_string_new(NULL), cut = g_string_new(NULL);
        good = fm_ctf2_to_tsdl((const char *)file->bytes, file->size, text, cut, error);
        if (cut->len > 0)
            g_string_append_printf(notes, "%s/metadata (CTF 2): %s", name, cut->str);
        if (good)
            *ret_copy = write_copy(folder, text, notes);
        else
            g_prefix_error(error, "%s/metadata (CTF 2): ", name);
    }
    fm_mapped_file_free(file);
    return good;
}

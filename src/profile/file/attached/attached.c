/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/attached/attached.h"

#include <string.h>
#include <zstd.h>

#include <glib/gstdio.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "profile/file/deep_internal.h"
#include "profile/file/facts/facts.h"

#define PACKING_LEVEL 3
/* More than this times smaller, bytes are kept as they are: a few bytes of a damaged file then
 * never ask for much memory. */
#define RATIO_MAX 1024

/* Their names in messages, and the endings of the files that older recordings have; the first
 * recordings had their lines under a name that is used for bodies of Mercury's procedures now. */
static const struct {
    const char *what, *ending, *older, *begins;
} kinds[FM_ATTACHED_KINDS] = {
    [FM_ATTACHED_LINES] = {"source lines", FM_BESIDE_LINES, FM_BESIDE_BODIES,
                           "fathom source lines version "},
    [FM_ATTACHED_CODE] = {"machine code", FM_BESIDE_CODE, NULL, "fathom machine code version "},
    [FM_ATTACHED_SOURCES] = {"sources", FM_BESIDE_SOURCES, NULL, "fathom sources version "},
};

void fm_profile_attach(struct fm_profile *profile, enum fm_attachment_kind kind,
                       struct fm_writer *writer)
{
    g_return_if_fail(profile != NULL && kind < FM_ATTACHED_KINDS && writer != NULL);
    g_autoptr(GBytes) content = fm_writer_finish_memory(writer);
    gsize size;
    const void *bytes = g_bytes_get_data(content, &size);
    struct fm_attachment *to = &profile->attached[kind];
    g_free(to->packed);
    *to = (struct fm_attachment){0};
    if (size > FM_ATTACHED_BYTES_MAX) {
        g_autofree char *note =
            g_strdup_printf("The %s are left out: they have %zu bytes.", kinds[kind].what, size);
        fm_run_info_add_note(profile, fm_strings_add(profile->storage->strings, note));
        return;
    }
    size_t bound = ZSTD_compressBound(size);
    uint8_t *packed = g_malloc(MAX(bound, MAX(size, 1)));
    size_t packed_size = ZSTD_compress(packed, bound, bytes, size, PACKING_LEVEL);
    if (ZSTD_isError(packed_size) || packed_size >= size || packed_size < size / RATIO_MAX) {
        memcpy(packed, bytes, size);
        packed_size = size;
    }
    to->packed = g_realloc(packed, MAX(packed_size, 1));
    to->packed_size = packed_size;
    to->size = size;
}

/* --- in the file --- */

bool fm_read_attached(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    uint64_t kind, size, packed;
    if (!fm_reader_num_max(in, "kind of what is attached", FM_ATTACHED_KINDS - 1, &kind, error) ||
        !fm_reader_num_max(in, "size of what is attached", FM_ATTACHED_BYTES_MAX, &size, error) ||
        !fm_reader_num_max(in, "packed size of what is attached", size, &packed, error))
        return false;
    if (packed > fm_reader_left(in))
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "%s of %" G_GUINT64_FORMAT
                              " bytes, but unexpected end of file after %zu",
                              kinds[kind].what, (guint64)packed, fm_reader_left(in));
    if (packed < size / RATIO_MAX)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "%s of %" G_GUINT64_FORMAT " bytes packed into %" G_GUINT64_FORMAT
                              ", expected at least a %uth",
                              kinds[kind].what, (guint64)size, (guint64)packed, RATIO_MAX);
    struct fm_attachment *to = &reading->profile->attached[kind];
    if (to->packed != NULL)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error, "%s again, expected them once",
                              kinds[kind].what);
    *to = (struct fm_attachment){.packed = g_malloc((size_t)MAX(packed, 1)),
                                 .packed_size = (size_t)packed,
                                 .size = (size_t)size};
    memcpy(to->packed, in->at, (size_t)packed);
    in->at += packed;
    return true;
}

void fm_encode_attached(struct fm_writer *writer, const struct fm_profile *profile)
{
    for (unsigned kind = 0; kind < FM_ATTACHED_KINDS; kind++) {
        const struct fm_attachment *from = &profile->attached[kind];
        if (from->packed == NULL)
            continue;
        fm_writer_byte(writer, FM_FACT_ATTACHED);
        fm_writer_num(writer, kind);
        fm_writer_num(writer, from->size);
        fm_writer_num(writer, from->packed_size);
        fm_writer_bytes(writer, from->packed, from->packed_size);
    }
}

/* --- for their readers --- */

void fm_write_owner(struct fm_writer *writer, const struct fm_profile *profile)
{
    fm_writer_string(writer, profile->program_name);
    fm_writer_fixed(writer, profile->ps_count);
    fm_writer_fixed(writer, profile->css_count);
}

bool fm_read_owner(struct fm_reader *in, const struct fm_profile *profile, const char *what,
                   GError **error)
{
    const uint8_t *begin = in->at;
    const char *program;
    size_t program_length;
    uint64_t ps_count, css_count;
    if (!fm_reader_string(in, "program name", &program, &program_length, error) ||
        !fm_reader_fixed(in, "number of procedures", &ps_count, error) ||
        !fm_reader_fixed(in, "number of call sites", &css_count, error))
        return false;
    if (strlen(profile->program_name) != program_length ||
        memcmp(profile->program_name, program, program_length) != 0 ||
        ps_count != profile->ps_count || css_count != profile->css_count)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "the %s of another profile: of %.*s, with %" G_GUINT64_FORMAT
                              " procedures, expected %s with %u",
                              what, (int)MIN(program_length, 200), program, (guint64)ps_count,
                              profile->program_name, profile->ps_count);
    return true;
}

bool fm_read_begin(struct fm_reader *in, const char *id_line, const struct fm_profile *profile,
                   const char *what, GError **error)
{
    size_t length = strlen(id_line);
    if (fm_reader_left(in) < length || memcmp(in->at, id_line, length) != 0)
        return fm_reader_fail(in, in->at, FM_ERROR_FORMAT, error,
                              "not the %s of a C program: expected \"%.*s\"", what, (int)length - 1,
                              id_line);
    in->at += length;
    return fm_read_owner(in, profile, what, error);
}

static void done(struct fm_attached_bytes *found)
{
    g_free(found->name);
    g_free(found->unpacked);
    fm_mapped_file_free(found->file);
    *found = (struct fm_attached_bytes){0};
}

static bool unpack(const struct fm_attachment *from, struct fm_attached_bytes *ret, GError **error)
{
    ret->size = from->size;
    ret->bytes = from->packed;
    if (from->packed_size == from->size)
        return true;
    ret->bytes = ret->unpacked = g_malloc(from->size);
    size_t size = ZSTD_decompress(ret->unpacked, from->size, from->packed, from->packed_size);
    if (!ZSTD_isError(size) && size == from->size)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: the packed bytes are damaged", ret->name);
    done(ret);
    return false;
}

static bool find_file(const struct fm_roots *roots, const char *data_path,
                      enum fm_attachment_kind kind, struct fm_attached_bytes *ret, GError **error)
{
    ret->name = fm_path_beside(data_path, kinds[kind].ending);
    if (kinds[kind].older != NULL && !fm_mapped_file_exists(roots, ret->name)) {
        g_autofree char *older = fm_path_beside(data_path, kinds[kind].older);
        if (fm_mapped_file_exists(roots, older)) {
            g_free(ret->name);
            ret->name = g_steal_pointer(&older);
        }
    }
    if (!fm_mapped_file_find(roots, ret->name, &ret->file, error)) {
        done(ret);
        return false;
    }
    ret->bytes = fm_mapped_file_begin(ret->file);
    ret->size = ret->file->size;
    return true;
}

bool fm_attached_find(const struct fm_roots *roots, const char *data_path,
                      const struct fm_profile *profile, enum fm_attachment_kind kind,
                      struct fm_attached_bytes *ret, GError **error)
{
    g_return_val_if_fail(data_path != NULL && profile != NULL && kind < FM_ATTACHED_KINDS, false);
    *ret = (struct fm_attached_bytes){0};
    if (profile->attached[kind].packed == NULL)
        return find_file(roots, data_path, kind, ret, error);
    ret->name = g_strdup_printf("%s, its %s", data_path, kinds[kind].what);
    return unpack(&profile->attached[kind], ret, error);
}

bool fm_attached_end(struct fm_attached_bytes *found, bool was_read, GError **error)
{
    bool ok = was_read && (found->file == NULL || fm_mapped_file_check(found->file, error));
    done(found);
    return ok;
}

static bool begins_so(const char *path, const char *begins)
{
    g_autoptr(FmMappedFile) file = NULL;
    size_t length = strlen(begins);
    return fm_mapped_file_find(NULL, path, &file, NULL) && file->size >= length &&
           memcmp(fm_mapped_file_begin(file), begins, length) == 0;
}

void fm_attached_remove_beside(const char *data_path)
{
    for (unsigned kind = 0; kind < FM_ATTACHED_KINDS; kind++) {
        g_autofree char *path = fm_path_beside(data_path, kinds[kind].ending);
        if (begins_so(path, kinds[kind].begins))
            g_unlink(path);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/machine/machine_code.h"

#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "base/files/reader.h"
#include "base/files/writer.h"
#include "profile/file/deep_internal.h"
#include "profile/file/attached/attached.h"

#define PACKING_LEVEL 9

static const char id_line[] = "fathom machine code version 1\n";

/* --- the structure --- */

static void image_clear(void *data)
{
    struct fm_code_image *image = data;
    g_free(image->path);
    g_free(image->build_id);
}

static void part_clear(void *data)
{
    g_free(((struct fm_code_part *)data)->packed);
}

struct fm_machine_code *fm_machine_code_new(uint32_t ps_count, bool has_samples)
{
    struct fm_machine_code *code = g_new0(struct fm_machine_code, 1);
    code->ps_count = ps_count;
    code->has_samples = has_samples;
    code->files = g_ptr_array_new_with_free_func(g_free);
    code->images = g_array_new(FALSE, FALSE, sizeof(struct fm_code_image));
    g_array_set_clear_func(code->images, image_clear);
    code->part_first = g_new0(uint32_t, ps_count + 2u);
    code->parts = g_array_new(FALSE, FALSE, sizeof(struct fm_code_part));
    g_array_set_clear_func(code->parts, part_clear);
    code->rows = g_array_new(FALSE, FALSE, sizeof(struct fm_code_row));
    code->samples = g_array_new(FALSE, FALSE, sizeof(struct fm_code_sample));
    code->names = g_ptr_array_new_with_free_func(g_free);
    code->calls = g_array_new(FALSE, FALSE, sizeof(struct fm_code_call));
    return code;
}

void fm_machine_code_free(struct fm_machine_code *code)
{
    if (code == NULL)
        return;
    g_ptr_array_unref(code->files);
    g_array_unref(code->images);
    g_free(code->part_first);
    g_array_unref(code->parts);
    g_array_unref(code->rows);
    g_array_unref(code->samples);
    g_ptr_array_unref(code->names);
    g_array_unref(code->calls);
    g_free(code);
}

uint32_t fm_machine_code_add_image(struct fm_machine_code *code, const char *path,
                                   const char *build_id)
{
    const struct fm_code_image image = {g_strdup(path), g_strdup(build_id)};
    g_array_append_val(code->images, image);
    return code->images->len - 1;
}

uint32_t fm_machine_code_add_file(struct fm_machine_code *code, const char *path)
{
    g_ptr_array_add(code->files, g_strdup(path));
    return code->files->len - 1;
}

uint32_t fm_machine_code_add_name(struct fm_machine_code *code, const char *name)
{
    g_ptr_array_add(code->names, g_strdup(name));
    return code->names->len - 1;
}

void fm_machine_code_add_part(struct fm_machine_code *code, uint32_t ps, uint32_t image,
                              uint64_t start, uint64_t size)
{
    g_return_if_fail(ps >= MAX(code->last_ps, 1) && ps <= code->ps_count);
    g_return_if_fail(image < code->images->len && size <= FM_CODE_BYTES_MAX);
    const struct fm_code_part part = {.image = image,
                                      .start = start,
                                      .size = size,
                                      .row_first = code->rows->len,
                                      .sample_first = code->samples->len,
                                      .call_first = code->calls->len};
    for (; code->last_ps < ps; code->last_ps++)
        code->part_first[code->last_ps + 1] = code->parts->len;
    g_array_append_val(code->parts, part);
}

static struct fm_code_part *last_part(const struct fm_machine_code *code)
{
    g_assert(code->parts->len > 0);
    return &g_array_index(code->parts, struct fm_code_part, code->parts->len - 1);
}

void fm_machine_code_add_row(struct fm_machine_code *code, const struct fm_code_row *row)
{
    g_return_if_fail(row->file < code->files->len || row->line == 0);
    last_part(code)->row_count++;
    g_array_append_vals(code->rows, row, 1);
}

void fm_machine_code_add_sample(struct fm_machine_code *code, const struct fm_code_sample *sample)
{
    last_part(code)->sample_count++;
    g_array_append_vals(code->samples, sample, 1);
}

void fm_machine_code_add_call(struct fm_machine_code *code, const struct fm_code_call *call)
{
    g_return_if_fail(call->name < code->names->len);
    last_part(code)->call_count++;
    g_array_append_vals(code->calls, call, 1);
}

void fm_machine_code_keep(struct fm_machine_code *code, uint32_t index, const uint8_t *bytes)
{
    g_return_if_fail(index < code->parts->len);
    struct fm_code_part *part = &g_array_index(code->parts, struct fm_code_part, index);
    size_t bound = ZSTD_compressBound(part->size);
    g_autofree uint8_t *packed = g_malloc(bound);
    size_t size = ZSTD_compress(packed, bound, bytes, part->size, PACKING_LEVEL);
    if (ZSTD_isError(size))
        return;
    g_free(part->packed);
    part->packed = g_memdup2(packed, size);
    part->packed_size = size;
}

void fm_machine_code_take_packed(struct fm_machine_code *code, const uint8_t *packed, size_t size)
{
    struct fm_code_part *part = last_part(code);
    if (packed == NULL)
        return;
    g_free(part->packed);
    part->packed = g_memdup2(packed, size);
    part->packed_size = size;
}

const struct fm_code_part *fm_machine_code_parts(const struct fm_machine_code *code, uint32_t ps,
                                                 uint32_t *ret_count)
{
    g_return_val_if_fail(ps >= 1 && ps <= code->ps_count, NULL);
    uint32_t first = ps <= code->last_ps ? code->part_first[ps] : code->parts->len;
    uint32_t end = ps < code->last_ps ? code->part_first[ps + 1] : code->parts->len;
    *ret_count = end - first;
    return &g_array_index(code->parts, struct fm_code_part, first);
}

uint8_t *fm_machine_code_bytes(const struct fm_machine_code *code, const struct fm_code_part *part,
                               GError **error)
{
    if (part->packed == NULL)
        return NULL;
    uint8_t *bytes = g_malloc(part->size);
    size_t size = ZSTD_decompress(bytes, part->size, part->packed, part->packed_size);
    if (!ZSTD_isError(size) && size == part->size)
        return bytes;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "the stored code of %s at 0x%" G_GINT64_MODIFIER "x is damaged: %s",
                g_array_index(code->images, struct fm_code_image, part->image).path,
                (guint64)part->start,
                ZSTD_isError(size) ? "damaged data" : "it is shorter than it should be");
    g_free(bytes);
    return NULL;
}

/* --- writing --- */

static void write_part(struct fm_writer *writer, const struct fm_machine_code *code,
                       const struct fm_code_part *part)
{
    uint64_t before = part->start;
    fm_writer_num(writer, part->image);
    fm_writer_num(writer, part->start);
    fm_writer_num(writer, part->size);
    fm_writer_num(writer, part->row_count);
    for (uint32_t i = 0; i < part->row_count; i++) {
        const struct fm_code_row *row =
            &g_array_index(code->rows, struct fm_code_row, part->row_first + i);
        fm_writer_num(writer, row->address - before);
        fm_writer_num(writer, row->file);
        fm_writer_num(writer, row->line);
        before = row->address;
    }
    before = part->start;
    fm_writer_num(writer, part->sample_count);
    for (uint32_t i = 0; i < part->sample_count; i++) {
        const struct fm_code_sample *sample =
            &g_array_index(code->samples, struct fm_code_sample, part->sample_first + i);
        fm_writer_num(writer, sample->address - before);
        fm_writer_num(writer, sample->quanta);
        before = sample->address;
    }
    before = part->start;
    fm_writer_num(writer, part->call_count);
    for (uint32_t i = 0; i < part->call_count; i++) {
        const struct fm_code_call *call =
            &g_array_index(code->calls, struct fm_code_call, part->call_first + i);
        fm_writer_num(writer, call->address - before);
        fm_writer_num(writer, call->name);
        before = call->address;
    }
    fm_writer_num(writer, part->packed_size);
    fm_writer_bytes(writer, part->packed, part->packed_size);
}

static void write_texts(struct fm_writer *writer, const GPtrArray *texts)
{
    fm_writer_num(writer, texts->len);
    for (guint i = 0; i < texts->len; i++)
        fm_writer_string(writer, texts->pdata[i]);
}

void fm_machine_code_attach(const struct fm_machine_code *code, struct fm_profile *profile)
{
    g_return_if_fail(code != NULL && code->ps_count == profile->ps_count);
    struct fm_writer *writer = fm_writer_new_memory();
    fm_writer_bytes(writer, id_line, strlen(id_line));
    fm_write_owner(writer, profile);
    fm_writer_num(writer, code->has_samples);
    write_texts(writer, code->files);
    write_texts(writer, code->names);
    fm_writer_num(writer, code->images->len);
    for (guint i = 0; i < code->images->len; i++) {
        const struct fm_code_image *image = &g_array_index(code->images, struct fm_code_image, i);
        fm_writer_string(writer, image->path);
        fm_writer_string(writer, image->build_id);
    }
    for (uint32_t ps = 1; ps <= code->ps_count; ps++) {
        uint32_t count;
        const struct fm_code_part *parts = fm_machine_code_parts(code, ps, &count);
        if (count == 0)
            continue;
        fm_writer_num(writer, ps);
        fm_writer_num(writer, count);
        for (uint32_t i = 0; i < count; i++)
            write_part(writer, code, &parts[i]);
    }
    fm_writer_num(writer, 0);
    fm_profile_attach(profile, FM_ATTACHED_CODE, writer);
}

/* --- reading --- */

static bool read_text(struct fm_reader *in, const char *what, char **ret, GError **error)
{
    const char *text;
    size_t length;
    if (!fm_reader_string(in, what, &text, &length, error))
        return false;
    *ret = g_strndup(text, length);
    return true;
}

static bool read_texts(struct fm_reader *in, const char *what, GPtrArray *texts, GError **error)
{
    uint32_t count;
    if (!fm_reader_count(in, what, 1, &count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        char *text;
        if (!read_text(in, what, &text, error))
            return false;
        g_ptr_array_add(texts, text);
    }
    return true;
}

static bool read_header(struct fm_reader *in, const struct fm_profile *profile,
                        struct fm_machine_code *code, GError **error)
{
    uint64_t has_samples;
    uint32_t count;
    if (!fm_read_begin(in, id_line, profile, "machine code", error) ||
        !fm_reader_num_max(in, "whether there are samples", 1, &has_samples, error) ||
        !read_texts(in, "source files", code->files, error) ||
        !read_texts(in, "names of functions", code->names, error))
        return false;
    code->has_samples = has_samples != 0;
    if (!fm_reader_count(in, "number of images", 2, &count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct fm_code_image image = {0};
        if (!read_text(in, "path of an image", &image.path, error) ||
            !read_text(in, "build-id of an image", &image.build_id, error)) {
            image_clear(&image);
            return false;
        }
        g_array_append_val(code->images, image);
    }
    return true;
}

/* A step from one address to the next, within the part. */
static bool read_address(struct fm_reader *in, const struct fm_code_part *part, uint64_t *address,
                         const char *what, GError **error)
{
    uint64_t step, left = part->start + part->size - *address;
    if (!fm_reader_num_max(in, what, left, &step, error))
        return false;
    *address += step;
    return true;
}

static bool read_rows(struct fm_reader *in, struct fm_machine_code *code, GError **error)
{
    const struct fm_code_part part = *last_part(code);
    uint64_t address = part.start, file, line;
    uint32_t count;
    if (!fm_reader_count(in, "number of rows", 3, &count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_address(in, &part, &address, "address of a row", error) ||
            !fm_reader_num_max(in, "file of a row",
                               code->files->len == 0 ? 0 : code->files->len - 1, &file, error) ||
            !fm_reader_num_max(in, "line of a row", code->files->len == 0 ? 0 : UINT32_MAX, &line,
                               error))
            return false;
        fm_machine_code_add_row(code,
                                &(struct fm_code_row){address, (uint32_t)file, (uint32_t)line});
    }
    return true;
}

static bool read_samples(struct fm_reader *in, struct fm_machine_code *code, GError **error)
{
    const struct fm_code_part part = *last_part(code);
    uint64_t address = part.start, quanta;
    uint32_t count;
    if (!fm_reader_count(in, "number of samples", 2, &count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_address(in, &part, &address, "address of a sample", error) ||
            !fm_reader_num(in, "time of a sample", &quanta, error))
            return false;
        fm_machine_code_add_sample(code, &(struct fm_code_sample){address, quanta});
    }
    return true;
}

static bool read_calls(struct fm_reader *in, struct fm_machine_code *code, GError **error)
{
    const struct fm_code_part part = *last_part(code);
    uint64_t address = part.start, name;
    uint32_t count;
    const uint8_t *begin = in->at;
    if (!fm_reader_count(in, "number of calls", 2, &count, error))
        return false;
    if (count > 0 && code->names->len == 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "%u calls of functions, expected none, as there are no names", count);
    for (uint32_t i = 0; i < count; i++) {
        if (!read_address(in, &part, &address, "address of a call", error) ||
            !fm_reader_num_max(in, "name of what is called", code->names->len - 1, &name, error))
            return false;
        fm_machine_code_add_call(code, &(struct fm_code_call){address, (uint32_t)name});
    }
    return true;
}

static bool read_part(struct fm_reader *in, struct fm_machine_code *code, uint32_t ps,
                      GError **error)
{
    uint64_t image, start, size, packed;
    const uint8_t *begin = in->at;
    if (!fm_reader_num(in, "image of a part", &image, error) ||
        !fm_reader_num(in, "address of a part", &start, error) ||
        !fm_reader_num_max(in, "size of a part", FM_CODE_BYTES_MAX, &size, error))
        return false;
    if (image >= code->images->len || start + size < start)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "code in image %" G_GUINT64_FORMAT " of %u at %" G_GUINT64_FORMAT
                              ", expected what lies in one",
                              (guint64)image, code->images->len, (guint64)start);
    fm_machine_code_add_part(code, ps, (uint32_t)image, start, size);
    if (!read_rows(in, code, error) || !read_samples(in, code, error) ||
        !read_calls(in, code, error) ||
        !fm_reader_num_max(in, "size of packed code", fm_reader_left(in), &packed, error))
        return false;
    if (packed > fm_reader_left(in))
        return fm_reader_fail(in, in->at, FM_ERROR_TRUNCATED, error, "the file ends in code");
    if (packed > 0)
        last_part(code)->packed = g_memdup2(in->at, (size_t)packed);
    last_part(code)->packed_size = (size_t)packed;
    in->at += packed;
    return true;
}

static bool read_procedures(struct fm_reader *in, struct fm_machine_code *code, GError **error)
{
    uint32_t ps = 0;
    for (;;) {
        uint32_t count;
        if (!fm_reader_ascending(in, "procedure", code->ps_count, &ps, error))
            return false;
        if (ps == 0)
            return true;
        if (!fm_reader_count(in, "number of parts", 7, &count, error))
            return false;
        for (uint32_t i = 0; i < count; i++) {
            if (!read_part(in, code, ps, error))
                return false;
        }
    }
}

bool fm_machine_code_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                const struct fm_profile *profile, struct fm_machine_code **ret,
                                GError **error)
{
    g_return_val_if_fail(profile != NULL && ret != NULL, false);
    struct fm_reader in = {bytes, bytes, bytes + size, name};
    g_autoptr(FmMachineCode) code = fm_machine_code_new(profile->ps_count, false);
    if (!read_header(&in, profile, code, error) || !read_procedures(&in, code, error))
        return false;
    *ret = g_steal_pointer(&code);
    return true;
}

bool fm_machine_code_find(const struct fm_roots *roots, const char *data_path,
                          const struct fm_profile *profile, struct fm_machine_code **ret,
                          GError **error)
{
    struct fm_attached_bytes found;
    g_autoptr(FmMachineCode) code = NULL;
    if (!fm_attached_find(roots, data_path, profile, FM_ATTACHED_CODE, &found, error) ||
        !fm_attached_end(
            &found,
            fm_machine_code_read_bytes(found.name, found.bytes, found.size, profile, &code, error),
            error))
        return false;
    *ret = g_steal_pointer(&code);
    return true;
}

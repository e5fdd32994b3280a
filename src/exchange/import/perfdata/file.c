/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/file.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"

#define FILE_HEADER 104u
#define PIPE_HEADER 16u
#define ATTR_FIRST 64u /* size of the first version, which may say 0 */
#define ATTR_MAX 4096u
#define EVENTS_MAX 100000u
#define FEATURES 256u

bool fm_import_is_perfdata(const struct fm_import_input *input)
{
    return input->size >= PIPE_HEADER &&
           (memcmp(input->bytes, "PERFILE2", 8) == 0 || memcmp(input->bytes, "2ELIFREP", 8) == 0);
}

static void clear_event(void *of)
{
    g_free(((struct fm_perf_event *)of)->name);
}

/* --- the header --- */

/* Whether the part lies in the file. */
static bool is_inside(const struct fm_perf_file *file, uint64_t at, uint64_t size)
{
    return at <= file->input->size && file->input->size - at >= size;
}

static bool read_attributes(struct fm_perf_file *file, GError **error)
{
    const uint8_t *bytes = file->input->bytes;
    uint64_t entry = fm_perf_u64(file, bytes + 16), at = fm_perf_u64(file, bytes + 24);
    uint64_t size = fm_perf_u64(file, bytes + 32);
    if (entry < ATTR_FIRST + 16 || entry > ATTR_MAX || size % entry != 0 || size == 0 ||
        size / entry > EVENTS_MAX)
        return fm_import_fail_at(
            file->input, 16, FM_ERROR_FORMAT, error,
            "expected events of at least 80 bytes each, and one of them at least");
    if (!is_inside(file, at, size))
        return fm_import_fail_at(file->input, at, FM_ERROR_TRUNCATED, error,
                                 "the file ends before its events");
    for (uint64_t done = 0; done < size; done += entry) {
        const uint8_t *attr = bytes + at + done, *ids = attr + entry - 16;
        uint64_t ids_at = fm_perf_u64(file, ids), ids_size = fm_perf_u64(file, ids + 8);
        uint32_t own = fm_perf_u32(file, attr + 4);
        fm_perf_add_event(file, attr, MIN(own == 0 ? ATTR_FIRST : own, entry - 16));
        if (is_inside(file, ids_at, ids_size))
            fm_perf_add_ids(file, file->events->len - 1, bytes + ids_at, ids_size);
    }
    return true;
}

/* Their places stand behind the records, one for each bit that is set. */
static void read_features(struct fm_perf_file *file, uint64_t places)
{
    const uint8_t *bits = file->input->bytes + 72;
    for (unsigned bit = 0; bit < FEATURES && is_inside(file, places, 16); bit++) {
        uint64_t word = fm_perf_u64(file, bits + (size_t)(bit / 64) * 8);
        if ((word >> bit % 64 & 1) == 0)
            continue;
        uint64_t at = fm_perf_u64(file, file->input->bytes + places);
        uint64_t size = fm_perf_u64(file, file->input->bytes + places + 8);
        if (is_inside(file, at, size))
            fm_perf_read_feature(file, bit, file->input->bytes + at, size);
        places += 16;
    }
}

static bool read_file(struct fm_perf_file *file, GError **error)
{
    if (!is_inside(file, 0, FILE_HEADER))
        return fm_import_fail_at(file->input, file->input->size, FM_ERROR_TRUNCATED, error,
                                 "the file ends within its header");
    uint64_t at = fm_perf_u64(file, file->input->bytes + 40);
    uint64_t size = fm_perf_u64(file, file->input->bytes + 48);
    if (!read_attributes(file, error))
        return false;
    if (at > file->input->size)
        return fm_import_fail_at(file->input, at, FM_ERROR_TRUNCATED, error,
                                 "the file ends before its records");
    file->killed = size == 0;
    if (!file->killed && is_inside(file, at, size))
        read_features(file, at + size);
    return fm_perf_read_records(file, at, file->killed ? file->input->size - at : size, error);
}

void fm_perf_file_init(struct fm_perf_file *file, const struct fm_import_input *input)
{
    *file = (struct fm_perf_file){.input = input};
    file->events = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_event));
    g_array_set_clear_func(file->events, clear_event);
    file->by_id = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    file->records = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_record));
    file->unpacked = g_byte_array_new();
    file->build_ids =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
}

bool fm_perf_file_open(struct fm_perf_file *file, const struct fm_import_input *input,
                       GError **error)
{
    fm_perf_file_init(file, input);
    if (!fm_import_is_perfdata(input))
        return fm_import_fail_at(file->input, 0, FM_ERROR_FORMAT, error,
                                 "expected a file of perf record, which begins with PERFILE2");
    file->swapped = input->bytes[0] == '2';
    uint64_t header = fm_perf_u64(file, input->bytes + 8);
    if (header != PIPE_HEADER)
        return read_file(file, error);
    file->pipe = true;
    return fm_perf_read_records(file, PIPE_HEADER, input->size - PIPE_HEADER, error);
}

void fm_perf_file_close(struct fm_perf_file *file)
{
    g_array_unref(file->events);
    g_hash_table_unref(file->by_id);
    g_array_unref(file->records);
    g_byte_array_unref(file->unpacked);
    g_hash_table_unref(file->build_ids);
    g_free(file->hostname);
    g_free(file->release);
    g_free(file->version);
    g_free(file->arch);
    g_free(file->command);
    g_free(file->damage);
}

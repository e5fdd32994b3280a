/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/attached/source_map.h"

#include <string.h>

#include "base/error.h"
#include "base/files/reader.h"
#include "base/files/writer.h"
#include "profile/file/deep_internal.h"
#include "profile/file/attached/attached.h"

static const char id_line[] = "fathom source lines version 1\n";
static const char id_line_times[] = "fathom source lines version 2\n";

struct fm_source_map_builder {
    GArray *owners; /* uint32_t: ps of each line */
    GArray *lines, *points;
    bool has_times;
};

struct fm_source_map_builder *fm_source_map_builder_new(void)
{
    struct fm_source_map_builder *builder = g_new0(struct fm_source_map_builder, 1);
    builder->owners = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    builder->lines = g_array_new(FALSE, FALSE, sizeof(struct fm_source_code));
    builder->points = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return builder;
}

void fm_source_map_builder_add(struct fm_source_map_builder *builder, uint32_t ps, uint32_t line,
                               const uint32_t *points, uint32_t point_count)
{
    g_return_if_fail(builder != NULL && (point_count == 0 || points != NULL));
    struct fm_source_code code = {line, builder->points->len, point_count, 0};
    g_array_append_val(builder->owners, ps);
    g_array_append_val(builder->lines, code);
    g_array_append_vals(builder->points, points, point_count);
}

void fm_source_map_builder_has_times(struct fm_source_map_builder *builder)
{
    g_return_if_fail(builder != NULL);
    builder->has_times = true;
}

void fm_source_map_builder_add_time(struct fm_source_map_builder *builder, uint64_t quanta)
{
    g_return_if_fail(builder != NULL && builder->lines->len > 0);
    g_array_index(builder->lines, struct fm_source_code, builder->lines->len - 1).quanta = quanta;
    builder->has_times = true;
}

struct fm_source_map *fm_source_map_builder_finish(struct fm_source_map_builder *builder,
                                                   uint32_t ps_count)
{
    struct fm_source_map *map = g_new0(struct fm_source_map, 1);
    map->ps_count = ps_count;
    map->has_times = builder->has_times;
    map->line_first = g_new0(uint32_t, ps_count + 2u);
    for (guint i = 0; i < builder->owners->len; i++)
        map->line_first[g_array_index(builder->owners, uint32_t, i) + 1]++;
    for (uint32_t ps = 1; ps <= ps_count + 1u; ps++)
        map->line_first[ps] += map->line_first[ps - 1];
    g_array_unref(builder->owners);
    map->lines = (struct fm_source_code *)(void *)g_array_free(builder->lines, FALSE);
    map->points = (uint32_t *)(void *)g_array_free(builder->points, FALSE);
    g_free(builder);
    return map;
}

void fm_source_map_attach(const struct fm_source_map *map, struct fm_profile *profile)
{
    g_return_if_fail(map != NULL && profile != NULL);
    struct fm_writer *writer = fm_writer_new_memory();
    fm_writer_bytes(writer, map->has_times ? id_line_times : id_line, strlen(id_line));
    fm_write_owner(writer, profile);
    for (uint32_t ps = 1; ps <= map->ps_count; ps++) {
        uint32_t first = map->line_first[ps], end = map->line_first[ps + 1], before = 0;
        if (first == end)
            continue;
        fm_writer_num(writer, ps);
        fm_writer_num(writer, end - first);
        for (uint32_t i = first; i < end; i++) {
            const struct fm_source_code *code = &map->lines[i];
            fm_writer_num(writer, code->line - before);
            if (map->has_times)
                fm_writer_num(writer, code->quanta);
            fm_writer_num(writer, code->point_count);
            for (uint32_t p = 0; p < code->point_count; p++)
                fm_writer_num(writer, map->points[code->point_first + p]);
            before = code->line;
        }
    }
    fm_writer_num(writer, 0);
    fm_profile_attach(profile, FM_ATTACHED_LINES, writer);
}

static bool read_header(struct fm_reader *in, const struct fm_profile *profile, bool *ret_times,
                        GError **error)
{
    size_t length = strlen(id_line);
    *ret_times = fm_reader_left(in) >= length && memcmp(in->at, id_line_times, length) == 0;
    if (!*ret_times && (fm_reader_left(in) < length || memcmp(in->at, id_line, length) != 0)) {
        size_t name = strlen(id_line) - strlen("1\n");
        bool newer = fm_reader_left(in) >= length && memcmp(in->at, id_line, name) == 0 &&
                     g_ascii_isdigit((char)in->at[name]);
        return fm_reader_fail(in, in->at, newer ? FM_ERROR_VERSION : FM_ERROR_FORMAT, error,
                              "not the source lines of a C program: expected \"%.*s\"%s",
                              (int)length - 1, id_line, newer ? ": a newer fathom wrote them" : "");
    }
    in->at += length;
    return fm_read_owner(in, profile, "lines", error);
}

static bool read_line(struct fm_reader *in, const struct fm_profile *profile, uint32_t ps,
                      uint64_t *line, struct fm_source_map_builder *builder, GError **error)
{
    uint64_t step, point, quanta = 0;
    uint32_t count;
    const uint8_t *begin = in->at;
    if (!fm_reader_num_max(in, "step to the next line", UINT32_MAX, &step, error) ||
        (builder->has_times && !fm_reader_num(in, "time of a line", &quanta, error)) ||
        !fm_reader_count(in, "number of points of a line", 1, &count, error))
        return false;
    *line += step;
    if (step == 0 || *line > UINT32_MAX)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "line %" G_GUINT64_FORMAT ", expected one beyond the last",
                              (guint64)*line);
    struct fm_source_code code = {(uint32_t)*line, builder->points->len, count, quanta};
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = in->at;
        if (!fm_reader_num(in, "coverage point", &point, error))
            return false;
        if (point >= profile->ps[ps].point_count)
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "coverage point %" G_GUINT64_FORMAT
                                  " of procedure %u, expected less than %u",
                                  (guint64)point, ps, profile->ps[ps].point_count);
        uint32_t number = (uint32_t)point;
        g_array_append_val(builder->points, number);
    }
    g_array_append_val(builder->owners, ps);
    g_array_append_val(builder->lines, code);
    return true;
}

static bool read_procedures(struct fm_reader *in, const struct fm_profile *profile,
                            struct fm_source_map_builder *builder, GError **error)
{
    uint32_t ps = 0;
    for (;;) {
        uint32_t count;
        if (!fm_reader_ascending(in, "procedure", profile->ps_count, &ps, error))
            return false;
        if (ps == 0)
            return true;
        if (!fm_reader_count(in, "number of lines", 2, &count, error))
            return false;
        uint64_t line = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (!read_line(in, profile, ps, &line, builder, error))
                return false;
        }
    }
}

bool fm_source_map_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                              const struct fm_profile *profile, struct fm_source_map **ret,
                              GError **error)
{
    g_return_val_if_fail(profile != NULL && ret != NULL, false);
    struct fm_reader in = {bytes, bytes, bytes + size, name};
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    bool ok = read_header(&in, profile, &builder->has_times, error) &&
              read_procedures(&in, profile, builder, error);
    struct fm_source_map *map = fm_source_map_builder_finish(builder, profile->ps_count);
    if (ok)
        *ret = map;
    else
        fm_source_map_free(map);
    return ok;
}

bool fm_source_map_find(const struct fm_roots *roots, const char *data_path,
                        const struct fm_profile *profile, struct fm_source_map **ret,
                        GError **error)
{
    struct fm_attached_bytes found;
    g_autoptr(FmSourceMap) map = NULL;
    if (!fm_attached_find(roots, data_path, profile, FM_ATTACHED_LINES, &found, error) ||
        !fm_attached_end(
            &found,
            fm_source_map_read_bytes(found.name, found.bytes, found.size, profile, &map, error),
            error))
        return false;
    *ret = g_steal_pointer(&map);
    return true;
}

void fm_source_map_free(struct fm_source_map *map)
{
    if (map == NULL)
        return;
    g_free(map->line_first);
    g_free(map->lines);
    g_free(map->points);
    g_free(map);
}

uint64_t fm_source_map_count(const struct fm_source_map *map, const struct fm_source_code *code,
                             const uint64_t *point_counts)
{
    g_return_val_if_fail(map != NULL && code != NULL, 0);
    uint64_t most = 0;
    if (code->point_count == 0)
        return UINT64_MAX;
    for (uint32_t i = 0; i < code->point_count; i++)
        most = MAX(most, point_counts[map->points[code->point_first + i]]);
    return most;
}

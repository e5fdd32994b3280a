/* SPDX-License-Identifier: Apache-2.0 */
/* NAME.lines of a C program: the source lines with code of each procedure, and the coverage
 * points of the blocks that contain this code. With the profile it gives the execution count of
 * each line: that of its most frequent block. docs/format-data.md
 *
 * Old recordings have it as NAME.procrep, a name now used only for the bodies of Mercury's
 * procedures; fm_source_map_read_beside() reads those too. */
#pragma once

#include "base/files/roots.h"
#include "profile/file/profile.h"

struct fm_source_code {
    uint32_t line;        /* line in the file that the procedure is declared in */
    uint32_t point_first; /* into points */
    uint32_t point_count; /* 0 = it is not known how often it ran */
    uint64_t quanta;      /* part of the procedure's self time, in all contexts; has_times */
};

struct fm_source_map {
    uint32_t ps_count;
    uint32_t *line_first;         /* [ps_count + 2] into lines; lines of ps i: [i] to [i + 1] - 1 */
    struct fm_source_code *lines; /* ascending by line within a procedure */
    bool has_times;               /* the quanta are known */
    uint32_t *points;             /* numbers of coverage points of the procedure, ascending */
};

struct fm_source_map_builder;
struct fm_source_map_builder *fm_source_map_builder_new(void);
/* Adds a line; procedures and lines in ascending order. points are copied. */
void fm_source_map_builder_add(struct fm_source_map_builder *builder, uint32_t ps, uint32_t line,
                               const uint32_t *points, uint32_t point_count);
/* The time that fell on the line added last. */
void fm_source_map_builder_add_time(struct fm_source_map_builder *builder, uint64_t quanta);
/* Time by line is known, also where no line has any. */
void fm_source_map_builder_has_times(struct fm_source_map_builder *builder);
/* Frees the builder. Caller owns the map. */
struct fm_source_map *fm_source_map_builder_finish(struct fm_source_map_builder *builder,
                                                   uint32_t ps_count);

/* Writes a new file and renames it to path: version 2 where times are known, else version 1. */
FM_MUST_USE bool fm_source_map_write(const struct fm_source_map *map,
                                     const struct fm_profile *profile, const char *path,
                                     GError **error);
/* Reads the map that belongs to profile. Errors: FM_ERROR_IO, _NOT_FOUND (there is no such file),
 * _FORMAT (also: a map of another profile, or the representation of a Mercury program), _TRUNCATED,
 * _VERSION. Memory is bounded by a small multiple of the file's size and of ps_count. */
FM_MUST_USE bool fm_source_map_read(const char *path, const struct fm_profile *profile,
                                    struct fm_source_map **ret, GError **error);
/* Reads NAME.lines beside NAME.data, or, where that is not, the lines that an older fathom wrote to
 * NAME.procrep; beneath roots, NULL = anywhere. FM_ERROR_NOT_FOUND when there are none. */
FM_MUST_USE bool fm_source_map_read_beside(const struct fm_roots *roots, const char *data_path,
                                           const struct fm_profile *profile,
                                           struct fm_source_map **ret, GError **error);
/* NAME.lines of NAME.data; g_free(). */
char *fm_source_map_path(const char *data_path);
/* Reads from memory; name is used in messages. */
FM_MUST_USE bool fm_source_map_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                          const struct fm_profile *profile,
                                          struct fm_source_map **ret, GError **error);
void fm_source_map_free(struct fm_source_map *map); /* NULL is allowed */

typedef struct fm_source_map FmSourceMap;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmSourceMap, fm_source_map_free)

/* How often the code on a line ran, UINT64_MAX if that is not known. point_counts: those of the
 * procedure, summed or of one context, in the order of its points. */
uint64_t fm_source_map_count(const struct fm_source_map *map, const struct fm_source_code *code,
                             const uint64_t *point_counts);

/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines of a C program: those with code of each procedure, and the coverage points of
 * the blocks that contain this code. With the profile it gives the execution count of each line:
 * that of its most frequent block. It is part of the profile; older recordings have it as
 * NAME.lines, the oldest as NAME.procrep. docs/format-data.md */
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

/* Keeps the map with the profile that it belongs to (attached/attached.h). */
void fm_source_map_attach(const struct fm_source_map *map, struct fm_profile *profile);
/* Reads the map that is attached to the profile, or, of an older recording, NAME.lines beside
 * NAME.data; beneath roots, NULL = anywhere. Errors: FM_ERROR_IO, _NOT_FOUND (there is none),
 * _FORMAT (also: a map of another profile, or the representation of a Mercury program), _TRUNCATED,
 * _VERSION. Memory is bounded by a small multiple of the bytes and of ps_count. */
FM_MUST_USE bool fm_source_map_find(const struct fm_roots *roots, const char *data_path,
                                    const struct fm_profile *profile, struct fm_source_map **ret,
                                    GError **error);
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

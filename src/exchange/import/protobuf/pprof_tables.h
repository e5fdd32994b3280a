/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a profile of pprof's, which samples refer to: strings, functions, locations. Texts
 * are borrowed from the file; the samples stay where they are. */
#pragma once

#include "exchange/import/protobuf/fields.h"
#include "exchange/import/stacks.h"

struct fm_pprof_text {
    const char *text; /* not terminated */
    size_t size;
};
struct fm_pprof_type {
    uint64_t name, unit; /* strings */
};
struct fm_pprof_function {
    uint64_t id, name, file; /* strings */
    uint64_t line;
};
/* An inlined body of a location; the innermost stands first. */
struct fm_pprof_line {
    uint64_t function; /* id */
    uint32_t line;     /* 0 = not known */
    uint32_t made;     /* function of the stacks; UINT32_MAX = not made yet */
};
struct fm_pprof_location {
    uint64_t id, mapping, address;
    size_t first; /* line */
    size_t count;
};

struct fm_import_ids;

struct fm_pprof_tables {
    GArray *strings;                                /* struct fm_pprof_text */
    GArray *functions, *locations, *lines;          /* struct fm_pprof_... */
    GArray *files;                                  /* uint64_t: string of each mapping */
    GArray *types;                                  /* struct fm_pprof_type */
    GArray *comments;                               /* uint64_t: strings */
    struct fm_import_ids *by_function, *by_mapping; /* index + 1 */
    struct fm_import_ids *by_location; /* NULL: the ids are 1, 2, 3, ... in this order */
    uint64_t duration, period, wanted; /* wanted: string, the type that is shown first */
    bool has_period_type;
    struct fm_pprof_type period_type;
    uint64_t samples;
    bool functions_are_numbered; /* they had no ids: they are numbered from 1 */
    bool ids_repeat;             /* two functions or two locations have the same */
};

enum fm_pprof_fault { FM_PPROF_WHOLE, FM_PPROF_DAMAGED, FM_PPROF_TOO_LARGE };
/* FM_PPROF_TOO_LARGE: the tables would take more than memory_max bytes, since a message of two
 * bytes is an entry of a hundred. fm_pprof_tables_done() in any case. */
FM_MUST_USE enum fm_pprof_fault fm_pprof_tables_read(struct fm_pprof_tables *tables,
                                                     const uint8_t *bytes, size_t size,
                                                     uint64_t memory_max);
void fm_pprof_tables_done(struct fm_pprof_tables *tables);

/* "" where there is no such string. */
struct fm_pprof_text fm_pprof_string(const struct fm_pprof_tables *tables, uint64_t index);
/* As above; g_free(). */
char *fm_pprof_string_dup(const struct fm_pprof_tables *tables, uint64_t index);
/* NULL: there is none. */
const struct fm_pprof_function *fm_pprof_function(const struct fm_pprof_tables *tables,
                                                  uint64_t id);
const struct fm_pprof_location *fm_pprof_location(const struct fm_pprof_tables *tables,
                                                  uint64_t id);
/* The file of a mapping; "" where there is none. */
struct fm_pprof_text fm_pprof_file(const struct fm_pprof_tables *tables, uint64_t mapping);

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder only. */
#pragma once

#include "base/files/beside.h"
#include "base/files/reader.h"
#include "base/job.h"
#include "base/text/strings.h"
#include "profile/file/build.h"
#include "profile/file/profile.h"

/* --- the file format (docs/format-data.md) --- */

#define FM_MERCURY_ID FM_PROFILE_BEGINS_MERCURY " version "
#define FM_C_ID FM_PROFILE_BEGINS_C " version "
#define FM_C_VERSION 1

enum fm_node_token {
    FM_TOKEN_END,
    FM_TOKEN_CSS,
    FM_TOKEN_CSD,
    FM_TOKEN_PS,
    FM_TOKEN_PD,
    FM_TOKENS,
};
extern const char *const fm_node_names[FM_TOKENS];

#define FM_FLAGS_WORD 0x00ffu
#define FM_FLAGS_CANONICAL 0x0300u
#define FM_FLAGS_CANONICAL_SHIFT 8
#define FM_FLAGS_COMPRESSION 0x0c00u
#define FM_FLAGS_COVERAGE 0x3000u
#define FM_FLAGS_COVERAGE_SHIFT 12

#define FM_LABEL_KIND_C 3 /* in the file; fm_ps.label_kind is FM_LABEL_FUNCTION */
#define FM_LABEL_C_VARIADIC 0x01u
#define FM_LABEL_C_INLINED 0x02u
/* Kind of a C call site in the file: normal, and its callee's body was inlined there. */
#define FM_SITE_BYTE_INLINED 5u

#define FM_MASK_EXPLICIT_CALLS 0x0001u /* before exits; written by no known program */
#define FM_MASK_MERCURY 0x01ffu
/* Mask bit of each measure; the values follow in the order of the measures. */
extern const uint32_t fm_mask_bits[FM_MEASURES_MAX];

#define FM_IDS_MAX 0x7ffffff0u /* ids leave room for FM_SLOT_MULTI and for sentinels */

/* --- memory --- */

struct fm_profile_storage {
    struct fm_strings *strings;
    gatomicrefcount refs;    /* fm_profile_ref() */
    struct fm_profile *base; /* that the nodes belong to, a reference; NULL: its own */
};

/* A profile with its strings and nothing else. */
struct fm_profile *fm_profile_alloc(void);

/* calloc that fails with FM_ERROR_LIMIT, for sizes that come from a file. NULL on failure. */
void *fm_array_alloc(const char *name, size_t count, size_t item_bytes, GError **error);

/* A growing array of numbers. */
struct fm_u32s {
    uint32_t *items;
    size_t count, capacity;
};
void fm_u32s_grow(struct fm_u32s *array);
static inline void fm_u32s_push(struct fm_u32s *array, uint32_t item)
{
    if (FM_UNLIKELY(array->count == array->capacity))
        fm_u32s_grow(array);
    array->items[array->count++] = item;
}
/* Gives back what is not used; the items then belong to the caller. */
uint32_t *fm_u32s_steal(struct fm_u32s *array);

/* Sets one number of a column of `count`, which widens as needed: 0, 4, 8 bytes. */
FM_MUST_USE bool fm_column_set_wide(struct fm_column *column, size_t count, size_t index,
                                    uint64_t value);
FM_MUST_USE static inline bool fm_column_set(struct fm_column *column, size_t count, size_t index,
                                             uint64_t value)
{
    if (FM_LIKELY(column->width == 4) && FM_LIKELY(value <= UINT32_MAX)) {
        column->u32[index] = (uint32_t)value;
        return true;
    }
    return fm_column_set_wide(column, count, index, value);
}
void fm_column_done(struct fm_column *column);

/* The strings must be the profile's own. */
/* --- a build that is under way --- */

/* Lists by container are chains while building: site -> next site of the same ps, csd -> next csd
 * of the same slot follow from one counting pass at the end, in the order of adding. */
struct fm_build {
    struct fm_profile *profile; /* ps and css with room to grow */
    struct fm_build_header header;
    uint32_t ps_capacity, css_capacity;
    struct fm_u32s pd_ps, csd_caller, csd_slot, csd_callee;
    size_t csd_capacity;     /* capacity of the columns */
    GArray *points;          /* struct owned_point */
    GArray *pd_points;       /* struct counted_point, as they were added */
    GArray *depths;          /* struct fm_depths, as they were added */
    char *fault;             /* the first mistake */
    struct fm_profile *base; /* owner of its nodes, a reference; NULL: its own */
};

/* Keeps the first mistake: finish tells it. */
void fm_build_fault(struct fm_build *build, const char *format, ...) FM_PRINTF(2, 3);
/* slots, pd_slot_first and multi: csds in the order of adding. False: build->fault. */
bool fm_build_lay_slots(struct fm_build *build);
struct fm_profile *fm_build_profile(struct fm_build *build);
/* The end of fm_build_finish(): depths, and what the header says. */
void fm_build_lay_facts(struct fm_build *build);
/* Frees the arrays of nodes. */
void fm_profile_free_nodes(struct fm_profile *profile);
void fm_run_info_add_mark(struct fm_profile *profile, const struct fm_mark *mark);
void fm_run_info_add_note(struct fm_profile *profile, const char *note);
void fm_run_info_add_depths(struct fm_profile *profile, const struct fm_depths *depths);
void fm_run_info_add_part(struct fm_profile *profile, const struct fm_part *part);

struct fm_reader;
struct fm_writer;

/* Behind the line that names the format: which profile the file belongs to. what: "lines". */
void fm_write_owner(struct fm_writer *writer, const struct fm_profile *profile);
FM_MUST_USE bool fm_read_owner(struct fm_reader *in, const struct fm_profile *profile,
                               const char *what, GError **error);
/* That line, then the same. */
FM_MUST_USE bool fm_read_begin(struct fm_reader *in, const char *id_line,
                               const struct fm_profile *profile, const char *what, GError **error);

/* --- checks after reading or building --- */

/* While a profile is read or built, the first word of each list in fm_profile.multi holds the kind
 * of the slot above the count, and the first FM_SITE_KINDS words of multi are the empty lists of
 * each kind. */
#define FM_LIST_KIND_SHIFT 29
#define FM_LIST_COUNT_MAX ((1u << FM_LIST_KIND_SHIFT) - 1)

struct fm_fault {
    enum fm_node_token token; /* the node that is wrong; FM_TOKEN_END: none in particular */
    uint32_t id;
    int code; /* enum fm_error */
    char *text;
};

/* Ties statics and dynamics together: css.ps and css.slot, csd_css; checks that every id is
 * defined, that each csd stands in one slot and each css in one ps, and that slots and coverage
 * counts fit the ps. pd_slot_first must be complete. On failure fills *fault (g_free its text). */
FM_MUST_USE bool fm_profile_resolve(struct fm_profile *profile, struct fm_fault *fault);

/* One thread's part of the contexts. */
struct fm_resolved {
    uint32_t at, end; /* the stretch that it has taken */
    bool failed;      /* at `at` */
    bool disorder;    /* csds of one of them do not ascend */
    struct fm_fault fault;
};

/* Resolving in steps of about `budget` nodes; begin with zeros, end with fm_resolving_done(). It
 * must not move. */
struct fm_resolving {
    bool beside; /* contexts are looked at by a thread beside, too */
    unsigned stage;
    uint32_t cursor;
    struct fm_profile *profile;
    uint32_t next_pd;            /* before the first that no thread has taken; atomic */
    struct fm_resolved parts[2]; /* here, beside */
    struct fm_worker *worker;
};
FM_MUST_USE enum fm_job_state fm_profile_resolve_step(struct fm_profile *profile,
                                                      struct fm_resolving *resolving,
                                                      uint32_t budget, struct fm_fault *fault);
void fm_resolving_done(struct fm_resolving *resolving);
double fm_profile_resolve_fraction(const struct fm_profile *profile,
                                   const struct fm_resolving *resolving);

/* Fills raw_name, unqualified_name and qualified_name. */
void fm_names_derive(struct fm_strings *strings, enum fm_flavour flavour, struct fm_ps *ps);
/* Fills brief_name; gives functions of C++ that would look alike more of their names. Once for a
 * profile, when all procedures are there. */
void fm_names_settle(struct fm_profile *profile);
FM_MUST_USE bool fm_measure_name_is_valid(const char *name);
/* The flags word of a profile's header fields. */
uint64_t fm_flags_make(unsigned word_size, bool canonical, enum fm_coverage_kind coverage);

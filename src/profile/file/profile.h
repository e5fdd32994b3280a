/* SPDX-License-Identifier: Apache-2.0 */
/* The deep profile in memory: a call graph of four kinds of node.
 *
 *   ps   ProcStatic        a procedure of the program              ids 1..ps_count
 *   css  CallSiteStatic    a call site in the source of one ps     ids 1..css_count
 *   pd   ProcDynamic       a procedure in one ancestor context     ids 1..pd_count
 *   csd  CallSiteDynamic   an edge: caller pd, slot, callee pd     ids 1..csd_count
 *
 *   pd --slot i--> csd --callee--> pd          slot i of a pd belongs to site i of its ps
 *
 * Id 0 is "none" in every id space and every array below has an unused element 0. All
 * measurements belong to csds. Ids are dense, each csd is in exactly one slot of one pd, each
 * css in exactly one ps: the reader checks all of this, so users of a profile may rely on it.
 *
 * Two flavours share the layout: Mercury's own files, and recordings of C programs, which have
 * their own id line and name their measures in the header. Immutable once read or built. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/progress.h"
#include "profile/file/facts/durations.h"
#include "profile/file/facts/heap.h"
#include "profile/file/facts/inclusive.h"
#include "profile/file/facts/ranks.h"
#include "profile/file/facts/unhooked.h"
#include "profile/file/facts/waiting.h"
#include "profile/measures/measures.h"

/* One number a node, stored as narrow as the largest allows: a column of zeros takes no memory. */
struct fm_column {
    unsigned width; /* bytes an element: 0 (all zero), 4 or 8 */
    union {
        uint32_t *u32;
        uint64_t *u64;
    };
};

static inline uint64_t fm_column_get(const struct fm_column *column, size_t index)
{
    return column->width == 4 ? column->u32[index] : column->width == 8 ? column->u64[index] : 0;
}

/* At most this many quanta are not significant. */
#define FM_FEW_QUANTA 10

enum fm_flavour { FM_FLAVOUR_MERCURY, FM_FLAVOUR_C };
enum fm_coverage_kind { FM_COVERAGE_NONE, FM_COVERAGE_STATIC, FM_COVERAGE_DYNAMIC };

enum fm_label_kind { FM_LABEL_PREDICATE, FM_LABEL_FUNCTION, FM_LABEL_SPECIAL };

enum fm_site_kind {
    FM_SITE_NORMAL, /* the callee is known; its slots hold at most one csd */
    FM_SITE_SPECIAL,
    FM_SITE_HIGHER_ORDER, /* for C: a call through a pointer */
    FM_SITE_METHOD,       /* for C++: a virtual call */
    FM_SITE_CALLBACK,     /* a call made by foreign code; for C: qsort, signals, threads */
    /* C: all calls of the procedure without known places; which of them share a call site is not
     * known. 5 has another meaning in files */
    FM_SITE_UNKNOWN = 6,
    FM_SITE_KINDS,
};

enum fm_coverage_point_type { FM_POINT_AFTER, FM_POINT_BRANCH_ARM };

struct fm_coverage_point {
    const char *goal_path;
    enum fm_coverage_point_type type;
    uint64_t count; /* FM_COVERAGE_STATIC only */
};

/* Strings belong to the profile, are never NULL, and hold no NUL byte. The bytes are the file's:
 * UTF-8 in practice, not guaranteed. */
struct fm_ps {
    enum fm_label_kind label_kind;
    const char *decl_module; /* special: the type's module. C: the translation unit */
    const char *def_module;
    const char *name;      /* special: the predicate's name, "__Unify__". C++: demangled */
    const char *type_name; /* special only, else "" */
    uint32_t arity;        /* C: FM_ARITY_UNKNOWN if debug information lacks it */
    uint32_t mode;
    const char *file;
    uint32_t line;
    bool in_interface;
    bool variadic; /* C only */
    bool inlined;  /* C only: some calls are not counted: those of inlined bodies; for arcs, those
                      from unknown callers */
    uint32_t css_first;   /* its sites are css_of_ps[css_first .. + css_count] */
    uint32_t css_count;   /* = number of slots of each of its pds */
    uint32_t point_first; /* into fm_profile.points */
    uint32_t point_count;
    const char *raw_name;         /* "list.append/3-0"; C: the linker's name */
    const char *unqualified_name; /* "append/3-0"; C: "insert"; C++: shortened, text/cxx_name.h */
    char *short_name;           /* private to src/profile/file: fm_profile_short_name(), or NULL as
                                   long as nobody has asked */
    const char *qualified_name; /* "list.append/3-0"; C: "src/btree.c:insert"; unlike all others
                                   unless the linker's names are alike, too */
    const char *brief_name;     /* the end of qualified_name; C: from the last part of the path,
                                   where no other's is the same: "btree.c:insert" */
};
#define FM_ARITY_UNKNOWN UINT32_MAX

struct fm_css {
    enum fm_site_kind kind;
    uint32_t callee_ps;     /* FM_SITE_NORMAL only, else 0; C: 0 also where it is not known */
    const char *type_subst; /* FM_SITE_NORMAL only, else "" */
    const char *file;       /* "" = that of the containing procedure */
    uint32_t line;
    const char *goal_path; /* C: "" or the column and call number; docs/format-data.md */
    uint32_t ps;           /* the containing procedure */
    uint32_t slot;         /* its number there, from 0 */
    bool inlined;          /* C, FM_SITE_NORMAL: the callee's body was inlined here, so how often it
                              ran is not recorded; calls of other copies of the site are */
};

/* The nature of figures that are not a recording's. */
enum fm_nature {
    FM_NATURE_ARCS = 1,         /* no contexts: a proc dynamic a procedure, see csd_inclusive */
    FM_NATURE_CLOCK = 2,        /* times are not known to be CPU time: of the clock, of waits */
    FM_NATURE_HEAP_SAMPLED = 4, /* allocations and bytes are estimates from samples */
    FM_NATURE_TIME_EXACT = 8,   /* times are of events, each measured: not of samples */
    FM_NATURE_AVERAGED = 16,    /* arcs: csd_inclusive is an estimate, as if each call of a function
                                   cost the same */
    FM_NATURE_ALL = 31,
};

/* A moment that the recorded program marked (fathom/fathom.h). */
struct fm_mark {
    const char *name;
    uint64_t ns;       /* since the recording's start */
    uint64_t quanta;   /* CPU time of all threads together until then */
    uint32_t snapshot; /* the number of the snapshot taken then; 0 = a phase begins */
};

/* The event by which a recording sampled, when quanta are not time (ticks_per_second is 0); its
 * name is the measure's. */
struct fm_tick_event {
    bool recorded;
    bool user_alone; /* without the kernel's part */
    uint64_t period; /* from one sample to the next; 0 = counted at ticks and waits. Of a sum: the
                        longest */
};

/* The recorded part of the run; all zero for the whole run. Of a sum: of
 * any of its parts. */
struct fm_extent {
    uint64_t recorded_ns; /* while the recording was not stopped, of a sum the longest; 0 = all the
                             time, or not known */
    bool unfinished;      /* the program continued: memory live then may have been freed later */
    bool later; /* it begins at a moment of the run: live memory is the contexts' increase up to its
                   end */
};

/* Facts of a C program's recording beside the graph; all zero for Mercury's profiles. */
/* The process that a profile is of. */
struct fm_process_fact {
    const char *command; /* as a shell would take it; "" = not known */
    const char *folder;  /* working folder at the start */
    uint32_t pid, parent_pid;
    uint32_t rank,
        rank_count;        /* in an MPI program: rank + 1, and the number of ranks; 0 = not known */
    const char *host;      /* host of such a process; NULL = not known */
    uint64_t start_ns;     /* since 1970; its end is that and run_info.duration_ns */
    bool forked;           /* a child of fork that went on with its parent's program, */
    const char *forked_in; /* from this function; NULL = not known */
};

/* One of the profiles that a sum was made of. */
#define FM_PART_HASH_BYTES 32u
struct fm_part {
    uint8_t hash[FM_PART_HASH_BYTES]; /* SHA-256 of the file that was added */
    uint64_t times;                   /* how often it is in the sum, at least 1 */
    struct fm_process_fact process;   /* command "": not known */
    uint64_t duration_ns, peak_bytes; /* 0 = not known */
    bool has_cost;                    /* the two are known: */
    uint64_t calls, cpu_ns;
};
/* The order that parts have, times apart: 0 when both are the same. */
int fm_part_compare(const struct fm_part *a, const struct fm_part *b);

/* Recursion depth of a clique: calls into one of its proc dynamics by edges other than the one that
 * created it, by depth. The call that enters the clique has depth 1; one that leads back to its
 * caller's path has a depth one more than the call from which it came: for a procedure that calls
 * itself, the number of open calls. calls[k]: depths 2^k to 2^(k + 1) - 1. */
#define FM_DEPTH_CLASSES 30u
struct fm_depths {
    uint32_t pd;
    uint64_t greatest; /* maximum of the recorded depths; 0 = none */
    uint64_t unknown;  /* calls of a depth that is not recorded */
    uint64_t calls[FM_DEPTH_CLASSES];
};

#define FM_ORIGIN_OUTSIDE "samples of a running process"

struct fm_run_info {
    struct fm_process_fact process; /* command NULL: not known */
    uint32_t part_count;            /* 0: no sum */
    struct fm_part *parts;          /* ascending */
    uint32_t depths_count;
    struct fm_depths *depths; /* ascending by pd */
    uint32_t mark_count, note_count;
    struct fm_mark *marks; /* ascending by time */
    const char **notes;    /* lost data, and files not found: a sentence each */
    uint64_t duration_ns;  /* from start to end; 0 = not known */
    struct fm_extent extent;
    uint64_t peak_bytes; /* most heap memory at one moment; 0 = not known */
    /* A sample charges the time since the last one: as many quanta, on most machines about 4. */
    uint64_t sample_count;   /* that charged the program; 0 = not known */
    uint64_t sample_squares; /* sum of the squares of the samples' charges */
    /* For a profile imported from another tool's file: its format, and what was done. NULL for
     * recordings by hooks or a preloaded library; FM_ORIGIN_OUTSIDE for those from outside. */
    const char *origin;
    uint32_t unknown; /* bit m: measure m, one of the first eight, was not recorded: its zeros say
                         nothing */
    uint32_t nature;  /* enum fm_nature bits */
    /* FM_NATURE_HEAP_SAMPLED: bytes per sample, 0 = not known */
    uint64_t heap_period;
    struct fm_tick_event tick_event;
    struct fm_heap_info heap_info;
    struct fm_duration_info durations;  /* durations of the traced functions */
    struct fm_inclusive_info inclusive; /* totals inside recursions */
    struct fm_rank_info rank_info;      /* for sums: per-rank statistics */
    struct fm_unhooked_info unhooked;   /* time in code without hooks */
    struct fm_wait_info wait_info;      /* all empty where waiting was not recorded, and in sums
                                           of profiles of which not all tell it */
};

/* Kinds of bytes that stand packed in the file and are read when pages need them:
 * attached/attached.h. */
enum fm_attachment_kind {
    FM_ATTACHED_LINES,   /* attached/source_map.h */
    FM_ATTACHED_CODE,    /* machine/machine_code.h */
    FM_ATTACHED_SOURCES, /* attached/source_texts.h */
    FM_ATTACHED_KINDS
};
#define FM_ATTACHED_BYTES_MAX (UINT64_C(1) << 30) /* unpacked */

struct fm_attachment {
    uint8_t *packed;    /* zstd, or as they are where both sizes are equal; NULL = none */
    size_t packed_size; /* bytes */
    size_t size;        /* unpacked */
};

struct fm_profile {
    enum fm_flavour flavour;
    unsigned version; /* version of the file read: 8 or 9; C: 1 */
    const char *program_name;
    uint64_t flags;     /* as in the file */
    unsigned word_size; /* bytes, from the flags */
    bool canonical;
    enum fm_coverage_kind coverage;
    uint64_t ticks_per_second; /* 0 = unknown */
    uint64_t instrumentation_quanta;
    uint64_t user_quanta;
    uint64_t callseqs; /* header's total */
    uint32_t root_pd;
    unsigned measure_count; /* >= FM_MEASURES_MERCURY */
    struct fm_measure measures[FM_MEASURES_MAX];

    uint32_t ps_count, css_count, pd_count, csd_count; /* highest ids */

    struct fm_ps *ps;    /* [ps_count + 1] */
    struct fm_css *css;  /* [css_count + 1] */
    uint32_t *css_of_ps; /* css ids, ps by ps, in slot order */
    struct fm_coverage_point *points;

    uint32_t *pd_ps;            /* [pd_count + 1] */
    uint32_t *pd_slot_first;    /* [pd_count + 2] into slots */
    uint32_t *slots;            /* csd id or 0; FM_SLOT_MULTI | index into multi otherwise */
    uint32_t *multi;            /* lists: count, then that many csd ids, in file order */
    struct fm_column pd_points; /* coverage counts, pd by pd */
    uint64_t *pd_point_first;   /* [pd_count + 2] into pd_points; NULL unless coverage is dynamic */

    uint32_t *csd_caller; /* [csd_count + 1] pd */
    uint32_t *csd_callee; /* [csd_count + 1] pd */
    uint32_t *csd_css;    /* [csd_count + 1] css */
    bool csds_in_order; /* numbered in the order of the slots of pd 1, 2, 3, ...: slots need not be
                           read to walk over them in that order */
    struct fm_column csd_own[FM_MEASURES_MAX]; /* [csd_count + 1] each */
    /* FM_NATURE_ARCS: recorded total costs of calls, for inherited measures, since they do not
     * follow from the graph. Own costs are known by function there, and distributed over its calls.
     * [csd_count + 1] each, else empty. */
    struct fm_column csd_inclusive[FM_MEASURES_MAX];

    struct fm_run_info run_info;
    struct fm_attachment attached[FM_ATTACHED_KINDS];

    struct fm_profile_storage *storage; /* owner of the above; private to src/profile/file */
};
#define FM_SLOT_MULTI 0x80000000u

/* The csds of one slot of a pd: *ret_count ids, valid as long as the profile. In file order. */
static inline const uint32_t *fm_profile_slot(const struct fm_profile *profile, uint32_t pd,
                                              uint32_t slot, uint32_t *ret_count)
{
    const uint32_t *entry = &profile->slots[profile->pd_slot_first[pd] + slot];
    if ((*entry & FM_SLOT_MULTI) == 0) {
        *ret_count = *entry != 0;
        return entry;
    }
    const uint32_t *list = &profile->multi[*entry & ~FM_SLOT_MULTI];
    *ret_count = list[0];
    return list + 1;
}

/* All csds of a slot whose site is not FM_SITE_NORMAL are a list, even if there are none or one. */

static inline uint64_t fm_profile_own(const struct fm_profile *profile, uint32_t csd,
                                      enum fm_measure_id measure)
{
    return fm_column_get(&profile->csd_own[measure], csd);
}

/* calls = exits + fails + exceptions - redos; signed, since a damaged file may say anything. */
static inline int64_t fm_profile_calls(const struct fm_profile *profile, uint32_t csd)
{
    return (
        int64_t)(fm_profile_own(profile, csd, FM_EXITS) + fm_profile_own(profile, csd, FM_FAILS) +
                 fm_profile_own(profile, csd, FM_EXCPS) - fm_profile_own(profile, csd, FM_REDOS));
}

/* The number of a measure that the file names, FM_MEASURES_MERCURY or more; 0 = it has none. */
unsigned fm_profile_measure(const struct fm_profile *profile, enum fm_further_measure further);
/* The number of a measure by its name in this file, or by one that fm_measure_find() takes: "time"
 * of quanta of a known length. FM_MEASURES_MAX = the profile has none. */
unsigned fm_profile_find_measure(const struct fm_profile *profile, const char *name);

/* False: the measure was not recorded, and its zeros say nothing. */
static inline bool fm_profile_knows(const struct fm_profile *profile, unsigned measure)
{
    return (profile->run_info.unknown >> measure & 1u) == 0;
}
/* Whether there may be calls of the procedure, or at the call site, that were not counted. */
static inline bool fm_profile_ps_uncounted(const struct fm_profile *profile, uint32_t ps)
{
    return profile->ps[ps].inlined || !fm_profile_knows(profile, FM_EXITS);
}
static inline bool fm_profile_css_uncounted(const struct fm_profile *profile, uint32_t css)
{
    return profile->css[css].inlined || !fm_profile_knows(profile, FM_EXITS);
}

/* C: the label in a site's goal path, which is "[COLUMN] [LABEL]": the linker's name of foreign
 * code
 * ("qsort"), or the kind of call; "" = none. */
const char *fm_css_label(const struct fm_css *site);

/* What pages show: unqualified_name; of C++ and other languages "Node::eval" (base/names), in full
 * in name. Several functions may have it. Computed when it is asked for first, from any thread;
 * belongs to the profile. */
const char *fm_profile_short_name(const struct fm_profile *profile, uint32_t ps);
/* Whether that is an abbreviation: not for plain names and Mercury's. */
bool fm_profile_has_short_name(const struct fm_profile *profile, uint32_t ps);
/* The short names of different functions that stand together: equal ones get the least addition
 * that tells them apart. Those that fm_profile_has_short_name() is false of stay as they are, equal
 * or not. For g_strfreev(). */
char **fm_profile_names_apart(const struct fm_profile *profile, const uint32_t *ps, uint32_t count);
/* Tells all short names of a profile apart that no other thread uses yet: for listings that show
 * any of its functions. */
void fm_profile_tell_all_apart(struct fm_profile *profile);

/* False: a thread or a signal, i.e. a node below the root of a C program without a place. Its first
 * call is not in the source. */
static inline bool fm_profile_is_function(const struct fm_profile *profile, uint32_t ps)
{
    return profile->flavour != FM_FLAVOUR_C || profile->ps[ps].file[0] != '\0' ||
           profile->ps[ps].decl_module[0] != '\0';
}
/* Calls without starts of threads and signals, which are not calls. */
static inline int64_t fm_profile_calls_of_code(const struct fm_profile *profile, uint32_t csd)
{
    return fm_profile_is_function(profile, profile->pd_ps[profile->csd_callee[csd]])
               ? fm_profile_calls(profile, csd)
               : 0;
}
/* How many calls the whole program made, wherever that is said: the calls of functions that were
 * counted. Nothing when calls are not known (FM_EXITS); wraps as sums of a damaged file may. */
int64_t fm_profile_calls_of_all(const struct fm_profile *profile);

static inline bool fm_profile_is(const struct fm_profile *profile, enum fm_nature nature)
{
    return (profile->run_info.nature & nature) != 0;
}

/* Quanta per independent sample, which determines the statistical error of times. 1 if nothing is
 * known about samples, and for Mercury. Never less than the mean of a sample, because the sum of
 * squares may overflow. */
static inline double fm_profile_sample_quanta(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    double all = (double)profile->user_quanta;
    double by_squares = all > 0 ? (double)run_info->sample_squares / all : 0;
    double mean = run_info->sample_count > 0 ? all / (double)run_info->sample_count : 0;
    double most = by_squares > mean ? by_squares : mean;
    return most > 1 ? most : 1;
}
static inline double fm_profile_samples(const struct fm_profile *profile, double quanta)
{
    return quanta / fm_profile_sample_quanta(profile);
}

/* Words for quanta of unknown duration: "page faults", "samples". */
const char *fm_profile_tick_words(const struct fm_profile *profile);

/* How long the recording was on: from start to end, unless it says otherwise; 0 = not known. */
uint64_t fm_profile_recorded_ns(const struct fm_profile *profile);

/* NULL: not recorded, or it never recursed. */
const struct fm_depths *fm_profile_depths(const struct fm_profile *profile, uint32_t pd);
/* Adds the depths of another part for the same proc dynamic. */
void fm_depths_add(struct fm_depths *depths, const struct fm_depths *other);

/* The parts of a sum, by rank, those without one last, equal ones in their order: their indices,
 * from 0; g_free(). */
uint32_t *fm_profile_places(const struct fm_profile *profile);
/* The first part of each place of the per-rank statistics (profile/file/facts/ranks.h); g_free().
 */
uint32_t *fm_profile_rank_places(const struct fm_profile *profile);
/* How many different ranks the parts have, of which there are more: processes of a rank count as
 * one then. 0: each part is another rank, or not all have one. */
uint32_t fm_profile_ranks_shared(const struct fm_profile *profile);
/* The rank + 1 that a process, or each part of a sum, has; 0 = none, or several. */
uint32_t fm_profile_rank(const struct fm_profile *profile);
/* Takes ownership of the contents of info. */
void fm_profile_set_ranks(struct fm_profile *profile, struct fm_rank_info *info);
/* As above, for totals inside recursions; contexts without a record have none. */
void fm_profile_set_inclusive(struct fm_profile *profile, struct fm_inclusive_info *info);

/* Which pds belong to a recursion of several functions; [pd_count + 1], g_free(). O(nodes). */
bool *fm_profile_recursions(const struct fm_profile *profile);
/* By which pd the recursion that each pd belongs to was entered; 0 = it belongs to none.
 * [pd_count + 1], g_free(). O(nodes). */
uint32_t *fm_profile_recursion_heads(const struct fm_profile *profile);

/* The tree by which contexts are reached from the root, breadth first. */
struct fm_tree {
    uint32_t *order, count; /* pds that the root reaches, callers first */
    uint32_t *above; /* [pd + 1] from where it is reached; the root: itself; 0 = not at all */
    uint32_t *heads; /* [pd + 1] as fm_profile_recursion_heads() says */
};
void fm_profile_tree_init(struct fm_tree *tree, const struct fm_profile *profile);
void fm_profile_tree_done(struct fm_tree *tree);

/* Reads a profile, version 8 or 9, either flavour. On success the caller owns *ret;
 * fm_profile_free(). Everything that the comment at the top of this file promises has been
 * checked. Errors: FM_ERROR_IO, _FORMAT, _TRUNCATED, _VERSION, _LIMIT, _CANCELLED. Memory is
 * bounded by a small multiple of the file's size, whatever its counts say. progress may be NULL. */
FM_MUST_USE bool fm_profile_read(const char *path, const struct fm_progress *progress,
                                 struct fm_profile **ret, GError **error);
/* Reads from memory; name is used in messages. */
FM_MUST_USE bool fm_profile_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                       const struct fm_progress *progress, struct fm_profile **ret,
                                       GError **error);
void fm_profile_free(struct fm_profile *profile); /* NULL is allowed */
/* Adds a reference, to be freed, too; from any thread. */
struct fm_profile *fm_profile_ref(struct fm_profile *profile);

typedef struct fm_profile FmProfile; /* for g_autoptr(FmProfile) */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmProfile, fm_profile_free)

/* Reads the process of a C program's profile, and its rank, without
 * reading the rest: it stands at the end. False: nothing. The strings of *ret are newly allocated.
 */
bool fm_profile_peek_process(const uint8_t *bytes, size_t size, struct fm_process_fact *ret);

/* Writes version 9 to a new file and renames it to path. strict_mercury leaves out what only
 * fathom reads (extra measures, id line), so that Mercury's own tools accept the file. */
FM_MUST_USE bool fm_profile_write(const struct fm_profile *profile, const char *path,
                                  bool strict_mercury, GError **error);

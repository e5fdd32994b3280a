/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder only. */
#pragma once

#include "profile/analysis/analysis.h"
#include "base/compiler.h"

/* --- map.c: numbers to numbers, open addressing --- */

struct fm_map {
    uint64_t *keys; /* 0 = empty place */
    uint64_t *values;
    size_t capacity, used;
};
void fm_map_done(struct fm_map *map);
/* The place of the value of key (> 0), made with value 0 when it is not there. Valid until the next
 * call. */
uint64_t *fm_map_at(struct fm_map *map, uint64_t key);
/* NULL when it is not there. */
const uint64_t *fm_map_find(const struct fm_map *map, uint64_t key);

/* --- storage of an analysis --- */

/* Calls of one procedure by a site without fixed callee. */
struct fm_site_arc {
    uint32_t ps, begin; /* into css_csds; they end where the site's next arc begins, or the site */
};

/* Sparse records of costs: (id, ps) -> one number for each inherited measure. */
struct fm_sparse_costs {
    struct fm_map index; /* id << 32 | ps -> number of the record */
    GArray *values;      /* int64_t[inherited] each */
};

struct fm_analysis_storage {
    gatomicrefcount refs; /* fm_analysis_ref() */
    /* analysis whose indexes it shares, a reference; NULL: it has its own */
    struct fm_analysis *base;
    unsigned inherited; /* measures from FM_FIRST_INHERITED on */
    /* Csds by callee: [pd_count + 1] the only csd, as in nearly all cases, 0 = none; for several,
     * FM_SLOT_MULTI | the end of their list in pd_in_lists, whose first has the bit
     * FM_SLOT_MULTI. */
    uint32_t *pd_in;
    uint32_t *pd_in_lists;
    uint32_t pd_in_left; /* number of csds in lists; used while the lists are laid out */

    /* Bit sets: the csd leads into its callee's clique and is charged with its cost; the pd is the
     * only one in its clique, as most are. */
    uint32_t *csd_enters; /* [csd_count / 32 + 1] */
    uint32_t *pd_alone;   /* [pd_count / 32 + 1] */

    /* Totals of each pd: 4 bytes each, those of a pd together; larger values are in pd_total_wide.
     * Measures that are 0 everywhere have no place. */
    uint32_t *pd_totals; /* [(pd_count + 1) * total_width] */
    unsigned total_width;
    uint8_t total_place[FM_MEASURES_MAX]; /* index in a pd's totals, + 1; 0 = none */
    struct fm_map pd_total_wide;          /* pd << 4 | measure */
    bool totals_wrapped;                  /* some sum did: totals may be less than their parts */
    /* Sum of the totals of the members, for cliques of several: clique << 4 | measure. */
    struct fm_map clique_total;
    struct fm_map clique_entered; /* likewise, for arcs: cost of the calls that enter a clique */

    /* Zeroed procedures call through pointers or methods. The runtime forgets during such calls
     * that they are active, so they may be active again below without being recognised as a
     * recursion. Cost of nested activations: the cost of activations further below a zeroed
     * procedure, by procedure and by the clique above that contains the same procedure. It is
     * stored at the csd that leaves that clique on the path down, and at that csd's caller. Sums
     * over the procedure subtract it, since it is counted in both activations. */
    struct fm_sparse_costs nested_csd, nested_pd;

    int64_t *ps_own, *ps_desc;   /* [ps_count + 1][measure_count], [ps_count + 1][inherited] */
    int64_t *css_own, *css_desc; /* own and desc costs by css */
    uint32_t *module_ps;         /* array that fm_module.ps points into */

    uint32_t *css_callee; /* [css_count + 1] the procedure that all csds of the site call; 0 = its
                             callee is not fixed, or the site is irregular */
    /* arcs.c. For sites without fixed callee: the arcs by site and procedure. */
    uint32_t *css_arc_first; /* [css_count + 2] into site_arcs */
    GArray *site_arcs;       /* struct fm_site_arc */
    struct fm_map many_arcs; /* css << 32 | ps: arcs of many csds */
    /* (css, ps) -> own, descendants, number of csds. With fixed callee: calls inside recursions,
     * [1]. Otherwise, for arcs of many calls: those from outside and those inside */
    struct fm_sparse_costs arcs[2];
    struct fm_sparse_costs arc_taken;  /* (css, ps) -> amount subtracted in css_desc, by callee */
    struct fm_sparse_costs arc_nested; /* (css, ps) -> deeper activations of ps in calls of it */
    bool *css_irregular; /* [css_count + 1] a normal site that calls another procedure than it
                            names: it has no arcs */
    bool *ps_recursive;  /* [ps_count + 1] some calls of it are made inside recursions */
    /* [ps_count + 1][inherited]: totals of the pds in cliques that the ps was the entry of */
    int64_t *ps_paid;
    uint32_t *ps_of_recursion; /* [ps_count + 1] as fm_cost.of_recursion */
    uint32_t *ps_recursion;    /* [ps_count + 1] as fm_cost.recursion */
};

/* Tables to which the costs of csds are added. Each thread has one: the storage's own, or a copy
 * that is added to it at the end. */
struct fm_csd_sums {
    int64_t *ps_own, *css_own, *css_desc; /* as in struct fm_analysis_storage, and so on */
    struct fm_sparse_costs *arcs;         /* [2] */
    bool *ps_recursive;
};

#define FM_TOTAL_WIDE UINT32_MAX /* in pd_total: the value is in pd_total_wide */

/* Sums wrap around: a damaged file may hold any numbers. */
static inline int64_t fm_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t fm_wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Iterates over the csds that lead to a pd, then returns 0: *place begins as pd_in[pd]. */
static inline uint32_t fm_pd_in_next(const struct fm_analysis *a, uint32_t *place)
{
    uint32_t csd = *place;
    bool several = FM_UNLIKELY((csd & FM_SLOT_MULTI) != 0);
    if (several)
        csd = a->storage->pd_in_lists[(csd & ~FM_SLOT_MULTI) - 1];
    *place = several && (csd & FM_SLOT_MULTI) == 0 ? *place - 1 : 0;
    return csd & ~FM_SLOT_MULTI;
}

static inline bool fm_bit_get(const uint32_t *bits, uint32_t index)
{
    return (bits[index / 32] >> index % 32 & 1u) != 0;
}
static inline void fm_bit_set(uint32_t *bits, uint32_t index, bool value)
{
    bits[index / 32] = (bits[index / 32] & ~(1u << index % 32)) | (uint32_t)value << index % 32;
}

uint64_t fm_pd_total_wide(const struct fm_analysis *a, uint32_t pd, unsigned measure);
/* Own + descendants of a pd; of all members of a clique. */
static inline uint64_t fm_pd_total(const struct fm_analysis *a, uint32_t pd, unsigned measure)
{
    const struct fm_analysis_storage *storage = a->storage;
    unsigned place = storage->total_place[measure];
    if (place == 0)
        return 0;
    uint32_t total = storage->pd_totals[(size_t)pd * storage->total_width + place - 1];
    return FM_LIKELY(total != FM_TOTAL_WIDE) ? total : fm_pd_total_wide(a, pd, measure);
}
uint64_t fm_clique_total(const struct fm_analysis *a, uint32_t clique, unsigned measure);

/* Whether the csd enters its callee's clique and is charged with the clique's cost. With contexts
 * there is one for each clique. In arc profiles each csd from outside enters, and its cost was
 * recorded. */
static inline bool fm_csd_enters(const struct fm_analysis *a, uint32_t csd)
{
    return fm_bit_get(a->storage->csd_enters, csd);
}
static inline uint64_t fm_csd_total(const struct fm_analysis *a, uint32_t csd, unsigned measure)
{
    uint32_t callee = a->profile->csd_callee[csd];
    if (fm_profile_is(a->profile, FM_NATURE_ARCS))
        return fm_column_get(&a->profile->csd_inclusive[measure], csd);
    if (FM_LIKELY(fm_bit_get(a->storage->pd_alone, callee)))
        return fm_pd_total(a, callee, measure);
    return fm_clique_total(a, a->pd_clique[callee], measure);
}
unsigned fm_total_measures(const struct fm_analysis *a, unsigned *measures);

/* --- inclusive.c: totals inside recursions --- */

/* Cost of a context with everything that ran while it was active. In Mercury profiles, and outside
 * of recursions of several functions, it is fm_pd_total(). *ret_of_recursion: it is not known, and
 * the recursion's cost is returned. */
uint64_t fm_pd_inclusive(const struct fm_analysis *a, uint32_t pd, unsigned measure,
                         bool *ret_of_recursion);
/* Share of a context, outside of recursions of several functions, in its function's total. */
uint64_t fm_pd_counted(const struct fm_analysis *a, uint32_t pd, unsigned measure);
/* Whether totals were recorded such that each stack counts once for a function: then no
 * compensation is needed. */
bool fm_counts_once(const struct fm_analysis *a, unsigned measure);
/* Total of the contexts that a function has in a recursion of several functions, in a C program. */
uint64_t fm_group_total(const struct fm_analysis *a, const uint32_t *pds, uint32_t count,
                        unsigned measure, bool *ret_of_recursion);
/* Adds the members of a recursion of several to the totals of their functions. */
void fm_sum_recursion(struct fm_analysis *a, uint32_t clique, const unsigned *measures,
                      unsigned measure_count);
/* Whether its clique was entered through its own procedure, so that the callers were charged with
 * it. */
bool fm_pd_is_paid(const struct fm_analysis *a, uint32_t pd);
/* Whether its total is the propagated one: outside of recursions of several procedures, and in
 * Mercury profiles. */
bool fm_pd_is_alone(const struct fm_analysis *a, uint32_t pd);
uint64_t fm_pd_own(const struct fm_analysis *a, uint32_t pd, unsigned measure);

int64_t *fm_sparse_at(struct fm_sparse_costs *costs, unsigned inherited, uint32_t id, uint32_t ps);
const int64_t *fm_sparse_find(const struct fm_sparse_costs *costs, unsigned inherited, uint32_t id,
                              uint32_t ps);

void fm_sparse_done(struct fm_sparse_costs *costs);

/* --- steps --- */

struct fm_clique_search; /* cliques.c */
struct fm_nested_search; /* nested.c */
struct fm_module_search; /* summary.c */

/* Arrays of zeros that were made before anything was known of nodes. */
#define FM_RESERVED_MAX 5
struct fm_reserved {
    uint32_t *arrays[FM_RESERVED_MAX]; /* NULL: in use, or none */
    size_t counts[FM_RESERVED_MAX];
};

struct fm_analysis_job {
    struct fm_analysis *analysis;
    unsigned phase;
    uint32_t cursor;   /* within the phase; 0 when it begins */
    unsigned stage;    /* for phases with several walks: number of the walk */
    uint32_t inner;    /* position in a walk that precedes the one of cursor */
    bool failed;       /* out of memory */
    GArray *untouched; /* struct fm_untouched: large new arrays */
    struct fm_reserved reserved;
    unsigned reserved_count; /* number of arrays made, with those of the second job */
    struct fm_clique_search *cliques;
    struct fm_nested_search *nested;
    struct fm_module_search *modules;
    /* Phases done by a second thread: on the same analysis, with their own position, up to phase
     * `end`. NULL: all phases are done here, in order. */
    struct fm_analysis_job *beside;
    struct fm_worker *worker;
    unsigned end;
    struct fm_csd_sums sums;
    uint32_t *next_csd; /* start of the next range of csds that a thread may take */
    uint32_t first_csd;
};

/* Returns an array of zeros, a reserved one if it fits; or NULL with job->failed. */
uint32_t *fm_job_numbers(struct fm_analysis_job *job, size_t count);
void fm_reserved_done(struct fm_reserved *reserved);

/* New arrays whose pages the kernel has not yet allocated. They are touched one at a time before
 * the phase that made the arrays continues; such a phase returns false until then. */
struct fm_untouched {
    void *array;
    size_t bytes, at;
};
static inline bool fm_job_must_touch(const struct fm_analysis_job *job)
{
    return job->untouched->len > 0;
}

/* Each phase does about `budget` nodes from job->cursor on and returns true when it is done. */
typedef bool fm_phase_run(struct fm_analysis_job *job, uint32_t budget);
fm_phase_run fm_phase_cliques, fm_phase_members, fm_phase_parents; /* cliques.c */
fm_phase_run fm_phase_entries, fm_phase_callers, fm_phase_sites, fm_phase_sort_sites,
    fm_phase_procs;                            /* indexes.c */
fm_phase_run fm_phase_own, fm_phase_propagate; /* propagate.c */
fm_phase_run fm_phase_nested;                  /* nested.c */
fm_phase_run fm_phase_sum_pds, fm_phase_sum_csds, fm_phase_merge, fm_phase_subtract,
    fm_phase_modules; /* summary.c */
/* Makes separate sums for a second thread. False: out of memory. */
bool fm_csd_sums_init(const struct fm_analysis *analysis, struct fm_csd_sums *sums);
void fm_csd_sums_done(struct fm_csd_sums *sums);
/* --- arcs.c --- */

/* Up to this number of calls, an arc's cost is summed on request instead of stored. */
#define FM_ARC_CALLS_FEW 32u

void fm_site_arcs_note(struct fm_analysis *a, uint32_t css); /* its csds are in order */
void fm_arcs_add(const struct fm_analysis *a, const struct fm_csd_sums *sums, uint32_t csd,
                 uint32_t ps);
/* For a site with several callees: adds to the arc only if it has many calls. */
void fm_arcs_add_loose(const struct fm_analysis *a, const struct fm_csd_sums *sums, uint32_t csd,
                       uint32_t ps);
/* Adds the arcs in part of one table to another. */
void fm_arcs_merge(const struct fm_analysis *a, struct fm_sparse_costs *to,
                   const struct fm_sparse_costs *from, size_t begin, size_t end);
void fm_arcs_keep_taken(struct fm_analysis *a, uint32_t csd, const int64_t *nested);
void fm_arcs_keep_nested(struct fm_analysis *a, uint32_t pd, uint32_t ps, const int64_t *nested);
/* Cost of the site's calls of ps, from outside or inside; deeper activations of ps are excluded
 * here, included in the next. Returns the number of csds; 0 = none, *ret is then not set. Not for
 * irregular sites. */
uint32_t fm_arc_cost(const struct fm_analysis *a, uint32_t css, uint32_t ps, bool inside,
                     struct fm_cost *ret);
uint32_t fm_arc_cost_with_nested(const struct fm_analysis *a, uint32_t css, uint32_t ps,
                                 bool inside, struct fm_cost *ret);
/* Total cost of the calls as a part of the site's cost, without what the site's cost leaves out.
 * False for irregular sites. */
bool fm_arc_cost_taken(const struct fm_analysis *a, uint32_t css, uint32_t ps, struct fm_cost *ret);
void fm_arcs_done(struct fm_analysis_storage *storage);
/* Frees what depends on the nodes only: css_irregular, css_callee, site_arcs and their indexes. */
void fm_site_arcs_done(struct fm_analysis_storage *storage);
void fm_cost_set_calls(struct fm_cost *cost); /* from the ports */
void fm_cost_set_side(const struct fm_analysis *a, struct fm_cost *cost, bool inside); /* rows.c */

void fm_clique_search_free(struct fm_clique_search *search);
void fm_nested_search_free(struct fm_nested_search *search);
void fm_module_search_free(struct fm_module_search *search);

/* The pds of a slot's callees etc. are walked with fm_profile_slot(); this is the number of slots.
 */
static inline uint32_t fm_slot_count(const struct fm_profile *profile, uint32_t pd)
{
    return profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
}

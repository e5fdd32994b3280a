/* SPDX-License-Identifier: Apache-2.0 */
/* Results computed from a deep profile after reading: cliques, costs of descendants, summaries.
 * Method and source: README.md in this folder.
 *
 *   own    measured in the callee's own code
 *   desc   inherited from its callees
 *   total  own + desc
 *
 * In C programs, a total is the cost of all stacks that contain the function, each counted once,
 * also inside recursions (inclusive.c). In Mercury profiles it is defined as in Mercury's tool:
 * inside a recursion, own costs and costs of calls that leave it.
 *
 * desc values are signed: the compensation for recursion that the program could not detect may
 * make a single value negative; nothing here clamps it. */
#pragma once

#include "base/files/roots.h"
#include "profile/file/profile.h"
#include "profile/measures/choices.h"

/* A row of costs as pages show it. Indexed by enum fm_measure_id; desc only from
 * FM_FIRST_INHERITED on. */
struct fm_cost {
    int64_t calls;
    bool inlined; /* further calls of inlined bodies are not recorded */
    bool shared; /* own cost of arcs: an estimate that distributes the function's self cost over its
                    calls */
    uint32_t of_recursion; /* bit m: the total of measure m is that of the recursions which it is
                              part of: how much of it ran while this was active is not known */
    uint32_t recursion;    /* the largest of these recursions, a clique; 0 = none */
    bool inside, outside;  /* in C programs: some calls were made inside recursions and have no
                              total; some were not. Both false: not computed */
    int64_t own[FM_MEASURES_MAX];
    int64_t desc[FM_MEASURES_MAX];
};

/* Ids 1..clique_count; callees have smaller numbers than their callers. */
struct fm_module {
    const char *name;   /* the declaring module of its procedures */
    const uint32_t *ps; /* descending ids */
    uint32_t ps_count;
    struct fm_cost cost; /* own only: descendants overlap */
    bool active;         /* some procedure has calls */
};

struct fm_analysis {
    const struct fm_profile *profile; /* borrowed; outlives the analysis */

    uint32_t clique_count;
    uint32_t *pd_clique;     /* [pd_count + 1] */
    uint32_t *clique_first;  /* [clique_count + 2] into clique_pds */
    uint32_t *clique_pds;    /* members of each clique, ascending */
    uint32_t *clique_parent; /* [clique_count + 1] the csd that enters it, 0 = none (the root) */
    uint32_t clique_entries_extra; /* cliques entered by more than one csd: 0 in sound files */

    uint32_t *ps_caller_first; /* [ps_count + 2] into ps_callers */
    uint32_t *ps_callers;      /* csds whose callee belongs to the ps, descending */
    uint32_t *css_csd_first;   /* [css_count + 2] into css_csds */
    uint32_t *css_csds;        /* csds made at the site: by callee ps ascending, then descending
                                  caller pd, then order in the slot */
    uint32_t *ps_pd_first;     /* [ps_count + 2] into ps_pds */
    uint32_t *ps_pds;          /* the pds of a ps, ascending */

    struct fm_cost root_total; /* total (own + desc) of the root pd: base of all percentages */

    uint32_t module_count;
    struct fm_module *modules; /* ascending by name (strcmp) */
    bool *ps_zeroed;           /* [ps_count + 1] may be active twice without the runtime noticing */

    struct fm_analysis_storage *storage; /* private */
};

/* Runs the whole start-up analysis. The caller owns *ret. O(nodes). */
FM_MUST_USE bool fm_analysis_new(const struct fm_profile *profile,
                                 const struct fm_progress *progress, struct fm_analysis **ret,
                                 GError **error);
void fm_analysis_free(struct fm_analysis *analysis);
/* Adds a reference, to be freed, too; from any thread. */
struct fm_analysis *fm_analysis_ref(struct fm_analysis *analysis);
typedef struct fm_analysis FmAnalysis;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmAnalysis, fm_analysis_free)

/* Rows of costs. css and ps rows are compensated (README.md: undetected recursion); csd and pd rows
 * not. */
void fm_analysis_csd_cost(const struct fm_analysis *a, uint32_t csd, struct fm_cost *ret);
void fm_analysis_pd_cost(const struct fm_analysis *a, uint32_t pd, struct fm_cost *ret);
void fm_analysis_ps_cost(const struct fm_analysis *a, uint32_t ps, struct fm_cost *ret);
void fm_analysis_css_cost(const struct fm_analysis *a, uint32_t css, struct fm_cost *ret);
void fm_cost_add(struct fm_cost *to, const struct fm_cost *from);

/* One measure of a pd: own cost; own + descendants; its part of the clique's total, which is the
 * cost of all the clique's pds with their callees. Totals of several pds of a recursion overlap,
 * parts do not. */
int64_t fm_analysis_pd_own(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure);
int64_t fm_analysis_pd_total(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure);
/* Whether the total is that of its recursion, as its own is not known. */
bool fm_analysis_pd_is_at_most(const struct fm_analysis *a, uint32_t pd,
                               enum fm_measure_id measure);
int64_t fm_analysis_pd_part(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure);
/* The total of a pd; in a recursion of a C program, the first pd of a procedure has that of all its
 * pds there, and the others 0. Then its contribution to the procedure's total: compensated.
 * *ret_at_most: it is an upper bound, the total of its recursion. */
int64_t fm_analysis_member_total(const struct fm_analysis *a, uint32_t pd,
                                 enum fm_measure_id measure, bool *ret_at_most);
int64_t fm_analysis_pd_adds(const struct fm_analysis *a, uint32_t pd, enum fm_measure_id measure,
                            bool *ret_at_most);
/* An upper bound of its own cost, without summing. */
uint64_t fm_analysis_pd_own_bound(const struct fm_analysis *a, uint32_t pd,
                                  enum fm_measure_id measure);
int64_t fm_analysis_clique_total(const struct fm_analysis *a, uint32_t clique,
                                 enum fm_measure_id measure);
int64_t fm_analysis_pd_calls(const struct fm_analysis *a, uint32_t pd);
/* Whether there are further calls of an inlined body, which are not recorded; also true when that
 * is not known: within a recursion. */
bool fm_analysis_pd_inlined(const struct fm_analysis *a, uint32_t pd);

/* Own + descendants of one measure. */
static inline int64_t fm_cost_total(const struct fm_cost *cost, enum fm_measure_id measure)
{
    return (int64_t)((uint64_t)cost->own[measure] + (uint64_t)cost->desc[measure]);
}
/* Exits, fails, redos and exceptional exits all 0, and nothing shows that an inlined body ran. */
bool fm_cost_is_inactive(const struct fm_cost *cost);

/* Whether a csd leads into its callee's clique and is charged with its cost; then that cost. In arc
 * profiles (FM_NATURE_ARCS), several csds may enter a clique. */
bool fm_analysis_csd_enters(const struct fm_analysis *a, uint32_t csd);
int64_t fm_analysis_csd_total(const struct fm_analysis *a, uint32_t csd,
                              enum fm_measure_id measure);
/* The clique that a csd enters, or 0 when it stays inside its caller's clique. */
uint32_t fm_analysis_csd_child_clique(const struct fm_analysis *a, uint32_t csd);
/* Entry pd of a clique (callee of its parent csd), 0 for the root's clique. */
uint32_t fm_analysis_clique_entry(const struct fm_analysis *a, uint32_t clique);
uint32_t fm_analysis_clique_of_csd_caller(const struct fm_analysis *a, uint32_t csd);
/* The csds on the way from the runtime down to a clique, innermost (its parent) first, without the
 * runtime's own. Returns how many there are; at most max are stored. */
uint32_t fm_analysis_clique_ancestors(const struct fm_analysis *a, uint32_t clique, uint32_t *csds,
                                      uint32_t max);
/* Cost of a csd's callee inside outermost activations of ps below it ("compensation"); adds to
 * desc of *to with the given sign (+1, -1). */
void fm_analysis_csd_compensation(const struct fm_analysis *a, uint32_t csd, uint32_t ps, int sign,
                                  struct fm_cost *to);
void fm_analysis_pd_compensation(const struct fm_analysis *a, uint32_t pd, uint32_t ps, int sign,
                                 struct fm_cost *to);
/* Adds modules without procedures in the profile, unless one of that name exists; names must
 * outlive the analysis. Call before any other use. */
void fm_analysis_add_modules(struct fm_analysis *a, const char *const *names, uint32_t count);
/* NULL when there is none with that name. */
const struct fm_module *fm_analysis_module(const struct fm_analysis *a, const char *name);

/* Counts of a procedure's coverage points, in all its contexts (pd 0) or in one: ps.point_count
 * numbers, g_free. With static coverage only the counts of all contexts exist. */
uint64_t *fm_analysis_point_counts(const struct fm_analysis *a, uint32_t ps, uint32_t pd);

/* --- callers (callers.c) --- */

struct fm_callers_row {
    uint32_t css;       /* FM_GROUP_CALL_SITE */
    uint32_t ps;        /* FM_GROUP_PROC, and the container for FM_GROUP_CALL_SITE */
    const char *module; /* FM_GROUP_MODULE */
    uint32_t clique;    /* FM_GROUP_CLIQUE */
    struct fm_cost cost;
};

struct fm_contour; /* procedures that the callers page skips */

/* Calls from outside of recursions: those that enter their callee's clique, each with everything
 * that it led to. Rows are sorted by key; the caller frees *ret, which may be NULL, with g_free.
 * contour may be NULL. ps is 1..ps_count. */
void fm_analysis_callers(const struct fm_analysis *a, uint32_t ps, enum fm_callers_group group,
                         const struct fm_contour *contour, struct fm_callers_row **ret,
                         uint32_t *ret_count);

/* The other calls, made inside recursions, including direct ones: own costs without descendants,
 * which are part of the cost of the call from outside. */
void fm_analysis_callers_inside(const struct fm_analysis *a, uint32_t ps,
                                enum fm_callers_group group, const struct fm_contour *contour,
                                struct fm_callers_row **ret, uint32_t *ret_count);

/* Either kind by clique. There may be hundreds of thousands, so each one's cost is summed on
 * request. inside: calls inside recursions. ps is 1..ps_count, index below the count. */
struct fm_clique_callers;
struct fm_clique_callers *fm_clique_callers_new(const struct fm_analysis *a, uint32_t ps,
                                                const struct fm_contour *contour, bool inside);
void fm_clique_callers_free(struct fm_clique_callers *callers); /* NULL is allowed */
uint32_t fm_clique_callers_count(const struct fm_clique_callers *callers);
uint32_t fm_clique_callers_clique(const struct fm_clique_callers *callers, uint32_t index);
void fm_clique_callers_row(struct fm_clique_callers *callers, uint32_t index,
                           struct fm_callers_row *ret);

/* How the callers' costs add up to a procedure's: outside + within + others = total, exactly, in
 * every field. */
struct fm_callers_sum {
    struct fm_cost outside; /* all calls from outside of recursions: the sum of the rows */
    /* Calls inside recursions. Totals: those of the procedure in recursions that were entered
     * through another procedure (or by none, as by the runtime), which no row contains; 0 (desc =
     * -own) in those entered through this one. */
    struct fm_cost within;
    /* At most 0, desc only: other procedures of recursions that were entered through this one,
     * which are part of the callers' costs. */
    struct fm_cost others;
    struct fm_cost total;
};
/* O(calls of it); whether some of them are made inside a recursion. */
bool fm_analysis_is_recursive(const struct fm_analysis *a, uint32_t ps);
void fm_analysis_callers_sum(const struct fm_analysis *a, uint32_t ps, struct fm_callers_sum *ret);

/* The calls of ps by other procedures, without compensation for double counting. */
struct fm_callers_other {
    struct fm_cost cost;
    uint32_t procs, csds; /* callers, call site dynamics */
};
void fm_analysis_callers_other(const struct fm_analysis *a, uint32_t ps,
                               struct fm_callers_other *ret);
/* The procedures that a site calls, ascending, and how often. Begin with *from = 0; false after the
 * last. */
bool fm_analysis_site_calls(const struct fm_analysis *a, uint32_t css, uint32_t *from,
                            uint32_t *ret_ps, int64_t *ret_calls);
/* The procedures that a site calls, ascending, and the cost of all calls of each, without the
 * caller procedure's deeper activations. Begin with *from = 0; false after the last. */
bool fm_analysis_site_callee(const struct fm_analysis *a, uint32_t css, uint32_t *from,
                             uint32_t *ret_ps, struct fm_cost *ret);

enum fm_contour_state { FM_CONTOUR_OK, FM_CONTOUR_NO_FILE, FM_CONTOUR_BAD };
/* Reads the contour file for a data file ("X.data" -> "X.contour"), beneath roots, NULL = anywhere.
 * *ret_message: a warning or error to show, NULL when there is none; g_free. *ret is NULL unless
 * FM_CONTOUR_OK. */
enum fm_contour_state fm_contour_read(const struct fm_roots *roots, const char *data_path,
                                      const struct fm_analysis *a, struct fm_contour **ret,
                                      char **ret_message);
/* Reads a contour from memory; path is used in messages. */
enum fm_contour_state fm_contour_read_text(const char *path, const char *text, size_t length,
                                           const struct fm_analysis *a, struct fm_contour **ret,
                                           char **ret_message);
void fm_contour_free(struct fm_contour *contour);

/* --- getters and setters (getters.c) --- */

/* A procedure named STRUCTURE_get_FIELD or STRUCTURE_set_FIELD. */
struct fm_accessor {
    char *structure, *field;
    bool setter;
    uint32_t ps;
    struct fm_cost cost;
};
/* Lists the accessors of a module, sorted by structure, field, getters before setters, ps: a field
 * may have several of each. Free with fm_accessors_free. */
void fm_analysis_accessors(const struct fm_analysis *a, const struct fm_module *module,
                           struct fm_accessor **ret, uint32_t *ret_count);
void fm_accessors_free(struct fm_accessor *accessors, uint32_t count);

/* --- top procedures (top.c) --- */

enum fm_cost_scope { FM_OVERALL, FM_PER_CALL };

struct fm_top_query {
    enum fm_cost_kind kind;
    bool with_descendants;
    enum fm_cost_scope scope;
    enum fm_limit_kind limit;
    uint32_t first, last; /* FM_LIMIT_RANK: from 1, inclusive */
    double threshold;     /* FM_LIMIT_PERCENT: of the root's total; FM_LIMIT_VALUE: quanta etc. */
    bool further; /* FM_LIMIT_RANK: after functions with a cost of the kind, also those with a cost
                     of a measure that has no kind */
};

/* ps ids, most expensive first; g_free(*ret). */
void fm_analysis_top(const struct fm_analysis *a, const struct fm_top_query *query, uint32_t **ret,
                     uint32_t *ret_count);
/* The measure of a cost kind; for calls, the inherited measure. */
enum fm_measure_id fm_cost_measure(enum fm_cost_kind kind);
/* The kind that is about this measure; of FM_CALLSEQS, not the calls. */
enum fm_cost_kind fm_cost_kind_of(enum fm_measure_id measure);
/* The value of a row by which the query orders. */
double fm_cost_value(const struct fm_cost *cost, enum fm_cost_kind kind, bool with_descendants,
                     enum fm_cost_scope scope);

/* --- the action (action.c) --- */

/* Follows the single callee clique that holds at least percent of all of an inherited measure, from
 * the root's clique down; edges inside a clique do not count. */
uint32_t fm_analysis_action_clique(const struct fm_analysis *a, unsigned percent,
                                   enum fm_measure_id measure);

/* --- invariants (invariants.c) --- */

struct fm_invariant {
    const char *name; /* "sum of own call sequence numbers = total of the root" */
    bool holds;
    char *detail; /* the two sides, as text */
};
/* All invariants that the menu page and `fathom check` show. Free with fm_invariants_free. */
void fm_analysis_invariants(const struct fm_analysis *a, struct fm_invariant **ret,
                            unsigned *ret_count);
void fm_invariants_free(struct fm_invariant *invariants, unsigned count);

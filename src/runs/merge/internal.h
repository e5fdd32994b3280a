/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "base/text/strings.h"
#include "runs/merge/merge.h"

#define FM_MERGE_UNION_NAME "several programs"

/* --- statics --- */

struct fm_merged_point {
    const char *goal_path;
    enum fm_coverage_point_type type;
    uint64_t count;
};

struct fm_merged_ps {
    struct fm_ps ps;  /* its own strings; lists not used */
    uint32_t ordinal; /* among those with the same key */
    GArray *sites;    /* uint32_t: into fm_merge.sites, in the order of slots when Mercury's */
    GArray *points;   /* struct fm_merged_point */
    GArray *lines;    /* struct merged_line (lines.c), NULL = none known */
    uint32_t id;      /* in the result */
};

struct fm_merged_site {
    struct fm_css css; /* callee_ps: into procs + 1, 0 = none */
    uint32_t ps;       /* into procs */
    uint32_t ordinal;  /* among those with the same key */
    uint32_t slot;     /* in the result */
};

/* --- the graph --- */

struct fm_merged_node {
    uint32_t ps;
    uint32_t first, last, edge_count; /* the edges that leave the class, a list in order */
    size_t points;                    /* first of its coverage counts */
};
#define FM_NO_EDGE UINT32_MAX

struct fm_merged_edge {
    uint32_t site, callee; /* callee: a node; site FM_NO_EDGE: the edge is part of another, next */
    uint32_t callee_ps;
    uint32_t next; /* next of its class */
};

/* One of the table in which edges of classes with many are found. */
struct fm_edge_place {
    uint32_t from, site, callee_ps; /* from: a class */
    uint32_t edge;                  /* + 1; 0 = free */
};

struct fm_merge {
    struct fm_merge_options options;
    struct fm_strings *strings;
    uint32_t inputs; /* that had anything in them */
    bool any;        /* the header is set, */
    bool only_empty; /* but by nothing that has calls: what comes next decides it */
    bool has_lines, has_line_times;
    const char *root_key; /* key of the procedure of the root; NULL = none yet */

    enum fm_flavour flavour;
    const char *program;
    unsigned word_size;
    enum fm_coverage_kind coverage;
    uint64_t ticks_per_second;
    uint64_t instrumentation_quanta, user_quanta, callseqs;
    unsigned measure_count;
    struct fm_measure measures[FM_MEASURES_MAX];
    uint32_t unknown; /* as in struct fm_run_info */
    uint32_t nature;  /* likewise */
    uint64_t heap_period;
    struct fm_tick_event tick_event;
    struct fm_merged_facts *facts;
    struct fm_merged_totals *totals;
    struct fm_merged_code *code;
    const char *origin; /* likewise; of all inputs, or that they are of several */
    uint64_t duration_ns, peak_bytes;
    uint64_t recorded_ns; /* the longest; of what was recorded all the time its duration */
    bool unfinished, later;
    uint64_t sample_count, sample_squares; /* over the profiles that have them */
    uint64_t sampled_unknown;              /* quanta of the others */
    GArray *marks;                         /* struct fm_mark */
    GPtrArray *notes, *lost;
    GArray *parts; /* struct fm_part, ascending */

    GArray *procs, *sites;  /* struct fm_merged_ps, struct fm_merged_site */
    GHashTable *proc_index; /* key -> number + 1 */
    GHashTable *site_index;
    GArray *last_procs, *last_sites; /* those of the input before: most inputs have the same */

    GArray *nodes, *edges;
    GArray *parents; /* uint32_t a node, of the union-find; itself = a class. Not of the nodes, as
                        nothing else is looked at so often: most are in the cache */
    GArray *depths;  /* struct fm_depths, pd: a node, of which there may be several of a class */
    GHashTable *depths_of;             /* node -> place in depths + 1 */
    unsigned value_count;              /* measure_count; 0 when costs are not added */
    GArray *values;                    /* uint64_t[value_count] an edge, in their order */
    GArray *points;                    /* uint64_t: coverage counts */
    struct fm_edge_place *edge_places; /* open addressing */
    size_t edge_capacity, edge_used;
    GArray *to_unite;      /* pairs of nodes */
    GPtrArray *edge_of;    /* places: for each input a GArray of the edge of each csd, FM_NO_EDGE =
                              nothing leads there */
    uint32_t *clique_size; /* once closed: by class; NULL where nobody asks */
    uint32_t root;         /* a node */
};

static inline struct fm_merged_ps *fm_merge_proc(const struct fm_merge *m, uint32_t proc)
{
    return &g_array_index(m->procs, struct fm_merged_ps, proc);
}
static inline struct fm_merged_site *fm_merge_site(const struct fm_merge *m, uint32_t site)
{
    return &g_array_index(m->sites, struct fm_merged_site, site);
}
static inline struct fm_merged_node *fm_merge_node(const struct fm_merge *m, uint32_t node)
{
    return &g_array_index(m->nodes, struct fm_merged_node, node);
}
static inline struct fm_merged_edge *fm_merge_edge(const struct fm_merge *m, uint32_t edge)
{
    return &g_array_index(m->edges, struct fm_merged_edge, edge);
}

static inline uint64_t *fm_merge_values(const struct fm_merge *m, uint32_t edge)
{
    return &g_array_index(m->values, uint64_t, (size_t)edge * m->value_count);
}

/* header.c. Something is left out: a sentence, told once. */
void fm_merge_lose(struct fm_merge *m, const char *text);
/* header.c. at_root: the input's root is the sum's. *ret_ticks: the rate that both have in common.
 */
FM_MUST_USE bool fm_merge_fits(const struct fm_merge *m, const struct fm_profile *profile,
                               const char *name, bool at_root, uint64_t *ret_ticks, GError **error);
/* A Mercury call site of a known callee calls that. */
FM_MUST_USE bool fm_merge_check_callees(const struct fm_profile *profile, const char *name,
                                        GError **error);
bool fm_merge_has_quanta(const struct fm_profile *profile);
/* merge.c. A root and nothing else. */
bool fm_merge_is_empty(const struct fm_profile *profile);
/* The first input's, or all so far had nothing in them. */
void fm_merge_take_header(struct fm_merge *m, const struct fm_profile *profile);
/* Before the input's graph is added: what not all have is left out, ticks become those. */
void fm_merge_join_header(struct fm_merge *m, const struct fm_profile *profile, uint64_t ticks);
/* Adds its totals; factor: its quanta are multiplied by this. */
void fm_merge_add_header(struct fm_merge *m, const struct fm_profile *profile, uint64_t factor);
/* Keeps the name that sorts first of the folders of a program, whichever input came first. */
void fm_merge_keep_least_program(struct fm_merge *m, const struct fm_profile *profile);
/* -1: there is none of that name. */
int fm_merge_measure_of(const struct fm_measure *measures, unsigned count, const char *name);
/* At most UINT64_MAX. */
uint64_t fm_merge_scaled(uint64_t quanta, uint64_t factor);

/* statics.c: numbers of the input's procedures and sites; in *ret_*, one more than the ids. Adds
 * what is new. */
FM_MUST_USE bool fm_merge_statics(struct fm_merge *m, const struct fm_profile *profile,
                                  const char *name, uint32_t **ret_procs, uint32_t **ret_sites,
                                  GError **error);
/* Key of a program: across builds it may have been in another folder. */
const char *fm_merge_program(const struct fm_merge *m, const char *name);
/* Key of a procedure; g_free(). */
char *fm_merge_proc_key(const struct fm_merge *m, const struct fm_ps *ps);
/* The pseudo-procedure of a program, and the root above all of them. */
uint32_t fm_merge_union_root(struct fm_merge *m);

/* graph.c */
uint32_t fm_merge_class_of(struct fm_merge *m, uint32_t node);
uint32_t fm_merge_new_node(struct fm_merge *m, uint32_t ps);
/* The edge from a class; FM_NO_EDGE: there is none. *guess as below. */
uint32_t fm_merge_find_edge(const struct fm_merge *m, uint32_t from, uint32_t site,
                            uint32_t callee_ps, uint32_t *guess);
/* The edge from a class; made when it is not there, to *callee, else *callee is set to its own. */
/* *guess: the edge, if this input is like the last, from the first of the class on; moved on. */
uint32_t fm_merge_edge_at(struct fm_merge *m, uint32_t from, uint32_t site, uint32_t callee_ps,
                          uint32_t *guess, uint32_t *callee, bool *ret_new);
void fm_merge_unite(struct fm_merge *m, uint32_t a, uint32_t b);
/* Unites what one clique has twice, until there is no such. Nothing is found or added after it. */
void fm_merge_close(struct fm_merge *m);

/* lines.c: of the result, whose procedures have their ids. */
struct fm_source_map *fm_merge_lines_result(const struct fm_merge *m);

/* depths.c; nodes: of each pd, UINT32_MAX = none */
void fm_merge_add_depths(struct fm_merge *m, const struct fm_profile *profile,
                         const uint32_t *nodes);

/* facts.c: what is known by context beside the graph. edges: of each csd, FM_NO_EDGE = none; NULL
 * where the profile has none of it. factor: what its quanta are multiplied by. */
struct fm_build;
struct fm_merged_facts *fm_merged_facts_new(void);
void fm_merged_facts_free(struct fm_merged_facts *facts);
bool fm_merge_has_facts(const struct fm_profile *profile);
void fm_merge_add_facts(struct fm_merge *m, const struct fm_profile *profile, const uint32_t *edges,
                        uint64_t factor);
void fm_merge_rescale_facts(struct fm_merge *m, uint64_t factor);
/* csds: of the result, by edge. */
void fm_merge_tell_facts(struct fm_merge *m, const uint32_t *csds, struct fm_build *build);

/* totals.c: totals inside recursions. Not of Mercury's profiles, nor where costs are not added. */
struct fm_merge_walk {
    uint32_t *order, count; /* pds, callers before what was reached from them */
    uint32_t *maker;        /* by pd: the csd by which it was reached; 0 = the root */
    GArray *closing;        /* uint32_t: csds that led to a pd that had been reached */
};
void fm_merge_walk_init(struct fm_merge_walk *walk, const struct fm_profile *profile);
void fm_merge_walk_done(struct fm_merge_walk *walk);
struct fm_merged_totals *fm_merged_totals_new(void);
void fm_merged_totals_free(struct fm_merged_totals *totals);
/* nodes: of each pd, UINT32_MAX = none. factor: what quanta are multiplied by. */
void fm_merge_totals_add(struct fm_merge *m, const struct fm_profile *profile,
                         const struct fm_merge_walk *walk, const uint32_t *nodes, uint64_t factor);
void fm_merge_totals_rescale(struct fm_merge *m, uint64_t factor);
/* classes: uint32_t, in the order of the result's pds. */
void fm_merge_totals_tell(struct fm_merge *m, const GArray *classes, struct fm_build *build);
static inline bool fm_merge_has_totals(const struct fm_merge *m)
{
    return m->flavour == FM_FLAVOUR_C && !m->options.places;
}

/* parts.c */
void fm_merge_add_parts_of(struct fm_merge *m, const struct fm_profile *profile);

/* result.c; places may be NULL */
FM_MUST_USE bool fm_merge_result(struct fm_merge *m, struct fm_profile **ret,
                                 struct fm_merge_places *places, GError **error);

static inline uint64_t fm_merge_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

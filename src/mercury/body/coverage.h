/* SPDX-License-Identifier: Apache-2.0 */
/* How often execution reached each goal of a body (before) and left it by success (after). This is
 * inferred from the few coverage counters, the port counts of the call sites, and determinism. Each
 * exit after a redo counts again in `after`; redos are not counted in `before`. */
#pragma once

#include "profile/analysis/analysis.h"
#include "mercury/procrep/procrep.h"

struct fm_known_count {
    bool known;
    int64_t count;
};

/* Measurements at a goal. */
struct fm_goal_facts {
    struct fm_known_count after; /* count of a coverage point after it */
    struct fm_known_count arm;   /* count of a coverage point at its beginning, if it is an arm */
    bool has_site;               /* it is a call site of the profile */
    int64_t site_calls, site_exits;
};

struct fm_goal_counts {
    struct fm_known_count before, after;
    bool doubtful; /* at or after a goal where the counts contradict each other */
};

/* Counts that contradict each other. */
struct fm_contradiction {
    uint32_t goal;
    char *text; /* says which counts were found and which were expected */
};

struct fm_coverage {
    uint32_t goal_count;
    struct fm_goal_counts *goals;
    uint32_t contradiction_count;            /* number of all contradictions */
    struct fm_contradiction *contradictions; /* the first FM_CONTRADICTIONS_MAX, by goal */
    uint32_t contradictions_kept;
    uint32_t cause; /* index of the kept one that comes first in order of execution: others may
                       follow from it */
};
#define FM_CONTRADICTIONS_MAX 100

/* calls, exits: of the procedure. facts: one for each goal of the body. The caller owns the result.
 * O(goals); bodies may nest to any depth. */
struct fm_coverage *fm_coverage_infer(const struct fm_body *body, int64_t calls, int64_t exits,
                                      const struct fm_goal_facts *facts);
void fm_coverage_free(struct fm_coverage *coverage); /* NULL is allowed */
typedef struct fm_coverage FmCoverage;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmCoverage, fm_coverage_free)

/* Computes the coverage of one context. FM_ERROR_UNAVAILABLE: the profile has no coverage counts
 * for it. */
FM_MUST_USE bool fm_coverage_of_pd(const struct fm_analysis *a, const struct fm_body *body,
                                   uint32_t pd, struct fm_coverage **ret, GError **error);
FM_MUST_USE bool fm_coverage_of_ps(const struct fm_analysis *a, const struct fm_body *body,
                                   uint32_t ps, struct fm_coverage **ret, GError **error);
/* Appends "10 - 7" or "_ - _", as pages show before a goal. */
void fm_coverage_append(GString *out, const struct fm_goal_counts *counts);
/* Makes a table of facts for the goals of a body, all unknown; g_free(). */
struct fm_goal_facts *fm_goal_facts_new(const struct fm_body *body);

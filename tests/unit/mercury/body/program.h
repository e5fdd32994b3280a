/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from text: bodies with what was counted at their goals, and the profile of a run that
 * counted so.
 *
 *   goal:  [arm N] KIND DETISM ... [after N]        N: the count of a coverage point
 *     conj, disj, ite, not, scope, cut   DETISM { goals }       cut: a scope that cuts solutions
 *     switch, switch?                    DETISM VAR { arms }    switch?: one that can fail
 *     make, take, partial                DETISM VAR ARGS BOUND  construct, deconstruct, partial
 *     test, assign, cast                 DETISM VAR VAR
 *     foreign, builtin, event            DETISM ARGS BOUND
 *     call                               DETISM CALLEE ARGS BOUND COUNTS
 *     special, callback                  the same on a site of that kind
 *     ho, method                         DETISM VAR ARGS BOUND CALLEE COUNTS
 *   ARGS, BOUND: "1,2", "-" for none; a partial's "1,_"
 *   CALLEE: the name of a procedure of the program, or $N: a library procedure without body that
 *     costs N over all calls, these calls included; "none": the call has no call site
 *   COUNTS: CALLS/EXITS. More exits than calls are redos, fewer are failures, 9/5! exceptions.
 * Switch arms are told of 7 functors in the profile's paths. A procedure that is called from
 * outside of its clique twice is one context: tests do not do so. */
#pragma once

#include "mercury/body/bodies.h"

struct program_proc {
    const char *name;   /* "p", of module m; "other.p": of that module */
    const char *detism; /* declared */
    const char *heads;  /* "1:gg 2:fg": variables with their insts before and after; f, g, o */
    const char *body;
};

#define PROGRAM_PROCS_MAX 8
struct program {
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    struct fm_procrep *procrep;
    GBytes *bytes;
    struct fm_bodies *bodies;
    uint32_t count;
    uint32_t ps[PROGRAM_PROCS_MAX], pd[PROGRAM_PROCS_MAX], edge[PROGRAM_PROCS_MAX];
};

/* The runtime calls the first procedure so often. */
struct program *program_new(const struct program_proc *procs, uint32_t count, const char *counts,
                            enum fm_coverage_kind coverage);
void program_free(struct program *program);
uint32_t program_clique(const struct program *program, uint32_t proc);
/* The goal of a procedure at a path. */
uint32_t program_goal(const struct program *program, uint32_t proc, const char *path);

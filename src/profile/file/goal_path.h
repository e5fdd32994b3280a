/* SPDX-License-Identifier: Apache-2.0 */
/* Goal paths of Mercury's profiles: steps from the body of a procedure to a goal in it, each ending
 * in ';', as "c8;s2-2;t;". The empty path is the whole body. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum fm_goal_step_kind {
    FM_STEP_CONJ,      /* cN */
    FM_STEP_DISJ,      /* dN */
    FM_STEP_SWITCH,    /* sN-M, sN-na */
    FM_STEP_COND,      /* ? */
    FM_STEP_THEN,      /* t */
    FM_STEP_ELSE,      /* e */
    FM_STEP_NEGATION,  /* ~ */
    FM_STEP_SCOPE,     /* q */
    FM_STEP_SCOPE_CUT, /* q! */
    FM_STEP_LAMBDA,    /* = */
    FM_STEP_TRY,       /* r */
    FM_STEP_ATOMIC,    /* a */
    FM_STEP_OR_ELSE,   /* oN */
};

struct fm_goal_step {
    enum fm_goal_step_kind kind;
    uint32_t number;   /* N, from 1; 0 for kinds without */
    uint32_t functors; /* M of a switch step, 0 = unknown */
};

/* Takes the first step of *path and moves *path behind it. False at the end of the path and where
 * it is malformed; **path is then '\0' only in the first case. */
FM_MUST_USE bool fm_goal_path_next(const char **path, struct fm_goal_step *ret);
FM_MUST_USE bool fm_goal_path_is_valid(const char *path);

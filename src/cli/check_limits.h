/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom check` with limits: a profile held against what it may cost. */
#pragma once

#include <glib.h>

struct fm_limits_wish {
    char **against;                 /* runs of the base; NULL = none */
    char *again;                    /* a second run of the same build; NULL = none */
    char **files;                   /* files with limits; NULL = none */
    char **limits;                  /* given as such; NULL = none */
    char *junit, *sarif, *markdown; /* files to write, "-" = standard output; NULL = none */
    int looks;                      /* 0 = one look */
    gboolean strict, json;
};

/* Returns an exit status: 0 when all limits are kept (or cannot be judged), 1 when one is broken, 2
 * after an error in the limits. paths: the runs to judge, one or more, ended by NULL. */
int fm_check_limits(const struct fm_limits_wish *wish, char *const *paths);
void fm_limits_wish_done(struct fm_limits_wish *wish);

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles with their analysis: of made-up programs of any shape, and one small one. */
#pragma once

#include "profile/analysis/analysis.h"
#include "profile/file/build.h"

struct made {
    struct fm_profile *profile;
    struct fm_analysis *a;
};
/* The generator's path is the program's last argument. */
void made_init(int *argc, char ***argv);
struct made made_generated(unsigned seed, const char *option, ...) G_GNUC_NULL_TERMINATED;
/* Takes the build. */
struct made made_built(struct fm_build *build);
void made_clear(struct made *made);

/* A C program: threads of worker (10 and 30 samples in work), main -> parse -> (expr <-> term) ->
 * xmalloc; main -> load -> xmalloc; main calls parse from two lines. Functions by name below. */
struct made made_program(void);
uint32_t made_ps(const struct made *made, const char *name);

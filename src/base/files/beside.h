/* SPDX-License-Identifier: Apache-2.0 */
/* What lies beside a profile X.data, and how the files begin. */
#pragma once

#define FM_PROFILE_ENDING ".data"
#define FM_BESIDE_LINES ".lines"     /* of its source */
#define FM_BESIDE_CODE ".code"       /* where its instructions are */
#define FM_BESIDE_BODIES ".procrep"  /* of a Mercury program's procedures */
#define FM_BESIDE_SOURCES ".sources" /* their texts */
/* Those that a sum of profiles has beside it as well; ended by NULL. */
extern const char *const fm_beside_sums[];

/* What a profile begins with, in front of its version: a C program's, a Mercury program's. */
#define FM_PROFILE_BEGINS_C "fathom deep profile data"
#define FM_PROFILE_BEGINS_MERCURY "Mercury deep profiler data"

/* X.data -> X<suffix>, of other names the whole; g_free(). */
char *fm_path_beside(const char *data_path, const char *suffix);

/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the files beside a profile X.data; first bytes of a profile. */
#pragma once

#define FM_PROFILE_ENDING ".data"
#define FM_BESIDE_BODIES ".procrep" /* bodies of a Mercury program's procedures */
/* Older recordings have these files; newer profiles hold them themselves
 * (profile/file/attached/attached.h). */
#define FM_BESIDE_LINES ".lines"     /* lines of its source */
#define FM_BESIDE_CODE ".code"       /* addresses of its instructions */
#define FM_BESIDE_SOURCES ".sources" /* texts of its source files */

/* First bytes of a profile, before its version: of C programs, of Mercury programs. */
#define FM_PROFILE_BEGINS_C "fathom deep profile data"
#define FM_PROFILE_BEGINS_MERCURY "Mercury deep profiler data"

/* X.data -> X<suffix>; for other names suffix is appended to the whole name; g_free(). */
char *fm_path_beside(const char *data_path, const char *suffix);

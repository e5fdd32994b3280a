/* SPDX-License-Identifier: Apache-2.0 */
/* The statics of files that several recordings share: those of processes of one program, and of
 * later runs; statics with debug information are also kept in the user's cache folder (store.h).
 * Files without build ID are not cached, because changes would not be noticed. */
#pragma once

#include "record/statics/statics.h"

struct fm_known;
struct fm_known *fm_known_new(void);
void fm_known_free(struct fm_known *known); /* NULL is allowed; and all statics with it */

/* As fm_statics_extract(). *ret_kept: the statics belong to known (which may be NULL), else to the
 * caller. */
FM_MUST_USE bool fm_known_extract(struct fm_known *known, const char *path,
                                  const struct fm_statics_opts *opts, struct fm_statics **ret,
                                  bool *ret_kept, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about each file, for fathom-merge-mpi (runs/merge/told.h). */
#pragma once

#include "base/compiler.h"
#include "runs/merge/bodies.h"
#include "runs/merge/merge.h"

struct fm_merge_told; /* NULL: nobody asked; all of these do nothing then */

FM_MUST_USE bool fm_merge_told_new(const char *path, struct fm_merge_told **ret, GError **error);
/* A file that was read, before it is added. body: what is beside it. */
void fm_merge_told_file(struct fm_merge_told *told, const struct fm_merge *merge,
                        const struct fm_profile *profile, const uint8_t hash[FM_PART_HASH_BYTES],
                        const struct fm_merge_body *body);
/* Ends the facts of a file with its result, also for one that could not be read; error NULL:
 * added. */
void fm_merge_told_end(struct fm_merge_told *told, const GError *error);
/* Writes all of it; frees told. */
FM_MUST_USE bool fm_merge_told_finish(struct fm_merge_told *told, GError **error);

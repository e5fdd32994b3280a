/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles added up. The result depends on which profiles are merged, not on their order or
 * grouping, to the last byte: it is the graph of all of them in which contexts are one that no
 * recording could tell apart (README.md). One profile alone gives its canonical form. Profiles are
 * added one at a time, so only the result and one input are in memory. */
#pragma once

#include "deep/profile.h"
#include "deep/source_map.h"

struct fm_merge_options {
    bool across_builds;  /* programs by their base names, procedures by name and unit (Mercury's
                            by their whole label), not by line; implies sites_by_key */
    bool common;         /* measures that not all have are dropped, else they are an error */
    bool sites_by_key;   /* Mercury's call sites by place and callee, not by their number: of a
                            procedure that may have other sites in another build */
    bool union_programs; /* other programs are kept apart, below one root */
};

struct fm_merge;

struct fm_merge *fm_merge_new(const struct fm_merge_options *options);
void fm_merge_free(struct fm_merge *merge); /* NULL is allowed */
/* name is used in messages. On failure nothing was added. Errors: FM_ERROR_UNAVAILABLE, with what
 * differs: another program, other measures, another tick rate, other procedures of one name. */
FM_MUST_USE bool fm_merge_add(struct fm_merge *merge, const struct fm_profile *profile,
                              const char *name, GError **error);
/* What the profile added last is known by from now on, where it is no sum of parts itself: the
 * SHA-256 of its file. Of an empty profile nothing is kept, nor of a Mercury program's. */
void fm_merge_add_part(struct fm_merge *merge, const struct fm_profile *profile,
                       const uint8_t hash[FM_PART_HASH_BYTES]);
/* Whether a profile of this process is in the sum already: known by the hash of its file, or in it
 * as a part. What no process is known of (hash may be NULL) may be another run that gave the same.
 */
bool fm_merge_has_part(const struct fm_merge *merge, const struct fm_profile *profile,
                       const uint8_t hash[FM_PART_HASH_BYTES]);
/* The lines of the source that belong to the profile added last, which must be of a C program. */
void fm_merge_add_lines(struct fm_merge *merge, const struct fm_source_map *map);
/* What was lost on the way, a sentence each, ended by NULL; belongs to merge. */
const char *const *fm_merge_notes(const struct fm_merge *merge);
/* The result; the caller owns it. Frees merge, also on failure. FM_ERROR_USAGE when nothing was
 * added. */
FM_MUST_USE bool fm_merge_finish(struct fm_merge *merge, struct fm_profile **ret, GError **error);
/* The same with its lines; *ret_lines = NULL when none were added. */
FM_MUST_USE bool fm_merge_finish_lines(struct fm_merge *merge, struct fm_profile **ret,
                                       struct fm_source_map **ret_lines, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up profiles. The result depends on which profiles are merged, not on their order or
 * grouping, to the last byte: it is the graph of all of them, with contexts joined that no
 * recording could distinguish (README.md). A single profile gives its canonical form. Profiles are
 * added one at a time, so only the result and one input are in memory. */
#pragma once

#include "profile/file/machine/machine_code.h"
#include "profile/file/profile.h"
#include "profile/file/attached/source_map.h"

struct fm_merge_options {
    bool across_builds;  /* programs by their base names, procedures by name and unit (Mercury's
                            by their whole label), not by line; implies sites_by_key */
    bool common;         /* measures that not all have are dropped, else they are an error */
    bool sites_by_key;   /* Mercury's call sites by place and callee, not by their number: of a
                            procedure that may have other sites in another build */
    bool union_programs; /* other programs are kept apart, below one root */
    bool places; /* no costs are added: fm_merge_finish_places() says where each input's contexts
                    are in the graph of all */
};

/* Places of the added profile in the result. */
struct fm_merge_places {
    uint32_t count;        /* inputs, in the order of adding */
    uint32_t **csds;       /* [input][its csd + 1] the csd of the result, 0 = the root does not lead
                              there */
    uint32_t *clique_size; /* [pd + 1 of the result] how many contexts its recursion has; 1 = it is
                              in none */
};
void fm_merge_places_done(struct fm_merge_places *places);

struct fm_merge;

struct fm_merge *fm_merge_new(const struct fm_merge_options *options);
void fm_merge_free(struct fm_merge *merge); /* NULL is allowed */
/* name is used in messages. On failure nothing was added. Errors: FM_ERROR_UNAVAILABLE, with what
 * differs: another program, other measures, another tick rate, other procedures of one name. */
FM_MUST_USE bool fm_merge_add(struct fm_merge *merge, const struct fm_profile *profile,
                              const char *name, GError **error);
/* Identifies the last added profile by the SHA-256 of its file from now on, unless it is itself a
 * sum of parts. Not stored for an empty profile, nor for a Mercury program's. */
void fm_merge_add_part(struct fm_merge *merge, const struct fm_profile *profile,
                       const uint8_t hash[FM_PART_HASH_BYTES]);
/* Whether a profile of this process is already in the sum: by the hash of its file, or as a part.
 * If no process is known (hash may be NULL), it may be another run with the same result. */
bool fm_merge_has_part(const struct fm_merge *merge, const struct fm_profile *profile,
                       const uint8_t hash[FM_PART_HASH_BYTES]);
/* Files of one kind fit the same others: a hash of what is checked before a profile is added. */
void fm_merge_kind(const struct fm_merge *merge, const struct fm_profile *profile,
                   uint8_t ret[FM_PART_HASH_BYTES]);
/* The lines of the source that belong to the profile added last, which must be of a C program. */
void fm_merge_add_lines(struct fm_merge *merge, const struct fm_source_map *map);
/* Adds its machine code, likewise. The sum has it where all profiles have it, of files of one build
 * each. */
void fm_merge_add_code(struct fm_merge *merge, const struct fm_machine_code *code);
/* Notes about lost data, a sentence each, ascending, so that they do not depend on the order of
 * the inputs; ended by NULL; belongs to merge. When all is added. */
const char *const *fm_merge_notes(struct fm_merge *merge);
/* The result, with the lines and the machine code that were added; the caller owns it. Frees merge,
 * also on failure. FM_ERROR_USAGE when nothing was added. */
FM_MUST_USE bool fm_merge_finish(struct fm_merge *merge, struct fm_profile **ret, GError **error);
/* The graph without costs; *ret_places is filled on success. Only with the option places. */
FM_MUST_USE bool fm_merge_finish_places(struct fm_merge *merge, struct fm_profile **ret,
                                        struct fm_merge_places *ret_places, GError **error);

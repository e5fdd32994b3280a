/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that are computed completely in any thread outside of the engine, before their files are
 * read: those of running programs, which are remade again and again. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_profile;
struct fm_source_map;
struct fm_trace;
struct fm_prepared_profile;
/* The nodes of a profile, and data that depends on the nodes only. */
struct fm_profile_shape;

/* Prepares a profile in memory, of which it takes ownership, and the files beside it, for the file
 * that will be written at path. NULL with an error: those of fm_open_profile_new(). */
FM_MUST_USE struct fm_prepared_profile *
fm_profile_prepare(const char *path, struct fm_profile *profile, GError **error);
/* For profiles with the same nodes, until fm_profile_shape_free(). Call it before prepared is
 * handed over. */
struct fm_profile_shape *fm_prepared_profile_shape(const struct fm_prepared_profile *prepared);
void fm_profile_shape_free(struct fm_profile_shape *shape); /* NULL is allowed */
/* Prepares a profile that has these nodes (fm_build_new_recount()). It is never written to a file;
 * it is used for the path until there is another one. Takes ownership of the profile, and of the
 * lines, which may be NULL. Checks, and the types of recursion, are computed only when a page needs
 * them. Errors: those of fm_open_profile_new(). */
FM_MUST_USE struct fm_prepared_profile *
fm_profile_prepare_recount(const struct fm_profile_shape *shape, const char *path,
                           struct fm_profile *profile, struct fm_source_map *lines, GError **error);
/* Whether it was made by fm_profile_prepare_recount(). */
bool fm_prepared_profile_is_recount(const struct fm_prepared_profile *prepared);
const struct fm_profile *fm_prepared_profile_borrow(const struct fm_prepared_profile *prepared);
/* Call when the file has been written; false when the file cannot be identified. */
FM_MUST_USE bool fm_prepared_profile_written(struct fm_prepared_profile *prepared);
void fm_prepared_profile_free(void *prepared); /* NULL is allowed */
const char *fm_prepared_profile_path(const struct fm_prepared_profile *prepared); /* borrowed */
/* Whether the trace that was just opened took the results. It does if it has the same bytes, or the
 * path of a result without file; prepared can then only be freed. */
bool fm_profile_take_prepared(struct fm_trace *trace, struct fm_prepared_profile *prepared);

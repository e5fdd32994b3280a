/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that are worked out whole beside the engine, in any thread, before their files are read:
 * those of programs that run, which are made again and again. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_profile;
struct fm_source_map;
struct fm_trace;
struct fm_prepared_profile;
/* The nodes of a profile, and what follows from them alone. */
struct fm_profile_shape;

/* Prepares a profile in memory, of which it takes ownership, and the files beside it, for the file
 * that will be written at path. NULL with an error: those of fm_deep_recording_new(). */
FM_MUST_USE struct fm_prepared_profile *
fm_profile_prepare(const char *path, struct fm_profile *profile, GError **error);
/* For those that have the same nodes, until fm_profile_shape_free(); before it is offered. */
struct fm_profile_shape *fm_prepared_profile_shape(const struct fm_prepared_profile *prepared);
void fm_profile_shape_free(struct fm_profile_shape *shape); /* NULL is allowed */
/* Prepares a profile that has these nodes (fm_build_new_recount()). It is never written to a file;
 * it is used for the path until there is another one. Takes ownership of the profile, and of the
 * lines, which may be NULL. Checks, and the types of recursion, are computed only when a page needs
 * them. Errors: those of fm_deep_recording_new(). */
FM_MUST_USE struct fm_prepared_profile *
fm_profile_prepare_recount(const struct fm_profile_shape *shape, const char *path,
                           struct fm_profile *profile, struct fm_source_map *lines, GError **error);
/* Whether it was made by the latter. */
bool fm_prepared_profile_is_recount(const struct fm_prepared_profile *prepared);
const struct fm_profile *fm_prepared_profile_borrow(const struct fm_prepared_profile *prepared);
/* The file is there now: false when it cannot be told from others. */
FM_MUST_USE bool fm_prepared_profile_written(struct fm_prepared_profile *prepared);
void fm_prepared_profile_free(void *prepared); /* NULL is allowed */
const char *fm_prepared_profile_path(const struct fm_prepared_profile *prepared); /* borrowed */
/* Has the trace that was just opened taken all that was prepared of its file? It does when it is
 * of the same bytes, or has the path of what has no file; nothing but the free is left of prepared
 * then. */
bool fm_profile_take_prepared(struct fm_trace *trace, struct fm_prepared_profile *prepared);

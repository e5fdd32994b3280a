/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles that are worked out whole beside the engine, in any thread, before their files are read:
 * those of programs that run, which are made again and again. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

struct fm_profile;
struct fm_trace;
struct fm_prepared_profile;

/* Of a profile in memory, which it takes, and what lies beside it, for the file that is about to
 * be written at path. NULL and an error: those of fm_deep_recording_new(). */
FM_MUST_USE struct fm_prepared_profile *
fm_profile_prepare(const char *path, struct fm_profile *profile, GError **error);
const struct fm_profile *fm_prepared_profile_borrow(const struct fm_prepared_profile *prepared);
/* The file is there now: false when it cannot be told from others. */
FM_MUST_USE bool fm_prepared_profile_written(struct fm_prepared_profile *prepared);
void fm_prepared_profile_free(void *prepared); /* NULL is allowed */
const char *fm_prepared_profile_path(const struct fm_prepared_profile *prepared); /* borrowed */
/* Has the trace that was just opened taken all that was prepared of its file? It does when it is
 * of the same bytes; nothing but the free is left of prepared then. */
bool fm_profile_take_prepared(struct fm_trace *trace, struct fm_prepared_profile *prepared);

/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the processes of one run write: NAME.rec by the program itself, NAME.PID.N.rec by
 * those that it starts. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* Paths (char *) of the recordings of the run, the program's own first. before: paths that were
 * there before and are of other runs, of programs started by hand, perhaps, or killed; NULL = none.
 * g_ptr_array_unref(). */
GPtrArray *fm_raw_recordings_of_run(const char *base, GPtrArray *before);
/* How many children of fork had begun a recording that is not among those found: their parents'
 * recordings count them. */
unsigned fm_raw_recordings_lost(const GPtrArray *found);
/* Recordings in the folder that began at since_ns (since 1970) or later, by the name that programs
 * give without FATHOM_OUTPUT in their environment (env -i, sudo): Deep.PID.N.rec. *ret_of_run: of
 * processes that process pid has become, or started, or one of those found or such a one has
 * started; *ret_others: of whom that is not known. Paths, as above. */
void fm_raw_recordings_astray(const char *folder, uint64_t since_ns, uint32_t pid,
                              const GPtrArray *found, GPtrArray **ret_of_run,
                              GPtrArray **ret_others);
/* Removes an old NAME.rec, as the program would not write over it. FM_ERROR_USAGE when a process
 * writes it still. */
FM_MUST_USE bool fm_raw_recording_make_room(const char *base, GError **error);

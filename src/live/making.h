/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of one recording again and again; the program's files are read once. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_making;
struct fm_prepared_profile;
/* Both paths are borrowed. */
struct fm_making *fm_making_new(const char *recording, const char *profile);
/* Makes profiles of what was recorded since `since`, a copy of the recording made at that moment.
 * It uses data of `whole`, which must outlive it; one thread at a time may use both. since NULL:
 * from the beginning. Paths are borrowed. */
struct fm_making *fm_making_new_since(const struct fm_making *whole, const char *recording,
                                      const char *profile, const char *since, uint64_t since_ns);
/* Makes profiles of a process that is sampled from outside; takes the sampler, which writes to
 * `profile`, too. */
struct fm_sampler;
struct fm_making *fm_making_new_sampled(struct fm_sampler *sampler, const char *profile);
void fm_making_free(struct fm_making *making); /* removes the profile */
/* The profile of now takes the place of the one before. *ret_running: whether the program runs.
 * ret_prepared, if not NULL: all that pages need to know of it, worked out, for fm_server_offer()
 * or fm_prepared_profile_free(); NULL when there is nothing to offer. One thread at a time. Errors:
 * those of fm_finish() and of writing. */
FM_MUST_USE bool fm_making_make(struct fm_making *making, bool *ret_running,
                                struct fm_prepared_profile **ret_prepared, GError **error);
/* The profile that `fathom record` made of a recording before it removed that: the process's own,
 * or NAME.data, in which recordings named NAME.PID.INSTANCE.rec are summed. NULL: there is none.
 * g_free(). */
char *fm_making_finished(const char *recording);

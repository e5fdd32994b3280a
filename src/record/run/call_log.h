/* SPDX-License-Identifier: Apache-2.0 */
/* The timed calls of chosen functions as an event log beside the profile. */
#pragma once

#include "record/finish/finish.h"

/* Whether that is a list of functions that --trace takes. FM_ERROR_USAGE. */
FM_MUST_USE bool fm_call_log_check_names(const char *names, GError **error);

/* NAME.data as NAME.calls.eventlog, for g_free(). */
char *fm_call_log_path(const char *data_path);
/* Writes notes->spans: one lane for each thread, a span for each call, with the number of its
 * context (csd) as the detail "context". Sorts the spans. */
FM_MUST_USE bool fm_call_log_write(const struct fm_finish_notes *notes,
                                   const struct fm_profile *profile, const char *path,
                                   GError **error);

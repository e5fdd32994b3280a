/* SPDX-License-Identifier: Apache-2.0 */
/* One opened recording and the pages of it. report_<first word of the command>.c holds the code of
 * each page: command + profile -> display tree. */
#pragma once

#include "analysis/analysis.h"
#include "display/display.h"
#include "query/query.h"

/* A deep profile with everything that pages need. Immutable after opening. */
struct fm_recording {
    char *path;  /* of the .data file */
    char *name;  /* its base name */
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    enum fm_contour_state contour_state;
    struct fm_contour *contour; /* NULL unless usable */
    char *contour_message;      /* NULL when there is nothing to tell */
};

FM_MUST_USE bool fm_recording_open(const char *path, const struct fm_progress *progress,
                                   struct fm_recording **ret, GError **error);
void fm_recording_free(struct fm_recording *recording);
typedef struct fm_recording FmRecording;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmRecording, fm_recording_free)

/* The preferences of a query, or this recording's defaults. */
void fm_recording_preferences(const struct fm_recording *recording, const struct fm_query *query,
                              struct fm_preferences *ret);

/* Makes the page. Errors: FM_ERROR_NOT_FOUND (an id or module that is not there),
 * FM_ERROR_UNAVAILABLE (the recording does not hold what the page needs; the message says why),
 * FM_ERROR_USAGE. quit, restart and timeout are the server's commands: FM_ERROR_USAGE here. */
FM_MUST_USE bool fm_report(const struct fm_recording *recording, const struct fm_query *query,
                           struct fm_display **ret, GError **error);

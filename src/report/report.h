/* SPDX-License-Identifier: Apache-2.0 */
/* One opened recording and the pages of it. report_<first word of the command>.c holds the code of
 * each page: command + profile -> display tree. */
#pragma once

#include "analysis/analysis.h"
#include "display/display.h"
#include "query/query.h"

struct fm_source_index; /* private to src/report */

/* A deep profile with everything that pages need. Immutable after opening, so any number of
 * threads may make pages of it at once. */
struct fm_recording {
    char *path; /* of the .data file */
    char *name; /* its base name */
    struct fm_profile *profile;
    struct fm_analysis *analysis;
    enum fm_contour_state contour_state;
    struct fm_contour *contour;      /* NULL unless usable */
    char *contour_message;           /* NULL when there is nothing to tell */
    struct fm_invariant *invariants; /* checked once, when opened */
    unsigned invariant_count;
    struct fm_source_index *source_index; /* C recordings only */
};

/* Reads and analyses the file, checks the invariants (a breach is shown on the menu page, it is no
 * error), reads the contour file if there is one. Errors: those of fm_profile_read() and
 * fm_analysis_new(). */
FM_MUST_USE bool fm_recording_open(const char *path, const struct fm_progress *progress,
                                   struct fm_recording **ret, GError **error);
/* The same from a profile in memory, which it takes, also on failure. The contour file, if any, is
 * the one that belongs to path; path need not exist. */
FM_MUST_USE bool fm_recording_new(const char *path, struct fm_profile *profile,
                                  const struct fm_progress *progress, struct fm_recording **ret,
                                  GError **error);
void fm_recording_free(struct fm_recording *recording);
typedef struct fm_recording FmRecording;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmRecording, fm_recording_free)

/* The preferences of a query, or this recording's defaults. */
void fm_recording_preferences(const struct fm_recording *recording, const struct fm_query *query,
                              struct fm_preferences *ret);

/* Makes the page. Errors: FM_ERROR_NOT_FOUND (an id or module that is not there),
 * FM_ERROR_UNAVAILABLE (the recording does not hold what the page needs; the message says why),
 * FM_ERROR_USAGE. quit, restart and timeout are the server's commands: FM_ERROR_USAGE here.
 * The writers need the preferences too: fm_recording_preferences(). */
FM_MUST_USE bool fm_report(const struct fm_recording *recording, const struct fm_query *query,
                           struct fm_display **ret, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_internal.h"

#include <string.h>

bool fm_recording_open(const char *path, const struct fm_progress *progress,
                       struct fm_recording **ret, GError **error)
{
    struct fm_profile *profile = NULL;
    if (!fm_profile_read(path, progress, &profile, error))
        return false;
    return fm_recording_new(path, profile, progress, ret, error);
}

bool fm_recording_new(const char *path, struct fm_profile *profile,
                      const struct fm_progress *progress, struct fm_recording **ret, GError **error)
{
    g_autoptr(FmRecording) recording = g_new0(struct fm_recording, 1);
    recording->path = g_strdup(path);
    recording->name = g_path_get_basename(path);
    recording->profile = profile;
    if (!fm_analysis_new(profile, progress, &recording->analysis, error))
        return false;
    recording->contour_state = FM_CONTOUR_NO_FILE;
    if (g_str_has_suffix(path, ".data")) /* otherwise no contour file can belong to it */
        recording->contour_state = fm_contour_read(path, recording->analysis, &recording->contour,
                                                   &recording->contour_message);
    fm_analysis_invariants(recording->analysis, &recording->invariants,
                           &recording->invariant_count);
    if (profile->flavour == FM_FLAVOUR_C)
        recording->source_index = fm_source_index_new(profile);
    *ret = g_steal_pointer(&recording);
    return true;
}

void fm_recording_free(struct fm_recording *recording)
{
    if (!recording)
        return;
    fm_source_index_free(recording->source_index);
    fm_invariants_free(recording->invariants, recording->invariant_count);
    g_free(recording->contour_message);
    fm_contour_free(recording->contour);
    fm_analysis_free(recording->analysis);
    fm_profile_free(recording->profile);
    g_free(recording->name);
    g_free(recording->path);
    g_free(recording);
}

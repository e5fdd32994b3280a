/* SPDX-License-Identifier: Apache-2.0 */
/* Private to raw: the arrays behind a recording. */
#pragma once

#include "record/raw/recording.h"

struct fm_raw_recording_storage {
    GArray *modules, *pds, *csds, *heaps, *points, *samples, *threads, *marks;
    GStringChunk *texts;
    char *path;
};

/* An empty recording; fm_raw_recording_free(). */
struct fm_raw_recording *fm_raw_recording_new(const char *path);
/* Makes the public arrays those of the storage, after it has grown. */
void fm_raw_recording_publish(struct fm_raw_recording *recording);

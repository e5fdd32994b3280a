/* SPDX-License-Identifier: Apache-2.0 */
/* Private to raw: the arrays behind a recording. */
#pragma once

#include "record/raw/recording.h"

/* What is no node, nor a module, is listed in shape.c, too: it is taken with the counts. */
struct fm_raw_recording_storage {
    GArray *modules, *pds, *csds, *heaps, *flows, *depths, *waits, *blames, *durations, *steps,
        *spans, *points, *samples, *sleeps, *threads, *marks;
    GStringChunk *texts;
    char *path;
    uint64_t spans_dropped;
    uint32_t *seen; /* [references]; NULL unless it was asked for: what is at each reference */
    size_t references;
};

/* In the map from references to nodes: 0 = not seen, else 1 + index, with this bit for a csd; the
 * bit alone: anything else. */
#define FM_RAW_CSD_MARK 0x80000000u

/* As fm_raw_recording_load(), and storage->seen is kept. clock: the header of another one of the
 * same process, by which waits are made nanoseconds; NULL: its own. */
FM_MUST_USE bool fm_raw_recording_load_seen(const char *path, const struct fm_rec_header *clock,
                                            struct fm_raw_recording **ret, GError **error);
/* waits_end.c: a wait that is not over counts as the time until then, and not yet as a wait. */
void fm_raw_recording_wait_until(struct fm_raw_recording *recording, uint64_t ns);

/* An empty recording; fm_raw_recording_free(). */
struct fm_raw_recording *fm_raw_recording_new(const char *path);
/* Makes the public arrays those of the storage, after it has grown. */
void fm_raw_recording_publish(struct fm_raw_recording *recording);
/* durations.c: part of fm_raw_recording_move_costs(). */
void fm_raw_durations_join(struct fm_raw_recording *recording, uint32_t *to, uint32_t *from);
/* waits.c: part of fm_raw_recording_move_costs(). */
void fm_raw_recording_move_waits(struct fm_raw_recording *recording, struct fm_raw_csd *to,
                                 struct fm_raw_csd *from);

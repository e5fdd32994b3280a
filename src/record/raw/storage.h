/* SPDX-License-Identifier: Apache-2.0 */
/* Private to raw: the arrays behind a recording. */
#pragma once

#include "record/raw/recording.h"

/* Data other than nodes and modules is also listed in shape.c: it is copied together with the
 * counts. */
struct fm_raw_recording_storage {
    GArray *modules, *pds, *csds, *heaps, *flows, *depths, *waits, *blames, *durations, *steps,
        *spans, *points, *samples, *foreigns, *sleeps, *threads, *marks;
    GStringChunk *texts;
    char *path;
    uint64_t spans_dropped;
    uint32_t *seen; /* [references]; NULL unless requested: the node at each reference */
    size_t references;
    struct fm_raw_places *places; /* NULL unless they were asked for; seen is there then, too */
};

/* In the map from references to nodes: 0 = not seen, else 1 + index, with this bit for a csd; only
 * the bit: anything else. */
#define FM_RAW_CSD_MARK 0x80000000u

/* Place of a thread in the file, in the order of its list, with the nodes that were read up to
 * it. */
struct fm_raw_thread_place {
    uint32_t ref, root_pd, root_csd, pd_end, csd_end;
};

/* Places of the nodes in the file, by their numbers. Nodes never move in it. */
struct fm_raw_places {
    GArray *csds, *pds; /* uint32_t: references */
    GArray *threads;    /* struct fm_raw_thread_place */
    GArray *marked;     /* uint32_t: references marked in seen that are not nodes */
};
struct fm_raw_places *fm_raw_places_new(void);

/* Marks a reference that is not a node. */
static inline void fm_raw_mark(struct fm_raw_recording_storage *storage, uint32_t *seen,
                               uint32_t ref)
{
    seen[ref] = FM_RAW_CSD_MARK;
    if (storage->places != NULL)
        g_array_append_val(storage->places->marked, ref);
}

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

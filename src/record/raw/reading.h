/* SPDX-License-Identifier: Apache-2.0 */
/* Private to raw: a file that is being read, for the first time (read.c) or again (again.c). */
#pragma once

#include "record/raw/bytes.h"
#include "record/raw/heap.h"
#include "record/raw/storage.h"

struct fm_raw_reading {
    struct fm_raw_recording *recording;
    struct fm_raw_recording_storage *storage;
    struct fm_raw_bytes bytes;
    uint32_t *seen; /* per reference */
    bool keep_seen;
    struct fm_raw_places *places; /* to be filled; NULL */
    GArray *queue;                /* references of pds, parallel to the storage's */
    struct fm_raw_heap_reading heap;
    uint32_t at; /* the csd whose counts are being read */
};

/* Reads the counts of the csd with that number, and its side records; those of raw are 0 before. */
FM_MUST_USE bool fm_raw_read_counts(struct fm_raw_reading *in, uint32_t at,
                                    const struct fm_rec_csd *csd, struct fm_raw_csd *raw,
                                    GError **error);
/* Of a recording whose exits are counted: calls without one were left otherwise, or are open. */
void fm_raw_read_exits(const struct fm_raw_reading *in, const struct fm_rec_csd *csd,
                       struct fm_raw_csd *raw);
/* Open frames count as calls without exit, for csds below csd_end. If exits are not recorded,
 * frames remain after their functions have returned, and mean nothing. */
FM_MUST_USE bool fm_raw_read_stacks(struct fm_raw_reading *in, const struct fm_rec_thread *thread,
                                    uint32_t csd_end, GError **error);
FM_MUST_USE bool fm_raw_read_marks(struct fm_raw_reading *in, GError **error);
/* All but its root. */
struct fm_raw_thread fm_raw_thread_of(const struct fm_raw_reading *in,
                                      const struct fm_rec_thread *thread);
size_t fm_raw_thread_bytes(uint32_t version);
/* The pd at which the process was forked; invalid references count as none. */
uint32_t fm_raw_forked_in(const struct fm_raw_reading *in);
/* In the file threads are in order of their first hooks, which changes from run to run; here they
 * are put in order of creation, by the kernel's ids. Returns the new place of each: g_free() it. */
uint32_t *fm_raw_order_threads(struct fm_raw_recording *recording);
/* Edges by hooks that do not count by depth, of older recordings too. */
void fm_raw_add_unknown_depths(struct fm_raw_recording *recording);
/* durations.c: a list of them, of the csd whose counts are read; they cannot have run for longer
 * than that. */
FM_MUST_USE bool fm_raw_foreigns_read(struct fm_raw_reading *in, uint64_t first, GError **error);
void fm_raw_foreigns_bound(struct fm_raw_reading *in, uint32_t first, uint64_t quanta);

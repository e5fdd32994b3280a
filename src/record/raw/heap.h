/* SPDX-License-Identifier: Apache-2.0 */
/* Heap data of a recording: counts by call edge, flows of blocks. */
#pragma once

#include "record/raw/bytes.h"
#include "record/raw/storage.h"

struct fm_raw_heap_reading {
    const struct fm_raw_bytes *bytes;
    struct fm_raw_recording *recording;
    GHashTable *by_ref; /* reference of an allocation record -> index into heaps */
    GArray *flow_refs;  /* uint32_t: where each of the storage's flows comes from */
    uint64_t steps;     /* number of flows read: more than fit in the file are a cycle */
};

/* Takes the record of the whole heap, if there is one; *reading is to be ended in any case. */
FM_MUST_USE bool fm_raw_heap_begin(struct fm_raw_heap_reading *reading,
                                   const struct fm_raw_bytes *bytes,
                                   struct fm_raw_recording *recording, GError **error);
/* Reads the allocation record at a reference; *ret: its index into heaps. */
FM_MUST_USE bool fm_raw_heap_read(struct fm_raw_heap_reading *reading, uint32_t ref, uint32_t *ret,
                                  GError **error);
/* All is read: flows get the indices that they lead to. */
void fm_raw_heap_end(struct fm_raw_heap_reading *reading);

/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of a recording: read with its graph, and closed when it is known how it ended. */
#pragma once

#include "record/raw/bytes.h"
#include "record/raw/storage.h"

/* Reads the list of the csd that is about to be added. seen: per reference, 0 = not yet; entries
 * read are marked. *ret_first: index into the storage's waits. */
FM_MUST_USE bool fm_raw_waits_read(struct fm_raw_recording_storage *storage,
                                   const struct fm_rec_header *header,
                                   const struct fm_raw_bytes *bytes, uint64_t first, uint32_t *seen,
                                   uint32_t *ret_first, GError **error);
/* The wait that a thread was in, and its times. */
void fm_raw_waits_of_thread(const struct fm_rec_header *header, const struct fm_rec_thread *thread,
                            struct fm_raw_thread *raw);
/* When all csds are known: references to them become their indices. Of seen, mark says that a
 * reference is a csd's, and the rest its index + 1. */
void fm_raw_waits_resolve(struct fm_raw_recording_storage *storage, const uint32_t *seen,
                          size_t references, uint32_t mark);
/* Reads other sleep of threads, when all csds are known. Entries that lead to no csd are dropped:
 * the sampler met a frame that was just being made. seen, mark: as there. */
FM_MUST_USE bool fm_raw_sleeps_read(struct fm_raw_recording_storage *storage,
                                    const struct fm_rec_header *header,
                                    const struct fm_raw_bytes *bytes, const uint32_t *seen,
                                    size_t references, uint32_t mark, GError **error);
/* Adds the list that begins at from to another: those of a kind become one. */
void fm_raw_waits_add(struct fm_raw_recording *recording, uint32_t *into, uint32_t from);

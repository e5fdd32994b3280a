/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a recording that were timed one by one: read with its graph. */
#pragma once

#include "record/raw/bytes.h"
#include "record/raw/storage.h"

/* *ret: into the storage's durations. */
FM_MUST_USE bool fm_raw_durations_read(struct fm_raw_recording_storage *storage,
                                       const struct fm_raw_bytes *bytes, uint64_t ref,
                                       uint32_t *ret, GError **error);
/* Reads those of the thread that is about to be added. */
FM_MUST_USE bool fm_raw_spans_read(struct fm_raw_recording_storage *storage,
                                   const struct fm_raw_bytes *bytes, uint64_t ref, GError **error);
/* When all csds are known, as fm_raw_waits_resolve(). */
void fm_raw_spans_resolve(struct fm_raw_recording_storage *storage, const uint32_t *seen,
                          size_t references, uint32_t mark);

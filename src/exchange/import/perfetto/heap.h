/* SPDX-License-Identifier: Apache-2.0 */
/* Heap samples of heapprofd: what each call stack allocated and freed, estimated already. */
#pragma once

#include "exchange/import/perfetto/frames.h"

struct fm_perfetto_heap;

struct fm_perfetto_heap *fm_perfetto_heap_new(void);
void fm_perfetto_heap_free(struct fm_perfetto_heap *heap);
bool fm_perfetto_heap_is_empty(const struct fm_perfetto_heap *heap);

/* A ProfilePacket. Of several dumps of a process the last counts: each has all since the begin. */
void fm_perfetto_heap_take(struct fm_perfetto_heap *heap, struct fm_perfetto_sequence *sequence,
                           const struct fm_field *packet, int64_t ns);
/* Finds the stacks of a sequence's samples, which may stand behind them: before its numbers mean
 * something else. */
void fm_perfetto_heap_resolve(struct fm_perfetto_heap *heap, struct fm_perfetto_frames *frames,
                              struct fm_perfetto_sequence *sequence);
/* Makes the measures; which of the first eight are known. */
uint32_t fm_perfetto_heap_measures(struct fm_perfetto_heap *heap, struct fm_stacks *stacks);
/* Adds all, and notes what was lost. */
FM_MUST_USE bool fm_perfetto_heap_add(struct fm_perfetto_heap *heap,
                                      struct fm_perfetto_frames *frames, struct fm_stacks *stacks,
                                      const char *file, GError **error);

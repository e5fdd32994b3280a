/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks of a trace of Perfetto's: threads, and what else spans stand on. */
#pragma once

#include "exchange/import/browser/spans.h"
#include "exchange/import/protobuf/fields.h"

struct fm_perfetto_lanes;

struct fm_perfetto_lanes *fm_perfetto_lanes_new(struct fm_spans *spans);
void fm_perfetto_lanes_free(struct fm_perfetto_lanes *lanes);

/* The lane of a track, and that of a thread, which are one once a descriptor has said so. */
uint32_t fm_perfetto_lanes_track(struct fm_perfetto_lanes *lanes, uint64_t track);
uint32_t fm_perfetto_lanes_thread(struct fm_perfetto_lanes *lanes, uint64_t pid, uint64_t tid);
/* Names, of a TrackDescriptor, a ThreadDescriptor, a ProcessDescriptor and a ProcessTree. */
void fm_perfetto_lanes_describe(struct fm_perfetto_lanes *lanes, const struct fm_field *track);
void fm_perfetto_lanes_thread_named(struct fm_perfetto_lanes *lanes, const struct fm_field *thread);
void fm_perfetto_lanes_process_named(struct fm_perfetto_lanes *lanes,
                                     const struct fm_field *process);
void fm_perfetto_lanes_tree(struct fm_perfetto_lanes *lanes, const struct fm_field *tree);

/* The spans' number of a lane. */
uint32_t fm_perfetto_lanes_spans(const struct fm_perfetto_lanes *lanes, uint32_t lane);
/* That a sample is of it, so that it has a frame. */
void fm_perfetto_lanes_use(struct fm_perfetto_lanes *lanes, uint32_t lane);
/* When all has been read: the name of each used lane's frame, unlike all others, NULL where one
 * alone is used; g_ptr_array_unref(). */
GPtrArray *fm_perfetto_lanes_names(const struct fm_perfetto_lanes *lanes);

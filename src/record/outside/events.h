/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of CPU time that the kernel takes: perf_event_open(2) with copies of stacks. The process
 * is never stopped. */
#pragma once

#include "record/outside/children.h"
#include "record/outside/sample.h"

struct fm_events;

/* Begins to sample all threads, and those that they start. NULL: the kernel does not allow it;
 * *ret_errno says why. live gets the event, children the processes that the kernel tells of. */
struct fm_events *fm_events_new(const struct fm_target *target, struct fm_perf_live *live,
                                struct fm_children *children, int *ret_errno);
void fm_events_free(struct fm_events *events); /* NULL is allowed */
bool fm_events_has_kernel(const struct fm_events *events);
/* Waits for samples, for the end of the process, or that long. True: the process has ended. */
bool fm_events_wait(const struct fm_events *events, const struct fm_target *target, int ms);
/* Adds what there is. */
FM_MUST_USE bool fm_events_take(struct fm_events *events, GError **error);

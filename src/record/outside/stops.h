/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of CPU time by ptrace(2), where the kernel does not take any: threads that run are
 * stopped one by one, for as long as their registers and stack are copied. A thread is traced for
 * that moment only, so whatever ends fathom, the process goes on, and a debugger may attach. */
#pragma once

#include "record/outside/python.h"
#include "record/outside/threads.h"

#define FM_STOPS_HZ 50u

struct fm_stops;

/* Adds the events. python: borrowed. Whether it is permitted: fm_target.is_readable and
 * tracer. */
struct fm_stops *fm_stops_new(const struct fm_target *target, struct fm_perf_live *live,
                              struct fm_python *python);
void fm_stops_free(struct fm_stops *stops); /* NULL is allowed; waits for threads that stop late */
/* Samples these threads (struct fm_thread_run). */
FM_MUST_USE bool fm_stops_take(struct fm_stops *stops, struct fm_thread_counts *counts,
                               const GArray *running, GError **error);
uint64_t fm_stops_ns(const struct fm_stops *stops); /* for how long threads were stopped, in all */
uint64_t fm_stops_count(const struct fm_stops *stops);

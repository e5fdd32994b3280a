/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's counts of each thread: CPU time, time asleep, and time ready to run; and where
 * threads sleep, read from the memory of a thread that is not stopped for it. */
#pragma once

#include "record/outside/python.h"
#include "record/outside/sample.h"

struct fm_thread_counts;

struct fm_thread_run {
    pid_t tid;
    uint64_t turns;  /* how often it was given a CPU */
    uint64_t ran_ns; /* CPU time that no sample stands for yet */
};

/* python: borrowed. with_cpu: CPU time that no sample stands for is added to its thread,
 * when that has ended. */
struct fm_thread_counts *fm_thread_counts_new(const struct fm_target *target,
                                              struct fm_perf_live *live, struct fm_python *python,
                                              bool with_cpu);
void fm_thread_counts_free(struct fm_thread_counts *counts);
/* Looks at all threads. running: NULL, or gets those (struct fm_thread_run) that run. */
FM_MUST_USE bool fm_thread_counts_look(struct fm_thread_counts *counts, GArray *running,
                                       GError **error);
/* How often a thread was given a CPU until now; 0 = not known. */
uint64_t fm_thread_turns(const struct fm_target *target, pid_t tid);
/* A sample stands for the thread's CPU time so far. */
void fm_thread_counts_sampled(struct fm_thread_counts *counts, pid_t tid);
/* Adds what is not added yet. */
FM_MUST_USE bool fm_thread_counts_end(struct fm_thread_counts *counts, GError **error);

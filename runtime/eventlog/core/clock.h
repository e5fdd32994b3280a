/* SPDX-License-Identifier: Apache-2.0 */
/* Raw time stamps are converted to nanoseconds by interpolation between two samples of both
 * clocks. */
#pragma once
#include <fathom/eventlog.h>

#include <time.h>

struct fm_el_sample {
    uint64_t ticks, ns; /* ns since the first start */
};
void fm_el_clock_init(void);
bool fm_el_clock_is_counter(void); /* stamps are a CPU counter; otherwise nanoseconds */
uint64_t fm_el_clock_stamp(void);
uint64_t fm_el_clock_ns(void);
/* A lower limit for the time of every event that is stamped from now on. */
uint64_t fm_el_clock_before_ns(void);
uint64_t fm_el_clock_start_ns(void); /* CLOCK_MONOTONIC at time 0 */
struct fm_el_sample fm_el_clock_sample(void);
/* For timed waits of pthreads; timeout_ms >= 0. */
struct timespec fm_el_deadline(int timeout_ms);

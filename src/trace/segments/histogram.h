/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of durations by size: exact below 256 ns, else in cells at most 1/128 wide. */
#pragma once

#include <stdint.h>

enum { FM_HISTOGRAM_CELLS = 128, FM_HISTOGRAM_OCTAVES = 58 };

struct fm_histogram {
    uint32_t *octaves[FM_HISTOGRAM_OCTAVES]; /* FM_HISTOGRAM_CELLS each; NULL = none in it */
    uint64_t count;
};

void fm_histogram_clear(struct fm_histogram *histogram);
void fm_histogram_add(struct fm_histogram *histogram, uint64_t value);
/* The smallest value that at least that part of them (0 to 1) does not exceed: by the middle of its
 * cell, so it is within 1/256. 0 when there are none. */
uint64_t fm_histogram_percentile(const struct fm_histogram *histogram, double part);

/* Cells joined for a drawing: eight an octave. */
struct fm_histogram_bar {
    uint64_t least, end; /* [least, end) */
    uint64_t count;
};
/* From the first that has any to the last; an array of struct fm_histogram_bar. The caller frees
 * it. */
struct fm_histogram_bar *fm_histogram_bars(const struct fm_histogram *histogram,
                                           unsigned *ret_count);

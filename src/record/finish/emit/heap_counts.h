/* SPDX-License-Identifier: Apache-2.0 */
/* The heap in the profile: measures of call edges, and facts. */
#pragma once

#include "profile/file/build.h"
#include "record/raw/recording.h"

#define FM_HEAP_COUNTS 10u

struct fm_heap_counts {
    struct fm_build *build;
    const struct fm_raw_recording *recording;
    unsigned count; /* number of the measures, each from a count of struct fm_raw_heap */
    unsigned measures[FM_HEAP_COUNTS];
    size_t offsets[FM_HEAP_COUNTS];
};

/* Names the measures. */
void fm_heap_counts_begin(struct fm_heap_counts *counts, struct fm_build *build,
                          const struct fm_raw_recording *recording);
/* Adds the record at heap, an index into recording->heaps, to csd of the profile. */
void fm_heap_counts_add(const struct fm_heap_counts *counts, uint32_t csd, uint32_t heap);
/* The peak of the header. */
void fm_heap_counts_facts(const struct fm_heap_counts *counts);

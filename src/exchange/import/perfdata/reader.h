/* SPDX-License-Identifier: Apache-2.0 */
/* Adds records of perf events to a profile, one by one in the order of time. */
#pragma once

#include "exchange/import/perfdata/notes.h"
#include "exchange/import/perfdata/places.h"

#define FM_PERF_NS_PER_SECOND 1000000000u

struct fm_perf_measure {
    unsigned number; /* 0: there is no room for it */
    bool time, counted;
    uint64_t sum;
};

struct fm_perf_reader {
    struct fm_perf_file file;
    struct fm_perf_processes processes;
    struct fm_perf_places *places;
    struct fm_stacks *stacks;
    struct fm_perf_measure *measures; /* one for each event */
    guint main;                       /* event */
    GArray *frames;                   /* struct fm_perf_frame, innermost first */
    struct fm_perf_quality quality;
};

/* The file is open. The measures are the caller's to choose, before the first sample. */
void fm_perf_reader_begin(struct fm_perf_reader *in, const char *program, const char *origin);
/* The record at an offset, as in fm_perf_record. */
bool fm_perf_reader_add(struct fm_perf_reader *in, uint64_t at, GError **error);
bool fm_perf_reader_finish(struct fm_perf_reader *in, struct fm_profile **ret, GError **error);
/* Also closes the file; the reader may be zero but for that. */
void fm_perf_reader_clear(struct fm_perf_reader *in);

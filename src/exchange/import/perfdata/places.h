/* SPDX-License-Identifier: Apache-2.0 */
/* The functions at an address of a process or the kernel, found once for each. */
#pragma once

#include "exchange/import/perfdata/processes.h"

struct fm_perf_places;

struct fm_perf_body_at {
    uint32_t function; /* in stacks */
    uint32_t line;     /* line in it of the code, or of what is inlined there; 0: not known */
};
/* Bodies from the outermost on, valid until the next call. */
struct fm_perf_place {
    const struct fm_perf_body_at *bodies;
    uint32_t count;
    bool named; /* by a symbol or debug information */
};

struct fm_perf_places *fm_perf_places_new(struct fm_perf_processes *processes,
                                          struct fm_stacks *stacks);
void fm_perf_places_free(struct fm_perf_places *places); /* NULL is allowed */
struct fm_perf_place fm_perf_place_of(struct fm_perf_places *places,
                                      struct fm_perf_process *process,
                                      const struct fm_perf_frame *frame);

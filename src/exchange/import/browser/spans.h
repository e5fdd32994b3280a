/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of spans: what began and ended in a lane (a thread), at known times. One span is a call,
 * its own time is what its inner spans do not take.
 *
 * Within a lane events are taken in the order of time, at equal times in that of the file, longer
 * complete spans first. An end ends the innermost span that was begun, or the innermost of its
 * name, and all within it. A complete span that ends after the one around it ends with that one.
 * What was never ended ends at the lane's last time. */
#pragma once

#include "exchange/import/stacks.h"

struct fm_spans;

/* What does not nest as it should, and how many spans there are. */
struct fm_spans_found {
    uint64_t spans, cut, never_ended, ends_without_begin;
    uint64_t time_ns; /* the outermost spans' */
};

struct fm_spans *fm_spans_new(void);
void fm_spans_free(struct fm_spans *spans); /* NULL is allowed */

/* Lanes have numbers from 0. */
uint32_t fm_spans_add_lane(struct fm_spans *spans);
/* name: a number for what an end has to be called to end it. */
void fm_spans_begin(struct fm_spans *spans, uint32_t lane, int64_t ns, uint32_t function,
                    uint32_t name);
#define FM_SPANS_ANY UINT32_MAX /* the end of whatever was begun last */
void fm_spans_end(struct fm_spans *spans, uint32_t lane, int64_t ns, uint32_t name);
void fm_spans_complete(struct fm_spans *spans, uint32_t lane, int64_t ns, int64_t duration_ns,
                       uint32_t function);
bool fm_spans_is_empty(const struct fm_spans *spans, uint32_t lane);

/* Adds calls and, as quanta, nanoseconds below the frames that are on the stacks. False: the times
 * are more than 2^63 ns together. */
FM_MUST_USE bool fm_spans_add(struct fm_spans *spans, uint32_t lane, struct fm_stacks *stacks,
                              struct fm_spans_found *found);

/* Notes on what does not nest as it should. */
void fm_spans_tell(const struct fm_spans_found *found, struct fm_build *build);
/* A note "1 span ..." or "7 spans ..."; none for 0. */
void fm_spans_tell_count(struct fm_build *build, uint64_t count, const char *one,
                         const char *several);

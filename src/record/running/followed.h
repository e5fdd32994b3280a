/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is being written, read again and again: nodes are read once, as they never move,
 * counters each time. Sums never decrease from one reading to the next, and every edge has its
 * callee. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "record/raw/recording.h"

#define FM_FOLLOWED_NONE UINT32_MAX

/* Counts of contexts, edges and functions. Time in quanta (fm_followed_quantum_ns()). */
enum fm_followed_measure {
    FM_FOLLOWED_CALLS,
    FM_FOLLOWED_QUANTA,
    FM_FOLLOWED_ALLOCS,
    FM_FOLLOWED_BYTES,
    FM_FOLLOWED_GIVEN_BACK, /* bytes that were allocated here and freed, wherever that was */
    FM_FOLLOWED_WAIT_NS,    /* waits that are over */
    /* For edges that created their callee; docs/format-recording.md, "Totals inside recursions".
     * CHARGED: quanta of the callee's stacks that are not plain. MOVED: the difference between its
     * plain stacks and the edge's own, modulo 2^64. Not used for functions. */
    FM_FOLLOWED_CHARGED,
    FM_FOLLOWED_MOVED,
    FM_FOLLOWED_MEASURES
};
struct fm_followed_counts {
    uint64_t of[FM_FOLLOWED_MEASURES];
};

/* A call edge. Both are contexts. */
struct fm_followed_edge {
    uint32_t caller; /* FM_FOLLOWED_NONE: a thread begins */
    uint32_t callee;
    uint32_t ref; /* in the file */
    bool made;    /* its callee: else it closes a recursion */
    struct fm_followed_counts counts;
};

/* A function in a calling context. */
struct fm_followed_context {
    uint32_t maker;    /* edge; FM_FOLLOWED_NONE: not found yet */
    uint32_t function; /* index */
    uint32_t thread;   /* index, in order of their beginning */
    uint32_t ref;
    uint32_t newest; /* reference of the newest edge that was read */
};

/* The function that begins at an address of a module. */
struct fm_followed_function {
    /* 0: costs of a thread outside of all functions; 1: losses, for which there was no room */
    uint64_t address;
    uint32_t epoch;
    uint32_t module; /* index; FM_FOLLOWED_NONE: none is known */
};

struct fm_followed {
    char *path;
    struct fm_rec_header header; /* header at the last reading */
    uint64_t readings;
    const struct fm_followed_edge *edges;
    const struct fm_followed_context *contexts;
    const struct fm_followed_function *functions;
    const struct fm_raw_module *modules;
    uint32_t edge_count, context_count, function_count, module_count, thread_count;
    struct fm_followed_private *own;
};

/* Opens it and reads it for the first time. Caller owns *ret. Errors: those of
 * fm_raw_recording_load(). */
FM_MUST_USE bool fm_followed_open(const char *path, struct fm_followed **ret, GError **error);
void fm_followed_free(struct fm_followed *watch); /* NULL is allowed */
/* Reads new data. On failure counts are as before, and it must not be read again. */
FM_MUST_USE bool fm_followed_read(struct fm_followed *watch, GError **error);
/* Does the program still run? When not, one more reading sees all that it has done. */
bool fm_followed_is_running(const struct fm_followed *watch);
/* Whether waits, and live memory, are recorded. */
static inline bool fm_followed_has_waits(const struct fm_followed *watch)
{
    return (watch->header.grade_flags & FM_REC_WAITING) != 0;
}
/* Whether calls were counted: not by samples of stacks. */
static inline bool fm_followed_has_calls(const struct fm_followed *watch)
{
    return (watch->header.grade_flags & FM_REC_UNWOUND) == 0;
}
/* Whether allocations are counted, if there are any. */
static inline bool fm_followed_has_allocs(const struct fm_followed *watch)
{
    return fm_followed_has_calls(watch) ||
           (watch->header.grade_flags & (FM_REC_ALLOCATION | FM_REC_WILL_HOLD)) != 0;
}
static inline bool fm_followed_has_held(const struct fm_followed *watch)
{
    return watch->header.version > 2 && watch->header.held != 0;
}
/* Live bytes of what was allocated here; when memory from before a moment was freed since, the
 * difference is negative. */
static inline int64_t fm_followed_held(const struct fm_followed_counts *counts)
{
    return (int64_t)(counts->of[FM_FOLLOWED_BYTES] - counts->of[FM_FOLLOWED_GIVEN_BACK]);
}
/* Seconds, or events (fm_raw_tick_words()). */
static inline double fm_followed_ticks(const struct fm_followed *watch, uint64_t quanta)
{
    uint64_t quantum = watch->header.quantum_ns;
    return quantum > 0 ? (double)quanta * (double)quantum * 1e-9 : (double)quanta;
}

/* The counts of all edges at one moment, to subtract. */
struct fm_followed_moment {
    uint32_t edge_count;
    struct fm_followed_counts *edges;
};
struct fm_followed_moment *fm_followed_moment_new(const struct fm_followed *watch);
void fm_followed_moment_free(struct fm_followed_moment *moment); /* NULL is allowed */

/* Sums by function since a moment (NULL: since the beginning). Totals of time are the cost of all
 * stacks that contain the function, each counted once, if ticks charge that. Other totals, and
 * those of old recordings, are of the function's contexts and those created below them, in which it
 * occurs once. */
struct fm_followed_row {
    uint32_t function;
    struct fm_followed_counts self, total; /* total calls: of it and of all below it */
};
/* All functions that were called or used anything, one row each, unsorted; *ret_all: of the whole
 * program. g_array_unref(). */
GArray *fm_followed_rows(const struct fm_followed *watch, const struct fm_followed_moment *since,
                         struct fm_followed_counts *ret_all);
/* The callers (or callees) of one function, with counts of the edges between: self: of the callee,
 * total: with everything below; within a recursion only the calls. */
GArray *fm_followed_neighbours(const struct fm_followed *watch,
                               const struct fm_followed_moment *since, uint32_t function,
                               bool callers);

typedef struct fm_followed FmFollowed;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmFollowed, fm_followed_free)

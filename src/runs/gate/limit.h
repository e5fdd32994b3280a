/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of what a profile may cost, one a line of a file that people write. Grammar: README.md. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define FM_LIMITS_MAX 10000u
#define FM_LIMIT_STEPS_MAX 64u

/* One function of a path, outermost first. */
struct fm_limit_step {
    char *name;
    bool any;      /* name contains * (any text) or ? (any character) */
    bool gap;      /* other calls may be between the step before and this one */
    char *place;   /* file or folder, whole parts of a path; NULL = any */
    uint32_t line; /* line at which the function begins; 0 = any */
};

enum fm_limit_subject {
    FM_LIMIT_TOTAL, /* the whole program */
    FM_LIMIT_PATH,  /* contexts */
    FM_LIMIT_NEW,   /* increase of the contexts in a place; decreases do not offset it */
};
enum fm_limit_operator { FM_AT_MOST, FM_BELOW, FM_EQUAL, FM_AT_LEAST, FM_ABOVE };
enum fm_limit_bound {
    FM_BOUND_ABSOLUTE,   /* applies to the value */
    FM_BOUND_DIFFERENCE, /* applies to the difference from the old value */
    FM_BOUND_PERCENT,    /* applies to that difference as a percentage of the old value */
};
enum fm_limit_unit { FM_LIMIT_COUNT, FM_LIMIT_BYTES, FM_LIMIT_SECONDS };

struct fm_limit {
    char *text;     /* as written, without the comment */
    unsigned line;  /* in its file, from 1 */
    char *file;     /* file in which it stands; "" = on the command line */
    bool optional;  /* a path without matches is not an error */
    char *measure;  /* "calls", "allocs", "bytes", "time", "peak bytes", or a measure's own name */
    bool self;      /* without callees */
    bool per_call;  /* divided by the calls of the context */
    bool from_root; /* the first step must be called by the root or a thread */
    enum fm_limit_subject subject;
    GArray *steps; /* struct fm_limit_step: PATH */
    char *place;   /* NEW */
    enum fm_limit_operator op;
    enum fm_limit_bound bound;
    enum fm_limit_unit unit;
    int64_t number; /* in 10 ^ -decimals of the unit; seconds: of nanoseconds */
    unsigned decimals;
    double confidence; /* for time, in per cent */
    double margin; /* for time, in per cent: a limit may still pass that far beyond the bound; -1 =
                      default */
};

struct fm_limits {
    GPtrArray *all; /* struct fm_limit, in order */
};

void fm_limits_init(struct fm_limits *ret);
void fm_limits_done(struct fm_limits *limits);
/* Adds the limits of a file; name is for messages. FM_ERROR_FORMAT gives line and column;
 * FM_ERROR_LIMIT: more than FM_LIMITS_MAX. */
FM_MUST_USE bool fm_limits_parse(struct fm_limits *limits, const char *name, const char *text,
                                 size_t size, GError **error);
FM_MUST_USE bool fm_limits_read(struct fm_limits *limits, const char *path, GError **error);

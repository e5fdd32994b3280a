/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `fathom top`: rows of functions, sorted and searched, with what they did since a
 * moment and since the reading before. */
#pragma once

#include "live/top/sampled.h"
#include "record/running/names.h"

enum fm_top_order {
    FM_TOP_SELF,
    FM_TOP_TOTAL,
    FM_TOP_CALLS,
    FM_TOP_RATE, /* calls a second, lately */
    FM_TOP_WAITING,
    FM_TOP_ALLOCS,
    FM_TOP_BYTES,
    FM_TOP_HELD,
    FM_TOP_NAME,
    FM_TOP_ORDERS
};
/* Bytes as people read them: "512", "9.8 MiB"; with a sign where less than nothing. g_free. */
char *fm_top_bytes_text(int64_t bytes);
/* By the words "self", "total" and so on. */
bool fm_top_order_parse(const char *word, enum fm_top_order *ret);
const char *fm_top_order_word(enum fm_top_order order);

struct fm_top_row {
    uint32_t function;
    const char *name; /* borrowed of the names */
    struct fm_followed_counts self, total;
    double calls_a_second; /* since the reading before; negative = not known yet */
};

struct fm_top {
    const struct fm_followed *watch;
    struct fm_followed *followed;     /* the recording; NULL: */
    struct fm_top_sampled *sampled;   /* a process that is sampled from outside */
    struct fm_followed_names *names;  /* of the recording */
    struct fm_followed_moment *since; /* NULL: since the beginning */
    /* CLOCK_MONOTONIC of that moment, of the last reading, and of the last time that the program
     * was running. */
    uint64_t since_ns, read_ns, alive_ns;
    bool running; /* the program, at the latest reading */
    enum fm_top_order order;
    char *search;          /* "" = all; part of a name, whatever the case */
    uint32_t function;     /* function whose callers and callees are shown; FM_FOLLOWED_NONE: all
                              functions */
    GArray *rows;          /* struct fm_top_row: all, or the callers */
    GArray *callees;       /* for one function */
    struct fm_top_row one; /* that function itself */
    struct fm_followed_counts all;
    GArray *found;            /* struct fm_followed_row: of all functions, at the latest reading */
    GHashTable *calls_before; /* by function: calls at the previous reading */
    uint64_t before_ns;
};

/* root, debug_path: as in struct fm_finish_opts, or NULL. */
FM_MUST_USE bool fm_top_open(struct fm_top *top, const char *path, const char *root,
                             const char *debug_path, GError **error);
/* Samples a process that is not recorded from outside. Errors: those of fm_top_sampled_new(). */
FM_MUST_USE bool fm_top_open_sampled(struct fm_top *top, uint32_t pid, GError **error);
void fm_top_close(struct fm_top *top);
/* Reads, and makes the rows. */
FM_MUST_USE bool fm_top_read(struct fm_top *top, GError **error);
void fm_top_arrange(
    struct fm_top *top); /* the rows, of what was read: another order, search, function */
void fm_top_since_now(struct fm_top *top, bool now); /* or since the beginning */
/* Seconds that the shown counts took. */
double fm_top_seconds(const struct fm_top *top);

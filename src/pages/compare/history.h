/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a program's profiles, one in a row, in order of recording. */
#pragma once

#include "runs/compare/compare.h"
#include "display/display.h"

/* One profile. Values that are not recorded are -1. */
struct fm_history_entry {
    char *label;       /* owned: its name without ".data" */
    char *program;     /* owned: its file's name */
    char *build_id;    /* owned, hexadecimal; NULL = not known */
    uint64_t start_ns; /* since 1970; 0 = not known */
    double seconds;    /* CPU time, or see clock */
    bool clock;        /* it is not known to be CPU time */
    int64_t samples;   /* that the time rests on */
    char *ticks_name;  /* owned: name of quanta that are not time, "cycles"; NULL = none */
    int64_t ticks;     /* how many */
    int64_t contexts, calls, allocs, bytes, peak_bytes;
};
void fm_history_entry_done(void *entry); /* for GArray */

/* Reads what the profile and the files beside it say about a run; path is that of NAME.data. */
FM_MUST_USE bool fm_history_read(const char *path, struct fm_history_entry *ret, GError **error);

/* entries: struct fm_history_entry, which this puts in order. The caller owns the result. */
struct fm_display *fm_history_page(GArray *entries);

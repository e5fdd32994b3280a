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

/* A function of a script on a stack; the texts are the record's. */
struct fm_perf_script {
    const char *name, *file;
    uint32_t line;    /* of its beginning */
    uint32_t current; /* line that runs; 0 = not known */
    bool entry;       /* C called it */
};

/* The frame that was pushed last. */
struct fm_perf_inner {
    uint32_t function; /* fm_stacks_function(); FM_PERF_NO_FUNCTION = none */
    uint32_t line;     /* that runs, in the function's file; 0 = not known */
};
#define FM_PERF_NO_FUNCTION UINT32_MAX

struct fm_perf_reader {
    struct fm_perf_file file;
    struct fm_perf_processes processes;
    struct fm_perf_places *places;
    struct fm_stacks *stacks;
    struct fm_perf_measure *measures; /* one for each event */
    guint main;                       /* event */
    GArray *frames;                   /* struct fm_perf_frame, innermost first */
    bool cut;                         /* they end before the thread's begin */
    struct fm_perf_inner inner;       /* of the stack that is pushed */
    GHashTable *lines;                /* lines.c; NULL = no line has any time */
    uint64_t script_low, script_high; /* fm_perf_live_script(); 0 = none */
    GArray *scripts;                  /* struct fm_perf_script, innermost first */
    struct fm_perf_quality quality;
};

/* The file is open. The measures are the caller's to choose, before the first sample. */
void fm_perf_reader_begin(struct fm_perf_reader *in, const char *program, const char *origin);
/* lines.c: the innermost frame's line gets the value of a sample. */
void fm_perf_lines_add(struct fm_perf_reader *in, uint64_t value);
/* The lines that have time, before the stacks are finished; NULL: there are none. */
struct fm_source_map *fm_perf_lines_map(const struct fm_perf_reader *in);
/* scripts.c: reads the functions that a sample tells of. */
void fm_perf_read_scripts(struct fm_perf_reader *in, const struct fm_perf_sample *sample);
/* Pushes the group of functions that C called by one call, the outermost of those that are left,
 * and takes it off. in->inner says where it is called from. False: there is none. */
bool fm_perf_push_script(struct fm_perf_reader *in);
/* How many such groups are left. */
unsigned fm_perf_script_groups(const struct fm_perf_reader *in);
/* The record at an offset, as in fm_perf_record. */
bool fm_perf_reader_add(struct fm_perf_reader *in, uint64_t at, GError **error);
bool fm_perf_reader_finish(struct fm_perf_reader *in, struct fm_profile **ret, GError **error);
/* Also closes the file; the reader may be zero but for that. */
void fm_perf_reader_clear(struct fm_perf_reader *in);

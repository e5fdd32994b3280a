/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a thread of the Firefox Profiler, in any version of its two forms. What a table
 * does not have is NULL, and null is NAN. */
#pragma once

#include "exchange/import/internal.h"

enum fm_firefox_weight { FM_FIREFOX_SAMPLES, FM_FIREFOX_MILLISECONDS, FM_FIREFOX_BYTES };

struct fm_firefox_thread {
    struct fm_json_value value;
    char *name;      /* with its process */
    GArray *strings; /* struct fm_json_value */
    GArray *libs;    /* struct fm_json_value: libraries */
    GArray *sources; /* struct fm_json_value: files of functions, since version 58 */
    size_t stack_count, frame_count, sample_count;
    enum fm_firefox_weight weight_unit;
    double cpu_scale; /* seconds of a unit of CPU time; 0 = it is not recorded */
    /* Columns, GArray of double. */
    GArray *sampled, *weights, *cpu;           /* samples */
    GArray *prefixes, *offsets, *stack_frames; /* stacks: parents, or how far in front they are */
    GArray *locations, *funcs, *frame_libs;    /* frames */
    GArray *func_names, *func_files, *func_lines; /* functions */
    GArray *func_sources, *func_resources;
    GArray *resource_libs;
};

/* All are read at once; value: the thread; the others are of its profile and may be missing. */
struct fm_firefox_thread *fm_firefox_thread_new(struct fm_json_value value,
                                                struct fm_json_value shared,
                                                struct fm_json_value libs,
                                                struct fm_json_value meta);
void fm_firefox_thread_free(gpointer thread);

/* SIZE_MAX: none. */
size_t fm_firefox_sampled(const struct fm_firefox_thread *thread, size_t sample);
double fm_firefox_weight(const struct fm_firefox_thread *thread, size_t sample); /* 1 = not told */
double fm_firefox_cpu(const struct fm_firefox_thread *thread, size_t sample); /* NAN = not known */

/* The innermost frame of a stack, and the stack that it was called from, SIZE_MAX = none. False: it
 * has none that can be. */
bool fm_firefox_stack(const struct fm_firefox_thread *thread, size_t stack, size_t *ret_frame,
                      size_t *ret_parent);

struct fm_firefox_function {
    char *name; /* of Gecko: a location; "0x..." where there is none */
    char *file; /* "" = not known */
    uint32_t line;
};
void fm_firefox_function(const struct fm_firefox_thread *thread, size_t frame,
                         struct fm_firefox_function *ret);
void fm_firefox_function_done(struct fm_firefox_function *function);
/* The library of a frame without a name, "" = not known; g_free. */
char *fm_firefox_library(const struct fm_firefox_thread *thread, size_t frame, const char *address);

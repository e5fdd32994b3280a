/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of samples as they are taken: records as perf_event_open(2) delivers them, or
 * built the same way by who samples otherwise. Copies of stacks are unwound at once and dropped.
 *
 *   struct fm_perf_live *live = fm_perf_live_new(&of);
 *   fm_perf_live_event(live, FM_PERF_LIVE_CPU, &attr, sizeof attr);
 *   fm_perf_live_id(live, FM_PERF_LIVE_CPU, id);
 *   while (...)
 *       fm_perf_live_add(live, record, size, &error);
 *   fm_perf_live_finish(live, &profile, &error); */
#pragma once

#include "profile/file/build.h"

struct fm_perf_live;

/* A sample's period counts one of these, in nanoseconds. Events are added in this order. */
enum fm_perf_live_measure {
    FM_PERF_LIVE_CPU,
    FM_PERF_LIVE_ASLEEP, /* asleep in a call */
    FM_PERF_LIVE_READY,  /* able to run, while others did */
    FM_PERF_LIVE_MEASURES
};

struct fm_perf_live_of {
    const char *program; /* name of the profile's program */
    const char *origin;  /* fm_run_info.origin */
    const char *root;    /* the process's root folder; NULL = the same as ours */
    int32_t inner_pid;   /* the process's number where it runs, in its container */
};

/* All are copied. */
struct fm_perf_live *fm_perf_live_new(const struct fm_perf_live_of *of);
void fm_perf_live_free(struct fm_perf_live *live); /* NULL is allowed */
/* attr: struct perf_event_attr, of that size. */
void fm_perf_live_event(struct fm_perf_live *live, enum fm_perf_live_measure measure,
                        const void *attr, size_t size);
/* A number in samples (PERF_SAMPLE_IDENTIFIER) that stands for an event. */
void fm_perf_live_id(struct fm_perf_live *live, enum fm_perf_live_measure measure, uint64_t id);
/* Code between these addresses runs functions of a script. A sample that has raw bytes tells of the
 * functions, the innermost first: a byte that is 1 if C called it, the line where it begins and the
 * one that runs (4 bytes each, 0 = not known), and two texts, each with a NUL byte: its name and
 * its file. They stand in place of the code. */
void fm_perf_live_script(struct fm_perf_live *live, uint64_t low, uint64_t high);
/* The next record, in the order of time. Errors: FM_ERROR_LIMIT. */
FM_MUST_USE bool fm_perf_live_add(struct fm_perf_live *live, const uint8_t *record, size_t size,
                                  GError **error);
/* Whether code of the process is known at an address. */
bool fm_perf_live_is_mapped(struct fm_perf_live *live, int32_t pid, uint64_t address);
/* For the header and notes; belongs to live. */
struct fm_build *fm_perf_live_build(struct fm_perf_live *live);
/* live is empty then, also on failure: to be freed. */
FM_MUST_USE bool fm_perf_live_finish(struct fm_perf_live *live, struct fm_profile **ret,
                                     GError **error);

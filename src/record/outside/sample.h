/* SPDX-License-Identifier: Apache-2.0 */
/* Records in the form of perf_event_open(2), for what is sampled without it. */
#pragma once

#include <linux/perf_event.h>
#include <sys/user.h>

#include "exchange/import/perfdata/live.h"
#include "record/outside/target.h"

#define FM_OUTSIDE_PERIOD_NS 3999971u /* near 4 ms, and in step with nothing */
#define FM_OUTSIDE_STACK_BYTES 32768u

/* Numbers of registers, as perf has them. */
enum { FM_OUTSIDE_BP = 6, FM_OUTSIDE_SP = 7, FM_OUTSIDE_IP = 8, FM_OUTSIDE_REGISTERS = 24 };
#define FM_OUTSIDE_ALL_REGISTERS 0xff01ffull
#define FM_OUTSIDE_SP_IP (1ull << FM_OUTSIDE_SP | 1ull << FM_OUTSIDE_IP)

struct fm_outside_sample {
    pid_t pid, tid;
    enum fm_perf_live_measure measure;
    uint64_t ns;    /* that it stands for */
    uint64_t known; /* registers: bits of perf's numbers; 0 = none, and no stack */
    uint64_t registers[FM_OUTSIDE_REGISTERS];
    GByteArray *stack;   /* from sp on; NULL = none */
    GByteArray *scripts; /* functions of Python, fm_perf_live_script(); NULL = none */
};

/* The event of samples that the kernel takes of CPU time; kernel: also in it, with its frames. */
struct perf_event_attr fm_outside_event(bool kernel, uint32_t stack_bytes);
/* Adds the three events. attr: of CPU time. */
void fm_outside_events(struct fm_perf_live *live, const struct perf_event_attr *attr);
/* A sample's record, to be added. */
GByteArray *fm_outside_record(const struct fm_outside_sample *sample);
/* The number of nanoseconds in a record. */
void fm_outside_set_ns(GByteArray *record, uint64_t ns);
/* Adds the name of a thread. */
FM_MUST_USE bool fm_outside_name(struct fm_perf_live *live, const struct fm_target *target,
                                 pid_t tid, GError **error);
/* maps.c: adds the files of code that the process has in memory now, and the kernel. */
FM_MUST_USE bool fm_outside_maps(struct fm_perf_live *live, const struct fm_target *target,
                                 GError **error);
/* The path of the file that has Python's interpreter, and where its begin is in memory; NULL: there
 * is none. g_free() */
char *fm_outside_python(const struct fm_target *target, uint64_t *ret_start);
FM_MUST_USE bool fm_outside_kernel(struct fm_perf_live *live, GError **error);
/* A record of the kernel with its trailing fields, added. type: PERF_RECORD_*. */
FM_MUST_USE bool fm_outside_add(struct fm_perf_live *live, uint32_t type, uint16_t misc,
                                GByteArray *body, GError **error);

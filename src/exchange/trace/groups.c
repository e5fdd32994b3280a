/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/trace/internal.h"

const char *fm_trace_export_group(enum fm_lane_kind kind)
{
    static const char *const groups[FM_LANE_KIND_COUNT] = {
        [FM_LANE_PROCESS] = "processes",
        [FM_LANE_THREAD] = "threads",
        [FM_LANE_CAPABILITY] = "capabilities",
        [FM_LANE_COLLECTOR] = "garbage collector",
        [FM_LANE_SPARKS] = "sparks",
        [FM_LANE_LOCK] = "locks",
        [FM_LANE_ASYNC] = "asynchronous spans",
        [FM_LANE_COUNTER] = "counters",
        [FM_LANE_HEAP] = "heap",
        [FM_LANE_CPU] = "CPUs",
        [FM_LANE_INTERRUPT] = "interrupts",
        [FM_LANE_SOFT_INTERRUPT] = "soft interrupts",
        [FM_LANE_TRAP] = "traps",
        [FM_LANE_DISK] = "disks",
        [FM_LANE_TASK] = "tasks",
    };
    return groups[kind];
}

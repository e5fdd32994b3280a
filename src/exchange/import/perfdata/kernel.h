/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's functions: a perf.data file has none, so they come from the kernel that
 * runs, if it is the one that was recorded. */
#pragma once

#include "exchange/import/perfdata/processes.h"

struct fm_perf_kernel;

/* NULL: it is another kernel, or it does not tell its addresses. */
struct fm_perf_kernel *fm_perf_kernel_new(const struct fm_perf_processes *processes);
void fm_perf_kernel_free(struct fm_perf_kernel *kernel); /* NULL is allowed */
/* NULL: not known; valid as long as kernel. */
const char *fm_perf_kernel_name(const struct fm_perf_kernel *kernel, uint64_t address);

/* SPDX-License-Identifier: Apache-2.0 */
/* Names of code that a program made while it ran, as it wrote them down: /tmp/perf-PID.map (lines
 * "START SIZE NAME", hexadecimal), or a jitdump file, which is mapped as a sign that it is there
 * (perf's tools/perf/Documentation/jitdump-specification.txt). */
#pragma once

#include <glib.h>
#include <stdint.h>

struct fm_perf_jit;

/* path: of the file. NULL: there is none that may be read. */
struct fm_perf_jit *fm_perf_jit_new(const char *path);
/* perf-PID.map in the folder of a file. */
struct fm_perf_jit *fm_perf_jit_beside(const char *file, uint32_t pid);
void fm_perf_jit_free(struct fm_perf_jit *jit); /* NULL is allowed */
/* The name of the code at an address; the newest, if there was other code before. NULL: not known.
 * Reads what was written since. ret_number: of the name in its file, from 0. */
const char *fm_perf_jit_name(struct fm_perf_jit *jit, uint64_t address, uint32_t *ret_number);

/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Python that a thread of CPython (3.11 to 3.13) is in: the interpreter's own chain of
 * frames, read from its memory. The thread must not run meanwhile. */
#pragma once

#include "record/outside/target.h"

struct fm_python;

struct fm_python *fm_python_new(const struct fm_target *target);
/* Looks for the interpreter, until it is found. True: it was found now. */
bool fm_python_find(struct fm_python *python);
void fm_python_free(struct fm_python *python); /* NULL is allowed */
/* Addresses of the function that runs Python's functions. */
void fm_python_code(const struct fm_python *python, uint64_t *ret_low, uint64_t *ret_high);
/* Appends the thread's functions, if there is an interpreter, as fm_perf_live_script() describes.
 */
void fm_python_frames(struct fm_python *python, pid_t tid, GByteArray *to);

/* SPDX-License-Identifier: Apache-2.0 */
/* A profile for the tests of src/serve: Mercury's runtime calls one procedure, once. */
#pragma once

#include <stdint.h>

/* Writes it at path; the names may need escaping. callseqs: what the procedure cost.
 */
void write_small_profile(const char *path, const char *program, const char *proc,
                         const char *module, const char *file, uint64_t callseqs);
/* The same of a C program. */
void write_small_c_profile(const char *path, const char *program);

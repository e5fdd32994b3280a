/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Identity of the running program, in hexadecimal digits: the linker's build ID; without one, size
 * and times of the program's file. Never freed; thread-safe. */
const char *fm_program_build_id(void);

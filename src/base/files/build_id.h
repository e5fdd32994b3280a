/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Identity of the running program, in hexadecimal digits: the linker's build-id note, which no two
 * different programs share; where there is none, size and times of the file that it was started
 * from. Never freed; thread-safe. */
const char *fm_program_build_id(void);

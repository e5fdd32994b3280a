/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Identity of the running program, in hexadecimal digits: the linker's build ID; without one, size
 * and times of the program's file. Never freed; thread-safe. */
const char *fm_program_build_id(void);
/* The linker's build ID in the notes of an ELF file: its bytes, which lie within them. NULL: there
 * is none, or the notes are damaged. */
const uint8_t *fm_build_id_in(const uint8_t *notes, size_t size, size_t *ret_size);
/* In hexadecimal digits; g_free(). */
char *fm_build_id_text(const uint8_t *id, size_t size);

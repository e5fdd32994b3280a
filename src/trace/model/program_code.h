/* SPDX-License-Identifier: Apache-2.0 */
/* Code of the programs of an LTTng session: objects by process, as LTTng's own events
 * tell them (bin_info and build_id of the state dump, of dlopen and of the loader). Shared by all
 * states of a trace; seen by the model's files only. */
#pragma once

#include "trace/model/kernel_state.h"

struct fm_program_code;
struct fm_program_code *fm_program_code_new(void);
void fm_program_code_free(struct fm_program_code *code);
/* The handler of an event that tells of an object; NULL when the name is none of them. */
kernel_handler *fm_program_code_handler(const char *name);
/* The value of the function at the address, in the process of the event. */
uint32_t fm_program_code_value(struct kernel_event *at, uint64_t address);
/* "parse", "libhello.so+0x156e", or NULL where nothing is known. Caller frees. */
char *fm_program_code_name(struct fm_program_code *code, uint64_t process, uint64_t address);
void fm_program_code_write(const struct fm_program_code *code, GByteArray *to);
/* False when the bytes are damaged. */
bool fm_program_code_read(struct fm_program_code *code, const uint8_t *bytes, size_t length);

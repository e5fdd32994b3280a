/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of protocol buffers, as far as is needed before a file is unpacked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of the format, least part first, at bytes + *at; false: it does not end within size. */
bool fm_pprof_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret);
/* How many bytes the messages of a profile take when they are unpacked, about; of damaged bytes
 * those up to the damage. O(size). */
uint64_t fm_pprof_unpacked_size(const uint8_t *bytes, size_t size);

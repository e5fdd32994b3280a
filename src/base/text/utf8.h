/* SPDX-License-Identifier: Apache-2.0 */
/* Names are arbitrary bytes; what is written out is valid UTF-8 that changes nothing around it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Size of the valid UTF-8 sequence at text, 0 when the bytes there are none. text ends in NUL. */
unsigned fm_utf8_size(const char *text);
uint32_t fm_utf8_decode(const char *text, unsigned size);
/* Characters that change what is shown around them or that HTML forbids: controls, the direction
 * overrides, noncharacters. */
bool fm_utf8_is_unsafe(uint32_t character);
/* Appends a text that may go to a terminal: control characters as their pictures (U+2400 on), other
 * unsafe characters and bytes that are no UTF-8 as U+FFFD. */
void fm_utf8_append_clean(GString *out, const char *text);

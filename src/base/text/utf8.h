/* SPDX-License-Identifier: Apache-2.0 */
/* Names may contain any bytes; output is valid UTF-8 and does not affect the text around it. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Size of the valid UTF-8 sequence at text; 0 when it is invalid. text ends in NUL. */
unsigned fm_utf8_size(const char *text);
uint32_t fm_utf8_decode(const char *text, unsigned size);
/* Whether a character affects the display of its surroundings, or HTML forbids it: controls,
 * direction overrides, noncharacters. */
bool fm_utf8_is_unsafe(uint32_t character);
/* Appends a text that may go to a terminal: control characters become their symbols (from U+2400),
 * other unsafe characters and invalid UTF-8 become U+FFFD. */
void fm_utf8_append_clean(GString *out, const char *text);

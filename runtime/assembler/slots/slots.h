/* SPDX-License-Identifier: Apache-2.0 */
/* --hooks=slots: the hooks of a file whose contexts are nodes in r15 (runtime/slots/node.h). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Whether the text requests them. */
bool fm_slots_wanted(const char *text);
/* Writes the text with hooks. salt: distinguishes equal texts of one program, as the object's name
 * does. False: the file cannot have them; an error was printed. */
bool fm_slots_filter(const char *text, const char *salt, FILE *out);

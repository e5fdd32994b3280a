/* SPDX-License-Identifier: Apache-2.0 */
/* CTF traces for tests, from text, written by the babeltrace2 library.
 *
 *   # a comment
 *   packet N              a new packet after every N events of a stream; at first 1000
 *   context vtid vpid     the events of all streams have these numbers beside their fields; a line
 *                         tells them like fields
 *   TIME CPU NAME field=12 other=-1 hex=0x1f text="a b" real=1.5 list=[1,2,3] word=<label:3>
 *
 * TIME is in ns since 1970, ascending; a stream a CPU. The kind of a field is that of its first
 * value in the text: decimal signed 64 bits, 0x unsigned. */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Writes the trace into a new folder; ends the test on failure. */
void ctf_write(const char *folder, const char *text);

/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text that reads back as the same number; the decimal point is "." in every locale. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Writes the digits of value before end, without terminator; returns the first. At most 20. */
char *fm_number_digits(uint64_t value, char *end);
void fm_append_plain_int(GString *out, int64_t value);
/* %g with the fewest digits, at least least_digits (1 to 17), that read back as the same number. */
void fm_append_shortest(GString *out, double value, int least_digits);
/* Integers without exponent, others in shortest form; false, without output, for NaN and
 * infinity. */
bool fm_append_plain_double(GString *out, double value);
/* A moment, ns since 1970, as "2015-04-29T14:22:12.123456789Z". g_free(). */
char *fm_number_utc(int64_t ns);

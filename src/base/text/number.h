/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text that reads back as the same number; the point is a point in every locale. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Digits of value in front of end, which the text is not ended by; returns the first. At most 20.
 */
char *fm_number_digits(uint64_t value, char *end);
void fm_append_plain_int(GString *out, int64_t value);
/* %g with as few digits, from least_digits (1 to 17) on, as read back as the same number. */
void fm_append_shortest(GString *out, double value, int least_digits);
/* Whole numbers without exponent, others as the shortest; false, and nothing, for what is no
 * number. */
bool fm_append_plain_double(GString *out, double value);

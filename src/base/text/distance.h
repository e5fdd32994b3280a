/* SPDX-License-Identifier: Apache-2.0 */
/* How like two names are, for "did you mean". */
#pragma once

/* Longer texts are like nothing. */
enum { FM_TEXT_DISTANCE_BYTES_MAX = 128 };

/* Levenshtein's distance: the bytes to insert, delete or replace, upper and lower case being the
 * same. UINT_MAX when a text is too long. */
unsigned fm_text_distance(const char *a, const char *b);

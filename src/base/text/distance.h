/* SPDX-License-Identifier: Apache-2.0 */
/* Similarity of names, for "did you mean". */
#pragma once

/* Longer texts are not compared. */
enum { FM_TEXT_DISTANCE_BYTES_MAX = 128 };

/* Levenshtein distance in bytes, ignoring case. UINT_MAX when a text is too long. */
unsigned fm_text_distance(const char *a, const char *b);

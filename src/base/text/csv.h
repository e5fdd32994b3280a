/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of CSV (RFC 4180) with text from recordings, which may contain any bytes. */
#pragma once

#include <glib.h>

/* Appends a text as a field: valid UTF-8 without control characters (fm_utf8_append_clean), quoted
 * if necessary. A text that a spreadsheet would take for a formula (it begins with = + - @) gets a
 * leading apostrophe, which marks it as text. */
void fm_csv_append_text(GString *out, const char *text);

/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of CSV (RFC 4180) that hold text from recordings, which may be any bytes. */
#pragma once

#include <glib.h>

/* Appends a text as a field: valid UTF-8 without control characters (fm_utf8_append_clean), quoted
 * when it must be. A text that a spreadsheet would take for a formula (it begins with = + - @) gets
 * an apostrophe in front, which makes it a text there. */
void fm_csv_append_text(GString *out, const char *text);

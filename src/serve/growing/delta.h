/* SPDX-License-Identifier: Apache-2.0 */
/* The difference between two versions of a page's text, for scripts that have the first version. */
#pragma once

#include <glib.h>

/* Returns a JSON array: a positive number copies that many characters of the old text, a negative
 * one skips them, a string is inserted; the rest of the old text is dropped. Characters are UTF-16
 * units, as in scripts. Unchanged rows and paragraphs are copied as a whole. g_free. */
char *fm_delta(const char *before, const char *after);

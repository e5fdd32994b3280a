/* SPDX-License-Identifier: Apache-2.0 */
/* The difference between two versions of a page's text, for scripts that have the first one. */
#pragma once

#include <glib.h>

/* A JSON array: positive numbers take so many characters of the old text, negative ones leave so
 * many out, strings are put in; after the last one nothing is taken. Characters are UTF-16's, as
 * scripts count. Rows and paragraphs that did not change are taken whole. g_free. */
char *fm_delta(const char *before, const char *after);

/* SPDX-License-Identifier: Apache-2.0 */
/* The text of source files, and where functions end in it. */
#pragma once

#include "pages/profile/parts/page.h"

/* The file's text, g_free; NULL where it cannot be shown. What was stored with the recording comes
 * first: it is what ran. A relative name is tried beside the
 * recording, then in the current folder. *ret_note: why it cannot, with the places where it was
 * looked for, or what should be known of it; unchanged when there is nothing to say; g_free. */
char *fm_source_text_read(const struct fm_page *page, const char *file, char **ret_note);
/* Just behind the brace that closes the body which begins at or after text; NULL if none does. */
const char *fm_source_text_end(const char *text);
/* The text after so many lines; NULL when there are no more. */
const char *fm_source_text_line(const char *text, uint32_t lines);
/* How many lines from one place to another, both inclusive. */
uint32_t fm_source_text_count(const char *from, const char *to);

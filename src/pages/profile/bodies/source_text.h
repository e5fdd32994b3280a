/* SPDX-License-Identifier: Apache-2.0 */
/* The text of source files, and where functions end in it. */
#pragma once

#include "pages/profile/parts/page.h"

/* The file's text, g_free; NULL if it cannot be shown. A text stored with the recording has
 * priority: it is the version that ran. A relative name is looked up beside the recording, then in
 * the current folder. *ret_note: why it cannot be shown, with the places tried, or a remark;
 * unchanged when there is none; g_free. */
char *fm_source_text_read(const struct fm_page *page, const char *file, char **ret_note);
/* The position after the brace that closes the body beginning at or after text; NULL if there is
 * none. */
const char *fm_source_text_end(const char *text);
/* The text after that number of lines; NULL when there are no more. */
const char *fm_source_text_line(const char *text, uint32_t lines);
/* The number of lines between two positions, both inclusive. */
uint32_t fm_source_text_count(const char *from, const char *to);

/* SPDX-License-Identifier: Apache-2.0 */
/* Names and places as a page shows them. */
#pragma once

#include "pages/profile/parts/page.h"

/* The short name, told apart from those of the other functions of the page; the whole one where
 * the reader asked for that. Valid as long as the page is being made. */
const char *fm_shown_name(const struct fm_page *page, uint32_t ps);
/* As the page's preferences qualify it. Valid as the above. */
const char *fm_name_ps(const struct fm_page *page, uint32_t ps);
/* All of a name that is shown shortened, for fm_cell_full(); NULL = nothing is left out. */
const char *fm_full_name_ps(const struct fm_page *page, uint32_t ps);
const char *fm_css_file(const struct fm_profile *profile, uint32_t css);
/* Text for calls whose site does not name the callee: "higher order call". For C it names the
 * callee, or the function that calls back, if the recording knows it. The caller frees it. */
char *fm_name_site(const struct fm_page *page, uint32_t css, bool called);
/* "file:line"; C shows only the last part of the file's path. The caller frees. */
char *fm_name_place(const struct fm_page *page, const char *file, uint32_t line);
/* Added above the page of a function: links to the program's files, its file, the function, and an
 * aspect of it (NULL: the function itself is shown). */
void fm_function_crumbs(struct fm_page *page, uint32_t ps, const char *what);

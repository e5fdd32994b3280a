/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that need a procedure's body or source. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_page_module_rep(struct fm_page *page, GError **error);
bool fm_page_body_coverage(struct fm_page *page, GError **error);
bool fm_page_source_coverage(struct fm_page *page, GError **error); /* for C profiles */
bool fm_page_source_file(struct fm_page *page, GError **error);
bool fm_page_lines(struct fm_page *page, GError **error);
bool fm_page_asm(struct fm_page *page, GError **error); /* likewise */
bool fm_page_clique_rc(struct fm_page *page, GError **error);
bool fm_page_recursion_type_freq(struct fm_page *page, GError **error);
bool fm_page_var_use(struct fm_page *page, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that need a procedure's body or source. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_report_module_rep(struct fm_page *page, GError **error);
bool fm_report_body_coverage(struct fm_page *page, GError **error);
bool fm_report_source_coverage(struct fm_page *page, GError **error); /* for C profiles */
bool fm_report_source_file(struct fm_page *page, GError **error);
bool fm_report_asm(struct fm_page *page, GError **error); /* likewise */
bool fm_report_clique_rc(struct fm_page *page, GError **error);
bool fm_report_recursion_type_freq(struct fm_page *page, GError **error);
bool fm_report_var_use(struct fm_page *page, GError **error);

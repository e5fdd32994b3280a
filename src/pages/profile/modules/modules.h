/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that list modules and procedures. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_page_program_modules(struct fm_page *page, GError **error);
bool fm_page_module(struct fm_page *page, GError **error);
bool fm_page_module_getter_setters(struct fm_page *page, GError **error);
bool fm_page_top_procs(struct fm_page *page, GError **error);
bool fm_page_functions(struct fm_page *page, GError **error);

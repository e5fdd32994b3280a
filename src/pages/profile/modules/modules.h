/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that list modules and procedures. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_report_program_modules(struct fm_page *page, GError **error);
bool fm_report_module(struct fm_page *page, GError **error);
bool fm_report_module_getter_setters(struct fm_page *page, GError **error);
bool fm_report_top_procs(struct fm_page *page, GError **error);

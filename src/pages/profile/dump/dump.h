/* SPDX-License-Identifier: Apache-2.0 */
/* One node's fields, as in the file. */
#pragma once

#include "pages/profile/parts/page.h"

bool fm_page_dump_proc_static(struct fm_page *page, GError **error);
bool fm_page_dump_proc_dynamic(struct fm_page *page, GError **error);
bool fm_page_dump_call_site_static(struct fm_page *page, GError **error);
bool fm_page_dump_call_site_dynamic(struct fm_page *page, GError **error);
bool fm_page_dump_raw_clique(struct fm_page *page, GError **error);

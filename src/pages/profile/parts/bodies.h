/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of Mercury procedures as pages show them. */
#pragma once

#include "mercury/body/var_use.h"
#include "pages/profile/parts/page.h"

/* The pile of bodies of the recording; fm_bodies_free(). */
struct fm_bodies *fm_page_bodies(const struct fm_page *page);
/* Adds to an error the recording's name, the missing data, and how to get it; false. */
bool fm_page_fail(const struct fm_page *page, GError **error);
/* No page without bodies: false with FM_ERROR_UNAVAILABLE. C programs have none and need none. */
FM_MUST_USE bool fm_page_check_bodies(const struct fm_page *page, GError **error);
/* NULL when bodies exist, or are not needed; else what is missing and how to get it, g_free(). */
char *fm_page_lacks_bodies(const struct fm_page *page);
/* There is something to show: a body, and counts for it. */
bool fm_body_has_coverage(const struct fm_page *page, uint32_t ps);
/* A procedure as text, with the counts before each goal when coverage is not NULL. */
void fm_body_add_text(struct fm_page *page, uint32_t ps, const struct fm_body *body,
                      const struct fm_coverage *coverage);
/* The body, with counts where there are some, on the procedure's page; nothing without a body. */
void fm_body_add(struct fm_page *page, uint32_t ps);

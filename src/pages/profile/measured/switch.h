/* SPDX-License-Identifier: Apache-2.0 */
/* The switch of the measure, on pages of ranked rows. */
#pragma once

#include "pages/profile/parts/page.h"

/* The same page by another one. */
void fm_add_measures(struct fm_page *page, enum fm_query_measure now);

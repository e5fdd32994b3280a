/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites with their callees: of a clique, of a procedure. */
#pragma once

#include "pages/profile/parts/order.h"
#include "pages/profile/parts/perf_columns.h"

struct fm_site {
    struct fm_row row;
    char *label;            /* owned; what the row shows as its name */
    struct fm_row *callees; /* owned; NULL for a normal call */
    uint32_t callee_count;
    bool called;
};
void fm_sites_free(struct fm_site *sites, uint32_t count);
/* Sorts sites and their callees and adds their rows: location, name, performance. */
void fm_sites_print(const struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                    struct fm_site *sites, uint32_t count);

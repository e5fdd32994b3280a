/* SPDX-License-Identifier: Apache-2.0 */
/* Callers of a procedure, grouped by the page's command. */
#pragma once

#include "pages/profile/parts/order.h"

/* Callers from outside of the procedure's recursions, or from inside. */
struct fm_caller_groups {
    struct fm_page *page;
    uint32_t count;
    struct fm_callers_row *callers;
    struct fm_row *rows; /* sorted; id = index of the callers row */
    /* By clique instead: made when they are shown. */
    struct fm_clique_callers *cliques;
    uint32_t *order; /* NULL: in the order of cliques */
};

/* From outside the procedure's recursions, or inside them; fm_caller_groups_done(). */
void fm_caller_groups_find(struct fm_caller_groups *ret, struct fm_page *page, uint32_t ps,
                           bool inside);
void fm_caller_groups_done(struct fm_caller_groups *groups);
/* Returns the caller and the row at a place. */
void fm_caller_groups_at(const struct fm_caller_groups *groups, uint32_t place,
                         struct fm_callers_row *ret_caller, struct fm_row *ret);
/* The clique of the program's start. */
bool fm_caller_is_root(const struct fm_page *page, uint32_t clique);
/* The procedure that represents a clique of callers: its entry, or the runtime. */
const char *fm_caller_clique_name(const struct fm_page *page, uint32_t clique, uint32_t *ret_entry);

/* SPDX-License-Identifier: Apache-2.0 */
/* The most expensive recursions: a part of hottest.c that is independent of the rest, so that a
 * second thread may compute it. */
#pragma once

#include "profile/digest/hottest.h"

#define FM_HOT_MEASURES 6u /* at most */

struct fm_hot_search; /* used by one thread at a time */

/* By these measures. */
struct fm_hot_search *fm_hot_search_new(const struct fm_analysis *a,
                                        const enum fm_measure_id *measures, unsigned count);
/* Processes about `nodes` csds and cliques; true when done. */
bool fm_hot_search_step(struct fm_hot_search *search, uint32_t nodes);
/* Ranks recursions by measure `number`, most expensive total first; returns how many, at most
 * FM_HOT_MAX. */
unsigned fm_hot_search_rank(const struct fm_hot_search *search, unsigned number,
                            struct fm_hot_recursion *ret);
void fm_hot_search_free(struct fm_hot_search *search); /* NULL is allowed */

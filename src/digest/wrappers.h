/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that allocate on behalf of their callers, such as xmalloc: of interest is who calls
 * them. One has one call that allocates, allocates at most once a call, is called from several
 * places, and what it allocates differs in size from context to context; a function that makes
 * one kind of object is none. C programs only. */
#pragma once

#include "analysis/analysis.h"

struct fm_view_wrappers;
/* O(procedures + call sites + proc dynamics of those that qualify). */
struct fm_view_wrappers *fm_view_wrappers_new(const struct fm_analysis *a);
void fm_view_wrappers_free(struct fm_view_wrappers *wrappers); /* NULL is allowed */
bool fm_view_is_wrapper(const struct fm_view_wrappers *wrappers, uint32_t ps);
unsigned fm_view_wrappers_count(const struct fm_view_wrappers *wrappers);

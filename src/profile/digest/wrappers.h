/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that allocate for their callers, such as xmalloc, whose callers are more informative.
 * Such a function has one call that allocates, allocates at most once a call, is called from
 * several places, and the sizes differ from context to context; a function that makes one kind of
 * object is not a wrapper. A function that has the name of an allocator, such as operator new, is a
 * wrapper however it is called. C programs only. */
#pragma once

#include "profile/analysis/analysis.h"

struct fm_digest_wrappers;
/* O(procedures + call sites + proc dynamics of those that qualify). */
struct fm_digest_wrappers *fm_digest_wrappers_new(const struct fm_analysis *a);
void fm_digest_wrappers_free(struct fm_digest_wrappers *wrappers); /* NULL is allowed */
bool fm_digest_is_wrapper(const struct fm_digest_wrappers *wrappers, uint32_t ps);
unsigned fm_digest_wrappers_count(const struct fm_digest_wrappers *wrappers);
/* Whether a linker's name is that of a function that gives a block to its caller: malloc and its
 * relatives, operator new. */
bool fm_digest_is_allocator(const char *name);

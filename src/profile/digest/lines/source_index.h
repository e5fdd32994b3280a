/* SPDX-License-Identifier: Apache-2.0 */
/* The procedures of a C program by place of definition: to find where one ends. */
#pragma once

#include "profile/file/profile.h"

struct fm_source_index;

/* The profile is borrowed. */
struct fm_source_index *fm_source_index_new(const struct fm_profile *profile);
void fm_source_index_free(struct fm_source_index *index); /* NULL is allowed */
/* The line at which the next procedure of the same file begins, or 0. */
uint32_t fm_source_index_next(const struct fm_source_index *index, uint32_t ps);

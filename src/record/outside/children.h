/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes of a process that is sampled from outside: they are counted, so that it can be
 * said that they were not sampled. */
#pragma once

#include "record/outside/target.h"

struct fm_children;

struct fm_children *fm_children_new(const struct fm_target *target);
void fm_children_free(struct fm_children *children); /* NULL is allowed */
/* Counts those that there are. One that begins and ends between two looks is not seen. */
void fm_children_look(struct fm_children *children);
/* Counts one that somebody else has seen. */
void fm_children_add(struct fm_children *children, pid_t pid);
/* A sentence; NULL: there were none. g_free(). */
char *fm_children_words(const struct fm_children *children);

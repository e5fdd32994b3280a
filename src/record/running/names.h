/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions while a program runs: from the symbols of its files, each opened when a name
 * of it is asked for first. */
#pragma once

#include "record/running/followed.h"

struct fm_followed_names;

/* watch is borrowed. root, debug_path: as in struct fm_finish_opts, or NULL. */
struct fm_followed_names *fm_followed_names_new(const struct fm_followed *watch, const char *root,
                                                const char *debug_path);
void fm_followed_names_free(struct fm_followed_names *names); /* NULL is allowed */
/* Borrowed; UTF-8. "prog+0x1234" where the file has no symbol for it, or is another one by now. */
const char *fm_followed_name(struct fm_followed_names *names, uint32_t function);

/* SPDX-License-Identifier: Apache-2.0 */
/* The names of functions on one page. A page is made with short names first, and its functions are
 * noted. When some of these have equal names, the page is made again, with names that are told
 * apart among the functions of this page. */
#pragma once

#include <stdbool.h>

#include "profile/file/profile.h"

struct fm_shown_names;

/* full: whole names, for readers who asked for them. */
struct fm_shown_names *fm_shown_names_new(const struct fm_profile *profile, bool full);
void fm_shown_names_free(struct fm_shown_names *names); /* NULL is allowed */
/* Belongs to names, and is valid until they are told apart, or to the profile. */
const char *fm_shown_names_get(struct fm_shown_names *names, uint32_t ps);
/* Tells the names asked for so far apart. True if one of them is another now. */
bool fm_shown_names_tell_apart(struct fm_shown_names *names);

typedef struct fm_shown_names FmShownNames;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmShownNames, fm_shown_names_free)

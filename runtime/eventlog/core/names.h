/* SPDX-License-Identifier: Apache-2.0 */
/* Interned names: added by any thread and any signal handler without a lock, never freed. A name
 * enters the list of all names before it can be found. New names are posted before the next block
 * is handed over, and replays contain the whole list. So in every stream a definition precedes the
 * first use. */
#pragma once
#include <fathom/eventlog.h>

#define FM_EL_NAME_MAX 4000u
#define FM_EL_NAMES_MAX 1000000u

struct fm_el_name {
    struct fm_el_name *next_all, *next_same_hash;
    uint64_t made_ns;
    uint32_t id, bytes;
    char text[]; /* NUL-terminated */
};
/* Finds or adds a name, without announcing it; NULL when memory or the limit is exceeded.
 * in_library: this call interrupted the library in the same thread. */
const struct fm_el_name *fm_el_names_make(const char *text, size_t bytes, bool in_library);
struct fm_el_name *fm_el_names_newest(void); /* follow next_all for the others */

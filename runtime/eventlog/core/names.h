/* SPDX-License-Identifier: Apache-2.0 */
/* Names: made by any thread and any handler without a lock, never freed. In the list of all before
 * anybody can find one, so that a definition precedes the first use in every stream: what is new in
 * the list is posted before the next block is handed over, and replays hold the whole list. */
#pragma once
#include <fathom/eventlog.h>

#define FM_EL_NAME_MAX 4000u
#define FM_EL_NAMES_MAX 1000000u

struct fm_el_name {
    struct fm_el_name *next_all, *next_same_hash;
    uint64_t made_ns;
    uint32_t id, bytes;
    char text[]; /* ends with a zero */
};
/* Found, or made but not announced; NULL when memory or the limit is exceeded. in_library: this
 * call interrupted the library in the same thread. */
const struct fm_el_name *fm_el_names_make(const char *text, size_t bytes, bool in_library);
struct fm_el_name *fm_el_names_newest(void); /* the others by next_all */

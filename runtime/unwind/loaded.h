/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded object (program or library) that contains an address. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_loaded {
    uint64_t start, end;   /* its mappings, or those of one segment where gaps are between them */
    uint64_t bias;         /* difference between its addresses in memory and in the file */
    const char *name;      /* the path; "": the program. As long as it is loaded */
    const uint8_t *header; /* .eh_frame_hdr; NULL: it has none */
};
/* False: none does, or libc has not begun yet. Takes no lock with glibc 2.35 and later; before, the
 * loader's own. */
bool fm_loaded_at(uint64_t address, struct fm_loaded *ret);

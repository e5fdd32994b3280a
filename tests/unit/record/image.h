/* SPDX-License-Identifier: Apache-2.0 */
/* A recording made by hand, node by node. */
#pragma once

#include <glib.h>

#include "record/finish/finish.h"
#include "record/raw/recording.h"

#define FILE_BYTES 8192u
#define MAP_BASE UINT64_C(0x7f0000000000)

struct image {
    uint64_t aligned[FILE_BYTES / 8];
    uint32_t used;
};

void *bytes_at(struct image *image, uint32_t ref);
struct fm_rec_header *header_of(struct image *image);
/* Room at the end; returns its ref. */
uint32_t add(struct image *image, size_t size);
uint32_t add_pd(struct image *image, uint64_t fn);
/* Of caller 0 none. It made its callee. */
uint32_t add_csd(struct image *image, uint32_t caller, uint32_t callee, uint64_t calls,
                 uint64_t site);
/* root -> main (1 call, open) -> work (at 0x2000: 7 calls, 2 exceptional, 3 quanta, allocations;
 * one call open; two addresses with samples) -> main's recursion (0x2100). */
void make(struct image *image);
/* The newest sample of work's edge. */
struct fm_rec_sample *newest_sample(struct image *image, uint32_t *ret_ref);
/* A temporary file; g_unlink(), g_free(). */
char *write_image(const struct image *image, size_t size);
bool finish(const struct image *image, size_t size, struct fm_profile **ret,
            struct fm_finish_notes *notes, GError **error);

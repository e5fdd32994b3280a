/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the number that a text led to, so that repeated stacks are parsed once. Texts are
 * borrowed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fm_import_memo;

struct fm_import_memo *fm_import_memo_new(void);
void fm_import_memo_free(struct fm_import_memo *memo); /* NULL is allowed */

/* Pointer to the number of a text, initially 0, valid until the next call. beside: a second part of
 * the key. NULL: the text is not stored, because it is short, hardly any came again, or
 * memory is missing. */
uint32_t *fm_import_memo_at(struct fm_import_memo *memo, const char *text, size_t size,
                            uint32_t beside);

/* Finishing step of MurmurHash3: every bit of the key moves every bit of the hash. */
static inline uint64_t fm_import_mix(uint64_t key)
{
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdu;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53u;
    return key ^ key >> 33;
}
/* A hash of a text, going on from another or from a seed. */
uint64_t fm_import_hash(uint64_t hash, const char *text, size_t size);

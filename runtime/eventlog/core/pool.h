/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates pages from the kernel in powers of two, never with malloc. So a flush inside a signal
 * handler takes no lock of the C library. */
#pragma once
#include "core/check.h"

#include <fathom/eventlog.h>

#include <string.h>

void *fm_el_pool_alloc(size_t bytes); /* NULL when there is no memory; contents undefined */
void fm_el_pool_free(void *memory, size_t bytes);
size_t fm_el_pool_size(size_t bytes); /* the size that alloc really takes */
void fm_el_pool_lock(void);
void fm_el_pool_unlock(void);

/* A growing byte string, big-endian. failed: memory ran out, and the rest was dropped. */
struct fm_el_bytes {
    unsigned char *data;
    size_t used, capacity;
    bool failed;
};
void fm_el_put(struct fm_el_bytes *b, const void *data, size_t bytes);
void fm_el_put16(struct fm_el_bytes *b, uint16_t v);
void fm_el_put32(struct fm_el_bytes *b, uint32_t v);
void fm_el_put64(struct fm_el_bytes *b, uint64_t v);
void fm_el_bytes_done(struct fm_el_bytes *b);

static inline uint16_t fm_el_get16(const unsigned char *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return fm_eventlog_be16_(v);
}
static inline uint32_t fm_el_get32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return fm_eventlog_be32_(v);
}
static inline uint64_t fm_el_get64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return fm_eventlog_be64_(v);
}

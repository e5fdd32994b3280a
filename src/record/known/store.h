/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of data by key that many programs may use at once: $FATHOM_CACHE, else `fathom` in the
 * user's cache folder. After any failure it behaves like an empty folder: no error, no message. */
#pragma once

#include <glib.h>

#include "base/compiler.h"

struct fm_store;

/* NULL when it is switched off (FATHOM_CACHE=off) or there is no home folder. fm_store_close(). */
struct fm_store *fm_store_open(void);
void fm_store_close(struct fm_store *store); /* NULL is allowed */

/* Returns the data stored under this key. NULL if there is none, or if the file is damaged, not the
 * user's own, or writable for others. The caller unrefs it. */
GBytes *fm_store_get(const struct fm_store *store, const char *key);

/* Stores the bytes; when the folder exceeds $FATHOM_CACHE_SIZE bytes (default: 256 MiB), the least
 * recently used files are removed. */
void fm_store_put(const struct fm_store *store, const char *key, const guint8 *bytes, gsize size);

/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of GHashTable. */
#pragma once

#include <glib.h>

/* Hash of an int64_t or uint64_t, for g_int64_equal. GLib's g_int64_hash uses only the lower half
 * of the number, so pairs packed as (a << 32 | b) with equal b would all collide. */
guint fm_int64_hash(gconstpointer key);

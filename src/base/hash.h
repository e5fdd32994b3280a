/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of GHashTable. */
#pragma once

#include <glib.h>

/* Hash of an int64_t or uint64_t, for g_int64_equal. GLib's g_int64_hash looks at the lower half
 * alone: pairs of numbers, one shifted by 32, are all in one bucket where the other is the same. */
guint fm_int64_hash(gconstpointer key);

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdint.h>

guint fm_int64_hash(gconstpointer key)
{
    /* 2^64 divided by the golden ratio (Knuth, volume 3, 6.4): both halves of the key affect the
     * upper half of the product. */
    return (guint)((*(const uint64_t *)key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

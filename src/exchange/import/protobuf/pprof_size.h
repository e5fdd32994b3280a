/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a profile of pprof's, before it is unpacked. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How many bytes the messages of a profile take when they are unpacked, about; of damaged bytes
 * those up to the damage. O(size). */
uint64_t fm_pprof_unpacked_size(const uint8_t *bytes, size_t size);

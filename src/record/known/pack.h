/* SPDX-License-Identifier: Apache-2.0 */
/* Statics as bytes and back. The form is this program's own, of this build: no exchange format. */
#pragma once

#include "record/statics/statics.h"

/* Caller unrefs; NULL when they are too large to be kept (hundreds of megabytes). */
GByteArray *fm_statics_pack(const struct fm_statics *statics);

/* Unpacks statics; NULL when the bytes are invalid: every count, index, flag and text is checked,
 * so that the result can be used safely. The caller frees it. */
struct fm_statics *fm_statics_unpack(const uint8_t *bytes, size_t size);

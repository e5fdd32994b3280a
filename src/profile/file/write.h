/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a profile anywhere; fm_profile_write() of profile.h is this to a file, version 9. */
#pragma once

#include "profile/file/encode.h"

/* version: of Mercury's form, 8 or 9 (8 loses the file names of call sites). name is used in
 * messages. FM_ERROR_UNAVAILABLE when strict_mercury is wanted of a C profile that holds a normal
 * call site without a callee. */
FM_MUST_USE bool fm_profile_encode(const struct fm_profile *profile, const char *name,
                                   unsigned version, bool strict_mercury, struct fm_writer *writer,
                                   GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that are a folder of files. */
#pragma once

#include "profile/file/profile.h"

bool fm_import_is_uftrace(const char *folder);
/* Errors: FM_ERROR_IO, _FORMAT with file and offset. */
FM_MUST_USE bool fm_import_uftrace(const char *folder, const char *program, struct fm_profile **ret,
                                   GError **error);

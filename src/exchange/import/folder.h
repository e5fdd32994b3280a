/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that are a folder of files. */
#pragma once

#include "profile/file/profile.h"

/* Whether files of clang's -ftime-trace are in the folder or below it, and no profiles directly in
 * it. Looks at no more than some thousands of names. */
bool fm_import_is_compile_time(const char *folder);
/* All of them, one below the other. Errors: FM_ERROR_UNAVAILABLE (there is none), _LIMIT, _IO. */
FM_MUST_USE bool fm_import_compile_time(const char *folder, const char *program,
                                        struct fm_profile **ret, GError **error);

bool fm_import_is_uftrace(const char *folder);
/* Errors: FM_ERROR_IO, _FORMAT with file and offset. */
FM_MUST_USE bool fm_import_uftrace(const char *folder, const char *program, struct fm_profile **ret,
                                   GError **error);

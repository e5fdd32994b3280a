/* SPDX-License-Identifier: Apache-2.0 */
/* Commands whose programs cannot be recorded. */
#pragma once

#include <stdbool.h>

#include "record/toolchain/toolchain.h"

/* FM_ERROR_UNAVAILABLE with the reason. */
bool fm_toolchain_check(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                        GError **error);

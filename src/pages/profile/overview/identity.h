/* SPDX-License-Identifier: Apache-2.0 */
/* "@1f0c...": permanent names of functions and contexts in addresses, for profiles of running
 * programs, whose numbers change with each version. Dumps and pages of many callees keep
 * numbers. */
#pragma once

#include "pages/report.h"

#define FM_IDENTITY_BYTES 32 /* "clique/@" and 16 digits */

/* Replaces a number by an identity if the command is about one; its name is then in buffer. False:
 * unchanged. All costs must be known. */
bool fm_identity_name(const struct fm_open_profile *recording, struct fm_command *command,
                      char buffer[FM_IDENTITY_BYTES]);
/* Whether the name is an identity; *ret_number: of the context or function that has it, 0 = none.
 */
bool fm_identity_read(const struct fm_open_profile *recording, const char *name, bool clique,
                      uint32_t *ret_number);

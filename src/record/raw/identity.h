/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a recording's process, from the beginning of the file, without its graph. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

struct fm_raw_identity {
    char *program; /* the executable's path; "" = not known */
    uint32_t pid;
    uint64_t start_ns; /* since 1970: with pid, no other recording has the same */
    bool live;         /* a process writes it still */
    bool snapshot;     /* a copy of another recording */
    bool forked, execed;
};

/* Errors: FM_ERROR_IO, FM_ERROR_FORMAT, FM_ERROR_TRUNCATED, FM_ERROR_VERSION,
 * FM_ERROR_UNAVAILABLE. Caller ends *ret with fm_raw_identity_done(). */
FM_MUST_USE bool fm_raw_identify(const char *path, struct fm_raw_identity *ret, GError **error);
void fm_raw_identity_done(struct fm_raw_identity *identity);

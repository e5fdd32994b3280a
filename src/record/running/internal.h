/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "runtime/recording_format.h"

/* Reads the header of a recording and checks that it is one of this machine. */
FM_MUST_USE bool fm_running_header(int file, const char *path, struct fm_rec_header *ret,
                                   GError **error);

/* copy.c: copies the open recording whose header is mapped; on failure see errno. */
bool fm_running_copy_to(int from, const struct fm_rec_header *live, int to, uint32_t number);

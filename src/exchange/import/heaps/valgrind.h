/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, which DHAT and massif write alike. */
#pragma once

#include "exchange/import/stacks.h"

/* Pushes "0x109244: keep (prog.c:9)", "0x48CE8CB: f (in /lib/x.so)" or "0x1000: ???" as a frame.
 * *line: where its caller was, 0 = not known; becomes where this one is. */
void fm_import_push_valgrind(struct fm_stacks *stacks, const char *text, size_t size,
                             uint32_t *line);

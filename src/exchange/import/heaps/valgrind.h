/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, which DHAT and massif write alike. */
#pragma once

#include "exchange/import/stacks.h"

/* The function of a frame such as "0x109244: keep (prog.c:9)", "0x48CE8CB: f (in /lib/x.so)" or
 * "0x1000: ???". *ret_line: the line in it, where it calls the next frame; 0 = not known. */
uint32_t fm_import_valgrind_frame(struct fm_stacks *stacks, const char *text, size_t size,
                                  uint32_t *ret_line);

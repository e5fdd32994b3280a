/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of samples. Names may stand behind the samples in the file, so a stack becomes
 * functions when all has been read. */
#pragma once

#include "exchange/import/internal.h"
#include "exchange/import/perfetto/sequence.h"

struct fm_perfetto_frames;

/* size: of the file, which limits how many frames its samples may have together. */
struct fm_perfetto_frames *fm_perfetto_frames_new(size_t size);
void fm_perfetto_frames_free(struct fm_perfetto_frames *frames);

/* The number of a call stack; 0: none, or it is not in the file. */
uint32_t fm_perfetto_frames_stack(struct fm_perfetto_frames *frames,
                                  struct fm_perfetto_sequence *sequence, uint64_t number);
/* Names of the code of a file (ModuleSymbols). */
void fm_perfetto_frames_symbols(struct fm_perfetto_frames *frames, const struct fm_field *module);
/* Pushes a stack's functions, "(no stack)" for 0. False: they are more than a file of that size
 * has. */
FM_MUST_USE bool fm_perfetto_frames_push(struct fm_perfetto_frames *frames, uint32_t stack,
                                         struct fm_stacks *stacks);

/* SPDX-License-Identifier: Apache-2.0 */
/* The step from a frame to its caller with all registers, by a row. Slower than a rule by far, and
 * enough for all rows. */
#pragma once

#include "expression.h"
#include "unwind.h"

/* registers: of the frame; then of the caller, with known ones marked. exact: the frame's rip was
 * interrupted. Unless it returns FM_UNWIND_FRAME, they are unchanged. */
enum fm_unwind_result fm_unwind_leave(const struct fm_unwind_entry *entry,
                                      const struct fm_unwind_row *row, bool exact,
                                      struct fm_unwind_registers *registers,
                                      struct fm_unwind_memory *memory);

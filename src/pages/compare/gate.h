/* SPDX-License-Identifier: Apache-2.0 */
/* The page of limits: which are kept, and which are broken and by what. */
#pragma once

#include "display/display.h"
#include "runs/gate/gate.h"

/* The caller owns the result. */
struct fm_display *fm_gate_page(const struct fm_gate *gate);

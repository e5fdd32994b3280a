/* SPDX-License-Identifier: Apache-2.0 */
/* The totals of several runs of each side. */
#pragma once

#include "runs/compare/compare.h"
#include "display/display.h"

/* A row for each measure that all runs know. */
void fm_runs_add(struct fm_list *body, const struct fm_compare *compare);

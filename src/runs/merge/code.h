/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: NAME.code of a sum. */
#pragma once

#include "runs/merge/internal.h"

struct fm_merged_code;
struct fm_merged_code *fm_merged_code_new(void);
void fm_merged_code_free(struct fm_merged_code *code); /* NULL is allowed */
/* Why there is none though some inputs had it; NULL: there is one, or none had it. */
const char *fm_merge_code_lost(const struct fm_merge *m);
/* NULL: there is none. Call it when procedures have their ids in the result. */
struct fm_machine_code *fm_merge_code_result(const struct fm_merge *m);

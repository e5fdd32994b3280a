/* SPDX-License-Identifier: Apache-2.0 */
/* What `fathom record` does with what the processes of a run have left. */
#pragma once

#include "cli/record/finishing.h"

/* Makes the profiles of the recordings of the run BASE, which are not among those that were there
 * before; tells of processes that go on. An exit status. program: what was run, for messages. */
int fm_cli_finish_run(const struct fm_finishing *how, const char *base, GPtrArray *before,
                      const char *program);

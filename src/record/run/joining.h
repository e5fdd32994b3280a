/* SPDX-License-Identifier: Apache-2.0 */
/* One profile of all processes of a program, or of a run. */
#pragma once

#include "record/run/crowd.h"
#include "record/run/finishing.h"

/* all, program, none. */
bool fm_join_parse(const char *text, enum fm_join *ret);
/* Command that joins the recordings of the run BASE into OUTPUT.data (NULL: BASE.data);
 * g_free(). */
char *fm_run_join_command(enum fm_join join, const char *base, const char *output);
/* Makes BASE.data, and BASE.PROGRAM.data of further programs, of recordings. These are removed when
 * all profiles are written, that of the first process last, so that whoever is killed meanwhile can
 * begin again; all of a profile stay where how->keep says so, where a process still writes one, or
 * a file of the program is missing. Of the recordings only one is in memory at a time, beside the
 * sum. What cannot be added up (the program was rebuilt meanwhile) has a profile of its own. fresh:
 * see fm_crowd_groups(). False after a message on standard error: the rest is made all the same. */
bool fm_run_join(const struct fm_finishing *how, enum fm_join join, const char *base,
                 const GPtrArray *paths, bool fresh, uint64_t *ret_calls);

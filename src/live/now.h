/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of now of a program that runs, for commands that print one page and end. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "base/files/own_folder.h"

struct fm_making;
struct fm_live_now {
    char *path; /* path of a profile */
    char *text; /* text for the reader; NULL = a profile file, not a running program */
    char *recording, *profile;   /* files that were made; NULL = none */
    struct fm_own_folder folder; /* that it is made in */
    struct fm_making *making;
};

/* For "pid:N" and recordings NAME.rec, makes the profile in a temporary folder; other names are
 * those of profiles. fm_live_now_done(), also after an error. Errors: those of fm_control_path(),
 * of fm_finish() and of writing. */
FM_MUST_USE bool fm_live_now_take(const char *name, struct fm_live_now *ret, GError **error);
/* Removes the profiles that were made. */
void fm_live_now_done(struct fm_live_now *now);

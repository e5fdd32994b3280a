/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom record --keep=N --rotate=...`: the run of a service that does not end is cut in phases,
 * each of which is one of the runs that are kept: what was recorded from one moment to the next. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "record/run/finishing.h"

struct fm_rotation {
    unsigned keep; /* phases */
    uint64_t
        every_ns; /* 0: whenever a snapshot is there (fathom ctl snapshot, fathom_snapshot()) */
};
struct fm_rotating;

/* The first phase begins. name: NAME of the service; run: what the recordings of this run begin
 * with; before: recordings there that are of others. All is borrowed. Errors: there is no folder
 * for copies, or no name (fm_kept_begin()). */
FM_MUST_USE bool fm_rotating_begin(const struct fm_finishing *how,
                                   const struct fm_rotation *rotation, const char *name,
                                   const char *run, GPtrArray *before, struct fm_rotating **ret,
                                   GError **error);
/* Ends the phase and begins the next, if it is time: from now and then, while the program runs.
 * Failures are told on standard error; what could not be had is in the next phase. */
void fm_rotating_look(struct fm_rotating *rotating);
/* The program has ended: so does the last phase. Recordings are removed, unless they are to be kept
 * or something failed, or processes still write them. Frees. False after a message. */
bool fm_rotating_end(struct fm_rotating *rotating, uint64_t ended_ns);

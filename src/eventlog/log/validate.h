/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a log against every rule of the format. */
#pragma once

#include "eventlog/input/source.h"

enum fm_eventlog_severity {
    FM_EVENTLOG_NOTE,  /* allowed, but worth knowing: not finished, a number declared twice */
    FM_EVENTLOG_WRONG, /* breaks a rule */
};

/* message says what was found and what was expected. */
typedef void fm_eventlog_problem(void *user, enum fm_eventlog_severity severity, uint64_t offset,
                                 const char *message);

struct fm_eventlog_verdict {
    uint64_t events, blocks, headers;
    uint64_t notes, wrong;
};

/* Reads the source to its end. false with an error when it is not a log at all. */
bool fm_eventlog_validate(struct fm_eventlog_source *source, fm_eventlog_problem *problem,
                          void *user, struct fm_eventlog_verdict *ret, GError **error);

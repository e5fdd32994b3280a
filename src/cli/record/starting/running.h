/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program that is recorded: signals pass through, and its end is the caller's. */
#pragma once

#include <glib.h>
#include <sys/types.h>

#include "live/run.h"
#include "record/run/rotating.h"
#include "record/running/looks.h"

struct fm_attached;

struct fm_running {
    struct fm_looks *looks;       /* begun when it runs */
    struct fm_live_run *live;     /* NULL, or what shows it meanwhile */
    struct fm_rotating *rotating; /* NULL, or what cuts it in phases */
    struct fm_attached *attached; /* NULL, or how it is sampled from outside */
    pid_t pid;                    /* set when it is started */
};

/* Runs the program in that environment and waits for it; its wait status, or -1 after a message
 * with an exit status in *ret_exit. */
int fm_running_run(char **argv, char **environment, struct fm_running *with, int *ret_exit);
/* Ends as the program did (same status or signal), so that the caller sees no difference. */
int fm_running_end_like(int wait_status);
/* Says how a program failed by itself soon after its start; g_free(). NULL when it did not. Signals
 * sent to end it are no failure. */
char *fm_running_early_failure(int wait_status, gint64 lived_us);

/* SPDX-License-Identifier: Apache-2.0 */
/* Roles of the processes in a sum of C programs. */
#pragma once

#include "profile/file/profile.h"

/* Processes of one program that were started in the same way. */
struct fm_role {
    char *program;   /* the last part of its name, as in the command line; "" = not known */
    bool forked;     /* children of fork that went on with the program, */
    char *forked_in; /* from this function; NULL = not known */
    uint64_t processes;
    bool has_cost; /* known of all: */
    uint64_t calls, cpu_ns;
    uint64_t longest_ns; /* 0 = not known of all */
};

/* struct fm_role: started processes before forked ones, then by name. Empty when it is not a sum.
 * g_array_unref(). */
GArray *fm_run_roles(const struct fm_profile *profile);
/* How many processes, or runs, it is the sum of; 0 = it is no sum. */
uint64_t fm_run_processes(const struct fm_profile *profile);
/* "nginx", "nginx, forked in spawn_worker"; g_free. */
char *fm_run_role_text(const struct fm_role *role);
/* "9 processes: 1 nginx; 8 nginx, forked in spawn_worker"; g_free. NULL: it is no sum. */
char *fm_run_roles_sentence(const struct fm_profile *profile);

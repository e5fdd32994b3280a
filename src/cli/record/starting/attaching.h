/* SPDX-License-Identifier: Apache-2.0 */
/* Recording a process from outside: `fathom record --pid N`, and programs that nothing can be
 * loaded into. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct fm_outside;
struct fm_live_options;

/* Entries of a table of options. */
#define FM_ATTACHING_OPTIONS(number, outside)                                                     \
    {"pid",     0,                                                                                \
     0,         G_OPTION_ARG_STRING,                                                              \
     &(number), "Record the running process N from outside, until it ends, --for or Ctrl-C",      \
     "N"},                                                                                        \
    {                                                                                             \
        "outside", 0, 0, G_OPTION_ARG_NONE, &(outside),                                           \
            "Sample PROGRAM from outside, as --pid does, with functions of Python in its stacks", \
            NULL                                                                                  \
    }

struct fm_attaching {
    const char *pid;    /* as it was given */
    const char *for_;   /* time; NULL = until the process ends, or SIGINT */
    const char *output; /* prefix of the profile's file */
    bool quiet;
    const struct fm_live_options *view; /* NULL, or how its pages are served meanwhile */
};

/* A program that was started, and is sampled from outside. */
struct fm_attached {
    bool quiet, is_wanted;
    struct fm_outside *outside; /* NULL: it could not be, after a message */
};
/* Samples the program until it ends. */
void fm_attaching_sample(struct fm_attached *attached, pid_t pid);
/* Writes the profile, as output.data. False after a message. Frees what sampled. */
bool fm_attaching_write(struct fm_attached *attached, const char *output);

/* Returns an exit status. */
int fm_attaching_record(struct fm_attaching *how);

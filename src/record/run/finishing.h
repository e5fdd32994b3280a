/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by `fathom record` and `fathom finish`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/compiler.h"
#include "profile/file/profile.h"

enum fm_join {
    FM_JOIN_NONE,    /* each process has a profile of its own */
    FM_JOIN_PROGRAM, /* one profile for all processes of a program, */
    FM_JOIN_ALL,     /* or one profile of the whole run */
};

struct fm_finishing {
    const char *command;    /* for messages */
    const char *root;       /* the folder that was "/" where the program ran; NULL */
    const char *debug_path; /* folders of separate debug files, and of the program's; NULL */
    const char *when;       /* only calls below this function; NULL: all */
    const char *since; /* an earlier copy of the recording: only what came after it; NULL: all */
    const char *again; /* command that makes the profile of a running process again; NULL */
    enum fm_join join; /* several recordings */
    bool keep;         /* do not remove the raw recording */
    bool keep_sources; /* store the source files beside the profile */
    bool quiet;        /* no summary */
    bool alone;        /* programs that it starts are not recorded by unwinding */
    bool told;         /* the user knows why there may be no recording */
    bool all;          /* children that only became another program, too */
    bool brief;        /* a line instead of the summary */
    bool apart;        /* processes are not joined although nobody asked for that: to be reported */
    bool several;      /* notes name the recording that they are of */
    unsigned lost;     /* recordings of processes of the run that are gone */
    uint64_t ended_ns; /* when the program ended, by CLOCK_MONOTONIC; 0 = not known */
    uint64_t began_ns; /* when it was started, since 1970; its process */
    uint32_t pid;
    struct fm_known *known; /* facts about program files, shared by several recordings; NULL */
    GHashTable *profiles;   /* to be filled: path of a recording -> of the profile that has it, both
                               owned; NULL */
};

/* The result. */
struct fm_finished {
    uint64_t calls; /* where contexts are of unwound stacks: and samples, at least 1 */
    uint64_t samples;
    bool unfinished; /* the program still runs, or files of it are missing: its recording stays */
};

/* Turns the recording at rec_path into fm_run_data_path(data_path) (NULL: beside it), prints notes
 * and, unless quiet, the summary on standard error. A recording that still grows, or whose modules
 * could not all be read, is kept in any case. ret may be NULL. False after a message on standard
 * error. */
bool fm_run_finish(const struct fm_finishing *how, const char *rec_path, const char *data_path,
                   struct fm_finished *ret);

struct fm_finish_notes;
/* The two steps of it, for sums: the profile of a recording, as fm_finish() gives it, */
FM_MUST_USE bool fm_run_finish_profile(const struct fm_finishing *how, const char *rec_path,
                                       struct fm_profile **ret, struct fm_finish_notes *ret_notes,
                                       GError **error);
/* and the file, with the sources and the code where those are kept; removes what an older fathom
 * wrote beside a profile of this name. */
FM_MUST_USE bool fm_run_write_profile(const struct fm_finishing *how, struct fm_profile *profile,
                                      const char *data_path, GError **error);
/* The hash by which a sum knows a profile: that of the file it would be written to
 * without --keep-sources, which `fathom merge` sees. name is used in messages. */
FM_MUST_USE bool fm_run_part_hash(const struct fm_profile *profile, const char *name,
                                  uint8_t ret[FM_PART_HASH_BYTES], GError **error);
/* The recording is in that profile now, unless it has one of its own already. */
void fm_run_finished(const struct fm_finishing *how, const char *rec_path, const char *data_path);
/* NAME.data, of NAME, NAME.data or NAME.rec: what -o NAME means. g_free(). */
char *fm_run_data_path(const char *name);

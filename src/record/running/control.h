/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a recorded program to start, stop or mark, through its recording file. The program cannot
 * notice it. docs/format-recording.md, "What others ask". */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "runtime/recording_format.h"

struct fm_control;

/* Whether it names a process: "pid:N", or N where no file has that name. */
bool fm_control_pid(const char *name, uint32_t *ret);
/* The path of the recording that is meant: of a process it is the one that it writes, all else is a
 * path. g_free(). Errors: FM_ERROR_USAGE, FM_ERROR_NOT_FOUND (no such process, or none that is
 * recorded), FM_ERROR_UNAVAILABLE (another user's, removed). */
FM_MUST_USE bool fm_control_path(const char *name, char **ret, GError **error);

/* Opens the recording at path for requests to its program, which must be running and belong to this
 * user. The caller owns *ret. Errors: FM_ERROR_IO, FM_ERROR_FORMAT, FM_ERROR_VERSION,
 * FM_ERROR_UNAVAILABLE (ended, of another user, of an older libfathom). */
FM_MUST_USE bool fm_control_open(const char *path, struct fm_control **ret, GError **error);
void fm_control_free(struct fm_control *control); /* NULL is allowed */

enum fm_control_answer {
    FM_CONTROL_DONE,
    FM_CONTROL_ASKED, /* it has not run since: it will act when it wakes */
    FM_CONTROL_FAILED,
};

/* Checks a label: UTF-8 of 1 to FM_REC_LABEL_BYTES bytes without control characters. */
FM_MUST_USE bool fm_control_check_label(const char *label, GError **error);

/* Asks, and waits for at most wait_us microseconds until the program has done so. label: "" for
 * commands without. One that was asked before and is not done comes first. With FM_CONTROL_FAILED:
 * FM_ERROR_UNAVAILABLE when the program ended meanwhile, or has 8 requests before it, or refuses.
 */
FM_MUST_USE enum fm_control_answer fm_control_ask(struct fm_control *control,
                                                  enum fm_rec_command command, const char *label,
                                                  uint64_t wait_us, GError **error);

/* Copies the present recording to NAME.snap<n>.rec beside it, and asks the program to mark that
 * moment. *ret_path: g_free(), set as soon as the copy exists, whatever the mark's answer. */
FM_MUST_USE enum fm_control_answer fm_control_snapshot(struct fm_control *control,
                                                       const char *label, uint64_t wait_us,
                                                       char **ret_path, GError **error);

/* State of the program; that it has ended is not an error. */
struct fm_control_status {
    bool running; /* its process is there, and the same program */
    enum fm_rec_state state;
    bool recording; /* not stopped */
    bool listens;   /* it handles requests */
    bool ticks; /* also while it computes; otherwise when it waits, allocates or reaches new code */
    uint32_t pid;
    unsigned pending; /* number of requests not handled yet */
    unsigned threads, threads_ended, marks, snapshots;
    /* size of the file; time since its begin, up to its end if that is known */
    uint64_t bytes, seconds_ns;
    char process_state; /* from /proc: 'R', 'S', 'T'...; 0 = not known */
    char *program;      /* g_free() */
};
FM_MUST_USE bool fm_control_status(const char *path, struct fm_control_status *ret, GError **error);
/* As above from the header only, whatever the size: program is NULL, and lists are not counted. */
FM_MUST_USE bool fm_control_status_brief(const char *path, struct fm_control_status *ret,
                                         GError **error);
void fm_control_status_done(struct fm_control_status *status);

typedef struct fm_control FmControl;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmControl, fm_control_free)

/* Copies the present recording to a new file, without the program's help: *ret_ns is the moment, by
 * CLOCK_MONOTONIC. number: snapshot number in the copy, > 0. Errors: FM_ERROR_IO, and those of the
 * recording's header. */
FM_MUST_USE bool fm_control_copy(const char *path, const char *to, uint32_t number,
                                 uint64_t *ret_ns, GError **error);

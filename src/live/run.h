/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom record --live`: the pages of a run while it runs, and of its profiles afterwards. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"

struct fm_live_options {
    int port; /* 0 = any free one */
    gboolean no_open;
    char *listen, *token, *token_file; /* NULL = none; of tokens cli/live/token.h */
};
struct fm_live_run;

/* Binds the port. base: NAME of the recordings; before: those that are of other runs. Both are
 * borrowed. Errors: those of fm_http_new() and fm_live_token_find(). */
FM_MUST_USE bool fm_live_run_new(const struct fm_live_options *options, const char *base,
                                 GPtrArray *before, struct fm_live_run **ret, GError **error);
/* Tells the address and serves until the program has ended, which may have been waited for then:
 * true, and *ret_status. Signals are left alone. False: somebody asked the server to quit. */
FM_MUST_USE bool fm_live_run_watch(struct fm_live_run *run, pid_t program, int *ret_status);
/* Before fm_live_run_finish(), which then serves nothing. */
void fm_live_run_quit(struct fm_live_run *run);
/* Makes the profiles by calling finish(user), in a thread, while pages are served, and then serves
 * these until SIGINT, SIGTERM or a quit command. profiles: path of a recording -> of the profile
 * that has it, which finish() fills. Returns what finish() did. */
int fm_live_run_finish(struct fm_live_run *run, int (*finish)(void *user), void *user,
                       GHashTable *profiles);
void fm_live_run_free(struct fm_live_run *run); /* NULL is allowed */

/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings that are shown while their programs write them: made into profiles again and again, in
 * a folder of their own. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"
#include "record/outside/sampler.h"

struct fm_server;
struct fm_live_growing; /* all of a command */

struct fm_live_growing *fm_live_growing_new(void);
/* Waits for what is being made and removes it. */
void fm_live_growing_free(struct fm_live_growing *all);
/* For "pid:N" and recordings: replaces *path by the path of a profile of the present state, g_free;
 * other paths are left unchanged. A process that is not recorded is sampled from outside. Errors:
 * those of fm_control_path(), of fm_live_growing_sample(), of fm_finish() and of writing. */
FM_MUST_USE bool fm_live_growing_take(struct fm_live_growing *all, char **path, GError **error);
/* Samples a process from outside; options->path is chosen here. *ret_path: g_free(), of its profile
 * so far. finished: the file that options->finish() writes, or NULL. The calling process has no
 * other threads. Errors: those of fm_sampler_start() and fm_sampler_write(). */
FM_MUST_USE bool fm_live_growing_sample(struct fm_live_growing *all,
                                        const struct fm_sampler_options *options,
                                        const char *finished, char **ret_path, GError **error);
/* Ends all sampling, and returns the exit status of finish(): the highest. Once, before
 * fm_live_growing_free(). */
int fm_live_growing_end_sampling(struct fm_live_growing *all);
/* The profiles are in the server: from now on they are kept up to date on the main loop, while
 * somebody looks at them, by at most a third of a processor, a tenth where others wait for one. */
void fm_live_growing_begin(struct fm_live_growing *all, struct fm_server *server);

/* As above, for a server that starts without profiles. */
void fm_live_growing_serve(struct fm_live_growing *all, struct fm_server *server);
/* From now on the recording NAME.rec is one of them, if it was not: its profile is added to the
 * server as soon as there is one. Errors: there is no folder for it. */
FM_MUST_USE bool fm_live_growing_follow(struct fm_live_growing *all, const char *recording,
                                        GError **error);
/* None is made any more: the program has ended, and its recordings are about to be finished. */
void fm_live_growing_end(struct fm_live_growing *all);
/* After that, from any thread: what is not made yet of phases that somebody asked for, from the
 * recordings, while they are there. */
void fm_live_growing_end_phases(struct fm_live_growing *all);
/* profiles: path of a recording -> of the profile that has it now, be it with others: all pages
 * lead on there. False: no recording is in one. */
bool fm_live_growing_finish(struct fm_live_growing *all, GHashTable *profiles);
